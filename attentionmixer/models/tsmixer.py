"""Multilayer perceptrons in turn along time and across variates."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from ..nn.context import window_features
from ..nn.normalization import MaskedInstanceNorm
from .base import PointModel, Task


@dataclass(frozen=True)
class TSMixerConfig:
    """Shape of the network.

    Attributes
    ----------
    width: hidden units of the step across variates. layers: mixing layers. dropout: after each map.
    norm_epsilon: variance added in the window normalisation.
    """

    width: int = 64
    layers: int = 2
    dropout: float = 0.1
    norm_epsilon: float = 0.1

    def __post_init__(self) -> None:
        if min(self.width, self.layers) < 1:
            raise ValueError(f"width and layers must be at least 1, not {self.width} and {self.layers}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout}")


class MixerLayer(nn.Module):
    """x + time(x), then x + features(x), each with a normalisation before it. [B, L, F] → [B, L, F]."""

    def __init__(self, steps: int, features: int, width: int, dropout: float) -> None:
        super().__init__()
        self.time_norm, self.feature_norm = nn.LayerNorm(features), nn.LayerNorm(features)
        self.time = nn.Linear(steps, steps)
        self.widen, self.narrow = nn.Linear(features, width), nn.Linear(width, features)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Mix along time, then across features."""
        x = x + self.dropout(F.relu(self.time(self.time_norm(x).transpose(1, 2)))).transpose(1, 2)
        hidden = self.dropout(F.relu(self.widen(self.feature_norm(x))))
        mixed: Tensor = x + self.dropout(self.narrow(hidden))
        return mixed


class TSMixer(PointModel):
    """Values, masks and known channels of all steps → mixing layers → linear map L → H → [H, N].

    What is known over the horizon enters at its own step, by a linear map C → N.

    Source: Chen et al., "TSMixer: an all-MLP architecture for time series forecasting", TMLR 2023.
    """

    def __init__(self, task: Task, config: TSMixerConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or TSMixerConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        features = 2 * task.variates + task.known
        self.layers = nn.Sequential(*(MixerLayer(task.lookback, features, c.width, c.dropout) for _ in range(c.layers)))
        self.narrow = nn.Linear(features, task.variates)
        self.ahead = nn.Linear(task.lookback, task.horizon)
        self.known_ahead = nn.Linear(task.known, task.variates) if task.known else None

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        if self.known_ahead is not None and known is None:
            raise ValueError(f"this model knows {self.task.known} channels ahead; give them as `known` [B, L + H, C]")
        z, statistics = self.norm(x, x_mask)
        # the values themselves go round the narrowing map, so that the layers learn what to add
        steps = z + self.narrow(self.layers(window_features(z, x_mask, known)))
        y = self.ahead(steps.transpose(1, 2)).transpose(1, 2)
        if self.known_ahead is not None and known is not None:
            y = y + self.known_ahead(known[:, -self.task.horizon :])
        return self.norm.inverse(y.unsqueeze(-1), statistics).squeeze(-1)
