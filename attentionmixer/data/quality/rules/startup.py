"""Start-up: the transient after power-up, at the log's begin or behind a gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..middle import medians, medians_between
from ..readings import Array, Finding, Readings


@dataclass(frozen=True)
class StartupRule:
    """What a transient looks like.

    Attributes
    ----------
    gap_hours, gap_steps
        a gap at least this long (both) may be a power cut
    readings
        most readings a transient lasts
    hours
        longest time a transient lasts
    noises
        how far the first reading must lie from what follows, in σ of one reading
    share
        the same as a share of what follows
    usual
        the first reading must lie further off than this share of the tag's readings lie from what follows them:
        where radon falls by a third every morning, a fall by a third is no fault
    """

    gap_hours: float = 0.9
    gap_steps: int = 3
    readings: int = 8
    hours: float = 3.0
    noises: float = 5.0
    share: float = 0.15
    usual: float = 0.98


_FOLLOWING = 12
_FEWEST = 4


def startup(readings: Readings, settings: StartupRule) -> Finding:
    """First readings far from what follows and, behind a gap, from what was before; they fade within the time allowed.

    What follows is the median of 12 readings behind the longest transient allowed; what was before, of the last 3. The
    transient ends where a third of the demand is left, and must not grow until then. Only counted quantities: a process
    that starts up is no instrument fault. Where neighbours moved as well it rained, or worse.
    """
    if not readings.counted or len(readings) < 1 + _FEWEST:
        return Finding()
    shortest = max(settings.gap_steps, settings.gap_hours * 3600 / readings.step)
    start = np.concatenate(([0], np.flatnonzero(np.diff(readings.row) - 1 >= shortest) + 1)).astype(np.int64)
    end = np.concatenate((start[1:], [len(readings)]))
    usable = end - start >= 1 + _FEWEST
    start, end = start[usable], end[usable]
    # in a short piece between two gaps, what little follows must do
    longest = np.minimum((end - start) // 2, min(settings.readings, readings.steps(settings.hours)))
    after = medians_between(readings.value, start + longest, np.minimum(end, start + longest + _FOLLOWING))
    before = np.where(start > 0, medians_between(readings.value, start - 3, start), after)
    demand = np.maximum(settings.noises * readings.noise, settings.share * np.abs(after))
    far, from_before = readings.value[start] - after, readings.value[start] - before
    # below what follows only behind a gap: a log may begin before a rise
    suspect = (np.abs(far) > demand) & ((start > 0) | (far > 0))
    suspect &= (far * from_before > 0) & (np.abs(from_before) > demand / 2)
    if suspect.any():
        suspect &= np.abs(far) > _usual_fall(readings, int(longest.max()), settings.usual)
    found: list[int] = []
    for i in np.flatnonzero(suspect).tolist():
        first = int(start[i])
        count = _fading(readings.value[first : first + int(longest[i]) + 1] - after[i], float(demand[i]))
        if count and not _neighbours_agree(readings, int(readings.row[first]), float(np.sign(far[i]))):
            found += range(first, first + count)
    return Finding.at(found)


def _fading(off: Array, demand: float) -> int:
    """Readings until a third of the demand is left; 0 where that takes longer than the piece, or they grow."""
    off = off * np.sign(off[0])
    ended = np.flatnonzero(off <= demand / 3)
    if not len(ended):
        return 0
    count = int(ended[0])
    return count if (np.diff(off[:count]) <= demand / 3).all() else 0


def _neighbours_agree(readings: Readings, row: int, direction: float) -> bool:
    heard, moved = readings.network.agree(readings.column, row, direction, readings.steps(1.0))
    return heard > 0 and moved * 4 >= heard


def _usual_fall(readings: Readings, longest: int, share: float) -> float:
    """How far this share of the readings lies from what follows them at most; 0 where there are too few to know."""
    if len(readings) < 200:
        return 0.0
    at = np.linspace(0, len(readings) - longest - _FOLLOWING, 500).astype(np.int64)
    following = readings.value[at[:, None] + longest + np.arange(_FOLLOWING)]
    return float(np.quantile(np.abs(readings.value[at] - medians(following)), share))
