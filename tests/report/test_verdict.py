"""The verdict says no more than was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.report.metrics import Metrics
from attentionmixer.report.run import load_run
from attentionmixer.report.verdict import Verdict, judge


def verdict(run_dir: Path, mse: float | None, covered: float | None, linear: float | None = 1.0) -> Verdict:
    data: dict[str, Any] = {
        "test": {"mse": mse},
        "baselines": {"persistence": {"test": {"mse": 1.0}}, "linear": {"test": {"mse": linear}}},
        "coverage": {"0.9": covered},
    }
    return judge(replace(load_run(run_dir), metrics=Metrics(data, "metrics.json")))


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_a_better_model_is_called_better_by_its_skill(run_dir: Path) -> None:
    result = verdict(run_dir, 0.59, 0.89)
    assert result.level == "good"
    assert plain(result.headline) == (
        "Forecasts are 41 % better than repeating the last value and 41 % better than a linear model; "
        "90 % intervals covered 89 % of the readings, close to what they promise."
    )


def test_a_worse_model_is_called_worse(run_dir: Path) -> None:
    result = verdict(run_dir, 1.2, 0.9)
    assert result.level == "poor"
    assert "20 % worse than repeating the last value" in plain(result.headline)


def test_a_model_that_beats_one_baseline_only_is_mixed(run_dir: Path) -> None:
    result = verdict(run_dir, 0.9, 0.9, linear=0.5)
    assert result.level == "mixed"
    assert "10 % better than repeating the last value and 80 % worse than a linear model" in plain(result.headline)


def test_a_tie_is_called_no_better(run_dir: Path) -> None:
    result = verdict(run_dir, 0.999, 0.9)
    assert result.level == "poor"
    assert "no better than repeating the last value" in result.headline


@pytest.mark.parametrize(
    ("covered", "words", "level"),
    [
        (0.5, ", too narrow", "mixed"),
        (0.86, ", a little too narrow", "good"),
        (0.95, ", a little wider than they need be", "good"),
        (None, "was not measured", "mixed"),
    ],
)
def test_intervals_that_hold_too_little_or_too_much_are_told(
    run_dir: Path, covered: float | None, words: str, level: str
) -> None:
    result = verdict(run_dir, 0.5, covered)
    assert words in result.headline
    assert result.level == level


def test_without_an_error_nothing_is_claimed(run_dir: Path) -> None:
    result = verdict(run_dir, None, None)
    assert result.level == "unknown"
    assert "no test error" in result.headline
    assert {value for _, value, _ in result.figures} == {"no data"}


def test_every_verdict_says_that_it_rests_on_one_run(run_dir: Path) -> None:
    assert any("one seed" in sentence for sentence in judge(load_run(run_dir)).details)
