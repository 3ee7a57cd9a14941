"""Wrap and spike: single readings, told from rain, plumes and alarms that have just begun."""

from __future__ import annotations

import numpy as np
import pytest

from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.quality import Flag

# --- wrap ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [32016, 32767, 65535, 65200, 16777215, 4294967295, 2147483647, 99999, -65500])
def test_a_counter_fault_among_thirties_is_flagged(make_log, flagged, counter, fault):
    values = counter(level=30.0, sensitivity=1.0)
    values[200] = fault
    assert flagged(make_log({"A": values}, step="1min", quantity="count_rate"), "wrap") == [200]


def test_a_counter_fault_behind_a_missing_reading_is_flagged(make_log, flagged, counter):
    values = counter(level=30.0, sensitivity=1.0)
    values[199:202] = np.nan, 32016, np.nan
    assert flagged(make_log({"A": values}, step="1min", quantity="count_rate"), "wrap") == [200]


def test_a_full_register_in_the_newest_reading_is_flagged_and_a_high_reading_is_not(make_log, flagged, counter):
    for newest, rows in ((65535.0, [499]), (50_000.0, [])):
        values = counter(level=30.0, sensitivity=1.0)
        values[-1] = newest
        assert flagged(make_log({"A": values}, step="1min", quantity="count_rate"), "wrap") == rows


def test_a_very_high_dose_rate_that_lasts_is_no_counter_fault(make_log, flagged, counter):
    values = counter()
    values[200:203] = 30_000, 45_000, 28_000
    assert flagged(make_log({"A": values}), "wrap") == []


def test_a_process_tag_has_no_counter(make_log, flagged, counter):
    values = counter()
    values[200] = 65_535
    assert flagged(make_log({"A": values}, quantity="generic", unit=None), "wrap") == []


# --- spike -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [-70.0, 60.0, 500.0])
def test_one_reading_far_from_both_neighbours_is_flagged(make_log, flagged, counter, size):
    values = counter()
    values[200] += size
    assert flagged(make_log({"A": values}), "spike") == [200]


def test_noise_is_no_spike(make_log, flagged, counter):
    assert flagged(make_log({"A": counter(50_000)}), "spike") == []


def test_rain_that_comes_at_once_and_decays_is_no_spike(make_log, flagged, counter):
    values = counter()
    values[200:230] += 90 * 0.5 ** (np.arange(30) / 3)
    assert flagged(make_log({"A": values}), "spike") == []


@pytest.mark.parametrize(("step", "rows"), [("10min", [200]), ("1h", []), ("1D", [])])
def test_in_hourly_and_daily_means_a_shower_looks_like_a_spike_and_stays(make_log, flagged, counter, step, rows):
    values = counter()
    values[200] += 90
    assert flagged(make_log({"A": values}, step=step), "spike") == rows


def test_a_dry_day_between_two_wet_ones_is_no_spike(make_log, flagged, counter):
    values = counter()
    values[199], values[201] = 200.0, 198.0
    assert flagged(make_log({"A": values}, step="1D"), "spike") == []


def test_a_reading_that_a_neighbour_confirms_is_no_spike(make_log, flagged, counter):
    columns = {name: counter(seed=seed) for seed, name in enumerate("ABCD")}
    columns["A"][200] += 300
    assert flagged(make_log(columns), "spike") == [200]
    columns["C"][200:202] += 60
    assert flagged(make_log(columns), "spike") == []


def test_two_windows_of_one_detector_do_not_confirm_each_other(counter):
    from attentionmixer.data.quality import screen

    values = np.stack([counter(seed=0), counter(seed=1)], axis=1)
    values[200] += 300
    values[201, 1] += 300
    time = make_time(len(values))
    tags = [Tag("P1 low", "cpm", "count_rate", "P1"), Tag("P1 high", "cpm", "count_rate", "P1")]
    assert np.flatnonzero(screen(StationLog(values, time, tags)).flags[:, 0] & np.uint16(Flag.SPIKE)).tolist() == [200]


def make_time(rows: int):
    import pandas as pd

    return pd.date_range("2024-05-01", periods=rows, freq="10min", tz="UTC")


def test_a_process_may_pulse_but_not_leave_all_it_ever_was(make_log, flagged):
    values = np.random.default_rng(0).normal(0, 1, 1000)
    values[300] = 9.0
    assert flagged(make_log({"A": values}, quantity="generic", unit=None), "spike") == []
    values[300] = 900.0
    assert flagged(make_log({"A": values}, quantity="generic", unit=None), "spike") == [300]
