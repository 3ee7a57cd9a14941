"""The last step to a log: units converted, what cannot be made missing, columns that hold nothing dropped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ..log import Tag
from ..quality import Flag, Flags
from .account import Account
from .grid import Bools
from .series import Values

#: Values that loggers write for "none", far below anything a dose or count rate can be.
SENTINELS = (-999.0, -9999.0, -99999.0)
_CHUNK = 4096
_NAMED = 20


def finish(
    values: Values, tags: Sequence[Tag], factors: Sequence[float], account: Account, flags: Flags | None = None
) -> tuple[Values, list[Tag], Flags | None]:
    """Convert to the tags' units, mask what cannot be, and drop columns that hold nothing. Works in place.

    Parameters
    ----------
    values: [T, N] in the units of the source.
    tags, factors: N tags, and what their values are multiplied by.
    account: where masked cells, dropped and constant columns are noted.
    flags: [T, N] of the cells so far, or ``None``; the flags of masked cells are added to them.

    Raises
    ------
    LogError: no column holds a number.
    """
    masks = _Masks(tags, np.asarray(factors, dtype=np.float64), account, flags)
    low = np.full(len(tags), np.nan, dtype=np.float32)
    high = low.copy()
    for first in range(0, len(values), _CHUNK):
        part = values[first : first + _CHUNK]
        least, most = masks.apply(part, first, len(values))
        low, high = np.fmin(low, least), np.fmax(high, most)
    if masks.below:
        account.decide(f"{masks.below:,} negative dose rate(s) were kept as they are")
    empty = np.flatnonzero(np.isnan(low))
    if len(empty) == len(tags):
        raise LogError("no column of the log holds a number")
    flat = [tags[i].name for i in np.flatnonzero(low == high).tolist()]
    if flat:
        account.decide(f"{len(flat)} column(s) never change, and were kept: {_some(flat)}")
    if not len(empty):
        return values, list(tags), masks.flags
    lost = [tags[i].name for i in empty.tolist()]
    account.warn(f"{len(lost)} column(s) hold no value and were dropped: {_some(lost)}")
    gone = set(empty.tolist())
    kept = [tag for i, tag in enumerate(tags) if i not in gone]
    return (
        np.delete(values, empty, axis=1),
        kept,
        None if masks.flags is None else np.delete(masks.flags, empty, axis=1),
    )


class _Masks:
    """What cannot be a reading, made missing a few thousand rows at a time; ``below`` counts negative dose rates."""

    def __init__(self, tags: Sequence[Tag], factor: NDArray[np.float64], account: Account, flags: Flags | None) -> None:
        self.dose = np.array([tag.quantity == "dose_rate" for tag in tags])
        self.rate = self.dose | np.array([tag.quantity == "count_rate" for tag in tags])
        self.factor = factor if (factor != 1).any() else None
        self.account, self.flags = account, flags
        self.below = 0
        self.masked = False

    def apply(self, part: Values, first: int, rows: int) -> tuple[Values, Values]:
        """Mask and convert rows from ``first`` on; (least, most) of each column."""
        least, most = np.fmin.reduce(part, axis=0), np.fmax.reduce(part, axis=0)
        where = first, rows
        # most parts of most logs hold nothing to mask; their extremes show it
        if (least[self.rate] <= max(SENTINELS)).any():
            # before the conversion, since the sentinel was written in the source's unit
            self._mask(part, np.isin(part, SENTINELS) & self.rate, "sentinel such as -9999", Flag.SENTINEL, where)
        if self.factor is not None:
            with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked next
                part[:] = part * self.factor
                least, most = least * self.factor, most * self.factor
        # NaN, where a column holds nothing here, is not above it
        if (np.abs(np.concatenate((least, most))) >= np.finfo(np.float32).max).any():
            self._mask(part, np.isinf(part), "not finite", Flag.NOT_FINITE, where)
        if (least[self.dose] <= 0).any():
            # an ambient dose rate is never exactly 0; a little below 0 can be noise about a subtracted background
            self._mask(part, (part == 0) & self.dose, "dose rate exactly 0", Flag.ZERO, where)
            self.below += int(((part < 0) & self.dose).sum())
        if self.masked:
            self.masked = False
            return np.fmin.reduce(part, axis=0), np.fmax.reduce(part, axis=0)
        return least.astype(np.float32), most.astype(np.float32)

    def _mask(self, part: Values, hit: Bools, reason: str, flag: Flag, where: tuple[int, int]) -> None:
        count = int(hit.sum())
        if not count:
            return
        first, rows = where
        self.masked = True
        self.account.mask(reason, count)
        part[hit] = np.nan
        if self.flags is None:
            self.flags = np.zeros((rows, part.shape[1]), dtype=np.uint16)
        self.flags[first : first + len(part)][hit] |= np.uint16(flag)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
