"""Sparse message passing regularizers: their ends, their slow forms and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from attentionmixer.errors import ConfigError
from attentionmixer.nn.gates import RouteGates
from attentionmixer.nn.regularizers import (
    SparseRegularizer,
    distance_prior,
    entropy,
    l1,
    prior_divergence,
    tsallis,
)
from attentionmixer.nn.routes import Routes

ON_ROWS = {"entropy": entropy, "tsallis": tsallis}
UNIFORM = torch.full((3, 5), 0.2)
ONE_HOT = torch.eye(5)[:3]


def random_rows(seed: int = 0, nodes: int = 5) -> Tensor:
    return torch.softmax(2 * torch.randn(2, 4, nodes, generator=torch.Generator().manual_seed(seed)), dim=-1)


@pytest.mark.parametrize("name", sorted(ON_ROWS))
def test_a_row_of_one_source_costs_nothing_and_a_uniform_row_one(name: str) -> None:
    assert float(ON_ROWS[name](ONE_HOT)) == 0.0
    assert float(ON_ROWS[name](UNIFORM)) == pytest.approx(1.0, abs=1e-6)
    assert float(ON_ROWS[name](torch.ones(3, 1))) == 0.0


@pytest.mark.parametrize("name", sorted(ON_ROWS))
def test_everything_between_costs_between_zero_and_one(name: str) -> None:
    for seed in range(20):
        assert 0.0 < float(ON_ROWS[name](random_rows(seed))) < 1.0


def slow_entropy(row: list[float]) -> float:
    return -sum(a * math.log(a) for a in row if a > 0) / math.log(len(row))


def slow_tsallis(row: list[float]) -> float:
    return (1 - sum(a * a for a in row)) * len(row) / (len(row) - 1)


@pytest.mark.parametrize(("fast", "slow"), [(entropy, slow_entropy), (tsallis, slow_tsallis)])
def test_the_fast_form_is_the_mean_of_the_slow_form_over_rows(
    fast: Callable[[Tensor], Tensor], slow: Callable[[list[float]], float]
) -> None:
    rows = random_rows()
    costs = [slow(row.tolist()) for row in rows.flatten(0, 1)]
    assert float(fast(rows)) == pytest.approx(sum(costs) / len(costs), rel=1e-5)


def test_entropy_is_one_minus_the_divergence_from_uniform() -> None:
    rows = random_rows()
    uniform = torch.full((4, 5), 0.2)
    assert float(entropy(rows)) == pytest.approx(1 - float(prior_divergence(rows, uniform)), rel=1e-5)


def test_prior_divergence_is_zero_at_the_prior_and_bounded() -> None:
    prior = torch.softmax(torch.randn(5, 5, generator=torch.Generator().manual_seed(1)), dim=-1)
    assert float(prior_divergence(prior.expand(2, 3, 5, 5), prior)) == pytest.approx(0.0, abs=1e-6)
    far = torch.eye(5).roll(1, dims=1)
    assert float(prior_divergence(far, torch.eye(5))) == 1.0
    assert float(prior_divergence(torch.ones(2, 1), torch.ones(2, 1))) == 0.0


def test_prior_divergence_is_the_mean_of_a_loop() -> None:
    rows = random_rows(3)[:, :4]
    prior = torch.softmax(torch.randn(4, 5, generator=torch.Generator().manual_seed(1)), dim=-1)
    largest = -math.log(float(prior.min()))
    costs = [
        sum(a * math.log(a / p) for a, p in zip(row.tolist(), prior[i].tolist(), strict=True)) / largest
        for group in rows
        for i, row in enumerate(group)
    ]
    assert float(prior_divergence(rows, prior)) == pytest.approx(sum(costs) / len(costs), rel=1e-4)


def through_softmax(cost: Callable[[Tensor], Tensor]) -> Tensor:
    score = torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()
    cost(torch.softmax(score, dim=-1)).backward()
    assert score.grad is not None
    return score.grad


def test_literal_l1_has_no_gradient_through_softmax() -> None:
    """The negative control: rows that sum to one cannot be made sparse by their sum."""
    assert float(l1(random_rows())) == pytest.approx(1.0, abs=1e-6)
    assert float(through_softmax(l1).abs().max()) < 1e-7


@pytest.mark.parametrize("name", ["entropy", "tsallis", "prior"])
def test_the_others_have_a_gradient_through_softmax(name: str) -> None:
    prior = torch.softmax(torch.randn(4, 5, generator=torch.Generator().manual_seed(1)), dim=-1)
    cost = ON_ROWS.get(name, lambda rows: prior_divergence(rows, prior))
    assert float(through_softmax(cost).abs().max()) > 1e-3


@pytest.mark.parametrize("name", ["entropy", "tsallis", "prior"])
def test_the_gradient_is_that_of_finite_differences(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    score = torch.randn(2, 4, 5, dtype=torch.float64, generator=generator).requires_grad_()
    prior = torch.softmax(2 * torch.randn(4, 5, dtype=torch.float64, generator=generator), dim=-1)
    cost = ON_ROWS.get(name, lambda rows: prior_divergence(rows, prior))
    assert torch.autograd.gradcheck(lambda s: cost(torch.softmax(s, dim=-1)), (score,))


@pytest.mark.parametrize("name", ["entropy", "tsallis", "prior"])
def test_the_gradient_is_finite_where_routes_are_closed(name: str) -> None:
    score = torch.randn(4, 5, requires_grad=True)
    closed = torch.zeros(4, 5, dtype=torch.bool)
    closed[0, 1:] = True
    closed[2, 0] = True
    rows = torch.softmax(score.masked_fill(closed, float("-inf")), dim=-1)
    cost = ON_ROWS.get(name, lambda weight: prior_divergence(weight, torch.full((4, 5), 0.2)))
    cost(rows).backward()
    assert score.grad is not None and bool(torch.isfinite(score.grad).all())


def test_the_distance_prior_falls_with_great_circle_distance() -> None:
    # one degree of latitude is 2 pi 6371 / 360 = 111.195 km
    places = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 179.0], [0.0, -179.0]])
    prior = distance_prior(places, length_km=100.0)
    torch.testing.assert_close(prior.sum(dim=1), torch.ones(4))
    assert float(prior[0, 1] / prior[0, 0]) == pytest.approx(math.exp(-1.11195), rel=1e-4)
    # across the date line two degrees of longitude are near, not 358
    assert float(prior[2, 3] / prior[2, 2]) == pytest.approx(math.exp(-2.2239), rel=1e-3)


def steps(nodes: int = 4, sources: int = 4) -> list[Routes]:
    generator = torch.Generator().manual_seed(0)

    def rows(*shape: int) -> Tensor:
        return torch.softmax(torch.randn(*shape, generator=generator), dim=-1)

    return [
        Routes(rows(2, 3, 2, nodes, sources), "spatial", 1),
        Routes(rows(2, nodes, 2, 3, 3), "temporal", 1),
        Routes(rows(2, 3, 2, nodes, sources), "spatial", 2),
    ]


def test_the_penalty_is_the_weighted_mean_over_rounds() -> None:
    routes = steps()
    spatial = [float(entropy(step.rows)) for step in routes if step.axis == "spatial"]
    temporal = float(entropy(routes[1].rows))
    alone = SparseRegularizer("entropy", spatial=1.0, temporal=0.0)
    assert float(alone(routes, [])) == pytest.approx(sum(spatial) / 2, rel=1e-6)
    both = SparseRegularizer("entropy", spatial=1.0, temporal=0.5)
    assert float(both(routes, [])) == pytest.approx((sum(spatial) + 0.5 * temporal) / 3, rel=1e-6)


def test_the_gate_penalty_is_the_expected_share_of_open_gates_times_its_weight() -> None:
    gates = RouteGates(3, 4, initial=0.3)
    expected = float(gates.expected_open().detach())
    assert float(SparseRegularizer("gates")([], [gates])) == pytest.approx(expected)
    assert float(SparseRegularizer("gates", spatial=0.5)([], [gates])) == pytest.approx(expected / 2)


@pytest.mark.parametrize("name", ["none", "entmax"])
def test_names_without_a_penalty_cost_nothing(name: str) -> None:
    regularizer = SparseRegularizer(name, temporal=1.0)  # type: ignore[arg-type]
    assert not regularizer.needs_routes
    assert float(regularizer(steps(), [RouteGates(3, 3)])) == 0.0


@pytest.mark.parametrize(("name", "needs"), [("entropy", True), ("prior", True), ("gates", False)])
def test_routes_are_asked_for_only_where_rows_are_needed(name: str, needs: bool) -> None:
    prior = torch.full((4, 4), 0.25)
    assert SparseRegularizer(name, prior=prior).needs_routes is needs  # type: ignore[arg-type]


def test_the_prior_leaves_room_for_sources_without_a_place() -> None:
    routes = [step for step in steps(sources=6) if step.axis == "spatial"]
    penalty = SparseRegularizer("prior", prior=torch.full((4, 4), 0.25))(routes, [])
    assert 0.0 < float(penalty) < 1.0


def test_unknown_names_and_a_missing_prior_are_refused() -> None:
    with pytest.raises(ConfigError, match="'sparse'"):
        SparseRegularizer("sparse")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="coordinates"):
        SparseRegularizer("prior")


def test_the_prior_pulls_on_even_rows_of_stations_far_apart() -> None:
    prior = distance_prior(torch.tensor([[52.0, 20.0], [52.5, 20.0], [53.0, 20.0], [53.5, 20.0]]), 5.0)
    score = torch.zeros(1, 1, 1, 4, 4, requires_grad=True)
    prior_divergence(torch.softmax(score, dim=-1), prior).backward()
    assert score.grad is not None
    assert float(score.grad.abs().max()) > 1e-3
