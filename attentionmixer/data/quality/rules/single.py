"""Wrap and spike: one reading that has nothing to do with its neighbours in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..readings import RADIATION, Array, Bools, Finding, Ints, Readings, sample

#: Quantities that are counted, or the bare counts.
_COUNTERS = RADIATION | {"counts"}
_FULL = np.array([2.0**15, 2.0**16, 2.0**24, 2.0**31, 2.0**32])
_NINES = np.array([9999.0, 99999.0, 999999.0, 9999999.0, 99999999.0])


@dataclass(frozen=True)
class WrapRule:
    """What a counter fault looks like.

    Attributes
    ----------
    factor
        a single reading this many times its neighbours' magnitude is no radiation
    full_factor
        the same for a reading that lies just below a full register (2^15, 2^16, 2^24, 2^31, 2^32) or is all nines
    below
        how far below a full register that is, as a share
    gap_hours
        a neighbour further away in time says nothing
    """

    factor: float = 200.0
    full_factor: float = 20.0
    below: float = 0.05
    gap_hours: float = 24.0


def wrap(readings: Readings, settings: WrapRule) -> Finding:
    """Single readings such as 32016 among 30s: |x| ≥ factor · max(|before|, |after|), positive or negative.

    The newest reading has no reading after it; there, only a full register counts, since a true alarm begins like that.
    """
    if readings.tag.quantity not in _COUNTERS or len(readings) < 3:
        return Finding()
    size = np.abs(readings.value)
    index = np.flatnonzero(size > settings.full_factor * max(abs(readings.level), readings.noise))
    if not len(index):
        return Finding()
    before, after = _neighbours(readings, index, settings.gap_hours)
    around = np.fmax(np.abs(before), np.abs(after))
    both = ~np.isnan(before) & ~np.isnan(after)
    x = size[index]
    full = _is_full(x, settings.below) & (x >= settings.full_factor * around)
    return Finding.at(index[full | (both & (x >= settings.factor * around))])


def _is_full(x: Array, below: float) -> Bools:
    near = (x[:, None] <= _FULL) & (x[:, None] >= (1 - below) * _FULL)
    return near.any(axis=1) | np.isin(x, _NINES)


@dataclass(frozen=True)
class SpikeRule:
    """How far one reading must lie from both its neighbours in time.

    Attributes
    ----------
    noises
        in σ of one reading
    share
        as a share of the neighbours' level
    slow_minutes, slow_share
        from this step on, a reading above its neighbours needs this share of their level: a shower comes and decays
        within an hour, and looks like a spike in hourly or daily means
    back
        how far the two neighbours may lie apart, as a share of the spike (and 4 σ): rain decays, a fault is gone
    gap_hours
        a neighbour further away in time (or than 3 steps) says nothing
    process_ranges
        for what is not counted: in ranges of the tag (1st to 99th percentile), since a process may pulse
    """

    noises: float = 10.0
    share: float = 0.25
    slow_minutes: float = 30.0
    slow_share: float = 3.0
    back: float = 0.15
    gap_hours: float = 6.0
    process_ranges: float = 5.0


def spike(readings: Readings, settings: SpikeRule) -> Finding:
    """Single readings with min(|x - before|, |x - after|) above the demand, the same side of both, unless a neighbour
    moved too: a front or a plume that is quicker than the step reaches more than one post."""
    value, change = readings.value, readings.change
    if len(readings) < 5:
        return Finding()
    demand = settings.noises * readings.noise
    if not readings.counted:
        low, high = np.quantile(sample(value), (0.01, 0.99))
        demand = max(demand, settings.process_ranges * float(high - low))
    if demand <= 0:
        return Finding()
    up, down = change > demand, change < -demand
    index = np.flatnonzero((up[:-1] & down[1:]) | (down[:-1] & up[1:])) + 1
    if not len(index):
        return Finding()
    before, after = _neighbours(readings, index, max(settings.gap_hours, 3 * readings.step / 3600))
    middle, above = (before + after) / 2, value[index] > before
    # a dry day between two wet ones is no spike: below, it must lie below the usual as well
    below_usual = value[index] < (1 - settings.share) * _around(value, index)
    size = np.minimum(np.abs(value[index] - before), np.abs(value[index] - after))
    slow = readings.counted and readings.step >= 60 * settings.slow_minutes
    share = np.where(above & slow, settings.slow_share, settings.share)
    # a comparison with a missing neighbour is False
    far = (size > share * np.abs(middle)) & (np.abs(after - before) <= settings.back * size + 4 * readings.noise)
    if readings.counted:
        far &= above | below_usual
    index, above = index[far], above[far]
    alone = [not _neighbour_agrees(readings, int(i), bool(up)) for i, up in zip(index, above, strict=True)]
    return Finding.at(index[np.array(alone, dtype=bool)])


def _neighbours(readings: Readings, index: Ints, hours: float) -> tuple[Array, Array]:
    """Readings before and after each of these, NaN where there is none within this time."""
    value, row = readings.value, readings.row
    reach = hours * 3600 / readings.step
    earlier, later = np.maximum(index - 1, 0), np.minimum(index + 1, len(value) - 1)
    before = np.where((index > 0) & (row[index] - row[earlier] <= reach), value[earlier], np.nan)
    after = np.where((index < len(value) - 1) & (row[later] - row[index] <= reach), value[later], np.nan)
    return before, after


def _around(value: Array, index: Ints, reach: int = 12) -> Array:
    """Median of the readings within some positions of each of these."""
    near = np.clip(index[:, None] + np.arange(-reach, reach + 1), 0, len(value) - 1)
    return np.asarray(np.median(value[near], axis=1), dtype=np.float64)


def _neighbour_agrees(readings: Readings, index: int, above: bool) -> bool:
    direction = 1.0 if above else -1.0
    _, moved = readings.network.agree(readings.column, int(readings.row[index]), direction, reach=1)
    return moved > 0
