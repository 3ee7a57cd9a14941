"""A temporal convolutional network: dilated, causal, residual."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from ..nn.context import KnownContext, window_features
from ..nn.normalization import MaskedInstanceNorm
from .base import PointModel, Task


@dataclass(frozen=True)
class TCNConfig:
    """Shape of the network.

    Attributes
    ----------
    width: channels. kernel: taps of each convolution. dropout: share of channels dropped in training.
    norm_epsilon: variance added in the window normalisation.
    """

    width: int = 64
    kernel: int = 3
    dropout: float = 0.1
    norm_epsilon: float = 0.1

    def __post_init__(self) -> None:
        if self.width < 1 or self.kernel < 2:
            raise ValueError(f"width must be at least 1 and kernel 2, not {self.width} and {self.kernel}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout}")


class CausalBlock(nn.Module):
    """x + conv(GELU(conv(x))), both with one dilation, padded on the left alone. [B, d, L] → [B, d, L]."""

    def __init__(self, width: int, kernel: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.first = nn.Conv1d(width, width, kernel, dilation=dilation)
        self.second = nn.Conv1d(width, width, kernel, dilation=dilation)
        self.dropout = nn.Dropout1d(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve twice and add."""
        y = self.dropout(F.gelu(self.first(F.pad(x, (self.pad, 0)))))
        added: Tensor = x + self.second(F.pad(y, (self.pad, 0)))
        return added


class TCN(PointModel):
    """Steps → width → blocks with dilation 1, 2, 4, … until the last step sees the whole window → its state → [H, N].

    Source: Bai et al., "An empirical evaluation of generic convolutional and recurrent networks", 2018.
    """

    def __init__(self, task: Task, config: TCNConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or TCNConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        self.lift = nn.Linear(2 * task.variates + task.known, c.width)
        dilations, reach = [1], 1 + 2 * (c.kernel - 1)
        while reach < task.lookback:
            dilations.append(2 * dilations[-1])
            reach += 2 * (c.kernel - 1) * dilations[-1]
        self.blocks = nn.Sequential(*(CausalBlock(c.width, c.kernel, dilation, c.dropout) for dilation in dilations))
        self.context = KnownContext(task.lookback + task.horizon, task.known, c.width)
        self.output = nn.Linear(c.width, task.horizon * task.variates)

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        context = self.context(known)
        z, statistics = self.norm(x, x_mask)
        steps = self.blocks(self.lift(window_features(z, x_mask, known)).transpose(1, 2))
        y = self.output(steps[..., -1] + context).unflatten(1, (self.task.horizon, self.task.variates))
        return self.norm.inverse(y.unsqueeze(-1), statistics).squeeze(-1)
