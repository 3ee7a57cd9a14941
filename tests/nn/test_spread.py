"""`EmpiricalSpread`: quantiles of past errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from attentionmixer.nn.spread import EmpiricalSpread

LEVELS = (0.1, 0.5, 0.9)
Batch = tuple[Tensor, Tensor, Tensor, Tensor]


def zero(x: Tensor, mask: Tensor) -> Tensor:
    return torch.zeros(len(x), 2, 3)


def batches(windows: int, size: int, missing: float = 0.3) -> Iterator[Batch]:
    torch.manual_seed(0)
    y = torch.randn(windows, 2, 3) * torch.tensor([1.0, 2.0, 5.0])
    mask = torch.rand(windows, 2, 3) >= missing
    for part, seen in zip(y.split(size), mask.split(size), strict=True):
        yield torch.zeros(len(part), 4, 3), torch.ones(len(part), 4, 3, dtype=torch.bool), part, seen


@pytest.mark.parametrize("size", [1, 7, 200])
def test_offsets_are_the_quantiles_of_the_observed_errors(size: int) -> None:
    spread = EmpiricalSpread(2, 3, LEVELS)
    spread.fit(batches(200, size), zero)
    ((_, _, y, mask),) = batches(200, 200)
    for h in range(2):
        for n in range(3):
            expected = np.quantile(y[:, h, n][mask[:, h, n]].numpy(), LEVELS)
            np.testing.assert_allclose(spread.offset[h, n], expected, rtol=1e-4, atol=1e-5)


def test_the_point_comes_first_and_the_quantiles_around_it() -> None:
    spread = EmpiricalSpread(2, 3, LEVELS)
    spread.fit(batches(200, 50), zero)
    point = torch.randn(4, 2, 3, requires_grad=True)
    output = spread(point)
    assert output.shape == (4, 2, 3, 4)
    assert torch.equal(output[..., 0], point)
    torch.testing.assert_close(output[..., 1:], point.unsqueeze(-1).detach() + spread.offset)
    assert float(output[..., 1:].diff(dim=-1).min()) >= 0.0
    output[..., 1:].sum().backward()
    assert point.grad is not None and torch.equal(point.grad, torch.zeros_like(point))


def test_before_fitting_and_without_observations_the_offsets_are_zero() -> None:
    spread = EmpiricalSpread(2, 3, LEVELS)
    assert torch.equal(spread.offset, torch.zeros(2, 3, 3))
    spread.fit(batches(20, 5, missing=1.0), zero)
    assert torch.equal(spread.offset, torch.zeros(2, 3, 3))
    spread.fit(iter(()), zero)
    assert torch.equal(spread.offset, torch.zeros(2, 3, 3))


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_long_log_is_thinned_evenly_over_time(size: int) -> None:
    """1000 windows, the error of each its number: room for 100 windows keeps every sixteenth."""
    numbers = torch.arange(1000.0).view(-1, 1, 1)

    def numbered() -> Iterator[Batch]:
        for part in numbers.split(size):
            yield part, part > -1, part, part > -1

    spread = EmpiricalSpread(1, 1, (0.0, 0.5, 1.0))
    spread.fit(numbered(), lambda x, _: torch.zeros_like(x), sample=100)
    kept = np.arange(0, 1000, 16)
    np.testing.assert_allclose(spread.offset[0, 0], [0.0, np.median(kept), kept[-1]])


def test_without_levels_there_is_only_the_point() -> None:
    spread = EmpiricalSpread(2, 3, ())
    spread.fit(batches(20, 5), zero)
    assert spread(torch.zeros(4, 2, 3)).shape == (4, 2, 3, 1)
