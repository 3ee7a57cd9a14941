"""Range and saturated."""

from __future__ import annotations

import numpy as np
import pytest

from attentionmixer.data.quality.rules import RangeRule, SaturatedRule


@pytest.mark.parametrize(
    ("quantity", "unit", "value"),
    [
        ("dose_rate", "nSv/h", -500.0),
        ("dose_rate", "nSv/h", 2e10),
        ("count_rate", "cpm", -1.0),
        ("temperature", "degC", -300.0),
        ("rain", "mm", -0.2),
        ("wind_speed", "m/s", 400.0),
    ],
)
def test_what_cannot_be_is_flagged(make_log, flagged, quantity, unit, value):
    assert flagged(make_log({"A": [1, 2, value, 2]}, quantity=quantity, unit=unit), "range") == [2]


def test_a_dose_rate_of_a_severe_accident_is_in_range(make_log, flagged):
    assert flagged(make_log({"A": [100, 1e6, 1e9, -3]}), "range") == []


def test_a_tag_of_unknown_quantity_has_no_limits(make_log, flagged):
    assert flagged(make_log({"A": [1, -1e30, 1e30]}, quantity="generic", unit=None), "range") == []


def test_declared_limits_come_first_by_tag_and_then_by_quantity_and_unit(make_log, flagged):
    log = make_log({"A": [100, 300, 600], "B": [100, 300, 600]})
    settings = RangeRule(limits={"A": (0, 200), "dose_rate [nSv/h]": (0, 500)})
    assert flagged(log, "range", range=settings) == [1, 2]
    assert flagged(log, "range", column=1, range=settings) == [2]


def clipped(counter, top: float) -> np.ndarray:
    values = counter()
    values[200:260] += 30_000 * np.sin(np.arange(60) / 60 * np.pi)
    return np.minimum(values, top)


def test_a_flat_top_is_flagged_where_the_signal_was_cut(make_log, flagged, counter):
    values = clipped(counter, 10_000.0)
    assert flagged(make_log({"A": values}), "saturated") == np.flatnonzero(values == 10_000).tolist()


def test_a_broad_maximum_is_not_saturated(make_log, flagged, counter):
    assert flagged(make_log({"A": clipped(counter, np.inf)}), "saturated") == []


def test_a_maximum_that_is_flat_by_rounding_is_not_saturated(make_log, flagged):
    values = np.round((100 + 140 * np.exp(-(((np.arange(500) - 200) / 8) ** 2))) / 10) * 10
    assert (values == values.max()).sum() >= 3
    assert flagged(make_log({"A": values}), "saturated") == []


def test_a_jump_to_a_constant_is_stuck_rather_than_saturated(make_log, flagged, counter):
    values = counter()
    values[300:400] = 7000.0
    assert flagged(make_log({"A": values}), "saturated") == []


def test_at_a_declared_top_every_reading_is_saturated(make_log, flagged):
    log = make_log({"A": [100, 9999, 10_000, 120]})
    assert flagged(log, "saturated", saturated=SaturatedRule(tops={"dose_rate [nSv/h]": 9999})) == [1, 2]


def test_an_open_valve_is_not_saturated(make_log, flagged):
    values = np.minimum(100, np.abs(np.random.default_rng(0).normal(60, 50, 500)))
    assert flagged(make_log({"valve": values}, quantity="generic", unit="%"), "saturated") == []
