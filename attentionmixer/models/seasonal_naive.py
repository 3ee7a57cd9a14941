"""Seasonal naive: what was read a season ago."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .base import PointModel, Task
from .persistence import last_observed


@dataclass(frozen=True)
class SeasonalNaiveConfig:
    """The season.

    Attributes
    ----------
    season: its length in steps, e.g. 24 for a day of hourly readings.
    """

    season: int = 24

    def __post_init__(self) -> None:
        if self.season < 1:
            raise ValueError(f"season must be at least 1 step, not {self.season}")


class SeasonalNaive(PointModel):
    """ŷ(h) = the reading of the same phase in the latest season of the window in which it was observed.

    Where no season of the window has it, the last observed value stands in, so that a season longer than the window is
    persistence.
    """

    def __init__(self, task: Task, config: SeasonalNaiveConfig | None = None) -> None:
        super().__init__(task)
        self.config = config or SeasonalNaiveConfig()

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        season, lookback = self.config.season, x.shape[1]
        ahead = torch.arange(self.task.horizon, device=x.device)
        value = last_observed(x, x_mask).expand(-1, self.task.horizon, -1)
        # from the oldest season to the latest, which has the last word
        for back in range(lookback // season + 1, 0, -1):
            row = lookback - back * season + ahead % season
            there = ((row >= 0) & (row < lookback)).view(1, -1, 1)
            row = row.clamp(0, lookback - 1)
            value = torch.where(there & x_mask[:, row], x[:, row], value)
        return value
