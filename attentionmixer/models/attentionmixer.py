"""AttentionMixer: temporal and spatial message passing, mixed in rounds, on patches of a normalised window."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..nn.attention import Normalizer
from ..nn.crossing import CrossVariateLinear, crossing_size, fit_crossing
from ..nn.edges import open_edges
from ..nn.gates import RouteGates
from ..nn.head import QuantileHead, quantiles_around
from ..nn.mixing import MixingRound
from ..nn.normalization import MaskedInstanceNorm
from ..nn.patching import PatchEmbedding
from ..nn.routes import Routes
from .base import BatchSource, ForecastModel, Task
from .linear import fit_direct


@dataclass(frozen=True)
class AttentionMixerConfig:
    """Shape of an AttentionMixer.

    Attributes
    ----------
    width
        d, channels of a token
    heads
        message passing heads
    rounds
        K, rounds of mixing
    patch
        steps of the window in the most recent token
    growing
        older tokens cover twice as many steps each (p, p, 2p, 4p, …); otherwise all cover ``patch`` steps
    expansion
        width of the feed-forward step, as a multiple of ``width``
    dropout
        share of channels dropped in training
    normalizer
        ``softmax`` or ``entmax`` (exact zeros)
    temporal
        messages along time
    spatial
        messages between tags; without them no tag sees another
    gates
        one gate per spatial route, which can close it for good
    gate_start
        logit of a gate before training
    sparse
        in evaluation, pass messages along open routes only: the same forecast, in time that grows with their number
    tag_embedding
        whether a token knows which tag it is of
    cross_lags
        steps the linear path across tags looks back, fewer in large networks; 0 leaves it out
    cross_rank
        its horizon profiles, fewer in large networks
    warm_start
        fit both linear paths in closed form before training; the one across tags then stays as it is
    norm_epsilon
        variance added in the window normalisation, in training variances. Large values (1) keep the scale of the tag,
        small ones (0.01) give every window the same scale
    """

    width: int = 64
    heads: int = 4
    rounds: int = 2
    patch: int = 6
    growing: bool = True
    expansion: int = 2
    dropout: float = 0.1
    normalizer: Normalizer = "softmax"
    temporal: bool = True
    spatial: bool = True
    gates: bool = True
    gate_start: float = 2.0
    sparse: bool = False
    tag_embedding: bool = True
    cross_lags: int = 3
    cross_rank: int = 4
    warm_start: bool = False
    norm_epsilon: float = 1.0

    def __post_init__(self) -> None:
        for name in ("width", "heads", "rounds", "patch", "expansion", "cross_rank"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout}")
        if self.sparse and not (self.gates and self.spatial and self.normalizer == "softmax"):
            raise ValueError("sparse needs gates=true and spatial=true, which say what is open, and normalizer=softmax")


class AttentionMixer(ForecastModel):
    """The model.

    1. z = (x − mean) / sd of the window, per variate, over observed steps (`MaskedInstanceNorm`).
    2. Patches of (z, mask) → tokens [B, N, P, d], plus position and tag embedding.
    3. K rounds (`MixingRound`): messages between the patches of a variate, messages between the variates at one patch
       position (their scale starts at zero), feed-forward.
    4. Head: the P·d features of a variate → point and quantiles, plus a linear path L → H shared by all variates, plus
       a linear path across variates that runs along the same route gates (`CrossVariateLinear`).
    5. Back to the input's units.

    The head and both linear paths start at zero, so the first forecast is the window's mean; with ``warm_start`` the
    paths are fitted in closed form first and training begins at the best linear model instead. Known-ahead channels
    join the spatial block as further sources (the temporal one where there is no spatial one), static numbers of a tag
    (its place) the temporal block as a further token.

    Sources: arXiv 2302.10426 (spatial and temporal adaptive message passing, mixing, sparse regularizer); Nie et al.,
    ICLR 2023 (patches). The paths and gates are described in docs/method.md.
    """

    def __init__(self, task: Task, config: AttentionMixerConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or AttentionMixerConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        self.embed = PatchEmbedding(task.lookback, c.patch, c.width, c.growing)
        patches = len(self.embed.sizes)
        self.position = nn.Parameter(torch.randn(patches, c.width) * 0.02)
        self.tag = nn.Parameter(torch.randn(task.variates, 1, c.width) * 0.02) if c.tag_embedding else None
        gated = c.gates and c.spatial
        self.gates = RouteGates(task.variates, task.variates + task.known, c.gate_start) if gated else None
        self.rounds = nn.ModuleList(
            MixingRound(
                c.width,
                c.heads,
                c.dropout,
                c.expansion,
                c.normalizer,
                temporal=c.temporal,
                spatial=c.spatial,
            )
            for _ in range(c.rounds)
        )
        self.known_embed = nn.Linear(task.lookback + task.horizon, c.width) if task.known else None
        self.known_name = nn.Parameter(torch.randn(task.known, c.width) * 0.02) if task.known else None
        self.register_buffer("static", torch.tensor(task.static) if task.static else None, persistent=False)
        self.static_embed = nn.Linear(len(task.static[0]), c.width) if task.static else None
        self.final_norm = nn.LayerNorm(c.width)
        self.head = QuantileHead(patches * c.width, task.horizon, len(task.levels))
        self.direct = nn.Linear(task.lookback, task.horizon)
        nn.init.zeros_(self.direct.weight)
        nn.init.zeros_(self.direct.bias)
        crosses = c.spatial and c.cross_lags > 0
        lags, rank = crossing_size(task.variates, min(c.cross_lags, task.lookback), c.cross_rank)
        self.crossing = CrossVariateLinear(task.variates, lags, task.horizon, rank, task.known) if crosses else None
        if self.crossing is not None and c.warm_start:
            # its shrinkage is chosen on other seasons; gradient steps would undo it
            self.crossing.requires_grad_(False)

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Forecast [B, H, N, 1 + K] from x [B, L, N], x_mask [B, L, N] and known [B, L + H, C]."""
        return self._forecast(x, x_mask, known, None)

    def forward_with_routes(
        self, x: Tensor, x_mask: Tensor, known: Tensor | None = None
    ) -> tuple[Tensor, list[Routes]]:
        """The same forecast, and the temporal and spatial routes of every round."""
        routes: list[Routes] = []
        return self._forecast(x, x_mask, known, routes), routes

    def warm_start(self, batches: BatchSource, later: BatchSource | None = None) -> None:
        """Fit both linear paths by ridge regression, if the configuration says so."""
        if not self.config.warm_start:
            return
        fit_direct(self.direct, self.norm, batches, later)
        if self.crossing is not None:
            fit_crossing(self.crossing, self.direct, self.norm, batches, later)

    @property
    def route_gates(self) -> list[RouteGates]:
        """The gates of the spatial routes."""
        return [] if self.gates is None else [self.gates]

    def temporal_ages(self) -> tuple[tuple[int, int], ...]:
        """Ages of the patches."""
        return self.embed.ages()

    def crossing_strength(self) -> Tensor | None:
        """[N, N] strength of the linear path across variates."""
        return None if self.crossing is None else self.crossing.strength(self._gate())

    def _forecast(self, x: Tensor, x_mask: Tensor, known: Tensor | None, routes: list[Routes] | None) -> Tensor:
        if self.task.known and known is None:
            raise ValueError(f"this model knows {self.task.known} channels ahead; give them as `known` [B, L + H, C]")
        z, statistics = self.norm(x, x_mask)
        tokens = self._tokens(z, x_mask)
        static, ahead = self._extra_tokens(len(x), tokens.shape[2], known)
        gate = self._gate()  # drawn once: a route is open or closed for the whole pass
        edges = open_edges(gate) if self.config.sparse and gate is not None and not self.training else None
        for number, mixing in enumerate(self.rounds, start=1):
            tokens = mixing(tokens, static, ahead, gate, edges, routes=routes, number=number)
        point, spread = self.head(self.final_norm(tokens).flatten(2))
        point = point + self.direct(z.transpose(1, 2))
        if self.crossing is not None:
            point = point + self.crossing(z, statistics.mean, gate, known, edges)
        return self.norm.inverse(quantiles_around(point, spread), statistics)

    def _gate(self) -> Tensor | None:
        gate: Tensor | None = None if self.gates is None else self.gates()
        return gate

    def _tokens(self, z: Tensor, x_mask: Tensor) -> Tensor:
        tokens = self.embed(z, x_mask) + self.position
        return tokens if self.tag is None else tokens + self.tag

    def _extra_tokens(self, batch: int, patches: int, known: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        static: Tensor | None = None
        if self.static_embed is not None and self.static is not None:
            static = self.static_embed(self.static).unsqueeze(1).expand(batch, -1, 1, -1)
        ahead: Tensor | None = None
        if self.known_embed is not None and known is not None:
            ahead = self.known_embed(known.transpose(1, 2)) + self.known_name
            if self.config.spatial:
                return static, ahead.unsqueeze(2).expand(-1, -1, patches, -1)
            # without a spatial block every tag listens to what is known in its temporal one
            own = ahead.unsqueeze(1).expand(-1, self.task.variates, -1, -1)
            static, ahead = own if static is None else torch.cat([static, own], dim=2), None
        return static, ahead
