"""Typed access to metrics.json."""

from __future__ import annotations

import math

import pytest

from attentionmixer.errors import RunError
from attentionmixer.report.metrics import Metrics


def test_absent_null_and_not_finite_values_are_none() -> None:
    metrics = Metrics({"test": {"mse": math.nan, "mae": None, "per_horizon": {"mae": [1.0, None, math.inf]}}}, "m.json")
    assert metrics.number("test", "mse") is None
    assert metrics.number("test", "mae") is None
    assert metrics.number("validation", "mae") is None
    assert metrics.series("test", "per_horizon", "mae") == [1.0, None, None]
    assert metrics.series("test", "no", "such") == []
    assert metrics.keys("test", "per_tag") == []


@pytest.mark.parametrize(
    ("data", "place"),
    [({"test": {"mse": "low"}}, "test → mse"), ({"test": 3}, "test"), ({"test": {"mse": True}}, "test → mse")],
)
def test_a_value_of_another_kind_is_reported_with_file_and_place(data: dict[str, object], place: str) -> None:
    with pytest.raises(RunError, match=rf"m\.json: '{place}'"):
        Metrics(data, "m.json").number("test", "mse")


def test_skill_is_the_share_of_the_baselines_error_that_is_taken_away() -> None:
    part = {"mse": 2.0, "per_tag": {"a": {"mse_scaled": 4.0}}}
    data = {"test": {"mse": 0.5, "per_tag": {"a": {"mse_scaled": 5.0}}}, "baselines": {"persistence": {"test": part}}}
    metrics = Metrics(data, "m.json")
    assert metrics.skill("persistence") == pytest.approx(0.75)
    assert metrics.skill("persistence", tag="a") == pytest.approx(-0.25)


def test_skill_is_none_without_an_error_to_compare_with() -> None:
    metrics = Metrics({"test": {"mse": 0.5}, "baselines": {"persistence": {"mse": 0.0}}}, "m.json")
    assert metrics.skill("persistence") is None
    assert metrics.skill("linear") is None
    assert metrics.skill("linear", tag="a") is None


def test_the_baselines_own_error_is_used_where_it_has_no_parts() -> None:
    metrics = Metrics({"test": {"mse": 0.5}, "baselines": {"linear": {"mse": 1.0}}}, "m.json")
    assert metrics.skill("linear") == pytest.approx(0.5)
