"""`Routes`."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from attentionmixer.nn.routes import Routes


def test_the_weight_is_the_mean_over_the_axis_without_messages() -> None:
    torch.manual_seed(0)
    rows = torch.softmax(torch.randn(2, 3, 4, 5, 6), dim=-1)
    weight = Routes(rows, "spatial", 1).weight
    assert weight.shape == (2, 4, 5, 6)
    expected = (rows[:, 0] + rows[:, 1] + rows[:, 2]) / 3
    torch.testing.assert_close(weight, expected)
    torch.testing.assert_close(weight.sum(dim=-1), torch.ones(2, 4, 5))


def test_a_route_removed_everywhere_stays_exactly_zero_in_the_mean() -> None:
    rows = torch.ones(2, 7, 1, 3, 3) / 2
    rows[..., 0, 2] = 0.0
    assert torch.equal(Routes(rows, "temporal", 2).weight[..., 0, 2], torch.zeros(2, 1))


def test_routes_cannot_be_relabelled() -> None:
    routes = Routes(torch.ones(1, 1, 1, 1, 1), "spatial", 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        routes.round = 2  # type: ignore[misc]
