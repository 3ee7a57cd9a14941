"""Adaptive message passing between the nodes of one axis."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from entmax import entmax15
from torch import Tensor, nn

from .edges import messages_along

Normalizer = Literal["softmax", "entmax"]


class MessagePassing(nn.Module):
    """Multi-head messages between all pairs of n nodes, with weights computed from the nodes themselves.

    a_ij = normalise_j(q_i · k_j / √(d/h) + log z_ij);  m_i = W_o Σ_j a_ij v_j,
    where z are optional route gates and *normalise* is softmax or 1.5-entmax (which gives exact zeros).

    Parameters
    ----------
    width: d, divisible by ``heads``.
    heads: h.
    dropout: probability on the weights, in training only; routes are reported before it.
    normalizer: ``softmax`` or ``entmax``.

    Raises ``ValueError`` where ``heads`` is below 1 or does not divide ``width``.

    Sources: Vaswani et al. 2017 (weights); Peters, Niculae and Martins, ACL 2019 (entmax).
    """

    def __init__(
        self,
        width: int,
        heads: int,
        dropout: float = 0.0,
        normalizer: Normalizer = "softmax",
    ) -> None:
        super().__init__()
        if heads < 1:
            raise ValueError(f"message passing needs at least 1 head, not {heads}")
        if width % heads:
            raise ValueError(f"width {width} is not divisible by {heads} heads")
        self.heads, self.dropout, self.normalizer = heads, dropout, normalizer
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def forward(
        self,
        nodes: Tensor,
        extra: Tensor | None = None,
        gate: Tensor | None = None,
        edges: Tensor | None = None,
        *,
        with_routes: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Messages to every node and, on request, the weights.

        Shapes: ``nodes`` [G, n, d]; ``extra`` [G, e, d] sources that receive nothing; ``gate`` z [n, n + e], shared
        by groups and heads; ``edges`` [2, E] (source, target), the only routes to be used, or ``None`` for all pairs;
        messages [G, n, d]; weights [G, h, n, n + e] or ``None``.

        Raises ``ValueError`` for edges with ``entmax``.
        """
        sources = nodes if extra is None else torch.cat([nodes, extra], dim=1)
        query = self._split(self.query(nodes))
        key, value = (self._split(part) for part in self.key_value(sources).chunk(2, dim=-1))
        if edges is not None:
            return self._along(query, key, value, gate, edges, with_routes)
        bias = None if gate is None else log_gate(gate).to(query.dtype)
        dropout = self.dropout if self.training else 0.0
        weight: Tensor | None = None
        if with_routes or self.normalizer == "entmax":
            score = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
            if bias is not None:
                score = score + bias
            weight = entmax15(score, dim=-1) if self.normalizer == "entmax" else torch.softmax(score, dim=-1)
            message = F.dropout(weight, dropout) @ value
        else:
            message = F.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=dropout)
        return self.output(message.transpose(1, 2).flatten(2)), weight if with_routes else None

    def _along(
        self, query: Tensor, key: Tensor, value: Tensor, gate: Tensor | None, edges: Tensor, with_routes: bool
    ) -> tuple[Tensor, Tensor | None]:
        if self.normalizer == "entmax":
            raise ValueError("entmax runs between all pairs only; use softmax where routes are given as edges")
        source, target = edges
        bias = None if gate is None else log_gate(gate[target, source]).to(query.dtype)
        message, share = messages_along(query, key, value, edges, bias)
        weight: Tensor | None = None
        if with_routes:
            weight = share.new_zeros(*share.shape[:2], query.shape[2], key.shape[2])
            weight[:, :, target, source] = share
        return self.output(message.transpose(1, 2).flatten(2)), weight

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def log_gate(gate: Tensor) -> Tensor:
    """log z, with −inf and a zero gradient where a gate is closed.

    Adding it to the scores gives softmax(s + log z) = a·z / Σ a·z, so a closed route weighs exactly 0 and the fused
    kernel can be used.
    """
    closed = gate <= 0
    return torch.log(gate.masked_fill(closed, 1.0)).masked_fill(closed, float("-inf"))
