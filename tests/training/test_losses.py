"""Huber and pinball over observed targets."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attentionmixer.training.losses import forecast_loss, huber, masked_mean, pinball

LEVELS = torch.tensor([0.1, 0.5, 0.9])


def sample() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(3, 2, 4, 4) * 2, torch.randn(3, 2, 4), torch.rand(3, 2, 4) > 0.3


def test_both_losses_equal_their_formulas_written_with_loops() -> None:
    output, target, mask = sample()
    curved, tilted = [], []
    for where in mask.nonzero().tolist():
        place = tuple(where)
        y = float(target[place])
        e = abs(y - float(output[place][0]))
        curved.append(0.5 * e * e if e <= 0.7 else 0.7 * (e - 0.35))
        for k, level in enumerate((0.1, 0.5, 0.9)):
            e = y - float(output[place][1 + k])
            tilted.append(level * e if e > 0 else (level - 1) * e)
    first, second = sum(curved) / len(curved), sum(tilted) / len(tilted)
    assert float(huber(output[..., 0], target, mask, 0.7)) == pytest.approx(first, rel=1e-5)
    assert float(pinball(output[..., 1:], target, mask, LEVELS)) == pytest.approx(second, rel=1e-5)
    assert float(forecast_loss(output, target, mask, LEVELS, 0.7)) == pytest.approx(first + second, rel=1e-5)


def test_what_is_not_observed_has_no_influence_and_no_gradient() -> None:
    output, target, mask = sample()
    output.requires_grad_()
    loss = forecast_loss(output, target, mask, LEVELS, 1.0)
    other = forecast_loss(output, torch.where(mask, target, 1e6), mask, LEVELS, 1.0)
    assert torch.equal(loss, other)
    (gradient,) = torch.autograd.grad(other, output)
    assert (gradient[~mask] == 0).all()
    assert (gradient[mask] != 0).any()


def test_nothing_observed_gives_0_and_not_a_division_by_0() -> None:
    output, target, mask = sample()
    assert float(forecast_loss(output, target, torch.zeros_like(mask), LEVELS, 1.0)) == 0.0
    assert float(masked_mean(torch.ones(3), torch.zeros(3, dtype=torch.bool))) == 0.0


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_the_pinball_loss_is_least_at_the_quantile(level: float) -> None:
    y = torch.randn(501, generator=torch.Generator().manual_seed(0), dtype=torch.float64) ** 3
    levels, mask = torch.tensor([level], dtype=torch.float64), torch.ones(501, 1, 1, dtype=torch.bool)
    grid = torch.linspace(-4, 4, 1601, dtype=torch.float64)
    costs = [float(pinball(q.expand(501, 1, 1, 1), y.view(-1, 1, 1), mask, levels)) for q in grid]
    best = float(grid[int(np.argmin(costs))])
    assert best == pytest.approx(float(torch.quantile(y, level)), abs=0.01)


def test_the_gradients_are_right_away_from_the_kinks() -> None:
    output, target, mask = (part.double() if part.is_floating_point() else part for part in sample())
    levels = LEVELS.double()
    distance = (target.unsqueeze(-1) - output).abs()
    assert distance.min() > 1e-4 and (distance[..., 0] - 0.7).abs().min() > 1e-4
    output.requires_grad_()
    assert torch.autograd.gradcheck(lambda o: forecast_loss(o, target, mask, levels, 0.7), (output,))


def test_without_levels_only_the_point_counts() -> None:
    output, target, mask = sample()
    assert torch.equal(
        forecast_loss(output[..., :1], target, mask, torch.tensor([]), 1.0), huber(output[..., 0], target, mask)
    )
