"""Vector autoregression with ridge shrinkage, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ..nn.ridge import StreamingRidge, choose_alpha, early_and_late
from .base import BatchSource, PointModel, Task
from .persistence import last_observed

#: Most inputs of the regression: its matrices grow with their square.
MAX_FEATURES = 4096


@dataclass(frozen=True)
class RidgeVARConfig:
    """What the regression sees.

    Attributes
    ----------
    lags: latest steps of all variates among the inputs; fewer where N · lags would pass 4,096.
    anchor: what shrinkage pulls towards: the ``last`` observed value or the window's ``mean``.
    held_out: last share of the training windows, on which the strength is chosen.
    """

    lags: int = 24
    anchor: Literal["last", "mean"] = "mean"
    held_out: float = 0.2

    def __post_init__(self) -> None:
        if self.lags < 1:
            raise ValueError(f"lags must be at least 1, not {self.lags}")
        if not 0 < self.held_out < 1:
            raise ValueError(f"held_out must lie between 0 and 1, not {self.held_out}")


class RidgeVAR(PointModel):
    """ŷ(h) = a + Σ_lag W(h, lag) (x(lag) − a) + b(h) + c(h) a + V(h) known, a the anchor, W full across variates.

    One ridge regression for all steps ahead; its strength is chosen on later training windows (`choose_alpha`). A
    missing input counts as its anchor. Missing targets are filled with the forecasts of a first fit for a second.

    Source: Hoerl and Kennard 1970; Lütkepohl, "New introduction to multiple time series analysis", 2005 (VAR).
    """

    weight: Tensor

    def __init__(self, task: Task, config: RidgeVARConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or RidgeVARConfig()
        self.lags = max(1, min(c.lags, task.lookback, MAX_FEATURES // task.variates))
        features = task.variates * (self.lags + 1) + 1 + task.known * (self.lags + task.horizon)
        self.register_buffer("weight", torch.zeros(features, task.horizon * task.variates))

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        anchor = self._anchor(x, x_mask)
        rest = self._features(x, x_mask, known, anchor) @ self.weight
        return anchor + rest.unflatten(1, (self.task.horizon, self.task.variates))

    @torch.no_grad()
    def finish(self, batches: BatchSource) -> None:
        """Solve for the coefficients, then measure the spread of the errors."""
        for _ in range(2):
            features, targets = self.weight.shape
            early, late = (StreamingRidge(features, targets, self.weight.device) for _ in range(2))
            for is_late, (x, x_mask, y, y_mask, *known) in early_and_late(batches, self.config.held_out):
                anchor = self._anchor(x, x_mask)
                inputs = self._features(x, x_mask, known[0] if known else None, anchor)
                filled = (inputs @ self.weight).unflatten(1, y.shape[1:])
                target = torch.where(y_mask, y - anchor, filled)
                (late if is_late else early).add(inputs, target.flatten(1))
            alpha = choose_alpha(early, late, keep=1.0)
            self.weight.zero_()
            if alpha is not None:
                self.weight.copy_(early.merge(late).solve(alpha))
        super().finish(batches)

    def _anchor(self, x: Tensor, x_mask: Tensor) -> Tensor:
        if self.config.anchor == "last":
            return last_observed(x, x_mask)
        return (x * x_mask).sum(dim=1, keepdim=True) / x_mask.sum(dim=1, keepdim=True).clamp(min=1)

    def _features(self, x: Tensor, x_mask: Tensor, known: Tensor | None, anchor: Tensor) -> Tensor:
        recent = torch.where(x_mask, x - anchor, 0.0)[:, -self.lags :]
        parts = [recent.flatten(1), anchor.flatten(1), x.new_ones(len(x), 1)]
        if self.task.known:
            if known is None:
                raise ValueError(f"this model knows {self.task.known} channels ahead; give them as `known`")
            parts.append(known[:, -(self.lags + self.task.horizon) :].flatten(1))
        return torch.cat(parts, dim=1)
