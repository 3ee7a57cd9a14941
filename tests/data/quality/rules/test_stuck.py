"""Stuck: runs that noise does not allow, and only those."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attentionmixer.data.quality.rules.stuck import StuckRule, longest_by_chance


def test_a_run_of_equal_readings_is_flagged_from_its_first_to_its_last(make_log, flagged, counter):
    values = counter()
    values[100:130] = values[100] + 0.05
    assert flagged(make_log({"A": values}), "stuck") == list(range(100, 130))


def test_a_gap_inside_a_run_does_not_part_it(make_log, flagged, counter):
    values = counter()
    values[100:108] = 101.3
    values[[102, 104, 105]] = np.nan
    # parted, its pieces of 2, 1 and 2 readings would be nothing
    assert flagged(make_log({"A": values}), "stuck", stuck=StuckRule(readings=5)) == [100, 101, 103, 106, 107]


def test_a_gap_with_another_value_behind_it_ends_a_run(make_log, flagged, counter):
    values = counter()
    values[100:104], values[104:106], values[106:110] = 101.3, np.nan, 101.4
    assert flagged(make_log({"A": values}), "stuck") == []


def test_a_run_at_the_begin_and_one_at_the_end_of_a_log_are_found(make_log, flagged, counter):
    values = counter()
    values[:12], values[-12:] = 99.1, 98.2
    assert flagged(make_log({"A": values}), "stuck") == [*range(12), *range(488, 500)]


@pytest.mark.parametrize("seed", range(5))
def test_a_dose_rate_rounded_to_10_nsvh_is_not_stuck_although_it_repeats_itself(make_log, flagged, seed):
    rng = np.random.default_rng(seed)
    slow = 100 + 6 * np.sin(np.arange(20_000) / 300) + rng.normal(0, 0.05, 20_000)
    rounded = np.round(slow / 10) * 10
    assert (np.diff(rounded) == 0).mean() > 0.95
    assert flagged(make_log({"A": rounded}), "stuck") == []


def test_a_dead_instrument_is_found_among_rounded_readings(make_log, flagged):
    rng = np.random.default_rng(1)
    rounded = np.round((100 + rng.normal(0, 6, 20_000)) / 10) * 10
    rounded[5000:5400] = 110
    found = flagged(make_log({"A": rounded}), "stuck")
    assert set(range(5000, 5400)) <= set(found)
    assert len(found) < 405


def test_counts_that_repeat_by_chance_are_not_stuck(make_log, flagged):
    counts = np.random.default_rng(2).poisson(1, 50_000).astype(float)
    lengths = np.diff(np.flatnonzero(np.diff(counts, prepend=-1, append=-1)))
    assert lengths.max() >= 7
    assert flagged(make_log({"A": counts}, quantity="count_rate"), "stuck") == []


def test_a_tag_that_never_changes_cannot_be_judged(make_log, flagged):
    assert flagged(make_log({"A": np.full(1000, 100.0)}), "stuck") == []


def test_a_process_may_stand_still_for_a_day_of_hours(make_log, flagged):
    values = np.random.default_rng(3).normal(0, 1, 1000)
    values[100:124] = 5.0
    log = make_log({"A": values}, step="1h", quantity="generic", unit=None)
    assert flagged(log, "stuck") == []
    values[500:560] = 4.0
    log = make_log({"A": values}, step="1h", quantity="generic", unit=None)
    assert flagged(log, "stuck") == list(range(500, 560))


def test_no_rain_for_weeks_is_a_state_and_no_fault(make_log, flagged):
    rain = np.zeros(5000)
    rain[np.random.default_rng(4).integers(0, 5000, 60)] = 0.4
    assert flagged(make_log({"rain": rain}, quantity="rain"), "stuck") == []


def test_no_rain_is_a_state_in_a_log_with_one_shower_too(make_log, flagged):
    rain = np.zeros(600)
    rain[300:320] = np.random.default_rng(4).gamma(2, 0.2, 20)
    assert flagged(make_log({"rain": rain}, quantity="rain"), "stuck") == []


@given(
    runs=st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40)), min_size=12, max_size=40),
    offset=st.integers(-1000, 1000),
)
def test_an_offset_does_not_change_stuck_runs(make_log, flagged, runs, offset):
    values = np.concatenate([np.full(length, float(value)) for value, length in runs])
    assert flagged(make_log({"A": values}), "stuck") == flagged(make_log({"A": values + offset}), "stuck")


@given(
    values=st.lists(st.sampled_from([1.0, 2.0, 3.0, float("nan")]), min_size=30, max_size=200),
    where=st.integers(0, 200),
)
def test_runs_agree_with_an_obvious_search(make_log, flagged, values, where):
    where = min(where, len(values))
    values = values[:where] + [4.0] * 8 + values[where:]
    runs: list[list[int]] = []
    for row, value in enumerate(values):
        if np.isnan(value):
            continue
        if runs and values[runs[-1][0]] == value:
            runs[-1].append(row)
        else:
            runs.append([row])
    limit = longest_by_chance(np.array([len(run) for run in runs]), 6, StuckRule())
    long = [run for run in runs if len(run) >= 6 and len(run) > limit and run[-1] - run[0] >= 6]
    expected = [row for run in long for row in run]
    assert flagged(make_log({"A": values}), "stuck") == expected


def test_the_limit_is_where_chance_makes_fewer_than_one_run_in_ten_thousand_logs():
    # half of all readings repeat the one before: runs of 1, 2, 3, … are geometric
    rng = np.random.default_rng(5)
    lengths = rng.geometric(0.5, 5000)
    limit = longest_by_chance(lengths, 6, StuckRule(patience=1.0))
    expected = 1 + np.log(1e-4 / lengths.sum()) / np.log(0.5)
    assert limit == pytest.approx(expected, rel=0.05)
