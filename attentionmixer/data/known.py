"""Channels that are known ahead: the calendar, and tags with role ``known`` such as a rain forecast."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..errors import LogError
from .log import StationLog
from .scaling import TagScaler

CalendarCycle = Literal["hour", "weekday", "year"]
_PERIOD_SECONDS = {"hour": 86_400.0, "weekday": 7 * 86_400.0, "year": 365.2425 * 86_400.0}


def calendar_channels(time: pd.DatetimeIndex, cycles: tuple[CalendarCycle, ...]) -> Tensor:
    """[T, 2 · cycles] sine and cosine of the phase of each cycle (UTC)."""
    seconds = time.as_unit("s").asi8.astype(np.float64)
    columns = []
    for cycle in cycles:
        phase = 2 * np.pi * (seconds / _PERIOD_SECONDS[cycle] % 1.0)
        columns += [np.sin(phase), np.cos(phase)]
    return torch.from_numpy(np.stack(columns, axis=1).astype(np.float32)) if columns else torch.zeros(len(time), 0)


def calendar_names(cycles: tuple[CalendarCycle, ...]) -> tuple[str, ...]:
    """Names of the columns of `calendar_channels`."""
    return tuple(f"calendar: {wave} of {cycle}" for cycle in cycles for wave in ("sine", "cosine"))


def known_channels(log: StationLog, scaler: TagScaler, cycles: tuple[CalendarCycle, ...]) -> Tensor | None:
    """[T, C] calendar and then scaled known-ahead tags; a missing value of a known tag becomes its mean, 0.

    Returns ``None`` where there is nothing known ahead.
    """
    parts = [calendar_channels(log.time, cycles)]
    columns = [i for i, tag in enumerate(log.tags) if tag.role == "known"]
    if columns:
        parts.append(torch.nan_to_num(scaler(log.tensor())[:, columns]))
    channels = torch.cat(parts, dim=1)
    return channels if channels.shape[1] else None


def known_names(log: StationLog, cycles: tuple[CalendarCycle, ...]) -> tuple[str, ...]:
    """Names of the columns of `known_channels`."""
    return calendar_names(cycles) + tuple(f"{tag.name} (ahead)" for tag in log.tags if tag.role == "known")


def with_future(log: StationLog, horizon: int, ahead: StationLog | None) -> StationLog:
    """The log with ``horizon`` further rows: known tags from ``ahead``, everything else missing.

    Raises `LogError` where the log has known tags and ``ahead`` does not cover the horizon.
    """
    time = pd.DatetimeIndex(log.time.append(pd.date_range(log.time[-1] + log.step, periods=horizon, freq=log.step)))
    values = np.full((len(time), len(log.tags)), np.nan, dtype=np.float32)
    values[: len(log)] = log.values
    for i, tag in enumerate(log.tags):
        if tag.role != "known":
            continue
        if ahead is None:
            raise LogError(
                f"tag {tag.name!r} is known ahead, so a forecast needs its next {horizon} values: "
                f"give a log from {time[len(log)]} to {time[-1]} as `ahead`"
            )
        series = ahead.select([tag.name]).to_frame()[tag.name].reindex(time[len(log) :])
        if series.isna().any():
            raise LogError(
                f"tag {tag.name!r} is known ahead, but `ahead` has no value at {series.index[series.isna()][0]}"
            )
        values[len(log) :, i] = series.to_numpy()
    return StationLog(values, pd.DatetimeIndex(time), log.tags, log.quality)
