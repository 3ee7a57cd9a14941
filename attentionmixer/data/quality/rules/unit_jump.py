"""Unit jump: a level that differs from its baseline by exactly 10, 100 or 1000."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..middle import medians_between
from ..readings import Finding, Readings


@dataclass(frozen=True)
class UnitRule:
    """When a factor is too round to be true.

    Attributes
    ----------
    readings
        fewest readings on either side of a jump
    tolerance
        how exact the factor must be, as a share
    network_tags
        fewest other tags of the same quantity and unit for a comparison with the network
    network_gap
        the tag must be this factor away from every other tag: sites differ, but not one alone by a round number
    network_tolerance
        how exact the factor to the network's median must be: backgrounds of sites lie within a factor of about 2
    """

    readings: int = 6
    tolerance: float = 0.05
    network_tags: int = 3
    network_gap: float = 4.0
    network_tolerance: float = 1.0


def unit_jump(readings: Readings, settings: UnitRule) -> Finding:
    """Runs of readings whose level is 10, 100 or 1000 times (or that part of) the tag's longest stretch, from a sharp
    jump on; or a whole tag that lies so far from the network's median, and from everybody else.

    A warning, not a fault: the values stay in use, since only people know which unit is meant.
    """
    if not readings.counted or len(readings) < 2 * settings.readings:
        return Finding()
    value = readings.value
    jumps = _jumps(readings, settings)
    edges = np.array([0, *jumps, len(value)], dtype=np.int64)
    levels = np.array([np.median(value[a:b]) for a, b in pairwise(edges.tolist())])
    base = float(levels[np.argmax(np.diff(edges))])
    wrong = np.array([_power(level, base, 1 + settings.tolerance) != 0 for level in levels])
    if wrong.any():
        factor = _power(float(levels[wrong][0]), base, 1 + settings.tolerance)
        return Finding.of_runs(edges[:-1][wrong], edges[1:][wrong], f"× {10.0**factor:g} against its own baseline")
    return _against_network(readings, settings)


def _jumps(readings: Readings, settings: UnitRule) -> list[int]:
    """Positions where the level changes by about a power of ten, between medians of some readings on either side."""
    value, n = readings.value, settings.readings
    # a factor of more than 5, up or down, takes more than 4/5 of the larger value
    at = np.flatnonzero(readings.jump > 0.8 * np.maximum(value[1:], value[:-1])).astype(np.int64) + 1
    at = at[(at >= n) & (at + n <= len(value)) & (value[at] > 0) & (value[at - 1] > 0)]
    if not len(at):
        return []
    near = medians_between(value, at, at + n), medians_between(value, at - n, at)
    far = medians_between(value, at, at + 4 * n), medians_between(value, at - 4 * n, at)
    found: list[int] = []
    for k, i in enumerate(at.tolist()):
        if found and i - found[-1] < n:
            continue
        if _power(near[0][k], near[1][k], 1.5) and _power(far[0][k], far[1][k], 1.5):
            found.append(i)
    return found


def _against_network(readings: Readings, settings: UnitRule) -> Finding:
    network, level = readings.network, readings.level
    if readings.tag.quantity != "dose_rate" or level <= 0:
        return Finding()
    others = network.levels[network.others(readings.column)]
    others = others[others > 0]
    if len(others) < settings.network_tags:
        return Finding()
    middle = float(np.median(others))
    apart = np.abs(np.log(others / level)).min() > np.log(settings.network_gap)
    power = _power(level, middle, 1 + settings.network_tolerance)
    if not apart or not power:
        return Finding()
    return Finding.at(
        np.arange(len(readings)), f"median {level:.4g}, about × {10.0**power:g} the network's {middle:.4g}"
    )


def _power(level: float, base: float, factor: float) -> int:
    """k of 10^k if level / base is that within a factor, for k = ±1, ±2, ±3; else 0."""
    if level <= 0 or base <= 0:
        return 0
    size = np.log10(level) - np.log10(base)
    k = int(np.rint(size))
    return k if 1 <= abs(k) <= 3 and abs(size - k) <= np.log10(factor) else 0
