"""A linear model on the normalised window, shared by all variates."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn.normalization import MaskedInstanceNorm
from ..nn.ridge import StreamingRidge, choose_alpha, early_and_late
from .base import BatchSource, PointModel, Task


@dataclass(frozen=True)
class LinearConfig:
    """The linear model.

    Attributes
    ----------
    norm_epsilon: variance added in the window normalisation.
    decomposition: one map for the moving average of the window and one for the rest.
    kernel: steps of that average.
    """

    norm_epsilon: float = 1e-2
    decomposition: bool = False
    kernel: int = 25

    def __post_init__(self) -> None:
        if self.kernel < 1 or self.kernel % 2 == 0:
            raise ValueError(f"kernel must be an odd number of steps, not {self.kernel}")


class Linear(PointModel):
    """ŷ = denormalise(W normalise(x) + b), W [H, L] shared by all variates; its start is the ridge solution.

    With ``decomposition`` W z becomes W (z − m) + V m with m the moving average of z: the same functions, reached by
    another way through training.

    Source: the one-layer models of Zeng et al., "Are transformers effective for time series forecasting?", AAAI 2023.
    """

    def __init__(self, task: Task, config: LinearConfig | None = None) -> None:
        super().__init__(task)
        self.config = config or LinearConfig()
        self.norm = MaskedInstanceNorm(self.config.norm_epsilon)
        self.direct = nn.Linear(task.lookback, task.horizon)
        self.trend = nn.Linear(task.lookback, task.horizon, bias=False) if self.config.decomposition else None

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        z, statistics = self.norm(x, x_mask)
        window = z.transpose(1, 2)
        if self.trend is None:
            y = self.direct(window)
        else:
            mean = moving_average(window, self.config.kernel)
            y = self.direct(window - mean) + self.trend(mean)
        return self.norm.inverse(y.transpose(1, 2).unsqueeze(-1), statistics).squeeze(-1)

    def warm_start(self, batches: BatchSource) -> None:
        """Ridge solution."""
        fit_direct(self.direct, self.norm, batches)
        if self.trend is not None:
            with torch.no_grad():
                self.trend.weight.copy_(self.direct.weight)


def moving_average(window_bnl: Tensor, kernel: int) -> Tensor:
    """Mean over ``kernel`` steps round each, the ends repeated outwards: [B, N, L] → [B, N, L]."""
    half = kernel // 2
    return F.avg_pool1d(F.pad(window_bnl, (half, half), mode="replicate"), kernel, stride=1)


@torch.no_grad()
def fit_direct(direct: nn.Linear, norm: MaskedInstanceNorm, batches: BatchSource, held_out: float = 0.2) -> None:
    """Set a linear map L → H, shared by all variates, to the ridge solution on normalised windows.

    Only pairs of window and variate whose whole horizon was observed take part. α is chosen on the last ``held_out``
    share of the training windows, as in `fit_crossing`.
    """
    early, late = (StreamingRidge(direct.in_features, direct.out_features, direct.weight.device) for _ in range(2))
    for is_late, (x, x_mask, y, y_mask, *_) in early_and_late(batches, held_out):
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
