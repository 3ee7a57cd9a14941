"""Quantised: what a tag's readings are rounded to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..readings import Array, Finding, Readings

_SAMPLE = 2048
#: relative distance of two float32 numbers
_FLOAT32 = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class QuantisedRule:
    """When rounding is worth a sentence. It sets no flag: a rounded reading is a good reading.

    Attributes
    ----------
    repeats
        share of readings that repeat the one before, from which on the rounding is mentioned
    """

    repeats: float = 0.5


def quantised(readings: Readings, settings: QuantisedRule) -> Finding:
    """The resolution r of a tag: the largest number of which all differences between its values are multiples.

    A dose rate rounded to 10 nSv/h repeats itself in 98 % of steps and is sound; `stuck` measures it by its own
    standard, and the noise is taken as at least r / 2.
    """
    resolution = resolution_of(readings.value)
    note = ""
    if resolution > 0 and len(readings) > 2:
        repeats = float((readings.change == 0).mean())
        if repeats >= settings.repeats:
            note = f"steps of {resolution:.4g} {readings.tag.unit or ''}".rstrip() + f", {repeats:.0%} of steps repeat"
    return Finding(note=note, resolution=resolution)


def resolution_of(value: Array) -> float:
    """The smallest gap between distinct values if 99 % of the near gaps are its multiples, else 0 (not rounded).

    The lowest and highest half per cent are left out: a fault far away makes a gap that is no resolution. Gaps beyond
    50 times the smallest are not asked, since float32 does not hold their remainder well enough.
    """
    some = np.sort(value[:: max(1, len(value) // _SAMPLE)])
    trim = max(1, len(some) // 200)
    seen = np.unique(some[trim : len(some) - trim])
    gap, blur = np.diff(seen), _FLOAT32 * np.maximum(np.abs(seen[1:]), np.abs(seen[:-1]))
    gap, blur = gap[gap > 40 * blur], blur[gap > 40 * blur]
    if not len(gap):
        return 0.0
    smallest = float(gap.min())
    near = gap <= 50 * smallest
    ratio = gap[near] / smallest
    if (np.abs(ratio - np.rint(ratio)) > 0.02 + 4 * blur[near] / smallest).mean() > 0.01:
        return 0.0
    # the mean over all near gaps knows it better than the smallest gap alone
    return float(ratio.sum() / np.rint(ratio).sum() * smallest)
