"""What is minimised: Huber for the point forecast, pinball for the quantiles, over observed targets."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def masked_mean(value: Tensor, mask: Tensor) -> Tensor:
    """Σ value · mask / Σ mask; 0 where nothing is observed."""
    weight = mask.to(value.dtype)
    return (value * weight).sum() / weight.sum().clamp(min=1.0)


def huber(point: Tensor, target: Tensor, mask: Tensor, delta: float = 1.0) -> Tensor:
    """Mean Huber loss: ½ e² for |e| ≤ δ, δ (|e| − ½ δ) beyond. All [B, H, N]; δ in scaled units (training sd)."""
    return masked_mean(F.huber_loss(point, target, reduction="none", delta=delta), mask)


def pinball(quantiles: Tensor, target: Tensor, mask: Tensor, levels: Tensor) -> Tensor:
    """Mean pinball loss max(τ e, (τ − 1) e), e = y − q_τ, over the levels. ``quantiles`` [B, H, N, K], levels [K].

    Its minimum is the τ-quantile (Koenker and Bassett 1978).
    """
    error = target.unsqueeze(-1) - quantiles
    return masked_mean(torch.maximum(levels * error, (levels - 1.0) * error).mean(dim=-1), mask)


def forecast_loss(output: Tensor, target: Tensor, mask: Tensor, levels: Tensor, delta: float) -> Tensor:
    """Huber of the point plus pinball of the quantiles. ``output`` [B, H, N, 1 + K], the point first."""
    loss = huber(output[..., 0], target, mask, delta)
    if len(levels):
        loss = loss + pinball(output[..., 1:], target, mask, levels)
    return loss
