"""The linear model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attentionmixer.models.base import Task
from attentionmixer.models.linear import Linear, LinearConfig, moving_average

Batch = tuple[Tensor, Tensor, Tensor, Tensor]


def sines(missing: bool = False) -> list[Batch]:
    """Sines of three tags: a linear map of the window forecasts them exactly."""
    t = torch.arange(200.0)
    series = torch.stack([torch.sin(t / 4), 3 + torch.sin(t / 4 + 1), 2 * torch.sin(t / 4 + 2)], dim=1)
    batches = []
    for part in series.unfold(0, 16, 1).transpose(1, 2).split(32):
        seen = torch.ones_like(part, dtype=torch.bool)
        if missing:
            seen[:, 13, 2] = False
        given = torch.where(seen, part, 50.0)
        batches.append((given[:, :12], seen[:, :12], given[:, 12:], seen[:, 12:]))
    return batches


def error(model: Linear, batches: list[Batch]) -> float:
    with torch.no_grad():
        wrong = [((model(x, m)[..., 0] - y)[s]).square() for x, m, y, s in batches]
    return float(torch.cat(wrong).mean())


def test_the_warm_start_solves_what_is_linear() -> None:
    model, batches = Linear(Task(3, 12, 4)), sines()
    before = error(model, batches)
    model.warm_start(lambda: iter(batches))
    assert error(model, batches) < 0.01 * before


def test_a_value_that_stands_in_for_a_missing_target_is_not_learned() -> None:
    model, batches = Linear(Task(3, 12, 4)), sines(missing=True)
    model.warm_start(lambda: iter(batches))
    assert error(model, batches) < 0.01


@torch.no_grad()
def test_all_variates_share_one_map_and_none_sees_another() -> None:
    model, x = Linear(Task(3, 12, 4, (0.1, 0.9))), torch.randn(2, 12, 3)
    mask = torch.ones_like(x, dtype=torch.bool)
    output = model(x, mask)
    assert output.shape == (2, 4, 3, 3)
    torch.testing.assert_close(model(x[..., [2, 0, 1]], mask), output[:, :, [2, 0, 1]])
    other = x.clone()
    other[..., 0] += torch.randn(2, 12)
    assert torch.equal(model(other, mask)[:, :, 1:], output[:, :, 1:])


@torch.no_grad()
def test_with_decomposition_it_starts_at_the_same_solution() -> None:
    plain, split = Linear(Task(3, 12, 4)), Linear(Task(3, 12, 4), LinearConfig(decomposition=True, kernel=5))
    for model in (plain, split):
        model.warm_start(lambda: iter(sines()))
    x, mask, *_ = sines()[0]
    torch.testing.assert_close(split(x, mask), plain(x, mask), rtol=1e-4, atol=1e-4)
    assert split.trend is not None
    split.trend.weight.zero_()
    assert not torch.allclose(split(x, mask), plain(x, mask), atol=0.1)


def test_the_moving_average_repeats_the_ends() -> None:
    window = torch.tensor([[[1.0, 2.0, 6.0, 9.0]]])
    torch.testing.assert_close(moving_average(window, 3), torch.tensor([[[4 / 3, 3.0, 17 / 3, 8.0]]]))


@pytest.mark.parametrize("kernel", [0, 4])
def test_a_moving_average_has_a_middle(kernel: int) -> None:
    with pytest.raises(ValueError, match=f"kernel must be an odd number of steps, not {kernel}"):
        LinearConfig(kernel=kernel)
