"""A linear model on the normalised window, shared by all variates."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..nn.normalization import MaskedInstanceNorm
from ..nn.ridge import StreamingRidge, choose_alpha, early_and_late
from ..nn.spread import EmpiricalSpread
from .base import BatchSource, ForecastModel, Task


@dataclass(frozen=True)
class LinearConfig:
    """The linear model.

    Attributes
    ----------
    norm_epsilon: variance added in the window normalisation.
    """

    norm_epsilon: float = 1e-2


class Linear(ForecastModel):
    """ŷ = denormalise(W normalise(x) + b), W [H, L] shared by all variates; its start is the ridge solution.

    Source: the one-layer models of Zeng et al., "Are transformers effective for time series forecasting?", AAAI 2023.
    """

    def __init__(self, task: Task, config: LinearConfig | None = None) -> None:
        super().__init__(task)
        self.config = config or LinearConfig()
        self.norm = MaskedInstanceNorm(self.config.norm_epsilon)
        self.direct = nn.Linear(task.lookback, task.horizon)
        self.spread = EmpiricalSpread(task.horizon, task.variates, task.levels)

    def point(self, x: Tensor, x_mask: Tensor) -> Tensor:
        """Point forecast [B, H, N]."""
        z, statistics = self.norm(x, x_mask)
        y = self.direct(z.transpose(1, 2)).transpose(1, 2)
        return self.norm.inverse(y.unsqueeze(-1), statistics).squeeze(-1)

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Forecast [B, H, N, 1 + K]."""
        return self.spread(self.point(x, x_mask))

    def warm_start(self, batches: BatchSource) -> None:
        """Ridge solution."""
        fit_direct(self.direct, self.norm, batches)

    def finish(self, batches: BatchSource) -> None:
        """Measure the spread of the errors."""
        self.spread.fit(batches(), self.point)


@torch.no_grad()
def fit_direct(direct: nn.Linear, norm: MaskedInstanceNorm, batches: BatchSource, held_out: float = 0.2) -> None:
    """Set a linear map L → H, shared by all variates, to the ridge solution on normalised windows.

    Only pairs of window and variate whose whole horizon was observed take part. α is chosen on the last ``held_out``
    share of the training windows, as in `fit_crossing`.
    """
    early, late = (StreamingRidge(direct.in_features, direct.out_features, direct.weight.device) for _ in range(2))
    for is_late, (x, x_mask, y, y_mask) in early_and_late(batches, held_out):
        z, statistics = norm(x, x_mask)
        target = ((y - statistics.mean) / statistics.scale).transpose(1, 2)
        whole = y_mask.all(dim=1) & x_mask.any(dim=1)
        part = late if is_late else early
        part.add(z.transpose(1, 2)[whole], target[whole])
    alpha = choose_alpha(early, late)
    direct.weight.zero_()
    direct.bias.zero_()
    if alpha is not None:
        direct.weight.copy_(early.merge(late).solve(alpha).T)
