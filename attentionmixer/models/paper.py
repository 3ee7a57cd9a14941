"""The published form, as far as it is known, with its recurrent head."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn.routes import Axis, Routes
from .base import PointModel, Task


@dataclass(frozen=True)
class PaperConfig:
    """Shape of the published form.

    Attributes
    ----------
    width: latent channels d. heads: must divide the look-back, the width and, for the latent spatial step, the
        look-back again (4 divides 16 and 32). dropout: on weights and before the last linear map. hidden: GRU units.
    score_power: scores are divided by (d/h) to this power; 0.2 in the authors' code, 0.5 in textbooks.
    shared_query_key: one projection for queries and keys.
    """

    width: int = 32
    heads: int = 4
    dropout: float = 0.1
    hidden: int = 100
    score_power: float = 0.2
    shared_query_key: bool = False


class AxisAttention(nn.Module):
    """One attention unit on nodes [B, n, f]: LayerNorm(x + A V), no position, no feed-forward, no output projection."""

    def __init__(self, features: int, config: PaperConfig) -> None:
        super().__init__()
        if features % config.heads:
            raise ValueError(f"{features} features are not divisible by {config.heads} heads")
        self.heads, self.dropout, self.power = config.heads, config.dropout, config.score_power
        self.query = nn.Linear(features, features)
        self.key = self.query if config.shared_query_key else nn.Linear(features, features)
        self.value = nn.Linear(features, features)
        self.norm = nn.LayerNorm(features)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Nodes [B, n, f] and weights [B, h, n, n] before dropout."""
        q, k, v = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        weight = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** self.power, dim=-1)
        message = (F.dropout(weight, self.dropout, self.training) @ v).transpose(1, 2).flatten(2)
        return self.norm(x + message), weight


class Paper(PointModel):
    """Spatial and temporal attention in turn, mixed by transposition, then a GRU.

    x [B, L, N] → attention over N → affine N → d → attention over L → attention over the d latent channels → attention
    over L → GRU, last state → dropout → linear. Only the first spatial step speaks of tags; the second one speaks of
    latent channels and is left out of the routes. Without an anchor to the last value this form loses to persistence
    on slow signals: it is here to be compared with, not as a default.

    Source: arXiv 2302.10426 and IEEE Trans. Artificial Intelligence 5(5), 2241-2252, completed from the first author's
    other public descriptions where the abstract is silent.
    """

    def __init__(self, task: Task, config: PaperConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or PaperConfig()
        self.spatial = nn.ModuleList([AxisAttention(task.lookback, c), AxisAttention(task.lookback, c)])
        self.temporal = nn.ModuleList([AxisAttention(c.width, c), AxisAttention(c.width, c)])
        self.lift = nn.Linear(task.variates, c.width)
        self.gru = nn.GRU(c.width, c.hidden, batch_first=True)
        self.dropout = nn.Dropout(c.dropout)
        self.output = nn.Linear(c.hidden, task.horizon * task.variates)

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        return self._point(x, None)

    def forward_with_routes(
        self, x: Tensor, x_mask: Tensor, known: Tensor | None = None
    ) -> tuple[Tensor, list[Routes]]:
        """The same forecast, the first spatial step (tags) and both temporal steps."""
        routes: list[Routes] = []
        return self.spread(self._point(x, routes)), routes

    def _point(self, x: Tensor, routes: list[Routes] | None) -> Tensor:
        def note(weight: Tensor, axis: Axis, number: int) -> None:
            if routes is not None:
                routes.append(Routes(weight.unsqueeze(1), axis, number))

        nodes, weight = self.spatial[0](x.transpose(1, 2))
        note(weight, "spatial", 1)
        steps, weight = self.temporal[0](self.lift(nodes.transpose(1, 2)))
        note(weight, "temporal", 1)
        latent, _ = self.spatial[1](steps.transpose(1, 2))
        steps, weight = self.temporal[1](latent.transpose(1, 2))
        note(weight, "temporal", 2)
        _, last = self.gru(steps)
        return self.output(self.dropout(last[-1])).unflatten(-1, (self.task.horizon, self.task.variates))
