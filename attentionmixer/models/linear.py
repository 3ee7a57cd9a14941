"""A linear model on the normalised window, shared by all variates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn.normalization import MaskedInstanceNorm
from ..nn.ridge import StreamingRidge, cross_validated, in_blocks
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

    def warm_start(self, batches: BatchSource, later: BatchSource | None = None) -> None:
        """Ridge solution."""
        fit_direct(self.direct, self.norm, batches, later)
        if self.trend is not None:
            with torch.no_grad():
                self.trend.weight.copy_(self.direct.weight)


def moving_average(window_bnl: Tensor, kernel: int) -> Tensor:
    """Mean over ``kernel`` steps round each, the ends repeated outwards: [B, N, L] → [B, N, L]."""
    half = kernel // 2
    return F.avg_pool1d(F.pad(window_bnl, (half, half), mode="replicate"), kernel, stride=1)


@torch.no_grad()
def fit_direct(
    direct: nn.Linear,
    norm: MaskedInstanceNorm,
    batches: BatchSource,
    later: BatchSource | None = None,
    blocks: int = 4,
) -> None:
    """Set a linear map L → H, shared by all variates, to the ridge solution on normalised windows.

    Only pairs of window and variate whose whole horizon was observed take part. α is chosen over ``blocks`` of the
    training windows and on ``later`` ones (`cross_validated`).
    """

    def ridge() -> StreamingRidge:
        return StreamingRidge(direct.in_features, direct.out_features, direct.weight.device)

    def add(part: StreamingRidge, x: Tensor, x_mask: Tensor, y: Tensor, y_mask: Tensor, *_: Tensor) -> None:
        z, statistics = norm(x, x_mask)
        target = ((y - statistics.mean) / statistics.scale).transpose(1, 2)
        whole = y_mask.all(dim=1) & x_mask.any(dim=1)
        part.add(z.transpose(1, 2)[whole], target[whole])

    parts, after = [ridge() for _ in range(blocks)], ridge()
    for block, batch in in_blocks(batches, blocks):
        add(parts[block], *batch)
    for batch in later() if later is not None else ():
        add(after, *batch)
    found = cross_validated(parts, after)
    direct.weight.zero_()
    direct.bias.zero_()
    if found is not None:
        direct.weight.copy_(reduce(StreamingRidge.merge, parts).solve(found.alpha).T)
