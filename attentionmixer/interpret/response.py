"""How a target answers when one source is raised for a while: sign and lag of a route."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.log import StationLog
from ..data.windows import WindowLoader
from ..forecaster import Forecaster
from ..models.base import ForecastModel
from ..schema import align
from .ablation import Progress
from .scoring import spread


@dataclass(frozen=True)
class RouteResponse:
    """Mean change of each target for a pulse in each part of the window of each source.

    Attributes
    ----------
    tags: names of targets and sources. response: [to, from, P] change of the target at the first step ahead, in scaled
        units per unit of the source; NaN where the source was never observed in that part.
    ages: [P] (oldest, newest) age of each part in steps; age 1 is the last reading, one step before the forecast.
    step: of the log.
    """

    tags: tuple[str, ...]
    response: NDArray[np.float64]
    ages: tuple[tuple[int, int], ...]
    step: pd.Timedelta

    @property
    def strongest(self) -> NDArray[np.int64]:
        """[to, from] part of the window whose pulse moves the target most."""
        size = np.nan_to_num(np.abs(self.response), nan=-1.0)
        found: NDArray[np.int64] = size.argmax(axis=2)
        return found

    @property
    def sign(self) -> NDArray[np.float64]:
        """[to, from] +1 or −1: whether the target rises or falls with the source; 0 where nothing moves."""
        at = np.take_along_axis(self.response, self.strongest[..., None], axis=2)[..., 0]
        return np.sign(np.nan_to_num(at, nan=0.0))

    @property
    def lag_minutes(self) -> NDArray[np.float64]:
        """[to, from] time from the source to the target: the middle of the strongest part."""
        minutes = self.step.total_seconds() / 60
        middles = np.array([(old + new) / 2 for old, new in self.ages]) * minutes
        found: NDArray[np.float64] = middles[self.strongest]
        return found

    def to_frame(self) -> pd.DataFrame:
        """One row per pair of tags: ``source, target, sign, lag_minutes, response``, all of the strongest part."""
        to, source = np.nonzero(~np.eye(len(self.tags), dtype=bool))
        names = np.array(self.tags, dtype=object)
        at = np.take_along_axis(self.response, self.strongest[..., None], axis=2)[..., 0]
        return pd.DataFrame(
            {
                "source": names[source],
                "target": names[to],
                "sign": self.sign[to, source],
                "lag_minutes": self.lag_minutes[to, source],
                "response": at[to, source],
            }
        )


@torch.no_grad()
def route_response(
    forecaster: Forecaster,
    log: StationLog,
    first: int | None = None,
    last: int | None = None,
    *,
    pulse: float = 0.5,
    windows: int = 64,
    progress: Progress | None = None,
) -> RouteResponse:
    """Raise and lower every source in every part of the window, and see what every target does.

    r_ij(p) = mean over windows of (ŷ_i(x + δ e_jp) − ŷ_i(x − δ e_jp)) / 2δ, at the first step ahead, with e_jp one
    where source j was observed in part p. Parts are the model's own (`ForecastModel.temporal_ages`); influence through
    third tags is included. Lags longer than the look-back cannot be seen.

    Parameters
    ----------
    forecaster, log: rows ``first <= i < last`` are the targets. pulse: δ, in scaled units. windows: at most so many,
    evenly spread. progress: told after each source.

    Raises `LogError` where the log does not fit. Source: impulse responses of Sims, "Macroeconomics and reality",
    Econometrica 1980; here they are measured on the model, not derived.
    """
    if not pulse > 0:
        raise ValueError(f"pulse must be above 0, not {pulse}")
    log = align(log, forecaster.schema)
    loader = spread(forecaster, log, first, last, windows)
    model, ages = forecaster.model, forecaster.model.temporal_ages()
    variates, lookback = model.task.variates, model.task.lookback
    response = np.full((variates, variates, len(ages)), np.nan)
    for source in range(variates):
        for part, (oldest, newest) in enumerate(ages):
            rows = slice(lookback - oldest, lookback - newest + 1)
            response[:, source, part] = _pulse(model, loader, source, rows, pulse)
        if progress is not None:
            progress(source + 1, variates)
    return RouteResponse(forecaster.schema.names, response, ages, log.step)


def _pulse(model: ForecastModel, loader: WindowLoader, source: int, rows: slice, pulse: float) -> NDArray[np.float64]:
    """[N] mean change per unit, over the windows in which the source was observed there."""
    total, seen = torch.zeros(model.task.variates, dtype=torch.float64), 0
    for batch in loader:
        raised = torch.zeros_like(batch.x)
        raised[:, rows, source] = pulse * batch.x_mask[:, rows, source]
        above, below = (_first(model, batch.x + sign * raised, batch.x_mask, batch.known) for sign in (1, -1))
        there = batch.x_mask[:, rows, source].any(dim=1)
        total += ((above - below)[there].double().sum(dim=0) / (2 * pulse)).cpu()
        seen += int(there.sum())
    return (total / seen).numpy() if seen else np.full(len(total), np.nan)


def _first(model: ForecastModel, x: Tensor, mask: Tensor, known: Tensor | None) -> Tensor:
    """[B, N] point forecast of the first step ahead."""
    output: Tensor = model(x, mask, known)
    return output[:, 0, :, 0]
