"""Uncertainties of EURDEP readings as standard deviations, where their type states one.

Nothing is made up: a type that states no coverage (a percentage, an absolute error, a detection limit …) gives none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....errors import LogError
from ...units import parse_unit
from ..grid import Ints
from .codes import FINE, parse_value
from .units import read_unit
from .words import Words

_SIGMAS = {"A": 1.0, "B": 2.0, "C": 3.0, "D": 1.0, "K": 1.0, "L": 1.0}
_NO_SIGMA = {
    "": "its type is not stated",
    "E": "a 95th percentile (E) states no σ",
    "F": "a 99th percentile (F) states no σ",
    "G": "an absolute error (G) states no σ",
    "H": "a percentage (H) states no σ",
    "I": "its type (I) is not clear",
    "J": "a detection limit (J) is none",
    "M": "an error with an estimated part (M) states no σ",
    "Z": "its type is not specified (Z)",
}


@dataclass(frozen=True)
class Sigma:
    """How an uncertainty becomes a standard deviation: σ = ``factor`` · u, or σ = ``factor`` · u · |value|.

    ``fault`` says why there is none.
    """

    factor: float = 1.0
    relative: bool = False
    fault: str | None = None


def sigma_of(kind: str, unit: str, value_unit: str) -> Sigma:
    """The rule for an uncertainty of this type and unit, for a value in ``value_unit``."""
    if kind not in _SIGMAS:
        return Sigma(fault=f"no standard uncertainty: {_NO_SIGMA.get(kind, 'its type is unknown')}")
    factor = 1.0 / _SIGMAS[kind]
    unit, value_unit = read_unit(unit), read_unit(value_unit)
    if unit == "%":
        return Sigma(factor / 100.0, relative=True)
    if unit.upper() == "RATIO":
        return Sigma(factor, relative=True)
    if kind == "L":
        return Sigma(fault="no standard uncertainty: a relative one (L) needs % or RATIO as its unit")
    if unit in ("", value_unit):
        return Sigma(factor)
    try:
        own, other = parse_unit(unit), parse_unit(value_unit)
    except LogError:
        return Sigma(fault="no standard uncertainty: its unit or that of the value is unknown")
    if own.text != other.text:
        return Sigma(fault="no standard uncertainty: its unit is not that of the value")
    return Sigma(factor * own.factor / other.factor)


def standard_uncertainty(
    values: NDArray[np.float64], stated: Words, kind: Words, unit: Words, value_unit: Words
) -> tuple[NDArray[np.float64], Ints, list[str]]:
    """(σ, why there is none, the reasons) of R values, in the unit of each value.

    Parameters
    ----------
    values: [R]. stated, kind, unit: the cells UNCERTAINTY, UNCERTAINTY_TYPE and UNCERTAINTY_UNIT. value_unit: UNIT.

    Returns
    -------
    σ [R], NaN where there is none; an index into the reasons [R], or -1 where σ is there or nothing was stated.
    """
    parsed = [parse_value(word) for word in stated.words]
    sigma = np.array([number for number, _ in parsed])[stated.codes]
    stated_sigma = sigma.copy()
    states = np.array([state for _, state in parsed])[stated.codes]
    reasons: list[str] = []
    why = np.full(len(values), -1, dtype=np.int64)

    def mask(where: NDArray[np.bool_], reason: str) -> None:
        hits = where & (why < 0)
        if hits.any():
            if reason not in reasons:
                reasons.append(reason)
            why[hits] = reasons.index(reason)

    mask(states != FINE, "no standard uncertainty: it is no number")
    mask(sigma <= 0, "no standard uncertainty: it is not above 0")
    triples, which = np.unique(
        np.stack([kind.codes, unit.codes, value_unit.codes], axis=1), axis=0, return_inverse=True
    )
    which = which.reshape(-1)
    rules = [sigma_of(kind.words[k].upper(), unit.words[u], value_unit.words[v]) for k, u, v in triples.tolist()]
    faults = np.array([rule.fault or "" for rule in rules])
    for fault in np.unique(faults[faults != ""]).tolist():
        mask((faults == fault)[which] & ~np.isnan(sigma), fault)
    relative = np.array([rule.relative for rule in rules])[which] & ~np.isnan(sigma)
    mask(relative & np.isnan(values), "no standard uncertainty: there is no value to which it is relative")
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is masked and counted as not finite
        sigma *= np.array([rule.factor for rule in rules])[which] * np.where(relative, np.abs(values), 1.0)
    mask(np.isnan(sigma) & ~np.isnan(stated_sigma), "no standard uncertainty: it is not finite")
    sigma[why >= 0] = np.nan
    return sigma, why, reasons
