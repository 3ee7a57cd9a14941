"""Time on a drawing's x axis, in UTC."""

from __future__ import annotations

from typing import Final

import matplotlib.dates as mdates
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator
from numpy.typing import NDArray

# pandas' name of each distance between ticks, with its length in days
_STEPS: Final = (
    *((f"{n}s", n / 86400) for n in (1, 2, 5, 10, 30)),
    *((f"{n}min", n / 1440) for n in (1, 2, 5, 10, 15, 30)),
    *((f"{n}h", n / 24) for n in (1, 2, 3, 6, 12)),
    *((f"{n}D", float(n)) for n in (1, 2, 4, 7, 14)),
    *((f"{n}MS", 30.0 * n) for n in (1, 2, 3, 6)),
    *((f"{n}YS", 365.0 * n) for n in (1, 2, 5, 10, 20, 50)),
)
_FORMATS: Final = ["%Y", "%b %Y", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"]
_ZERO_FORMATS: Final = ["", "%Y", "%d %b", "%d %b", "%H:%M", "%H:%M"]
_OFFSET_FORMATS: Final = ["", "%Y", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y"]


def days(times: pd.DatetimeIndex | list[pd.Timestamp]) -> NDArray[np.float64]:
    """Times as matplotlib counts them."""
    utc = pd.DatetimeIndex(times).tz_convert("UTC").tz_localize(None)
    return np.asarray(mdates.date2num(utc.to_numpy()), dtype=np.float64)  # type: ignore[no-untyped-call]


def ticks(first: pd.Timestamp, last: pd.Timestamp, most: int) -> pd.DatetimeIndex:
    """Round times from `first` to `last`, at most `most` of them (more only where that takes over 50 years a tick)."""
    span = (last - first) / pd.Timedelta(days=1)
    for step, length in _STEPS:
        if span / length > most:
            continue
        start = first.floor(step) if length < 30 else first.normalize().replace(month=1, day=1)
        found = pd.date_range(start, last, freq=step)
        found = found[found >= first]
        if len(found) <= most:
            return found
    return pd.date_range(first.normalize().replace(month=1, day=1), last, freq="50YS")


def time_axis(axes: Axes, first: pd.Timestamp, last: pd.Timestamp, most: int = 8) -> None:
    """Label the x axis from `first` to `last` with at most `most` dates or times; the year stands once, at its end."""
    locator = FixedLocator(days(ticks(first, last, most)).tolist())
    formatter = mdates.ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator, formats=_FORMATS, zero_formats=_ZERO_FORMATS, offset_formats=_OFFSET_FORMATS
    )
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(formatter)
