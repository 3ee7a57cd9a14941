"""Neighbour: one post jumps and stays there, and no neighbour moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..flags import Flag
from ..middle import medians_between
from ..readings import Finding, Readings


@dataclass(frozen=True)
class NeighbourRule:
    """What a jump is that radiation would not make at one post alone.

    Attributes
    ----------
    others
        fewest other tags of the same quantity, at other stations, that have readings at the time
    noises
        size of the jump between two readings, in σ of one reading
    share
        the same as a share of the lower of the two levels; 2 is three times as high, or down to a third. Detectors and
        filters that are changed make lesser steps, and what follows those is a new normal
    readings
        fewest readings it must stay
    hours
        shortest time it must stay
    flat
        spread of the readings after the jump, as a share of the jump: a plume swells and fades, a fault stands
    reach_hours
        how much earlier or later a neighbour may move and still agree
    """

    others: int = 3
    noises: float = 20.0
    share: float = 2.0
    readings: int = 12
    hours: float = 2.0
    flat: float = 0.1
    reach_hours: float = 2.0


def neighbour(readings: Readings, settings: NeighbourRule) -> Finding:
    """All readings from a jump on until the level is back: instrument fault likely, since no neighbour agrees.

    The values stay where they are, and an alarm on them is right; the flag is its reason. A plume rises in more than
    one step, swells and fades; a jump that stays as flat as a wall, at one post alone, is an instrument. Jumps by a
    round factor are left to `unit_jump`.
    """
    if not readings.counted or len(readings) <= settings.readings:
        return Finding()
    if len(readings.network.others(readings.column)) < settings.others:
        return Finding()
    demand = max(settings.noises * readings.noise, 1e-3 * abs(readings.level))
    index = np.flatnonzero(readings.jump > demand).astype(np.int64) + 1
    if not len(index):
        return Finding()
    # most are spikes and source checks: the level behind them is the level before
    before = medians_between(readings.value, index - settings.readings, index)
    after = medians_between(readings.value, index, index + settings.readings)
    lower = np.minimum(np.abs(before), np.abs(after))
    index = index[np.abs(after - before) > np.maximum(demand, settings.share * lower)]
    found: list[int] = []
    done = 0
    for i in index.tolist():
        # the jump at the end of a run is the way back
        if i <= done or readings.flags[i] & Flag.UNIT:
            continue
        end = _stays(readings, i, settings)
        if end > i and _alone(readings, i, settings):
            found += range(i, end)
            done = end
    return Finding.at(found)


def _stays(readings: Readings, i: int, settings: NeighbourRule) -> int:
    """One past the last reading at the new level, or `i` where the jump does not stay, or is too small."""
    value = readings.value
    before = value[max(0, i - settings.readings) : i]
    after = value[i : i + max(settings.readings, readings.steps(settings.hours))]
    if len(before) < settings.readings // 2 or len(after) < settings.readings:
        return i
    old, new = float(np.median(before)), float(np.median(after))
    jump = new - old
    if abs(jump) <= max(settings.noises * readings.noise, settings.share * min(abs(old), abs(new))):
        return i
    # both sides stand: behind a short source check, the way back down is no jump
    spread = max(float(np.subtract(*np.quantile(side, (0.9, 0.1)))) for side in (before, after))
    flat = max(settings.flat * abs(jump), 4 * readings.noise)
    if spread > flat or abs(value[i] - new) > 3 * flat:
        return i
    back = np.flatnonzero((value[i:] - old) / jump < 0.5)
    return i + int(back[0]) if len(back) else len(value)


def _alone(readings: Readings, i: int, settings: NeighbourRule) -> bool:
    direction = float(np.sign(readings.change[i - 1]))
    reach = max(2, readings.steps(settings.reach_hours))
    heard, moved = readings.network.agree(readings.column, int(readings.row[i]), direction, reach)
    return heard >= settings.others and moved == 0
