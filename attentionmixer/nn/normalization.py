"""Reversible instance normalisation of one window, computed over what was observed."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class WindowStatistics(NamedTuple):
    """Mean and scale of each variate within each window: both [B, 1, N]."""

    mean: Tensor
    scale: Tensor


class MaskedInstanceNorm(nn.Module):
    """Subtract a window's mean and divide by its standard deviation, per variate, over observed steps only.

    m = Σ w x / Σ w,  s = sqrt(Σ w (x − m)² / Σ w + ε),  with w the mask. A variate without any observed step gets m = 0
    and s = sqrt(ε). Missing steps come out as exactly 0.

    Parameters
    ----------
    epsilon: variance added, above 0, in units of the (already scaled) input. It keeps a stuck variate from being blown
        up. Raises ``ValueError`` for 0 and below.

    Shapes: x and mask [B, L, N] → [B, L, N]; mean and scale [B, 1, N].

    Source: reversible instance normalisation, Kim et al., ICLR 2022; the mask is ours.
    """

    def __init__(self, epsilon: float = 1e-2) -> None:
        super().__init__()
        if not epsilon > 0:
            raise ValueError(f"norm_epsilon must be above 0, not {epsilon}: a stuck variate would be divided by 0")
        self.epsilon = epsilon

    def forward(self, x_bln: Tensor, mask_bln: Tensor) -> tuple[Tensor, WindowStatistics]:
        """Normalised window [B, L, N] and its statistics. ``x`` must hold no NaN (missing: any finite number)."""
        weight = mask_bln.to(x_bln.dtype)
        count = weight.sum(dim=1, keepdim=True).clamp(min=1.0)
        mean = (x_bln * weight).sum(dim=1, keepdim=True) / count
        centred = (x_bln - mean) * weight
        scale = torch.sqrt(centred.square().sum(dim=1, keepdim=True) / count + self.epsilon)
        return centred / scale, WindowStatistics(mean, scale)

    @staticmethod
    def inverse(y_bhnq: Tensor, statistics: WindowStatistics) -> Tensor:
        """Back to the input's units: [B, H, N, Q]."""
        return y_bhnq * statistics.scale.unsqueeze(-1) + statistics.mean.unsqueeze(-1)
