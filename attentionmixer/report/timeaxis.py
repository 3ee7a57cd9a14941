"""Time on a drawing's x axis, in UTC."""

from __future__ import annotations

from typing import Final

import matplotlib.dates as mdates
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

_FORMATS: Final = ["%Y", "%b %Y", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"]
_ZERO_FORMATS: Final = ["", "%Y", "%d %b", "%d %b", "%H:%M", "%H:%M"]
_OFFSET_FORMATS: Final = ["", "%Y", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y"]


def days(times: pd.DatetimeIndex | list[pd.Timestamp]) -> NDArray[np.float64]:
    """Times as matplotlib counts them."""
    utc = pd.DatetimeIndex(times).tz_convert("UTC").tz_localize(None)
    return np.asarray(mdates.date2num(utc.to_numpy()), dtype=np.float64)  # type: ignore[no-untyped-call]


def time_axis(axes: Axes, most: int = 8) -> None:
    """Label the x axis with at most about `most` dates or times; the year stands once, at its end."""
    locator = mdates.AutoDateLocator(minticks=3, maxticks=most)  # type: ignore[no-untyped-call]
    formatter = mdates.ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator, formats=_FORMATS, zero_formats=_ZERO_FORMATS, offset_formats=_OFFSET_FORMATS
    )
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(formatter)
