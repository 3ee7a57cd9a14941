"""Persistence: the last observed value, repeated."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .base import PointModel, Task


@dataclass(frozen=True)
class PersistenceConfig:
    """Nothing to choose."""


class Persistence(PointModel):
    """ŷ(h) = the last observed value of the window; the training mean (0) where nothing was observed."""

    def __init__(self, task: Task, config: PersistenceConfig | None = None) -> None:
        super().__init__(task)
        self.config = config or PersistenceConfig()

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        return last_observed(x, x_mask).expand(-1, self.task.horizon, -1)


def last_observed(x_bln: Tensor, mask_bln: Tensor) -> Tensor:
    """The last observed value of each variate [B, 1, N]; 0 where there is none."""
    steps = torch.arange(1, x_bln.shape[1] + 1, device=x_bln.device).view(1, -1, 1)
    last = (steps * mask_bln).argmax(dim=1, keepdim=True)
    return torch.where(mask_bln.any(dim=1, keepdim=True), x_bln.gather(1, last), 0.0)
