"""Logs of several stations as one, for a model that is to know no station."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.split import SplitConfig

Floats = NDArray[np.float32]


def pool(
    logs: Sequence[StationLog], names: Sequence[str], split: SplitConfig, gap: int
) -> tuple[StationLog, SplitConfig]:
    """One log in which stations follow each other: all training parts, all validation parts, all test parts.

    Each station is brought to mean 0 and standard deviation 1 of its own training part. Between two stations lie
    ``gap`` rows without readings, so that no window holds readings of both.

    Parameters
    ----------
    logs: one for each station, with the same tags in the same order. names: those tags, for the log that is made.
    split: shares of each station's rows. gap: rows of a window, look-back and horizon together.

    Returns the log, whose times mean nothing, and the split of its rows.
    """
    parts: tuple[list[Floats], ...] = ([], [], [])
    empty = np.full((gap, len(names)), np.nan, dtype=np.float32)
    for log in logs:
        ends = np.cumsum([round(share * len(log)) for share in (split.train, split.validation)])
        mean, deviation = moments(log.values[: ends[0]])
        scaled = ((log.values - mean) / deviation).astype(np.float32)
        for part, piece in zip(parts, np.split(scaled, ends), strict=True):
            part += [piece, empty]
    whole = [np.concatenate(part) for part in parts]
    values = np.concatenate(whole)
    time = pd.date_range("2000-01-01", periods=len(values), freq=logs[0].step, tz="UTC", name="time")
    made = StationLog(values, time, [Tag(name) for name in names])
    rows = [len(part) for part in whole]
    return made, SplitConfig(train=rows[0], validation=rows[1], test=rows[2])


def moments(values: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column over what was observed; 0 and 1 where there is none."""
    there = ~np.isnan(values)
    count = there.sum(axis=0).clip(min=1)
    wide = np.where(there, values, 0.0).astype(np.float64)
    mean = wide.sum(axis=0) / count
    deviation = np.sqrt((np.where(there, values - mean, 0.0) ** 2).sum(axis=0) / count)
    return mean, np.where(deviation > 0, deviation, 1.0)
