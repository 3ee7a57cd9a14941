"""The rules together: flags without changed values, true highs that stay, and logs of every shape."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.quality import IGNORED, Flag, QualityConfig, count_flags, screen
from attentionmixer.data.readers import read_log
from attentionmixer.data.simulate import Simulation, simulate_ring

# --- samples of known kinds ------------------------------------------------------------------------------------------


def write(folder: Path, header: str, rows: list[str], step: str) -> StationLog:
    times = pd.date_range("2024-05-01", periods=len(rows), freq=step)
    path = folder / "log.csv"
    path.write_text(
        f"time,{header}\n" + "".join(f"{t:%Y-%m-%dT%H:%M:%SZ},{r}\n" for t, r in zip(times, rows, strict=True))
    )
    return read_log(path)


def rows_with(log: StationLog, flag: Flag, name: str) -> list[int]:
    return np.flatnonzero(log.flags[:, log.names.index(name)] & np.uint16(flag)).tolist()


def test_power_up_and_a_counter_fault_in_a_log_of_one_hour(tmp_path):
    a = [280655, 77, 69, *(21 + i % 3 for i in range(57))]
    b = [29 + (i * 7) % 4 for i in range(60)]
    b[20] = 32016
    log = screen(write(tmp_path, "A [cpm],B [cpm]", [f"{x},{y}" for x, y in zip(a, b, strict=True)], "1min"))
    assert rows_with(log, Flag.STARTUP, "A") == [0, 1, 2]
    assert rows_with(log, Flag.WRAP, "B") == [20]
    assert count_flags(log.flags) == {"startup": 3, "wrap": 1}
    assert log.without_flagged().values[0:4, 0].tolist() == pytest.approx([np.nan] * 3 + [21], nan_ok=True)


def test_a_sensor_stuck_across_a_gap_is_one_run(tmp_path):
    a = [70 + 0.37 * (i % 5) + 0.1 * (i // 5) for i in range(24)]
    cells = [f"{x:.2f},{80 + (i * 0.71) % 5:.2f}" for i, x in enumerate(a)]
    for i in range(5, 19):
        cells[i] = f"{'' if i == 11 else 71.3},{80 + (i * 0.71) % 5:.2f}"
    log = screen(write(tmp_path, "A [nSv/h],B [nSv/h]", cells, "1h"))
    assert rows_with(log, Flag.STUCK, "A") == [*range(5, 11), *range(12, 19)]
    assert count_flags(log.flags) == {"stuck": 13}
    assert "'A' 13 (2024-05-01 05:00 to 2024-05-01 18:00 UTC)" in log.quality.decisions[-1]


def test_one_post_that_jumps_alone_keeps_its_value_and_gets_a_reason(tmp_path):
    rng = np.random.default_rng(0)
    values = 70 + 3 * np.arange(6) + rng.uniform(0, 2, (48, 6))
    values[30:, 2] += 7000
    header = ",".join(f"P{i} [nSv/h]" for i in range(6))
    log = write(tmp_path, header, [",".join(f"{x:.2f}" for x in row) for row in values], "1h")
    screened = screen(log)
    assert rows_with(screened, Flag.NEIGHBOUR, "P2") == list(range(30, 48))
    assert count_flags(screened.flags) == {"neighbour": 18}
    np.testing.assert_array_equal(screened.values, log.values)
    assert "instrument fault likely: no neighbour agrees" in screened.quality.decisions[-1]


def test_what_readers_flagged_stays_and_a_sound_log_says_nothing(tmp_path):
    log = write(tmp_path, "A [nSv/h]", ["71.2", "0", "<20", "-9999", "70.4", "72.1", "69.9"], "1h")
    screened = screen(log)
    np.testing.assert_array_equal(screened.flags, log.flags)
    assert screened.quality == log.quality


# --- true high values stay -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ring() -> Simulation:
    often = {"stuck_per_post_year": 8, "spikes_per_post_year": 12, "outages_per_post_year": 12}
    return simulate_ring(days=120, seed=11, plumes_per_30_days=6, **often)


def faulty(simulation: Simulation) -> np.ndarray:
    """[T, N] True where the simulator broke an instrument, and in the reading that a stuck run repeats."""
    log, mask = simulation.log, np.zeros(simulation.log.shape, dtype=bool)
    for fault in simulation.truth.faults:
        first, last = log.time.searchsorted([fault.start, fault.end])
        mask[max(0, first - (fault.kind == "stuck")) : last, log.names.index(fault.tag)] = True
    return mask


def test_plumes_and_rain_are_no_quality_problem(ring):
    log = screen(ring.log)
    ignored = (log.flags & np.uint16(IGNORED)) != 0
    sound = ~faulty(ring) & ~np.isnan(log.values)
    posts = ring.config.posts
    for part, threshold in (("plume", 1.0), ("washout", 2.0)):
        event = sound[:, :posts] & (ring.truth.parts[part] > threshold)
        assert event.sum() > 200
        assert (ignored[:, :posts] & event).sum() <= 0.001 * event.sum()
    assert (ignored & sound).sum() <= 0.0002 * sound.sum()


def test_without_faults_next_to_nothing_is_flagged():
    log = screen(simulate_ring(days=120, seed=12, faults=False).log)
    ignored = (log.flags & np.uint16(IGNORED)) != 0
    assert ignored.sum() <= 1e-5 * ignored.size


@pytest.mark.parametrize(
    ("kind", "flag", "share"),
    [("stuck", Flag.STUCK, 0.95), ("spike", Flag.SPIKE | Flag.WRAP, 0.9), ("start_up", Flag.STARTUP, 0.6)],
)
def test_faults_are_found_for_what_they_are(ring, kind, flag, share):
    log = screen(ring.log)
    found = []
    for fault in ring.truth.faults:
        first, last = log.time.searchsorted([fault.start, fault.end])
        column = log.names.index(fault.tag)
        if fault.kind == kind and not np.isnan(log.values[first:last, column]).all():
            found.append(bool((log.flags[first:last, column] & np.uint16(flag)).any()))
    assert len(found) >= 10
    assert np.mean(found) >= share


# --- what always holds -----------------------------------------------------------------------------------------------

cells = st.floats(width=32, allow_nan=True, allow_infinity=False)
near = st.sampled_from([float("nan"), 0.0, 30.0, 31.0, 32.0, 32016.0, -5.0, 300.0, 30_000.0])


@st.composite
def logs(draw: st.DrawFn) -> StationLog:
    shape = draw(st.tuples(st.integers(2, 60), st.integers(1, 6)))
    values = draw(hnp.arrays(np.float32, shape, elements=draw(st.sampled_from([cells, near]))))
    kinds = st.sampled_from([("nSv/h", "dose_rate"), ("cpm", "count_rate"), (None, "generic"), ("mm", "rain")])
    tags = [Tag(f"t{i}", *draw(kinds), draw(st.sampled_from([None, "A", "B"]))) for i in range(shape[1])]
    step = draw(st.sampled_from(["1s", "1min", "10min", "1h", "1D"]))
    return StationLog(values, pd.date_range("2024-05-01", periods=shape[0], freq=step, tz="UTC"), tags)


@settings(max_examples=150, deadline=None)
@given(log=logs())
def test_no_log_makes_a_rule_fail_and_no_value_changes(log):
    before = log.values.copy()
    screened = screen(log)
    np.testing.assert_array_equal(screened.values, before)
    assert not screened.flags[np.isnan(before)].any()
    assert screened.tags == log.tags
    assert (screened.quality.rows_in, screened.quality.rows_kept) == (len(log), len(log))


@settings(max_examples=50, deadline=None)
@given(log=logs())
def test_screening_twice_changes_nothing(log):
    once = screen(log)
    twice = screen(once)
    np.testing.assert_array_equal(twice.flags, once.flags)
    assert twice.quality == once.quality


@settings(max_examples=50, deadline=None)
@given(log=logs(), data=st.data())
def test_the_order_of_tags_does_not_matter(log, data):
    order = data.draw(st.permutations(range(len(log.tags))))
    shuffled = log.select([log.names[i] for i in order])
    np.testing.assert_array_equal(screen(shuffled).flags, screen(log).flags[:, order])


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_posts_does_not_matter_in_a_network(seed):
    log = simulate_ring(days=20, seed=seed, spikes_per_post_year=60, stuck_per_post_year=20).log
    order = np.random.default_rng(seed).permutation(len(log.tags))
    shuffled = log.select([log.names[i] for i in order])
    flags = screen(log).flags
    assert flags.any()
    np.testing.assert_array_equal(screen(shuffled).flags, flags[:, order])


@pytest.mark.parametrize("value", [0.0, 5.0, np.nan, 3e38, -3e38])
@pytest.mark.parametrize("rows", [2, 3, 7, 400])
def test_columns_of_one_value_are_left_alone_unless_they_cannot_be(make_log, value, rows):
    log = screen(make_log({name: np.full(rows, value) for name in "ABCDE"}, quantity="generic", unit=None))
    assert not log.flags.any()


def test_a_log_with_nothing_flagged_carries_no_mask(make_log, counter):
    log = screen(make_log({"A": counter()}))
    assert log.flags.strides == (0, 0)


def test_a_large_log_is_screened_in_a_fraction_of_its_own_size(make_log):
    values = np.random.default_rng(0).normal(100, 4, (100, 40_000))
    log = make_log({f"P{i}": column for i, column in enumerate(values)})
    screen(log.select(["P0", "P1"]))  # libraries loaded
    tracemalloc.start()
    try:
        screen(log)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.9 * log.values.nbytes


# --- what is said, and what can be chosen ----------------------------------------------------------------------------


def test_a_sentence_gives_count_worst_tags_and_spans(make_log, counter):
    columns = {f"P{i}": counter(seed=i) for i in range(8)}
    for i in range(7):
        columns[f"P{i}"][100 : 120 + i] = 99.05
    log = screen(make_log(columns), QualityConfig(rules=("stuck",)))
    sentence = log.quality.decisions[-1]
    assert sentence.startswith("161 reading(s) of 7 tag(s) flagged stuck (")
    assert "'P6' 26 (2024-05-01 16:40 to 2024-05-01 20:50 UTC); 'P5' 25" in sentence
    assert sentence.endswith("and 2 more")


def test_only_the_rules_asked_for_are_applied(make_log, counter):
    values = counter()
    values[100:130], values[300] = 99.05, 700.0
    log = make_log({"A": values})
    assert count_flags(screen(log, QualityConfig(rules=("spike",))).flags) == {"spike": 1}
    assert count_flags(screen(log, QualityConfig(rules=("stuck",))).flags) == {"stuck": 30}
    assert count_flags(screen(log).flags) == {"spike": 1, "stuck": 30}
    assert screen(log, QualityConfig(rules=())).flags.strides == (0, 0)


def test_a_stuck_run_goes_on_behind_a_counter_fault(make_log, counter):
    values = counter()
    values[100:110], values[105] = 99.05, 65_535.0
    log = screen(make_log({"A": values}))
    assert rows_with(log, Flag.WRAP, "A") == [105]
    assert rows_with(log, Flag.STUCK, "A") == [100, 101, 102, 103, 104, 106, 107, 108, 109]


def test_flags_from_elsewhere_stay_and_their_readings_are_set_aside(make_log, counter):
    values = counter()
    values[300] = 700.0
    log = make_log({"A": values})
    held = np.zeros(log.shape, dtype=np.uint16)
    held[300, 0], held[10, 0] = int(Flag.STALE), int(Flag.DOUBTFUL)
    screened = screen(log.with_flags(held))
    np.testing.assert_array_equal(screened.flags, held)


# --- real logs -------------------------------------------------------------------------------------------------------


def share_ignored(log: StationLog) -> float:
    return float(((screen(log).flags & np.uint16(IGNORED)) != 0).sum() / (~np.isnan(log.values)).sum())


@pytest.mark.parametrize("station", ["AZ_PHOENIX", "LA_BATON_ROUGE", "MT_KALISPELL", "MA_BOSTON", "FL_JACKSONVILLE"])
def test_next_to_nothing_of_a_monitor_in_use_is_set_aside(shared_data, station):
    assert share_ignored(read_log(sorted((shared_data / "radnet").glob(f"{station}_*.csv")))) < 0.0005


def test_a_new_detector_at_phoenix_is_noted(shared_data):
    log = screen(read_log(sorted((shared_data / "radnet").glob("AZ_PHOENIX_20[12][0-9].csv"))))
    swapped = log.time[rows_with(log, Flag.SWAP, "AZ: PHOENIX R08")]
    # counts step from about 73 to 136 cpm over two missing hours
    assert pd.Timestamp("2019-10-31T19:00Z") in swapped


def test_process_tags_are_touched_only_where_they_stand_still(shared_data):
    log = screen(read_log(shared_data / "ett" / "ETTh1.csv", tz="UTC"))
    assert set(count_flags(log.flags)) == {"stuck"}
    for column in range(len(log.tags)):
        rows = np.flatnonzero(log.flags[:, column])
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            assert len(run) == 0 or len(run) > 24


def test_soft_sensor_logs_are_left_alone(shared_data):
    log = read_log(shared_data / "softsensor" / "Debutanizer_Data.txt", step="6min", start_time="2000-01-01")
    assert not screen(log).flags.any()


def test_daily_means_of_a_national_network_are_left_alone(shared_data):
    folder = shared_data / "japan-nra"
    path, tags = folder / "japan_daily_984x822_wide.csv.gz", folder / "japan_daily_stations.csv"
    assert share_ignored(read_log(path, tz="UTC", units="nSv/h", tags=tags)) < 0.0002
