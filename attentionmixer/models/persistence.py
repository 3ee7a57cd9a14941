"""Persistence: the last observed value, repeated."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..nn.spread import EmpiricalSpread
from .base import BatchSource, ForecastModel, Task


@dataclass(frozen=True)
class PersistenceConfig:
    """Nothing to choose."""


class Persistence(ForecastModel):
    """ŷ(h) = the last observed value of the window; the training mean (0) where nothing was observed."""

    def __init__(self, task: Task, config: PersistenceConfig | None = None) -> None:
        super().__init__(task)
        self.config = config or PersistenceConfig()
        self.spread = EmpiricalSpread(task.horizon, task.variates, task.levels)

    def point(self, x: Tensor, x_mask: Tensor) -> Tensor:
        """Point forecast [B, H, N]."""
        steps = torch.arange(1, x.shape[1] + 1, device=x.device).view(1, -1, 1)
        last = (steps * x_mask).argmax(dim=1, keepdim=True)
        value = torch.where(x_mask.any(dim=1, keepdim=True), x.gather(1, last), 0.0)
        return value.expand(-1, self.task.horizon, -1)

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Forecast [B, H, N, 1 + K]."""
        return self.spread(self.point(x, x_mask))

    def finish(self, batches: BatchSource) -> None:
        """Measure the spread of the errors."""
        self.spread.fit(batches(), self.point)
