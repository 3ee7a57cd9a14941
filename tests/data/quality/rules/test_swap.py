"""Swap: level and variance step at once."""

from __future__ import annotations

import numpy as np
import pytest


def swapped(counter, level: float, sensitivity: float) -> np.ndarray:
    return np.concatenate([counter(600, 0, 100.0, 6.0), counter(600, 1, level, sensitivity)])


@pytest.mark.parametrize(("level", "sensitivity"), [(130.0, 3.0), (130.0, 20.0), (70.0, 2.0), (75.0, 20.0)])
def test_a_new_detector_is_noted_where_it_begins(make_log, flagged, counter, level, sensitivity):
    found = flagged(make_log({"A": swapped(counter, level, sensitivity)}), "swap")
    assert len(found) == 1
    assert abs(found[0] - 600) <= 2


def test_a_detector_changed_during_an_outage_is_noted_behind_the_gap(make_log, flagged, counter):
    values = swapped(counter, 140.0, 20.0)
    values[560:600] = np.nan
    assert flagged(make_log({"A": values}), "swap") == [600]


def test_another_level_with_the_same_counter_is_no_swap(make_log, flagged, counter):
    # variance grows with the level, as counts do
    assert flagged(make_log({"A": swapped(counter, 140.0, 6.0)}), "swap") == []


def test_another_variance_at_the_same_level_is_no_swap(make_log, flagged, counter):
    assert flagged(make_log({"A": swapped(counter, 100.0, 2.0)}), "swap") == []


def test_a_slow_rise_is_no_swap(make_log, flagged, counter):
    values = np.concatenate([counter(600, 0), counter(600, 1, 100.0, 30.0)])
    values += np.interp(np.arange(1200), [500, 700], [0, 40])
    assert flagged(make_log({"A": values}), "swap") == []


def test_a_day_of_rain_is_no_swap(make_log, flagged, counter):
    values = counter(1500)
    values[600:660] += np.abs(np.random.default_rng(0).normal(50, 15, 60))
    assert flagged(make_log({"A": values}), "swap") == []


def test_a_step_of_the_whole_network_is_no_swap(make_log, flagged, counter):
    columns = {name: counter(1200, seed, sensitivity=6.0) for seed, name in enumerate("ABCDEF")}
    for seed, name in enumerate("ABCDEF"):
        columns[name][600:] = counter(600, 10 + seed, 140.0, 3.0)
    assert flagged(make_log(columns), "swap") == []


def test_a_process_that_changes_its_operating_point_had_no_detector_changed(make_log, flagged, counter):
    log = make_log({"A": swapped(counter, 140.0, 20.0)}, quantity="generic", unit=None)
    assert flagged(log, "swap") == []
