"""The published form."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attentionmixer.models import Task, build
from attentionmixer.models.paper import AxisAttention, Paper, PaperConfig

LEVELS = (0.1, 0.9)


def make(**settings: Any) -> Paper:
    torch.manual_seed(0)
    config = PaperConfig(**{"width": 8, "heads": 2, "hidden": 6, **settings})
    return Paper(Task(5, 12, 3, LEVELS), config).eval()


@torch.no_grad()
def test_routes_have_the_shapes_of_tags_and_steps_and_do_not_change_the_forecast() -> None:
    model = make()
    x = torch.randn(4, 12, 5)
    output, routes = model.forward_with_routes(x, torch.ones_like(x, dtype=torch.bool))
    assert output.shape == (4, 3, 5, 3)
    torch.testing.assert_close(output, model(x, torch.ones_like(x, dtype=torch.bool)), rtol=0, atol=1e-6)
    assert [(r.axis, r.round, tuple(r.rows.shape)) for r in routes] == [
        ("spatial", 1, (4, 1, 2, 5, 5)),
        ("temporal", 1, (4, 1, 2, 12, 12)),
        ("temporal", 2, (4, 1, 2, 12, 12)),
    ]
    for part in routes:
        torch.testing.assert_close(part.rows.sum(-1), torch.ones(part.rows.shape[:-1]))


@pytest.mark.parametrize("power", [0.2, 0.5])
@torch.no_grad()
def test_scores_are_divided_by_the_head_width_to_the_given_power(power: float) -> None:
    torch.manual_seed(0)
    unit = AxisAttention(8, PaperConfig(heads=2, score_power=power)).double().eval()
    x = torch.randn(2, 3, 8, dtype=torch.float64)
    nodes, weight = unit(x)
    query, key, value = unit.query(x), unit.key(x), unit.value(x)
    message = torch.zeros_like(x)
    for b in range(2):
        for h in range(2):
            part = slice(4 * h, 4 * h + 4)
            for i in range(3):
                score = torch.stack([query[b, i, part] @ key[b, j, part] / 4**power for j in range(3)])
                expected = score.exp() / score.exp().sum()
                torch.testing.assert_close(weight[b, h, i], expected)
                message[b, i, part] = sum(expected[j] * value[b, j, part] for j in range(3))
    torch.testing.assert_close(nodes, unit.norm(x + message))


@torch.no_grad()
def test_a_shared_projection_makes_the_scores_symmetric() -> None:
    x = torch.randn(2, 3, 8)
    shared = AxisAttention(8, PaperConfig(heads=2, shared_query_key=True)).eval()
    assert shared.key is shared.query
    score = shared(x)[1].log()
    # a softmax row is known up to a constant: s_ij − s_ii − s_ji + s_jj is free of it
    own = score.diagonal(dim1=-2, dim2=-1)
    skew = (score - own.unsqueeze(-1)) - (score - own.unsqueeze(-1)).transpose(-1, -2)
    raw = shared.query(x).unflatten(-1, (2, 4)).transpose(1, 2)
    length = raw.square().sum(-1) / 4**0.2
    torch.testing.assert_close(skew, length.unsqueeze(-2) - length.unsqueeze(-1), rtol=1e-3, atol=1e-4)
    assert make(shared_query_key=True).parameter_count < make().parameter_count


@torch.no_grad()
def test_the_spread_is_measured_on_the_models_own_errors() -> None:
    model = make()
    torch.manual_seed(1)
    x, y = torch.randn(40, 12, 5), torch.randn(40, 3, 5)
    model.finish(lambda: iter([(x, x < 9, y, y < 9)]))
    output = model(x, x < 9)
    inside = (y >= output[..., 1]) & (y <= output[..., 2])
    assert 0.7 < float(inside.float().mean()) < 0.9


def test_heads_must_divide_the_look_back() -> None:
    with pytest.raises(Exception, match="13 features are not divisible by 4 heads"):
        build("attentionmixer-paper", Task(5, 13, 3))
