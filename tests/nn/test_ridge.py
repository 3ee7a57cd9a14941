"""Streaming ridge regression against the textbook on stacked rows."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attentionmixer.nn.ridge import ALPHAS, StreamingRidge, choose_alpha, early_and_late


def data(samples: int, noise: float = 0.1, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(samples, 4, generator=generator)
    weight = torch.tensor([[1.0, 0.0], [0.0, -2.0], [0.5, 0.5], [0.0, 0.0]])
    return x, x @ weight + noise * torch.randn(samples, 2, generator=generator)


def filled(x: Tensor, y: Tensor, size: int = 7) -> StreamingRidge:
    ridge = StreamingRidge(x.shape[1], y.shape[1])
    for rows, targets in zip(x.split(size), y.split(size), strict=True):
        ridge.add(rows, targets)
    return ridge


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_the_solution_is_least_squares_on_rows_stacked_with_the_penalty(alpha: float) -> None:
    x, y = data(50)
    stacked = torch.cat([x, (alpha * len(x)) ** 0.5 * torch.eye(4)]).double()
    target = torch.cat([y, torch.zeros(4, 2)]).double()
    expected = torch.linalg.lstsq(stacked, target).solution.float()
    torch.testing.assert_close(filled(x, y).solve(alpha), expected, atol=1e-5, rtol=1e-4)


def test_the_solution_does_not_depend_on_the_batches() -> None:
    x, y = data(50)
    torch.testing.assert_close(filled(x, y, 1).solve(0.1), filled(x, y, 50).solve(0.1), atol=1e-6, rtol=1e-5)


def test_merging_is_seeing_both_sets_of_samples() -> None:
    x, y = data(60)
    both = filled(x[:20], y[:20]).merge(filled(x[20:], y[20:]))
    assert both.samples == 60
    torch.testing.assert_close(both.solve(0.1), filled(x, y).solve(0.1), atol=1e-6, rtol=1e-5)


def test_gain_is_how_much_the_squared_error_falls() -> None:
    x, y = data(30)
    weight = torch.randn(4, 2)
    fallen = y.square().sum() - (y - x @ weight).square().sum()
    assert filled(x, y).gain(weight) == pytest.approx(float(fallen), rel=1e-4)


def test_without_samples_the_coefficients_are_zero() -> None:
    assert torch.equal(StreamingRidge(3, 2).solve(1.0), torch.zeros(3, 2))


def test_equal_inputs_do_not_break_the_solution() -> None:
    x = torch.ones(10, 3)
    assert bool(torch.isfinite(filled(x, torch.ones(10, 1)).solve(ALPHAS[0])).all())


def test_the_chosen_penalty_is_the_strongest_that_keeps_the_gain() -> None:
    early, late = filled(*data(200)), filled(*data(100, seed=1))
    alpha = choose_alpha(early, late)
    assert alpha is not None
    gains = {a: late.gain(early.solve(a)) for a in ALPHAS}
    best = max(gains.values())
    assert gains[alpha] >= 0.98 * best
    assert all(gains[a] < 0.98 * best for a in ALPHAS if a > alpha)


def test_no_penalty_is_chosen_where_the_past_says_nothing_of_the_future() -> None:
    x, y = data(100)
    assert choose_alpha(filled(x, y), filled(x, -y)) is None


@pytest.mark.parametrize("size", [1, 7, 50])
def test_the_later_share_is_the_last_windows_for_any_batch_size(size: int) -> None:
    x = torch.arange(50.0).unsqueeze(1)
    parts: dict[bool, list[Tensor]] = {False: [], True: []}
    for is_late, (rows, again) in early_and_late(lambda: zip(x.split(size), x.split(size), strict=True), 0.2):
        assert torch.equal(rows, again)
        parts[is_late].append(rows)
    assert torch.equal(torch.cat(parts[False]), x[:40])
    assert torch.equal(torch.cat(parts[True]), x[40:])
