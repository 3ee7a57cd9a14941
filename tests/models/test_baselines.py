"""Persistence, the linear model and the published form."""

from __future__ import annotations

import torch

from attentionmixer import models
from attentionmixer.models import Task

LEVELS = (0.1, 0.5, 0.9)


def batches(series: torch.Tensor, lookback: int, horizon: int) -> list[tuple[torch.Tensor, ...]]:
    cut = series.unfold(0, lookback + horizon, 1).transpose(1, 2)
    x, y = cut[:, :lookback], cut[:, lookback:]
    return [(x, torch.ones_like(x, dtype=torch.bool), y, torch.ones_like(y, dtype=torch.bool))]


def test_persistence_repeats_the_last_observed_value() -> None:
    model = models.build("persistence", Task(3, 4, 2))
    x = torch.tensor([[[1.0, 5.0, 0.0], [2.0, 6.0, 0.0], [3.0, 0.0, 0.0], [4.0, 0.0, 0.0]]])
    mask = torch.tensor([[[True, True, False], [True, True, False], [True, False, False], [True, False, False]]])
    assert model(x, mask)[0, :, :, 0].tolist() == [[4.0, 6.0, 0.0], [4.0, 6.0, 0.0]]


def test_the_linear_model_finds_a_linear_rule() -> None:
    torch.manual_seed(0)
    # x(t) = 2 x(t−1) cos w − x(t−2): a sine needs no more than two steps
    time = torch.arange(300.0)
    series = torch.stack([torch.sin(0.3 * time + k) for k in range(3)], dim=1)
    data = batches(series, 12, 4)
    model = models.build("linear", Task(3, 12, 4, LEVELS))
    model.warm_start(lambda: data)
    model.finish(lambda: data)
    x, mask, y, _ = data[0]
    assert float((model(x, mask)[..., 0] - y).square().mean()) < 1e-2 * float(y.square().mean())
    assert bool((model(x, mask)[..., 1:].diff(dim=-1) >= 0).all())


def test_all_models_share_one_interface() -> None:
    x = torch.randn(2, 16, 5)
    mask = torch.ones_like(x, dtype=torch.bool)
    for name in models.names():
        model = models.build(name, Task(5, 16, 3, LEVELS)).eval()
        forecast, routes = model.forward_with_routes(x, mask)
        assert forecast.shape == (2, 3, 5, 4), name
        torch.testing.assert_close(forecast, model(x, mask), atol=1e-5, rtol=0)
        assert bool(routes) == (name in ("attentionmixer", "paper"))


def test_the_published_form_attends_to_tags_first_and_divides_by_its_own_power() -> None:
    torch.manual_seed(0)
    model = models.build("paper", Task(5, 16, 1, LEVELS)).eval()
    x = torch.randn(2, 16, 5)
    _, routes = model.forward_with_routes(x, torch.ones_like(x, dtype=torch.bool))
    assert [(r.axis, r.round, tuple(r.weight.shape)) for r in routes] == [
        ("spatial", 1, (2, 4, 5, 5)),
        ("temporal", 1, (2, 4, 16, 16)),
        ("temporal", 2, (2, 4, 16, 16)),
    ]
    unit = model.spatial[0]
    nodes = x.transpose(1, 2)
    q, k = (part(nodes).unflatten(-1, (4, 4)).transpose(1, 2) for part in (unit.query, unit.key))
    expected = torch.softmax(q @ k.transpose(-2, -1) / 4**0.2, dim=-1)
    torch.testing.assert_close(routes[0].weight, expected)


def test_the_published_form_can_share_queries_and_keys() -> None:
    shared = models.build("paper", Task(5, 16, 1), {"shared_query_key": True})
    apart = models.build("paper", Task(5, 16, 1))
    assert shared.parameter_count < apart.parameter_count
