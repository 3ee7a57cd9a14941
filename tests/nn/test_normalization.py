"""`MaskedInstanceNorm` against numpy on the observed steps."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from attentionmixer.nn.normalization import MaskedInstanceNorm


@pytest.fixture
def window() -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    x = 3.0 * torch.randn(2, 9, 4) + 5.0
    mask = torch.rand(2, 9, 4) > 0.3
    mask[1, :, 2] = False
    return x, mask


def test_statistics_are_those_of_the_observed_steps(window: tuple[Tensor, Tensor]) -> None:
    x, mask = window
    z, (mean, scale) = MaskedInstanceNorm(0.25)(x, mask)
    for b in range(2):
        for n in range(4):
            seen = x[b, :, n][mask[b, :, n]].double().numpy()
            expected_mean = seen.mean() if seen.size else 0.0
            expected_scale = np.sqrt((seen.var() if seen.size else 0.0) + 0.25)
            assert float(mean[b, 0, n]) == pytest.approx(expected_mean, rel=1e-5)
            assert float(scale[b, 0, n]) == pytest.approx(expected_scale, rel=1e-5)
            np.testing.assert_allclose(
                z[b, :, n][mask[b, :, n]], (seen - expected_mean) / expected_scale, rtol=1e-4, atol=1e-5
            )


def test_missing_steps_come_out_as_zero_and_have_no_influence(window: tuple[Tensor, Tensor]) -> None:
    x, mask = window
    norm = MaskedInstanceNorm()
    z, statistics = norm(x, mask)
    assert torch.equal(z[~mask], torch.zeros(int((~mask).sum())))
    filled = torch.where(mask, x, 1234.5)
    again, same = norm(filled, mask)
    assert torch.equal(z, again)
    assert torch.equal(statistics.mean, same.mean) and torch.equal(statistics.scale, same.scale)


def test_the_inverse_brings_observed_steps_back(window: tuple[Tensor, Tensor]) -> None:
    x, mask = window
    norm = MaskedInstanceNorm()
    z, statistics = norm(x, mask)
    back = norm.inverse(z.unsqueeze(-1), statistics).squeeze(-1)
    torch.testing.assert_close(back[mask], x[mask], atol=1e-4, rtol=1e-5)


def test_a_stuck_variate_is_not_blown_up() -> None:
    x = torch.full((1, 8, 1), 100.0)
    z, statistics = MaskedInstanceNorm(0.01)(x, torch.ones(1, 8, 1, dtype=torch.bool))
    assert float(z.abs().max()) == 0.0
    assert float(statistics.scale) == pytest.approx(0.1)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan")])
def test_an_added_variance_that_is_not_above_zero_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="norm_epsilon"):
        MaskedInstanceNorm(epsilon)
