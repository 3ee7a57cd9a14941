"""Persistence."""

from __future__ import annotations

import torch

from attentionmixer.models.base import Task
from attentionmixer.models.persistence import Persistence


def test_it_repeats_the_last_observed_value() -> None:
    x = torch.tensor([[[1.0, 4.0, 7.0], [2.0, 5.0, 8.0], [3.0, 6.0, 9.0]]])
    mask = torch.tensor([[[True, True, False], [True, True, False], [True, False, False]]])
    point = Persistence(Task(3, 3, 2)).point(x, mask)
    assert point.tolist() == [[[3.0, 5.0, 0.0], [3.0, 5.0, 0.0]]]


def test_it_equals_a_backward_search_with_a_loop() -> None:
    torch.manual_seed(0)
    x, mask = torch.randn(6, 9, 4), torch.rand(6, 9, 4) > 0.7
    output = Persistence(Task(4, 9, 3))(x, mask)
    assert output.shape == (6, 3, 4, 1)
    for b in range(6):
        for n in range(4):
            last = 0.0
            for t in reversed(range(9)):
                if mask[b, t, n]:
                    last = float(x[b, t, n])
                    break
            assert output[b, :, n, 0].tolist() == [last] * 3


def test_its_intervals_are_the_quantiles_of_its_training_errors() -> None:
    model = Persistence(Task(1, 1, 1, (0.0, 0.5, 1.0)))
    x, y = torch.zeros(5, 1, 1), torch.tensor([-2.0, -1.0, 0.0, 1.0, 4.0]).view(5, 1, 1)
    model.finish(lambda: iter([(x, x < 1, y, y < 9)]))
    assert model(torch.full((1, 1, 1), 10.0), torch.ones(1, 1, 1, dtype=torch.bool)).flatten().tolist() == [
        10.0,
        8.0,
        10.0,
        14.0,
    ]
