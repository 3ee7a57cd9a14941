"""Errors of single windows: what evidence is computed from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..data.log import StationLog
from ..data.windows import WindowLoader
from ..forecaster import Forecaster
from ..models.base import ForecastModel


@dataclass(frozen=True)
class WindowErrors:
    """Point forecasts of some windows, and how wrong they are.

    Attributes
    ----------
    square: [W, N] sum over the horizon of squared errors of observed targets, in scaled units. count: [W, N] of them.
    point: [W, H, N] point forecasts, in scaled units.
    """

    square: Tensor
    count: Tensor
    point: Tensor

    @property
    def mse(self) -> float:
        """Mean squared error over all observed targets; NaN where there are none."""
        return float(self.square.sum() / self.count.sum())

    @property
    def mse_by_tag(self) -> Tensor:
        """[N] mean squared error by target; NaN where a tag was never observed."""
        return self.square.sum(dim=0) / self.count.sum(dim=0)


def spread(forecaster: Forecaster, log: StationLog, first: int | None, last: int | None, windows: int) -> WindowLoader:
    """At most as many windows of an aligned log, spread evenly over those of rows ``first <= i < last``."""
    everything = forecaster.windows(log, first, last)
    return WindowLoader(everything, 64, stride=max(1, -(-len(everything) // windows)))


@torch.no_grad()
def window_errors(model: ForecastModel, loader: WindowLoader) -> WindowErrors:
    """Forecast all windows of a loader, in order."""
    squares, counts, points = [], [], []
    for batch in loader:
        point = model(batch.x, batch.x_mask, batch.known)[..., 0]
        error = torch.where(batch.y_mask, point - batch.y, 0.0)
        squares.append(error.double().square().sum(dim=1))
        counts.append(batch.y_mask.sum(dim=1))
        points.append(point)
    return WindowErrors(torch.cat(squares), torch.cat(counts), torch.cat(points))
