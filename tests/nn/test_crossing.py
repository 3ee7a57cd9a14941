"""The linear path across variates: a loop over its formula, its gates, and its start in closed form."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from attentionmixer.nn.crossing import CrossVariateLinear, crossing_size, fit_crossing
from attentionmixer.nn.edges import open_edges
from attentionmixer.nn.normalization import MaskedInstanceNorm

LEVEL = torch.tensor([[[0.5, -1.0, 2.0]]]).expand(2, -1, -1)
Batches = Callable[[], list[tuple[Tensor, Tensor, Tensor, Tensor]]]


def random_path(variates: int = 3, lags: int = 2, horizon: int = 4, rank: int = 2) -> CrossVariateLinear:
    torch.manual_seed(0)
    path = CrossVariateLinear(variates, lags, horizon, rank)
    nn.init.normal_(path.coefficient)
    nn.init.normal_(path.profile)
    return path


@torch.no_grad()
def test_the_correction_is_that_of_a_loop() -> None:
    path = random_path()
    x, level, gate = torch.randn(2, 5, 3), torch.randn(2, 1, 3), torch.rand(3, 4)
    seen = torch.cat([x[:, -2:], level], dim=1)
    expected = torch.zeros(2, 3, 4)
    for b in range(2):
        for i in range(3):
            for h in range(4):
                for j in range(3):
                    for lag in range(3):
                        for r in range(2):
                            weight = path.coefficient[i, j, lag, r] * path.profile[r, h] * gate[i, j]
                            expected[b, i, h] += weight * seen[b, lag, j]
    torch.testing.assert_close(path(x, level, gate), expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_the_path_starts_at_zero() -> None:
    path = CrossVariateLinear(3, 2, 4)
    assert torch.equal(path(torch.randn(2, 6, 3), torch.randn(2, 1, 3)), torch.zeros(2, 3, 4))
    assert torch.equal(path.strength(), torch.zeros(3, 3))


def test_the_path_can_leave_zero() -> None:
    path = CrossVariateLinear(3, 2, 4)
    path(torch.randn(2, 6, 3), torch.randn(2, 1, 3)).sum().backward()
    assert path.coefficient.grad is not None and float(path.coefficient.grad.abs().max()) > 0.0


@torch.no_grad()
def test_a_closed_gate_stops_the_path_and_its_strength() -> None:
    path = random_path()
    gate = torch.ones(3, 3)
    gate[0, 2] = 0.0
    x = torch.randn(2, 5, 3)
    changed = x.clone()
    changed[..., 2] += 4.0
    before, after = path(x, LEVEL, gate), path(changed, LEVEL, gate)
    assert torch.equal(before[:, 0], after[:, 0])
    assert float((before[:, 1] - after[:, 1]).abs().max()) > 1e-3
    assert path.strength(gate)[0, 2] == 0.0
    assert torch.equal(path.strength(gate)[1], path.strength()[1])


@torch.no_grad()
def test_strength_is_the_root_mean_square_response_to_a_unit_step() -> None:
    path = random_path()
    gate = torch.rand(3, 3)
    strength = path.strength(gate)
    for j in range(3):
        squares = torch.zeros(3)
        for lag in range(3):
            unit = torch.zeros(1, 3, 3)
            unit[0, lag, j] = 1.0
            squares += path(unit[:, :2], unit[:, 2:], gate)[0].square().sum(dim=-1)
        torch.testing.assert_close(strength[:, j], (squares / (3 * 4)).sqrt())


@torch.no_grad()
def test_full_coefficients_of_low_rank_are_taken_over_exactly() -> None:
    torch.manual_seed(1)
    full = torch.einsum("ijlr,rh->ijlh", torch.randn(3, 3, 3, 2), torch.randn(2, 6))
    path = CrossVariateLinear(3, 2, 6, rank=2)
    path.set_full(full.permute(1, 2, 0, 3).flatten(0, 1))
    torch.testing.assert_close(path.coefficient @ path.profile, full, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(path.profile @ path.profile.T, torch.eye(2), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_full_coefficients_of_higher_rank_get_their_best_approximation() -> None:
    torch.manual_seed(2)
    full = torch.randn(3, 3, 3, 6)
    path = CrossVariateLinear(3, 2, 6, rank=3)
    path.set_full(full.permute(1, 2, 0, 3).flatten(0, 1))
    error = float((path.coefficient @ path.profile - full).square().sum())
    # Eckart and Young: what is lost are the squared singular values left out
    singular = torch.linalg.svdvals(full.flatten(0, 2))
    assert error == pytest.approx(float(singular[3:].square().sum()), rel=1e-3)


def test_a_rank_above_the_horizon_is_cut() -> None:
    assert CrossVariateLinear(2, 1, horizon=1, rank=4).profile.shape == (1, 1)


@torch.no_grad()
def test_known_channels_are_a_further_part_of_the_formula() -> None:
    torch.manual_seed(4)
    path = CrossVariateLinear(3, 2, 4, rank=2, known=2)
    assert path.response is not None and path.inputs == 3 * 3 + 2 * (2 + 4)
    for parameter in path.parameters():
        nn.init.normal_(parameter)
    x, gate, known = torch.randn(2, 5, 3), torch.rand(3, 5), torch.randn(2, 5 + 4, 2)
    expected = path(x, LEVEL, gate)
    for i in range(3):
        for c in range(2):
            for t in range(2 + 4):
                weight = path.response[i, c, t] @ path.profile * gate[i, 3 + c]
                expected[:, i] += weight * known[:, 5 - 2 + t, c, None]
    torch.testing.assert_close(path(x, LEVEL, gate, known), expected, atol=1e-5, rtol=1e-5)
    strength = path.strength(gate)
    assert strength.shape == (3, 5)
    unit = torch.zeros(1, 9, 2)
    unit[0, 5, 1] = 1.0  # one of the six steps it sees
    alone = path(torch.zeros(1, 5, 3), torch.zeros(1, 1, 3), gate, unit)[0].square().mean(dim=-1)
    assert bool((strength[:, 4].square() * 6 >= alone - 1e-6).all())


@torch.no_grad()
def test_the_closed_form_finds_what_a_known_channel_does() -> None:
    torch.manual_seed(6)
    rows = []
    for _ in range(4):
        x, known = torch.randn(60, 6, 2), torch.randn(60, 8, 1)
        y = torch.stack([0.9 * known[:, -1, 0], 0.0 * known[:, -1, 0]], dim=-1)
        y = torch.stack([torch.zeros_like(y), y], dim=1) + 0.05 * torch.randn(60, 2, 2)
        rows.append((x, torch.ones_like(x, dtype=torch.bool), y, torch.ones_like(y, dtype=torch.bool), known))
    path = CrossVariateLinear(2, 2, 2, known=1)
    norm = MaskedInstanceNorm(1e3)  # so wide that windows are only divided by a constant
    assert fit_crossing(path, zero_direct(horizon=2), norm, lambda: rows) is not None
    strength = path.strength()
    assert float(strength[0, 2]) > 5 * float(strength[1, 2]) and float(strength[0, 2]) > 5 * float(strength[0, 1])
    # the effect comes at the second step ahead, from the channel's last step
    effect = path.response[0, 0] @ path.profile  # type: ignore[index]
    assert int(effect.abs().argmax()) == effect.numel() - 1


@pytest.mark.parametrize("known", [0, 2])
@torch.no_grad()
def test_on_edges_the_path_says_the_same(known: int) -> None:
    torch.manual_seed(9)
    path = CrossVariateLinear(4, 2, 3, rank=2, known=known)
    for parameter in path.parameters():
        nn.init.normal_(parameter)
    gate = torch.where(torch.rand(4, 4 + known) < 0.5, torch.rand(4, 4 + known), 0.0)
    x, level = torch.randn(2, 5, 4), torch.randn(2, 1, 4)
    ahead = torch.randn(2, 8, known) if known else None
    dense = path(x, level, gate, ahead)
    torch.testing.assert_close(path(x, level, gate, ahead, open_edges(gate)), dense, atol=1e-5, rtol=1e-5)


def test_what_a_large_network_can_afford() -> None:
    assert crossing_size(27, 24, 24) == (24, 24)
    assert crossing_size(822, 24, 24) == (1, 11)
    assert crossing_size(5500, 24, 24) == (1, 1)


def coupled(batches: int, size: int = 40, cross: float = 0.9) -> Batches:
    """Windows in which the next value of variate 0 follows the last one of variate 1."""
    torch.manual_seed(3)
    rows = []
    for _ in range(batches):
        x = torch.randn(size, 6, 2)
        level = x.mean(dim=1)
        y = torch.stack([level[:, 0] + cross * (x[:, -1, 1] - level[:, 1]), level[:, 1]], dim=-1).unsqueeze(1)
        y = y + 0.05 * torch.randn_like(y)
        rows.append((x, torch.ones_like(x, dtype=torch.bool), y, torch.ones_like(y, dtype=torch.bool)))
    return lambda: rows


def returning(batches: int, size: int = 40) -> Batches:
    """Windows at a level of their own, after which the value is that of the long run, 0."""
    torch.manual_seed(7)
    rows = []
    for _ in range(batches):
        x = 2.0 * torch.randn(size, 1, 2) + 0.1 * torch.randn(size, 6, 2)
        y = 0.1 * torch.randn(size, 1, 2)
        rows.append((x, torch.ones_like(x, dtype=torch.bool), y, torch.ones_like(y, dtype=torch.bool)))
    return lambda: rows


def zero_direct(lookback: int = 6, horizon: int = 1) -> nn.Linear:
    direct = nn.Linear(lookback, horizon)
    nn.init.zeros_(direct.weight)
    nn.init.zeros_(direct.bias)
    return direct


@pytest.mark.parametrize("count", [1, 3, 10])
def test_the_closed_form_finds_the_route_there_is_however_the_windows_are_batched(count: int) -> None:
    path = CrossVariateLinear(2, 2, 1)
    assert fit_crossing(path, zero_direct(), MaskedInstanceNorm(1.0), coupled(count, size=400 // count)) is not None
    strength = path.strength().detach()
    assert float(strength[0, 1]) > 3 * float(strength[1, 0])
    assert float(strength[0, 1]) > 3 * float(strength[1, 1])


@pytest.mark.parametrize("levels", [False, True])
def test_the_closed_form_equals_ridge_regression_on_stacked_rows(levels: bool) -> None:
    batches = returning(4) if levels else coupled(4)
    path, norm, direct = CrossVariateLinear(2, 2, 1), MaskedInstanceNorm(1.0), zero_direct()
    nn.init.normal_(direct.weight, std=0.1)
    found = fit_crossing(path, direct, norm, batches)
    assert found is not None
    inputs, outputs = [], []
    for x, mask, y, _ in batches():
        for b in range(len(x)):
            z, statistics = norm(x[b : b + 1], mask[b : b + 1])
            target = ((y[b : b + 1] - statistics.mean) / statistics.scale)[0].T
            inputs.append(torch.cat([z[0, -2:], statistics.mean[0]] if levels else [z[0, -2:]]).T.flatten())
            outputs.append((target - direct(z[0].T)).flatten().detach())
    f, t = torch.stack(inputs).double(), torch.stack(outputs).double()
    eye = torch.eye(f.shape[1], dtype=torch.float64)
    solution = torch.linalg.solve(f.T @ f + found.alpha * len(f) * eye, f.T @ t)
    expected = torch.zeros(2, 2, 3, 1)
    expected[:, :, : 2 + levels] = solution.view(2, 2 + levels, 2, 1).permute(2, 0, 1, 3).float()
    torch.testing.assert_close(path.coefficient @ path.profile, expected, atol=1e-4, rtol=1e-3)


def test_a_level_that_drifts_away_later_is_not_leaned_on() -> None:
    """The past returned to its mean; later windows stay where they are, far from it."""
    path = CrossVariateLinear(2, 2, 1)
    assert fit_crossing(path, zero_direct(), MaskedInstanceNorm(1.0), returning(4)) is not None
    assert bool(path.coefficient[:, :, 2].abs().max() > 0.3)
    torch.manual_seed(8)
    level = 5.0 + torch.randn(40, 1, 2)
    x = level + 0.1 * torch.randn(40, 6, 2)
    later = [(x, torch.ones_like(x, dtype=torch.bool), level, torch.ones_like(level, dtype=torch.bool))]
    other = CrossVariateLinear(2, 2, 1)
    fit_crossing(other, zero_direct(), MaskedInstanceNorm(1.0), returning(4), lambda: later)
    assert bool((other.coefficient[:, :, 2] == 0).all())


def test_routes_that_mislead_later_windows_are_not_taken_up() -> None:
    one, other = CrossVariateLinear(2, 2, 1), CrossVariateLinear(2, 2, 1)
    norm = MaskedInstanceNorm(1.0)
    assert fit_crossing(one, zero_direct(), norm, coupled(4), coupled(2)) is not None
    assert fit_crossing(other, zero_direct(), norm, coupled(4), coupled(2, cross=-0.9)) is None
    assert bool((other.coefficient == 0).all())


def test_where_nothing_crosses_the_path_stays_at_zero() -> None:
    torch.manual_seed(5)
    rows = []
    for _ in range(5):
        x, y = torch.randn(8, 6, 2), torch.randn(8, 1, 2)
        rows.append((x, torch.ones_like(x, dtype=torch.bool), y, torch.zeros_like(y, dtype=torch.bool)))
    path = CrossVariateLinear(2, 2, 1)
    assert fit_crossing(path, zero_direct(), MaskedInstanceNorm(1.0), lambda: rows) is None
    assert torch.equal(path.coefficient, torch.zeros_like(path.coefficient))
