"""Stuck: the same value for longer than the instrument's noise allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..readings import Bools, Finding, Ints, Readings


@dataclass(frozen=True)
class StuckRule:
    """How long a tag may repeat itself.

    Attributes
    ----------
    readings
        fewest equal readings in a row that can be a fault
    hours
        shortest time they must span
    process_readings
        fewest equal readings for what is not counted: a process may well stand still
    process_hours
        shortest time for what is not counted
    chance
        allowed expectation of sound runs that are called stuck, per tag and log
    patience
        the run must also be this many times as long as the longest run within the limit; runs of a slow signal in
        coarse steps grow without such a gap
    changes
        fewest other values a tag must have shown, one after the other, before one of its runs can be judged
    habit_runs, habit_share
        a tag with this many suspicious runs that make up this share of its readings is so by nature: a slow signal in
        coarse steps flickers at the edge of a step and stands still between
    """

    readings: int = 6
    hours: float = 1.0
    process_readings: int = 25
    process_hours: float = 1.0
    chance: float = 1e-4
    patience: float = 1.5
    changes: int = 8
    habit_runs: int = 3
    habit_share: float = 0.33


def stuck(readings: Readings, settings: StuckRule) -> Finding:
    """Runs of exactly equal readings; a run goes on across missing cells if the value is the same behind them.

    A sound tag repeats its last reading with probability p: nearly 0 for a fine resolution, 0.98 for a dose rate
    rounded to 10 nSv/h. Among R readings a run of n equal ones is expected R p^(n-1) times, so the limit is
    n = 1 + ln(chance / R) / ln p. p is found from the tag's own runs within the limit, from short ones upwards until
    both agree; a tag that hardly ever changes is left alone, since nothing tells its rounding from a dead instrument
    (readers list constant columns). Slow signals make longer runs than chance does, hence `patience`. A value that a
    process tag comes back to again and again for long (a closed valve) is a state, not a fault, and so is 0 (no rain).
    """
    fewest = settings.readings if readings.counted else settings.process_readings
    repeat = np.flatnonzero(readings.change == 0)
    # without so many repeats one after the other there is no run to look at
    if len(repeat) < fewest - 1 or not (repeat[fewest - 2 :] - repeat[: len(repeat) - fewest + 2] == fewest - 2).any():
        return Finding()
    first = np.concatenate(([0], np.flatnonzero(readings.change) + 1)).astype(np.int64)
    last = np.concatenate((first[1:], [len(readings)]))
    length = last - first
    hours = (readings.row[last - 1] - readings.row[first]) * readings.step / 3600
    shortest = settings.hours if readings.counted else settings.process_hours
    suspect = (length >= fewest) & (hours >= shortest)
    if not suspect.any():
        return Finding()
    found = suspect & (length > longest_by_chance(length, fewest, settings))
    if not readings.counted and found.any():
        found &= ~_is_state(readings, first, length, found)
    if found.sum() >= settings.habit_runs and length[found].sum() > settings.habit_share * len(readings):
        return Finding()
    return Finding.of_runs(first[found], last[found])


def longest_by_chance(length: Ints, fewest: int, settings: StuckRule) -> float:
    """The longest run, in readings, that a tag with these runs makes by itself; infinite where that is unknown."""
    readings = int(length.sum())
    limit = fewest - 1.0
    while True:
        own = length[length <= limit]
        if len(own) < settings.changes:
            return np.inf
        repeats = 1 - len(own) / int(own.sum())
        by_chance = 1 + np.log(settings.chance / readings) / np.log(repeats) if repeats > 0 else 2.0
        grown = max(float(by_chance), settings.patience * int(own.max()), limit)
        if grown <= limit:
            return limit
        limit = grown


def _is_state(readings: Readings, first: Ints, length: Ints, found: Bools) -> Bools:
    """[runs] True for runs at 0, or at a value with at least 3 long runs (a quarter of the shortest found one)."""
    value = readings.value[first]
    long = length >= max(3, int(length[found].min()) // 4)
    seen, count = np.unique(value[long], return_counts=True)
    return (value == 0) | np.isin(value, seen[count >= 3])
