"""One round of mixing: messages along time, then across variates, then a feed-forward step."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .attention import MessagePassing, Normalizer
from .dropout import ChannelDropout
from .routes import Routes


class MixingRound(nn.Module):
    """Temporal block, spatial block and feed-forward block on tokens [B, N, P, d], each pre-norm and residual.

    h ← h + T(norm h),  h ← h + c ⊙ S(norm h),  h ← h + FF(norm h).

    T passes messages between the P patches of one variate, S between the N variates at one patch position; changing the
    axis is the mixing. The scale c [d] of the spatial branch starts at zero, so mixing has to earn its place.

    Parameters
    ----------
    width, heads, dropout, normalizer: see `MessagePassing`.
    expansion: width of the feed-forward step, as a multiple of ``width``.
    temporal, spatial: whether the block is there (ablations).
    """

    def __init__(
        self,
        width: int,
        heads: int,
        dropout: float = 0.0,
        expansion: int = 2,
        normalizer: Normalizer = "softmax",
        *,
        temporal: bool = True,
        spatial: bool = True,
    ) -> None:
        super().__init__()
        self.temporal = MessagePassing(width, heads, 0.0, normalizer) if temporal else None
        self.spatial = MessagePassing(width, heads, 0.0, normalizer) if spatial else None
        self.temporal_norm = nn.LayerNorm(width) if temporal else None
        self.spatial_norm = nn.LayerNorm(width) if spatial else None
        self.spatial_scale = nn.Parameter(torch.zeros(width)) if spatial else None
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, expansion * width),
            nn.GELU(),
            ChannelDropout(dropout),
            nn.Linear(expansion * width, width),
        )
        self.dropout = ChannelDropout(dropout)

    def forward(
        self,
        tokens: Tensor,
        static: Tensor | None = None,
        known: Tensor | None = None,
        gate: Tensor | None = None,
        edges: Tensor | None = None,
        *,
        routes: list[Routes] | None = None,
        number: int = 1,
    ) -> Tensor:
        """Tokens [B, N, P, d] after the round.

        Parameters
        ----------
        static: [B, N, S, d] tokens every patch of a variate can listen to.
        known: [B, K, P, d] tokens of known-ahead inputs every variate can listen to.
        gate: [N, N + K] route gates of the spatial block.
        edges: [2, E] (source, target), the only routes of the spatial block, or ``None`` for all.
        routes: where to append the `Routes` of both blocks, or ``None`` for the fused path.
        number: number of this round, for the labels.
        """
        batch, variates, patches, _ = tokens.shape
        want = routes is not None
        if self.temporal is not None and self.temporal_norm is not None:
            extra = None if static is None else static.flatten(0, 1)
            message, weight = self.temporal(self.temporal_norm(tokens.flatten(0, 1)), extra, with_routes=want)
            tokens = tokens + self.dropout(message.unflatten(0, (batch, variates)))
            if routes is not None and weight is not None:
                routes.append(Routes(weight.unflatten(0, (batch, variates)), "temporal", number))
        if self.spatial is not None and self.spatial_norm is not None and self.spatial_scale is not None:
            mixed = tokens.transpose(1, 2).flatten(0, 1)
            extra = None if known is None else known.transpose(1, 2).flatten(0, 1)
            message, weight = self.spatial(self.spatial_norm(mixed), extra, gate, edges, with_routes=want)
            message = self.dropout(message.unflatten(0, (batch, patches)).transpose(1, 2))
            tokens = tokens + self.spatial_scale * message
            if routes is not None and weight is not None:
                routes.append(Routes(weight.unflatten(0, (batch, patches)), "spatial", number))
        return tokens + self.dropout(self.feed_forward(tokens))
