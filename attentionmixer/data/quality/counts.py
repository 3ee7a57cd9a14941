"""Counts of flags for reports: per tag, and per day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .flags import Flag

if TYPE_CHECKING:
    from ..log import StationLog

#: Rows looked at in one go, so that counting needs little memory beside a large log.
_CHUNK = 4096


def flag_counts(log: StationLog) -> pd.DataFrame:
    """[tag x flag] flagged cells; a column for each flag that occurs, by lower-case name, in the order of `Flag`."""
    kinds = _occurring(log)
    counts = np.zeros((len(log.tags), len(kinds)), dtype=np.int64)
    for first in range(0, len(log) if kinds else 0, _CHUNK):
        part = log.flags[first : first + _CHUNK]
        for k, flag in enumerate(kinds):
            counts[:, k] += ((part & np.uint16(flag)) != 0).sum(axis=0)
    return pd.DataFrame(counts, index=pd.Index(log.names, name="tag"), columns=_names(kinds))


def calendar_counts(log: StationLog) -> pd.DataFrame:
    """[day x flag] flagged cells of all tags; days in UTC from the first to the last of the log."""
    kinds = _occurring(log)
    day = log.time.floor("D")
    days = pd.date_range(day[0], day[-1], freq="D", name="day")
    counts = np.zeros((len(days), len(kinds)), dtype=np.int64)
    which = (day - day[0]).days.to_numpy()
    for first in range(0, len(log) if kinds else 0, _CHUNK):
        part = log.flags[first : first + _CHUNK]
        for k, flag in enumerate(kinds):
            np.add.at(counts[:, k], which[first : first + _CHUNK], ((part & np.uint16(flag)) != 0).sum(axis=1))
    return pd.DataFrame(counts, index=days, columns=_names(kinds))


def _occurring(log: StationLog) -> list[Flag]:
    if log.flags.strides == (0, 0):
        return []
    seen = int(np.bitwise_or.reduce(log.flags, axis=None))
    return [flag for flag in Flag if seen & flag]


def _names(kinds: list[Flag]) -> pd.Index[str]:
    return pd.Index([str(flag.name).lower() for flag in kinds], name="flag")
