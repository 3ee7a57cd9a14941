"""Paired comparison of two models over blocks of time and over seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from experiments.forecasting.compare import difference


def results(level: float, seeds: int = 3, groups: int = 60, noise: float = 0.0, seed: int = 0) -> list[Any]:
    """Squared errors that share their ups and downs over time with all other models."""
    generator = np.random.default_rng(seed)
    time = 1 + 0.8 * np.sin(np.arange(groups) / 5)
    found = []
    for _ in range(seeds):
        square = 10 * (level * time + noise * generator.normal(size=groups))
        found.append({"test": {"groups": [square.tolist(), square.tolist(), [10.0] * groups]}})
    return found


def test_a_small_but_steady_difference_is_found_though_time_moves_both() -> None:
    gap = difference(results(0.97), results(1.0))
    assert gap.mean == pytest.approx(-0.03)
    assert gap.low == pytest.approx(-0.03) and gap.high == pytest.approx(-0.03)
    assert gap.verdict == "better"
    assert difference(results(1.03), results(1.0)).verdict == "worse"


def test_noise_that_is_larger_than_the_difference_makes_a_tie() -> None:
    gap = difference(results(0.999, noise=0.3, seed=1), results(1.0, noise=0.3, seed=2))
    assert gap.low < 0 < gap.high and gap.verdict == "tie"


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    inside = 0
    for trial in range(100):
        gap = difference(results(1.0, 2, 48, 0.3, 2 * trial), results(1.0, 2, 48, 0.3, 2 * trial + 1), trial)
        inside += gap.low < 0 < gap.high
    assert 85 <= inside <= 100


def test_seeds_that_differ_widen_the_interval() -> None:
    steady = difference(results(0.97), results(1.0))
    mixed = difference([results(level, 1)[0] for level in (0.9, 1.0, 1.01)], results(1.0))
    assert mixed.high - mixed.low > 0.05 > steady.high - steady.low


def test_models_measured_on_other_windows_are_not_compared() -> None:
    with pytest.raises(ValueError, match="not measured on the same windows"):
        difference(results(1.0, groups=60), results(1.0, groups=61))
    other = results(1.0)
    for result in other:
        result["test"]["groups"][2][7] = 9.0
    with pytest.raises(ValueError, match="not measured on the same windows"):
        difference(results(1.0), other)
