"""`Forecast`: what will be read at each tag, in engineering units, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .data.log import Tag


@dataclass(frozen=True)
class Forecast:
    """Forecasts of N tags, H steps ahead, from O origins.

    Attributes
    ----------
    origin: [O] last time whose reading the forecast could use; the first forecast time is one step later.
    step: time between two steps.
    tags: the N tags, in order.
    point: [O, H, N] point forecast, engineering units.
    levels: the K quantile levels, ascending.
    quantiles: [O, H, N, K], ascending over K, engineering units.
    """

    origin: pd.DatetimeIndex
    step: pd.Timedelta
    tags: tuple[Tag, ...]
    point: NDArray[np.float32]
    levels: tuple[float, ...]
    quantiles: NDArray[np.float32]

    @property
    def horizon(self) -> int:
        """H"""
        return self.point.shape[1]

    def times(self, origin: int = -1) -> pd.DatetimeIndex:
        """[H] the forecast times of one origin."""
        return pd.date_range(self.origin[origin] + self.step, periods=self.horizon, freq=self.step)

    def to_frame(self) -> pd.DataFrame:
        """One row per origin, time and tag: ``origin, time, tag, unit, horizon, point, q0.05 …``."""
        origins, horizon, tags = self.point.shape
        ahead = np.arange(1, horizon + 1)
        times = self.origin.repeat(horizon) + pd.TimedeltaIndex(np.tile(ahead, origins) * self.step)
        frame = pd.DataFrame(
            {
                "origin": self.origin.repeat(horizon * tags),
                "time": times.repeat(tags),
                "tag": np.tile(np.array([tag.name for tag in self.tags], dtype=object), origins * horizon),
                "unit": np.tile(np.array([tag.unit or "" for tag in self.tags], dtype=object), origins * horizon),
                "horizon": np.tile(ahead.repeat(tags), origins),
                "point": self.point.reshape(-1),
            }
        )
        for k, level in enumerate(self.levels):
            frame[f"q{level:g}"] = self.quantiles[..., k].reshape(-1)
        return frame

    def __repr__(self) -> str:
        return (
            f"Forecast({len(self.tags)} tags, {self.horizon} steps of {self.step}, {len(self.origin)} origin(s), "
            f"first time {self.times(0)[0]:%Y-%m-%d %H:%M} UTC)"
        )
