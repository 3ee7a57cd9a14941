"""From a split log to what a model is built for."""

from __future__ import annotations

import numpy as np

from ..data.datamodule import RadiationDataModule
from ..data.log import StationLog
from ..models.base import Task


def make_task(data: RadiationDataModule, levels: tuple[float, ...], coordinates: bool = True) -> Task:
    """The task of a data module.

    Parameters
    ----------
    data: its log and windows. levels: quantile levels. coordinates: let the model know where stations are.
    """
    window = data.windows_config
    return Task(
        variates=len(data.log.tags),
        lookback=window.lookback,
        horizon=window.horizon,
        levels=levels,
        known=len(data.known_names),
        static=places(data.log) if coordinates else (),
        stations=stations(data.log),
    )


def places(log: StationLog) -> tuple[tuple[float, ...], ...]:
    """Coordinates relative to the network's centre in units of its size, and whether a tag has any; or nothing."""
    found = [tag.coordinates for tag in log.tags]
    known = np.array([place for place in found if place is not None], dtype=np.float64)
    if len(known) == 0:
        return ()
    centre, size = known.mean(axis=0), max(1e-9, float(known.std()))
    return tuple(
        (0.0, 0.0, 0.0) if place is None else (*(float(v) for v in (np.array(place) - centre) / size), 1.0)
        for place in found
    )


def stations(log: StationLog) -> tuple[int, ...]:
    """The number of each tag's station, in order of appearance; tags without a station share one."""
    numbers: dict[str | None, int] = {}
    return tuple(numbers.setdefault(tag.station, len(numbers)) for tag in log.tags)
