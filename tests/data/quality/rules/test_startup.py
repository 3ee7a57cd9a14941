"""Start-up: transients that fade, told from rain, nights and releases."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize("first", [[280655, 77, 69], [400], [180, 150, 130], [1e6, 1e5, 1e4, 1e3, 300]])
def test_a_transient_at_the_begin_of_a_log_is_flagged(make_log, flagged, counter, first):
    values = counter(level=22.0, sensitivity=5.0)
    values[: len(first)] = first
    assert flagged(make_log({"A": values}, step="1min", quantity="count_rate"), "startup") == list(range(len(first)))


@pytest.mark.parametrize("first", [[180.0, 140.0], [20.0, 60.0]])
def test_a_transient_behind_a_gap_is_flagged_whether_it_comes_from_above_or_below(make_log, flagged, counter, first):
    values = counter()
    values[200:210] = np.nan
    values[210 : 210 + len(first)] = first
    assert flagged(make_log({"A": values}), "startup") == list(range(210, 210 + len(first)))


def test_a_single_lost_reading_is_no_power_cut(make_log, flagged, counter):
    values = counter()
    values[200], values[201] = np.nan, 180.0
    assert flagged(make_log({"A": values}), "startup") == []


def test_what_was_high_before_the_gap_and_after_it_is_no_transient(make_log, flagged, counter):
    values = counter()
    values[190:230] += 150 * 0.5 ** (np.arange(40) / 12)
    values[200:208] = np.nan
    assert flagged(make_log({"A": values}), "startup") == []


def test_a_slow_fall_over_the_morning_is_no_transient(make_log, flagged, counter):
    values = counter()
    values[200:230] = np.nan
    values[230:290] += 60 * (1 - np.arange(60) / 60)
    assert flagged(make_log({"A": values}), "startup") == []


def test_readings_that_grow_are_no_transient(make_log, flagged, counter):
    values = counter()
    values[200:230] = np.nan
    values[230:236] = 150, 190, 260, 340, 200, 130
    assert flagged(make_log({"A": values}), "startup") == []


def test_where_neighbours_are_high_too_nothing_is_wrong_with_the_instrument(make_log, flagged, counter):
    columns = {name: counter(seed=seed) for seed, name in enumerate("ABCDE")}
    columns["A"][200:212] = np.nan
    for values in columns.values():
        values[212:216] += np.array([90, 70, 50, 30])
    assert flagged(make_log(columns), "startup") == []


def test_a_process_that_starts_up_is_no_fault(make_log, flagged, counter):
    values = counter()
    values[:3] = 900, 500, 200
    assert flagged(make_log({"A": values}, quantity="temperature", unit="degC"), "startup") == []
