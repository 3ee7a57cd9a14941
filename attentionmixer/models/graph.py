"""Graph attention on a station graph that is given, not learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATv2Conv

from ..nn.context import KnownContext
from ..nn.head import QuantileHead
from ..nn.normalization import MaskedInstanceNorm
from .base import ForecastModel, Task


@dataclass(frozen=True)
class GraphConfig:
    """Shape of the network.

    Attributes
    ----------
    width: d, channels of a node. heads: must divide the width. layers: rounds of messages.
    neighbours: nearest stations that a station is linked with. dropout: on attention weights.
    norm_epsilon: variance added in the window normalisation.
    """

    width: int = 64
    heads: int = 4
    layers: int = 2
    neighbours: int = 4
    dropout: float = 0.1
    norm_epsilon: float = 0.1

    def __post_init__(self) -> None:
        if min(self.width, self.heads, self.layers) < 1 or self.width % self.heads:
            raise ValueError(
                f"width, heads and layers must be at least 1 and heads must divide width, not {self.width}, "
                f"{self.heads} and {self.layers}"
            )
        if self.neighbours < 0:
            raise ValueError(f"neighbours must be at least 0, not {self.neighbours}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout}")


class Graph(ForecastModel):
    """Nodes are tags: window → state; rounds of attention along the given edges; states → point and quantiles.

    A tag is linked with the tags of its own station and of the nearest ones (`station_edges`).

    Source: Brody et al., "How attentive are graph attention networks?", ICLR 2022 (the operator, by torch-geometric).
    """

    edges: Tensor

    def __init__(self, task: Task, config: GraphConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or GraphConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        self.window = nn.Sequential(nn.Linear(2 * task.lookback, c.width), nn.GELU(), nn.Linear(c.width, c.width))
        self.context = KnownContext(task.lookback + task.horizon, task.known, c.width)
        self.tag = nn.Parameter(torch.randn(task.variates, c.width) * 0.02)
        self.rounds = nn.ModuleList(
            GATv2Conv(c.width, c.width // c.heads, c.heads, dropout=c.dropout) for _ in range(c.layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(c.width) for _ in range(c.layers))
        self.head = QuantileHead(2 * c.width, task.horizon, len(task.levels))
        self.register_buffer("edges", station_edges(task, c.neighbours), persistent=False)

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Forecast [B, H, N, 1 + K]."""
        context = self.context(known)
        if isinstance(context, Tensor):
            context = context.unsqueeze(1)
        z, statistics = self.norm(x, x_mask)
        own = self.window(torch.cat([z, x_mask.to(z.dtype)], dim=1).transpose(1, 2)) + self.tag + context
        nodes = own.flatten(0, 1)
        # one graph of B parts that do not touch
        shift = torch.arange(len(x), device=x.device).repeat_interleave(self.edges.shape[1]) * self.task.variates
        edges = self.edges.repeat(1, len(x)) + shift
        for norm, messages in zip(self.norms, self.rounds, strict=True):
            nodes = nodes + messages(norm(nodes), edges)
        features = torch.cat([own, nodes.view_as(own)], dim=-1)
        return self.norm.inverse(self.head.around(features), statistics)


def station_edges(task: Task, neighbours: int) -> Tensor:
    """Directed edges [2, E] (from, to) between tags of one station and tags of a station's nearest ``neighbours``.

    Stations without coordinates are linked with no other. Where the task names no stations, each place is one, and
    all tags without a place are one. A tag has no edge to itself: `GATv2Conv` adds that.
    """
    count = task.variates
    places = [tuple(row[:2]) if row[-1] else None for row in task.static] or [None] * count
    station = list(task.stations) or [*map(places.index, places)]
    firsts = [station.index(number) for number in sorted(set(station))]
    placed = [first for first in firsts if places[first] is not None]
    linked = {(number, number) for number in station}
    if len(placed) > 1:
        where = np.array([places[first] for first in placed], dtype=np.float64)
        distance = np.linalg.norm(where[:, None] - where, axis=-1)
        np.fill_diagonal(distance, np.inf)
        nearest = distance.argsort(axis=1, kind="stable")[:, : min(neighbours, len(placed) - 1)].tolist()
        for to, near in zip(placed, nearest, strict=True):
            linked |= {(station[placed[source]], station[to]) for source in near}
    members = {number: [i for i, own in enumerate(station) if own == number] for number in set(station)}
    edges = [(i, j) for a, b in sorted(linked) for i in members[a] for j in members[b] if i != j]
    return torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T.contiguous()
