"""Patches: they cover the window once, grow as said, and embed values and masks."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attentionmixer.nn.patching import PatchEmbedding, patch_sizes


@given(lookback=st.integers(1, 3000), patch=st.integers(1, 200), growing=st.booleans())
def test_patches_cover_the_window_exactly(lookback: int, patch: int, growing: bool) -> None:
    sizes = patch_sizes(lookback, patch, growing)
    assert sum(sizes) == lookback
    assert min(sizes) >= 1
    newest_first = sizes[::-1]
    for number, size in enumerate(newest_first):
        full = patch * 2 ** max(0, number - 1) if growing else patch
        # only the oldest patch may be cut
        assert size == full or (number == len(sizes) - 1 and size < full)


def test_growing_patches_double_going_back() -> None:
    assert patch_sizes(96, 6, True) == (48, 24, 12, 6, 6)
    assert patch_sizes(100, 6, True) == (4, 48, 24, 12, 6, 6)


def test_equal_patches_are_equal_but_the_oldest() -> None:
    assert patch_sizes(14, 4, False) == (2, 4, 4, 4)


def test_a_patch_longer_than_the_window_is_the_window() -> None:
    assert patch_sizes(5, 24, True) == (5,)


@pytest.mark.parametrize(("lookback", "patch"), [(5, 0), (5, -1), (0, 3)])
def test_patches_without_length_are_refused(lookback: int, patch: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        patch_sizes(lookback, patch, True)


@pytest.mark.parametrize("growing", [False, True])
@pytest.mark.parametrize("lookback", [1, 5, 13, 15, 96])
@torch.no_grad()
def test_each_token_is_a_linear_map_of_its_stretch(lookback: int, growing: bool) -> None:
    torch.manual_seed(0)
    embed = PatchEmbedding(lookback, 4, 8, growing)
    z, mask = torch.randn(2, lookback, 3), torch.rand(2, lookback, 3) > 0.3
    tokens = embed(z, mask)
    assert tokens.shape == (2, 3, len(embed.sizes), 8)
    maps = [linear for (_, count), linear in zip(embed.groups, embed.maps, strict=True) for _ in range(count)]
    first = 0
    for p, size in enumerate(embed.sizes):
        for b in range(2):
            for n in range(3):
                pairs = [v for t in range(first, first + size) for v in (float(z[b, t, n]), float(mask[b, t, n]))]
                torch.testing.assert_close(tokens[b, n, p], maps[p](torch.tensor(pairs)), atol=1e-5, rtol=1e-5)
        first += size


@pytest.mark.parametrize("lookback", [1, 5, 13, 96])
def test_ages_count_back_from_the_first_forecast_step_without_a_hole(lookback: int) -> None:
    ages = PatchEmbedding(lookback, 4, 8, True).ages()
    covered = [age for oldest, newest in ages for age in range(oldest, newest - 1, -1)]
    assert covered == list(range(lookback, 0, -1))
