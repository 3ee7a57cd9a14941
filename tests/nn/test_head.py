"""`QuantileHead`: ordered quantiles that do not pull on the point."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attentionmixer.nn.head import QuantileHead


def random_head(quantiles: int = 5) -> QuantileHead:
    torch.manual_seed(0)
    head = QuantileHead(6, 3, quantiles)
    for parameter in head.parameters():
        nn.init.normal_(parameter, std=3.0)
    return head


@torch.no_grad()
def test_distances_ascend_whatever_the_weights_and_features() -> None:
    point, spread = random_head()(10 * torch.randn(4, 2, 6))
    assert point.shape == (4, 2, 3)
    assert spread.shape == (4, 2, 3, 5)
    assert float(spread.diff(dim=-1).min()) >= 0.0


@torch.no_grad()
def test_the_head_starts_at_zero_with_one_scale_on_either_side() -> None:
    point, spread = QuantileHead(6, 3, 7)(torch.randn(4, 2, 6))
    assert torch.equal(point, torch.zeros(4, 2, 3))
    torch.testing.assert_close(spread[..., 0], torch.full((4, 2, 3), -1.0))
    torch.testing.assert_close(spread[..., -1], torch.full((4, 2, 3), 1.0))
    torch.testing.assert_close(spread.diff(dim=-1), torch.full((4, 2, 3, 6), 1 / 3))


def test_the_distances_send_no_gradient_to_the_features() -> None:
    head = random_head()
    features = torch.randn(4, 2, 6, requires_grad=True)
    _, spread = head(features)
    assert not torch.autograd.grad(spread.sum(), [features], retain_graph=True, allow_unused=True)[0]
    point, spread = head(features)
    (point.sum() + spread.square().sum()).backward()
    with_spread = features.grad.clone() if features.grad is not None else None
    features.grad = None
    head(features)[0].sum().backward()
    assert with_spread is not None and features.grad is not None
    assert torch.equal(with_spread, features.grad)
    assert head.spread is not None and head.spread.weight.grad is not None


@torch.no_grad()
@pytest.mark.parametrize("quantiles", [0, 1, 2])
def test_few_or_no_quantiles_are_possible(quantiles: int) -> None:
    point, spread = QuantileHead(6, 3, quantiles)(torch.randn(4, 2, 6))
    assert point.shape == (4, 2, 3)
    assert spread.shape == (4, 2, 3, quantiles)
    assert bool(torch.isfinite(spread).all())
