"""Blocks of windows drawn with replacement."""

from __future__ import annotations

import numpy as np
import pytest

from attentionmixer.interpret.bootstrap import block_draws


def test_each_draw_has_as_many_windows_in_whole_blocks() -> None:
    for rows in block_draws(41, 8, 50):
        assert len(rows) == 41 and rows.min() >= 0 and rows.max() < 41
        inner = np.diff(rows).reshape(-1)
        assert all((inner[start : start + 7] == 1).all() for start in range(0, 40, 8))


def test_draws_cover_all_windows_and_depend_on_the_seed_alone() -> None:
    one, same, other = (list(block_draws(20, 3, 30, seed)) for seed in (0, 0, 1))
    assert np.array_equal(one, same) and not np.array_equal(one, other)
    assert set(np.concatenate(one)) == set(range(20))


def test_the_interval_of_a_mean_of_dependent_numbers_is_wider_than_that_of_free_draws() -> None:
    generator = np.random.default_rng(0)
    steps = np.repeat(generator.normal(size=50), 8)
    spread = {block: np.std([steps[rows].mean() for rows in block_draws(len(steps), block, 500)]) for block in (1, 16)}
    assert spread[16] > 1.8 * spread[1]


@pytest.mark.parametrize(("windows", "block"), [(0, 1), (5, 0)])
def test_nothing_to_draw_is_refused(windows: int, block: int) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        list(block_draws(windows, block, 1))


def test_few_windows_get_short_blocks() -> None:
    assert all(len(rows) == 3 for rows in block_draws(3, 100, 5))
