"""Range and saturated: what an instrument cannot measure, and where it stops measuring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..readings import Finding, Readings, runs_of

#: (lowest, highest) value that can be, per quantity and unit. A dose rate may be a little below 0 where a background
#: was subtracted; its top is that of accident instruments, 10 Sv/h.
LIMITS: dict[str, tuple[float, float]] = {
    "dose_rate [nSv/h]": (-100.0, 1e10),
    "count_rate [cpm]": (0.0, 1e9),
    "count_rate [cps]": (0.0, 1e8),
    "temperature [degC]": (-273.15, 5000.0),
    "temperature [K]": (0.0, 6000.0),
    "pressure [hPa]": (0.0, 1e7),
    "rain [mm]": (0.0, 2000.0),
    "wind_speed [m/s]": (0.0, 150.0),
    "humidity [%]": (0.0, 110.0),
}


@dataclass(frozen=True)
class RangeRule:
    """What can be, as physics or the instrument's data sheet has it.

    Attributes
    ----------
    limits
        (lowest, highest) in the tag's unit, per tag name or per ``quantity [unit]``; both ends are allowed. They come
        on top of the built-in ones (see ``limits.LIMITS``); a tag's own entry wins
    """

    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def in_range(readings: Readings, settings: RangeRule) -> Finding:
    """Readings below the lowest or above the highest value that can be; a tag without limits is left alone."""
    tag = readings.tag
    kind = f"{tag.quantity} [{tag.unit}]"
    low, high = settings.limits.get(tag.name) or settings.limits.get(kind) or LIMITS.get(kind) or (-np.inf, np.inf)
    outside = (readings.value < low) | (readings.value > high)
    if not outside.any():
        return Finding()
    return Finding.at(np.flatnonzero(outside), f"allowed {low:g} to {high:g}")


@dataclass(frozen=True)
class SaturatedRule:
    """When a flat top is the end of the range, and not a broad maximum.

    Attributes
    ----------
    readings
        how many readings in a row must lie at the top
    noises
        how far the top must lie above the tag's median, in σ of one reading
    resolutions
        the same in steps of its rounding: a maximum rounded to 10 nSv/h is flat by itself
    tops
        top of the range in the tag's unit, per tag name or per ``quantity [unit]``; readings at or above it are
        saturated, however many
    """

    readings: int = 3
    noises: float = 30.0
    resolutions: float = 50.0
    tops: Mapping[str, float] = field(default_factory=dict)


def saturated(readings: Readings, settings: SaturatedRule) -> Finding:
    """Runs of exactly the largest value ever seen, far above the rest: the true value was higher.

    Only counted quantities (dose and count rates), unless a top is declared: a process valve is often fully open. A
    fault that jumps to a constant and stays is `stuck`, so the tag must also have been *near* the top otherwise: within
    a factor of 10 of it, coming or going.
    """
    tag, value = readings.tag, readings.value
    if not len(readings):
        return Finding()
    declared = settings.tops.get(tag.name, settings.tops.get(f"{tag.quantity} [{tag.unit}]"))
    if declared is not None:
        return Finding.at(np.flatnonzero(value >= declared), f"top of the range {declared:g}")
    top = float(value.max())
    far = max(settings.noises * readings.noise, settings.resolutions * readings.resolution)
    if not readings.counted or readings.noise == 0 or top - readings.level <= far:
        return Finding()
    first, last = runs_of(value == top)
    long = last - first >= settings.readings
    halfway = readings.level + (top - readings.level) / 10
    before, after = value[np.maximum(first - 1, 0)], value[np.minimum(last, len(value) - 1)]
    long &= ((before > halfway) & (before < top)) | ((after > halfway) & (after < top))
    return Finding.of_runs(first[long], last[long], f"flat at {top:g}")
