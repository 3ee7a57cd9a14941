"""Messages along a list of routes instead of between all pairs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.utils import scatter, softmax


def open_edges(gate: Tensor) -> Tensor:
    """[2, E] (source, target) of the routes whose gate [to, from] is above 0, ordered by target.

    The layout is torch-geometric's ``edge_index``; a node's own route is an edge as well.
    """
    target, source = (gate > 0).nonzero(as_tuple=True)
    return torch.stack([source, target])


def messages_along(
    query: Tensor, key: Tensor, value: Tensor, edges: Tensor, bias: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attention whose row i runs over the sources of node i only.

    a_e = exp(s_e) / Σ_{e' into i} exp(s_e'),  s_e = q_i · k_j / √d + b_e for e = j → i;  m_i = Σ_{e into i} a_e v_j.
    Time and memory grow with the number of edges E, not with n².

    Shapes: query [G, h, n, d]; key and value [G, h, m, d]; edges [2, E]; bias b [E]; messages [G, h, n, d] and weights
    [G, h, E]. A node into which no edge leads gets 0.

    On the complete graph this is softmax attention; on part of it, softmax attention with all other pairs masked.
    """
    source, target = edges
    nodes = query.shape[2]
    # nodes first: gathering and scattering then move whole rows
    q, k, v = (part.permute(2, 0, 1, 3).contiguous() for part in (query, key, value))
    score = (q[target] * k[source]).sum(dim=-1) * query.shape[-1] ** -0.5
    if bias is not None:
        score = score + bias[:, None, None]
    weight = softmax(score, target, num_nodes=nodes, dim=0)
    message = scatter(weight.unsqueeze(-1) * v[source], target, dim=0, dim_size=nodes, reduce="sum")
    return message.permute(1, 2, 0, 3), weight.permute(1, 2, 0)
