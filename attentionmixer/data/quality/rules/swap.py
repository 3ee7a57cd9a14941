"""Swap: level and variance step at once, so the detector was changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..readings import Array, Finding, Ints, Readings, sample


@dataclass(frozen=True)
class SwapRule:
    """How sharp a step must be, and how different its two sides.

    Attributes
    ----------
    readings
        readings on either side over which level and variance are compared
    near
        readings on either side within which most of the step must happen
    share
        step of the level, as a share of it
    usual
        the step must be this many times what the tag's level usually does, over both distances (1.4826 · median
        magnitude): radon and seasons move it without any fault
    variance
        the variance of changes per unit of level must grow or shrink by this factor
    """

    readings: int = 144
    near: int = 12
    share: float = 0.04
    usual: float = 4.0
    variance: float = 1.3


def swap(readings: Readings, settings: SwapRule) -> Finding:
    """Positions where a new detector begins: one reading each.

    With means over W readings on either side, the level steps by at least `share`, most of it between the W₀ nearest
    readings and between the 4 nearest, and the variance of changes divided by the level (constant for one counter,
    whatever it counts) changes by `variance`. What all posts do together (radon, rain, season) is taken off first, and
    values are clipped at 6 times their spread, so that what is left of rain and plumes weighs little. A step that
    neighbours see as well is none of the instrument's.
    """
    width, near = settings.readings, settings.near
    if not readings.counted or len(readings) < 2 * width + 1 or readings.noise == 0:
        return Finding()
    value = _own_part(readings)
    total = np.concatenate(([0.0], np.cumsum(value)))
    last = len(value) - width + 1
    here = total[width:last]
    size = np.abs(total[width + near : last + near] - 2 * here + total[width - near : last - near]) / near
    # the median magnitude knows nothing of rare steps, so it is the tag's own unrest
    hit = np.flatnonzero(size > settings.usual * 1.4826 * float(np.median(sample(size))))
    if not len(hit):
        return Finding()
    far = np.abs(total[2 * width :] - 2 * here + total[: last - width]) / width
    at, size, unrest = hit + width, size[hit], settings.usual * 1.4826 * float(np.median(sample(far)))
    before, after = (total[at] - total[at - width]) / width, (total[at + width] - total[at]) / width
    sharp, step, far = total[at + near] - 2 * total[at] + total[at - near], after - before, far[hit]
    good = (far > settings.share * np.abs(before)) & (far > unrest) & (sharp * step > 0)
    good &= (size > 0.6 * far) & (size < 1.7 * far)
    at, step, size = at[good], step[good], size[good]
    reach = readings.steps(1.0)
    found = []
    for i in _peaks(at, size, width):
        direction = float(np.sign(step[i]))
        place = _steepest(value, int(at[i]), direction, near)
        if place is None or not _differs(value, place, float(readings.noise), settings):
            continue
        heard, moved = readings.network.agree(readings.column, int(readings.row[place]), direction, reach)
        if not heard or moved * 3 < heard:
            found.append(place)
    return Finding.at(found)


def _own_part(readings: Readings) -> Array:
    """Readings less what the network does together, clipped at 6 times their spread."""
    value, common = readings.value, readings.network.common(readings.column)
    if common is not None:
        value = value - readings.level * common[readings.row]
    some = sample(value)
    middle = float(np.median(some))
    reach = 6 * (1.4826 * float(np.median(np.abs(some - middle))) + readings.noise)
    return np.clip(value, middle - reach, middle + reach)


def _steepest(value: Array, i: int, direction: float, near: int) -> int | None:
    """The position near i with the largest step between 4 readings on either side; ``None`` for a slow rise."""
    places = np.arange(max(4, i - near // 2), min(len(value) - 4, i + near // 2) + 1)
    before = value[places[:, None] - 4 + np.arange(4)].mean(axis=1)
    after = value[places[:, None] + np.arange(4)].mean(axis=1)
    steps = direction * (after - before)
    best = int(np.argmax(steps))
    whole = direction * (np.median(value[i : i + near]) - np.median(value[i - near : i]))
    return int(places[best]) if steps[best] > 0.7 * whole else None


def _peaks(at: Ints, size: Array, width: int) -> list[int]:
    """Numbers of the candidates at these positions, largest first, none nearer than `width` to a larger one."""
    order = np.argsort(-size, kind="stable")
    kept: list[int] = []
    while len(order):
        kept.append(int(order[0]))
        order = order[np.abs(at[order] - at[order[0]]) >= width]
    return kept


def _differs(value: Array, i: int, noise: float, settings: SwapRule) -> bool:
    """Whether levels and variances of both sides differ, looked at closely.

    The middle 60 % of both sides must not overlap: a day of rain or radon moves a mean, and returns.
    """
    sides = value[max(0, i - settings.readings) : i], value[i : i + settings.readings]
    lower, upper = sorted((np.quantile(side, (0.2, 0.5, 0.8)) for side in sides), key=lambda q: float(q[1]))
    if lower[1] <= 0 or upper[0] <= lower[2] or upper[1] - lower[1] < settings.share * lower[1]:
        return False
    cap, long = 6 * noise, 4 * settings.readings  # a variance needs more readings, and no fault among them
    sides = value[max(0, i - long) : i], value[i : i + long]
    variance = [float((np.minimum(np.abs(np.diff(side)), cap) ** 2).mean() / np.median(side)) for side in sides]
    if min(variance) == 0:
        return max(variance) > 0
    return max(variance) / min(variance) >= settings.variance
