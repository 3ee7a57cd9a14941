"""The reading of a season ago."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.models.base import Task
from attentionmixer.models.seasonal_naive import SeasonalNaive, SeasonalNaiveConfig


def forecast(values: list[float | None], season: int, horizon: int) -> list[float]:
    x = torch.tensor([[0.0 if v is None else v] for v in values]).unsqueeze(0)
    mask = torch.tensor([[v is not None] for v in values]).unsqueeze(0)
    model = SeasonalNaive(Task(1, len(values), horizon), SeasonalNaiveConfig(season))
    return model(x, mask)[0, :, 0, 0].tolist()


def test_the_last_season_is_repeated() -> None:
    assert forecast([1, 2, 3, 4, 5, 6, 7], 3, 7) == [5, 6, 7, 5, 6, 7, 5]


def test_a_gap_is_filled_from_the_season_before() -> None:
    assert forecast([1, 2, 3, 4, None, 6], 3, 3) == [4, 2, 6]


def test_a_part_of_a_season_counts_where_a_later_one_is_missing() -> None:
    assert forecast([9, 1, 2, 3, None, 5, None], 3, 3) == [1, 5, 3]


def test_where_no_season_has_the_phase_the_last_reading_stands_in() -> None:
    assert forecast([None, 2, 8, None, 4, 7], 3, 3) == [7, 4, 7]


def test_a_season_longer_than_the_window_is_persistence() -> None:
    assert forecast([1, 2, 3], 5, 4) == [3, 3, 1, 2]
    assert forecast([1, 2, 3], 100, 4) == [3, 3, 3, 3]


def test_a_season_below_one_step_is_refused() -> None:
    with pytest.raises(ValueError, match="season must be at least 1 step, not 0"):
        SeasonalNaiveConfig(0)
