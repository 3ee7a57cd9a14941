"""`RouteGates`: sampled, fixed, closed exactly, and their expected number against a count."""

from __future__ import annotations

import math

import pytest
import torch

from attentionmixer.nn.gates import RouteGates


def test_gates_lie_between_zero_and_one_and_the_own_route_is_open() -> None:
    torch.manual_seed(0)
    gates = RouteGates(3, 5, initial=-1.0)
    for z in (gates(), gates.eval()()):
        assert z.shape == (3, 5)
        assert float(z.min()) >= 0.0 and float(z.max()) <= 1.0
        assert torch.equal(z.diagonal(), torch.ones(3))


def test_training_samples_and_evaluation_does_not() -> None:
    torch.manual_seed(0)
    gates = RouteGates(4, 4)
    assert not torch.equal(gates(), gates())
    gates.eval()
    assert torch.equal(gates(), gates())


def test_the_fixed_gate_is_the_formula() -> None:
    gates = RouteGates(2, 2).eval()
    with torch.no_grad():
        gates.logit.copy_(torch.tensor([[0.0, 0.7], [-1.5, 0.0]]))
    z = gates()
    for (to, source), logit in {(0, 1): 0.7, (1, 0): -1.5}.items():
        stretched = 1.2 / (1.0 + math.exp(-logit)) - 0.1
        assert float(z[to, source]) == pytest.approx(min(1.0, max(0.0, stretched)), abs=1e-6)


def test_a_gate_can_close_and_open_exactly_in_evaluation() -> None:
    gates = RouteGates(2, 3).eval()
    edge = math.log((0.1 / 1.2) / (1 - 0.1 / 1.2))  # sigma(a) = -gamma / (zeta - gamma)
    with torch.no_grad():
        gates.logit.copy_(torch.tensor([[0.0, edge - 0.01, 9.0], [edge + 0.05, 0.0, -9.0]]))
    z = gates()
    assert z[0, 1].item() == 0.0 and z[1, 2].item() == 0.0
    assert z[0, 2].item() == 1.0
    assert 0.0 < z[1, 0].item() < 0.1
    assert float(gates.open_share()) == pytest.approx(2 / 4)


@pytest.mark.parametrize("logit", [-2.0, 0.0, 2.0])
def test_the_expected_share_of_open_gates_is_the_share_counted(logit: float) -> None:
    torch.manual_seed(0)
    gates = RouteGates(3, 4, initial=logit)
    own = torch.eye(3, 4, dtype=torch.bool)
    draws = 4000
    with torch.no_grad():
        counted = sum(float((gates()[~own] > 0).float().mean()) for _ in range(draws)) / draws
        expected = float(gates.expected_open())
    # five standard errors of a share over draws × 9 gates
    assert counted == pytest.approx(expected, abs=5 * math.sqrt(0.25 / (draws * 9)))


def test_the_penalty_pulls_every_logit_but_the_own_ones_down() -> None:
    gates = RouteGates(3, 4)
    gates.expected_open().backward()
    assert gates.logit.grad is not None
    own = torch.eye(3, 4, dtype=torch.bool)
    assert bool((gates.logit.grad[~own] > 0).all())
    assert torch.equal(gates.logit.grad[own], torch.zeros(3))


def test_a_sampled_gate_that_is_neither_open_nor_closed_moves_its_logit() -> None:
    torch.manual_seed(0)
    gates = RouteGates(6, 6, initial=0.0)
    z = gates()
    z.sum().backward()
    assert gates.logit.grad is not None
    between = (z > 0) & (z < 1)
    assert bool(between.any())
    assert bool((gates.logit.grad[between] > 0).all())
    assert torch.equal(gates.logit.grad[~between], torch.zeros(int((~between).sum())))


def test_one_node_alone_has_nothing_to_close() -> None:
    gates = RouteGates(1, 1)
    assert float(gates.expected_open()) == 0.0
    assert float(gates.open_share()) == 1.0
    assert torch.equal(gates(), torch.ones(1, 1))


def test_only_the_logit_is_saved() -> None:
    assert set(RouteGates(2, 3).state_dict()) == {"logit"}
