"""The one interface of all models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torch import Tensor, nn

from ..nn.gates import RouteGates
from ..nn.routes import Routes
from ..nn.spread import EmpiricalSpread

#: Calls give a fresh pass over training batches (x, x_mask, y, y_mask) in order of time, with known-ahead channels
#: [B, L + H, C] as a fifth part where the task has any.
BatchSource = Callable[[], Iterable[tuple[Tensor, ...]]]


@dataclass(frozen=True)
class Task:
    """What a model is built for.

    Attributes
    ----------
    variates, lookback, horizon: N, L and H.
    levels: the K quantile levels, ascending; may be empty.
    known: number of known-ahead channels, C.
    static: N rows of S static numbers (scaled coordinates), or empty.
    stations: N numbers, the same for tags of one station, or empty.
    """

    variates: int
    lookback: int
    horizon: int
    levels: tuple[float, ...] = ()
    known: int = 0
    static: tuple[tuple[float, ...], ...] = ()
    stations: tuple[int, ...] = ()


class ForecastModel(nn.Module):
    """Maps a scaled window to a scaled forecast.

    `forward` takes x [B, L, N] (0 where missing), x_mask [B, L, N] (True = observed) and, for models that use them,
    known [B, L + H, C], and returns [B, H, N, 1 + K]: the point forecast, then the K quantiles in ascending order.
    """

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task = task

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Forecast [B, H, N, 1 + K]."""
        raise NotImplementedError

    def forward_with_routes(
        self, x: Tensor, x_mask: Tensor, known: Tensor | None = None
    ) -> tuple[Tensor, list[Routes]]:
        """The same forecast and the routes it used; models without routes return none."""
        return self(x, x_mask, known), []

    def warm_start(self, batches: BatchSource, later: BatchSource | None = None) -> None:
        """Fit in closed form to ``batches``, before training, what can be. Default: nothing.

        ``later`` are validation windows: how strongly to shrink is chosen on them as well, nothing is fitted to them.
        """

    def finish(self, batches: BatchSource) -> None:
        """Fit, after training, what is measured on the trained model (the spread of its errors). Default: nothing."""

    @property
    def route_gates(self) -> list[RouteGates]:
        """Gates that the ``gates`` regularizer may close."""
        return []

    def temporal_ages(self) -> tuple[tuple[int, int], ...]:
        """(oldest, newest) age of each temporal node, in steps before the first forecast step. Default: each step."""
        return tuple((age, age) for age in range(self.task.lookback, 0, -1))

    def crossing_strength(self) -> Tensor | None:
        """[to, from] strength of a linear path across variates, where the model has one; known channels come last."""
        return None

    @property
    def parameter_count(self) -> int:
        """Number of parameters, those of paths in closed form included."""
        return sum(p.numel() for p in self.parameters())


class PointModel(ForecastModel):
    """A model of the point forecast alone: its quantiles are those of its errors on the training part."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.spread = EmpiricalSpread(task.horizon, task.variates, task.levels)

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        raise NotImplementedError

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Forecast [B, H, N, 1 + K]."""
        return self.spread(self.point(x, x_mask, known))

    def finish(self, batches: BatchSource) -> None:
        """Measure the spread of the errors."""
        self.spread.fit(batches(), self.point)
