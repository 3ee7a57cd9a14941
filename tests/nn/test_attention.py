"""`MessagePassing`: the fused path, the path with routes, and a loop that spells the formula out."""

from __future__ import annotations

import math

import pytest
import torch
from entmax import entmax_bisect
from torch import Tensor

from attentionmixer.nn.attention import MessagePassing, Normalizer, log_gate

GROUPS, NODES, EXTRA, WIDTH, HEADS = 3, 5, 2, 8, 2


@pytest.fixture
def nodes() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(GROUPS, NODES, WIDTH)


@pytest.fixture
def extra() -> Tensor:
    torch.manual_seed(2)
    return torch.randn(GROUPS, EXTRA, WIDTH)


@pytest.fixture
def gate() -> Tensor:
    """Half-open, open and closed gates; a node's own route is open."""
    torch.manual_seed(3)
    z = torch.rand(NODES, NODES + EXTRA)
    z[z < 0.4] = 0.0
    return torch.where(torch.eye(NODES, NODES + EXTRA, dtype=torch.bool), 1.0, z)


def block(normalizer: Normalizer = "softmax", dropout: float = 0.0) -> MessagePassing:
    torch.manual_seed(0)
    return MessagePassing(WIDTH, HEADS, dropout, normalizer)


def slow(passing: MessagePassing, nodes: Tensor, extra: Tensor | None, gate: Tensor | None) -> tuple[Tensor, Tensor]:
    """Softmax messages and weights, one target, one head and one source at a time."""
    sources = nodes if extra is None else torch.cat([nodes, extra], dim=1)
    query = passing.query(nodes)
    key, value = passing.key_value(sources).chunk(2, dim=-1)
    size = WIDTH // HEADS
    weights = torch.zeros(len(nodes), HEADS, nodes.shape[1], sources.shape[1])
    messages = torch.zeros_like(nodes)
    for group in range(len(nodes)):
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            for i in range(nodes.shape[1]):
                numerators = []
                for j in range(sources.shape[1]):
                    score = float(query[group, i, part] @ key[group, j, part]) / math.sqrt(size)
                    numerators.append(math.exp(score) * (1.0 if gate is None else float(gate[i, j])))
                for j, numerator in enumerate(numerators):
                    weights[group, head, i, j] = numerator / sum(numerators)
                    messages[group, i, part] += weights[group, head, i, j] * value[group, j, part]
    return passing.output(messages), weights


@pytest.mark.parametrize("with_extra", [False, True])
@pytest.mark.parametrize("gated", [False, True])
@torch.no_grad()
def test_messages_and_weights_are_those_of_a_loop_over_routes(
    nodes: Tensor, extra: Tensor, gate: Tensor, with_extra: bool, gated: bool
) -> None:
    more = extra if with_extra else None
    z = gate[:, : NODES + (EXTRA if with_extra else 0)] if gated else None
    passing = block()
    expected, expected_weight = slow(passing, nodes, more, z)
    message, weight = passing(nodes, more, z, with_routes=True)
    assert weight is not None and weight.shape == expected_weight.shape
    torch.testing.assert_close(weight, expected_weight, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(message, expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("gated", [False, True])
@torch.no_grad()
def test_asking_for_routes_changes_no_message(nodes: Tensor, extra: Tensor, gate: Tensor, gated: bool) -> None:
    passing = block()
    z = gate if gated else None
    fused, nothing = passing(nodes, extra, z)
    spelled, weight = passing(nodes, extra, z, with_routes=True)
    assert nothing is None and weight is not None
    assert float((fused - spelled).abs().max()) <= 1e-5


@pytest.mark.parametrize("normalizer", ["softmax", "entmax"])
@pytest.mark.parametrize("gated", [False, True])
@torch.no_grad()
def test_every_row_of_weights_sums_to_one(
    nodes: Tensor, extra: Tensor, gate: Tensor, normalizer: Normalizer, gated: bool
) -> None:
    _, weight = block(normalizer)(nodes, extra, gate if gated else None, with_routes=True)
    torch.testing.assert_close(weight.sum(dim=-1), torch.ones(GROUPS, HEADS, NODES))
    assert float(weight.min()) >= 0.0


@pytest.mark.parametrize("normalizer", ["softmax", "entmax"])
@torch.no_grad()
def test_a_closed_gate_weighs_exactly_zero(nodes: Tensor, extra: Tensor, gate: Tensor, normalizer: Normalizer) -> None:
    _, weight = block(normalizer)(nodes, extra, gate, with_routes=True)
    closed = gate == 0
    assert bool(closed.any())
    assert torch.equal(weight[..., closed], torch.zeros_like(weight[..., closed]))


@pytest.mark.parametrize("normalizer", ["softmax", "entmax"])
@torch.no_grad()
def test_what_happens_at_a_closed_source_does_not_reach_the_target(nodes: Tensor, normalizer: Normalizer) -> None:
    passing = block(normalizer)
    gate = torch.ones(NODES, NODES)
    gate[0, 3] = 0.0
    changed = nodes.clone()
    changed[:, 3] += 5.0
    before, after = passing(nodes, None, gate)[0], passing(changed, None, gate)[0]
    assert torch.equal(before[:, 0], after[:, 0])
    # the others may listen to it: else the test above would say nothing
    assert float((before[:, 1] - after[:, 1]).abs().max()) > 1e-3


@torch.no_grad()
def test_extra_sources_are_heard_and_receive_nothing(nodes: Tensor, extra: Tensor) -> None:
    passing = block()
    message, weight = passing(nodes, extra, with_routes=True)
    assert message.shape == nodes.shape
    assert weight.shape == (GROUPS, HEADS, NODES, NODES + EXTRA)
    assert float((message - passing(nodes, extra + 1.0)[0]).abs().max()) > 1e-3


@torch.no_grad()
def test_entmax_makes_exact_zeros_and_agrees_with_bisection(nodes: Tensor) -> None:
    passing = block("entmax")
    spread = nodes * 6.0
    _, weight = passing(spread, with_routes=True)
    assert int((weight == 0).sum()) > 0
    query, key = passing._split(passing.query(spread)), passing._split(passing.key_value(spread).chunk(2, dim=-1)[0])
    score = query @ key.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
    torch.testing.assert_close(weight, entmax_bisect(score, alpha=1.5, dim=-1), atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_softmax_leaves_no_route_at_zero(nodes: Tensor) -> None:
    _, weight = block()(nodes, with_routes=True)
    assert float(weight.min()) > 0.0


@torch.no_grad()
def test_permuting_the_nodes_permutes_the_messages(nodes: Tensor) -> None:
    passing = block()
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(passing(nodes[:, order])[0], passing(nodes)[0][:, order])


def test_dropout_acts_in_training_only_and_not_on_the_routes(nodes: Tensor) -> None:
    passing = block(dropout=0.5)
    _, in_training = passing(nodes, with_routes=True)
    first, second = passing(nodes, with_routes=True)[0], passing(nodes, with_routes=True)[0]
    assert not torch.equal(first, second)
    passing.eval()
    message, in_evaluation = passing(nodes, with_routes=True)
    assert torch.equal(in_training, in_evaluation)
    torch.testing.assert_close(message, passing(nodes)[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize(("width", "heads"), [(8, 3), (8, 0)])
def test_heads_that_do_not_fit_the_width_are_refused(width: int, heads: int) -> None:
    with pytest.raises(ValueError, match="head"):
        MessagePassing(width, heads)


def test_the_gradient_through_half_open_gates_is_that_of_finite_differences() -> None:
    torch.manual_seed(0)
    score = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    gate = torch.rand(3, 4, dtype=torch.float64).add(0.05).requires_grad_()
    assert torch.autograd.gradcheck(lambda s, z: torch.softmax(s + log_gate(z), dim=-1), (score, gate))


def test_closed_gates_have_exact_zero_weights_and_gradients() -> None:
    gate = torch.tensor([[1.0, 0.0, 0.3], [0.0, 1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    score = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.softmax(score + log_gate(gate), dim=-1)
    weight.square().sum().backward()
    assert torch.equal(weight[gate == 0], torch.zeros(3, dtype=torch.float64))
    assert gate.grad is not None and score.grad is not None
    assert bool(torch.isfinite(gate.grad).all()) and bool(torch.isfinite(score.grad).all())
    assert torch.equal(gate.grad[gate == 0], torch.zeros(3, dtype=torch.float64))
    assert float(gate.grad[0, 2].abs()) > 0.0


@pytest.mark.parametrize("normalizer", ["softmax", "entmax"])
@pytest.mark.parametrize("with_routes", [False, True])
def test_all_gradients_are_finite_where_gates_are_closed(
    nodes: Tensor, extra: Tensor, gate: Tensor, normalizer: Normalizer, with_routes: bool
) -> None:
    passing = block(normalizer)
    x, z = nodes.clone().requires_grad_(), gate.clone().requires_grad_()
    message, _ = passing(x, extra, z, with_routes=with_routes)
    message.square().sum().backward()
    for tensor in (x, z, *passing.parameters()):
        assert tensor.grad is not None and bool(torch.isfinite(tensor.grad).all())
    assert z.grad is not None
    assert torch.equal(z.grad[gate == 0], torch.zeros(int((gate == 0).sum())))


def test_both_paths_have_the_same_gradients(nodes: Tensor, extra: Tensor, gate: Tensor) -> None:
    passing = block()
    gradients = []
    for with_routes in (False, True):
        x, z = nodes.clone().requires_grad_(), gate.clone().requires_grad_()
        passing(x, extra, z, with_routes=with_routes)[0].square().sum().backward()
        gradients.append((x.grad, z.grad))
    for fused, spelled in zip(*gradients, strict=True):
        torch.testing.assert_close(fused, spelled, atol=1e-5, rtol=1e-4)
