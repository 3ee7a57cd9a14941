"""Messages along a list of routes against masked attention between all pairs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attentionmixer.nn.attention import MessagePassing
from attentionmixer.nn.edges import messages_along, open_edges


def parts(nodes: int = 5, sources: int = 7, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    return (
        torch.randn(3, 2, nodes, 4, dtype=dtype, requires_grad=True),
        torch.randn(3, 2, sources, 4, dtype=dtype, requires_grad=True),
        torch.randn(3, 2, sources, 4, dtype=dtype, requires_grad=True),
    )


def gate(share: float, nodes: int = 5, sources: int = 7) -> Tensor:
    torch.manual_seed(1)
    open_ = torch.rand(nodes, sources) < share
    open_ |= torch.eye(nodes, sources, dtype=torch.bool)
    return torch.where(open_, torch.rand(nodes, sources) + 0.1, 0.0)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_messages_and_gradients_are_those_of_masked_attention(share: float) -> None:
    z, edges = gate(share), open_edges(gate(share))
    query, key, value = parts()
    bias = z.log().double()
    plain = torch.softmax(query @ key.transpose(-2, -1) / 2 + bias, dim=-1)
    expected = plain @ value
    wanted = torch.autograd.grad(expected.square().sum(), (query, key, value))
    message, weight = messages_along(query, key, value, edges, bias[edges[1], edges[0]])
    torch.testing.assert_close(message, expected)
    torch.testing.assert_close(weight, plain[..., edges[1], edges[0]])
    for ours, theirs in zip(torch.autograd.grad(message.square().sum(), (query, key, value)), wanted, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_order_of_edges_does_not_matter() -> None:
    query, key, value = parts()
    edges = open_edges(gate(0.5))
    turned = edges[:, torch.randperm(edges.shape[1])]
    torch.testing.assert_close(
        messages_along(query, key, value, edges)[0], messages_along(query, key, value, turned)[0]
    )


def test_a_node_without_edges_gets_nothing() -> None:
    query, key, value = parts()
    message, _ = messages_along(query, key, value, torch.tensor([[0, 1], [2, 2]]))
    assert bool((message[:, :, [0, 1, 3, 4]] == 0).all()) and bool((message[:, :, 2] != 0).all())


def test_large_scores_do_not_overflow() -> None:
    query, key, value = parts()
    edges = open_edges(gate(0.5))
    assert bool(torch.isfinite(messages_along(query * 1e3, key * 1e3, value, edges)[0]).all())


def test_open_edges_are_in_the_layout_of_torch_geometric() -> None:
    z = torch.tensor([[1.0, 0.0, 0.5], [0.2, 1.0, 0.0]])
    assert open_edges(z).tolist() == [[0, 2, 0, 1], [0, 0, 1, 1]]


@pytest.mark.parametrize("extra", [0, 2])
@torch.no_grad()
def test_a_message_passing_block_says_the_same_on_edges(extra: int) -> None:
    torch.manual_seed(2)
    block = MessagePassing(8, 2)
    nodes, further = torch.randn(3, 5, 8), torch.randn(3, extra, 8) if extra else None
    z = gate(0.4, 5, 5 + extra)
    dense, weight = block(nodes, further, z, with_routes=True)
    sparse, same = block(nodes, further, z, edges=open_edges(z), with_routes=True)
    torch.testing.assert_close(sparse, dense, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(same, weight, atol=1e-6, rtol=1e-5)
    assert bool((same[:, :, z == 0] == 0).all())
    assert block(nodes, further, z, edges=open_edges(z))[1] is None


def test_exact_zeros_of_entmax_are_not_offered_on_edges() -> None:
    block = MessagePassing(8, 2, normalizer="entmax")
    with pytest.raises(ValueError, match="entmax runs between all pairs"):
        block(torch.randn(1, 3, 8), edges=torch.tensor([[0], [0]]))
