"""Gradient boosted trees as a peer."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.models.base import Task

lightgbm = pytest.importorskip("lightgbm")

from experiments.forecasting.peers.lightgbm import LightGBM, LightGBMConfig  # noqa: E402


def batches(tags: int, known: bool = False) -> list[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)
    series = torch.randn(500, tags, generator=generator).cumsum(0) * 0.1
    ahead = torch.randn(500, 1, generator=generator)
    if known:
        series[:, 0] = series[:, 0] + 2 * (ahead[:, 0] > 0)
    parts = series.unfold(0, 12, 1).transpose(1, 2)
    seen = torch.rand(parts.shape, generator=generator) > 0.1
    given = parts * seen
    result = []
    for rows in torch.arange(len(parts)).split(100):
        batch = (given[rows, :10], seen[rows, :10], given[rows, 10:], seen[rows, 10:])
        result.append((*batch, ahead.unfold(0, 12, 1).transpose(1, 2)[rows]) if known else batch)
    return result


@pytest.mark.parametrize("tags", [2, 12])
def test_it_learns_from_lags_and_makes_no_nan_of_gaps(tags: int) -> None:
    model = LightGBM(Task(tags, 10, 2, (0.05, 0.95)), LightGBMConfig(rounds=20))
    given = batches(tags)
    model.finish(lambda: iter(given))
    x, mask, y, seen = given[0]
    mask = mask.clone()
    mask[0] = False
    output = model(x * mask, mask)
    assert output.shape == (100, 2, tags, 3) and torch.isfinite(output).all()
    error = ((output[1:, ..., 0] - y[1:]) * seen[1:]).square().sum() / seen[1:].sum()
    assert error < 0.1


def test_what_is_known_at_the_step_ahead_is_an_input() -> None:
    model = LightGBM(Task(1, 10, 2, known=1), LightGBMConfig(rounds=50))
    given = batches(1, known=True)
    model.finish(lambda: iter(given))
    x, mask, _, _, known = given[0]
    high, low = known.clone(), known.clone()
    high[:, 11], low[:, 11] = 1.0, -1.0
    step = model.point(x, mask, high) - model.point(x, mask, low)
    assert step[:, 0].abs().max() < 1e-6 and step[:, 1].mean() > 1
