"""Filters in the frequency domain in place of attention."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn.context import KnownContext, window_features
from ..nn.normalization import MaskedInstanceNorm
from .base import PointModel, Task


@dataclass(frozen=True)
class DeepFilterConfig:
    """Shape of the network.

    Attributes
    ----------
    width: d, channels of a step. layers: filters. expansion: width of the feed-forward step, as a multiple of it.
    dropout: after each map. norm_epsilon: variance added in the window normalisation.
    """

    width: int = 64
    layers: int = 2
    expansion: int = 2
    dropout: float = 0.1
    norm_epsilon: float = 0.1

    def __post_init__(self) -> None:
        if min(self.width, self.layers, self.expansion) < 1:
            raise ValueError(
                f"width, layers and expansion must be at least 1, not {self.width}, {self.layers} and {self.expansion}"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout}")


class FilterLayer(nn.Module):
    """LayerNorm(x + F⁻¹(W ⊙ F x)), then LayerNorm(x + feed-forward(x)). F: Fourier transform along the steps.

    W is one complex number for each frequency and channel, so a layer costs L log L, and its filter can be read as a
    frequency response. [B, L, d] → [B, L, d].
    """

    def __init__(self, steps: int, config: DeepFilterConfig) -> None:
        super().__init__()
        d = config.width
        # two real numbers, since a file of tensors holds no complex ones
        self.filter = nn.Parameter(torch.randn(steps // 2 + 1, d, 2) * 0.02)
        self.filter_norm, self.norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.widen, self.narrow = nn.Linear(d, config.expansion * d), nn.Linear(config.expansion * d, d)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Filter, then mix channels."""
        spectrum = torch.fft.rfft(x.float(), dim=1, norm="ortho") * torch.view_as_complex(self.filter.float())
        filtered = torch.fft.irfft(spectrum, n=x.shape[1], dim=1, norm="ortho").to(x.dtype)
        x = self.filter_norm(x + self.dropout(filtered))
        mixed: Tensor = self.norm(x + self.dropout(self.narrow(F.gelu(self.widen(x)))))
        return mixed


class DeepFilter(PointModel):
    """Steps → width → filter layers → all steps' mean and the last one → linear → [H, N].

    Source: Wang et al., "DeepFilter: an instrumental baseline for accurate and efficient process monitoring", 2025,
    and the global filter of Rao et al., NeurIPS 2021, it builds on; the anchoring by window normalisation is ours.
    """

    def __init__(self, task: Task, config: DeepFilterConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or DeepFilterConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        self.lift = nn.Linear(2 * task.variates + task.known, c.width)
        self.layers = nn.Sequential(*(FilterLayer(task.lookback, c) for _ in range(c.layers)))
        self.context = KnownContext(task.lookback + task.horizon, task.known, c.width)
        self.output = nn.Linear(2 * c.width, task.horizon * task.variates)

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        context = self.context(known)
        z, statistics = self.norm(x, x_mask)
        steps = self.layers(self.lift(window_features(z, x_mask, known)))
        whole = torch.cat([steps[:, -1] + context, steps.mean(dim=1)], dim=-1)
        y = self.output(whole).unflatten(1, (self.task.horizon, self.task.variates))
        return self.norm.inverse(y.unsqueeze(-1), statistics).squeeze(-1)
