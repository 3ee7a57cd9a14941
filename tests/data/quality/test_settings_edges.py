"""What the rules are called, say and are set to, and what counting flags leaves behind."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.quality import IGNORED, Flag, QualityConfig, QualityRecord, screen
from attentionmixer.data.quality.counts import calendar_counts, flag_counts
from attentionmixer.data.quality.flags import count_days, count_flags, no_flags, parse_flags
from attentionmixer.data.quality.readings import Finding, runs_of, sample, scatter_of
from attentionmixer.data.quality.record import Gap, Quarantined
from attentionmixer.data.quality.rules import RULES, RangeRule
from attentionmixer.data.quality.rules.limits import LIMITS
from attentionmixer.errors import ConfigError, LogError

#: The settings that the figures in the documents were measured with; a change asks for new figures.
SETTINGS: dict[str, dict[str, Any]] = {
    "range": {"limits": {}},
    "saturated": {"readings": 3, "noises": 30.0, "resolutions": 50.0, "tops": {}},
    "startup": {
        **{"gap_hours": 0.9, "gap_steps": 3, "readings": 8, "hours": 3.0, "noises": 5.0, "share": 0.15},
        "usual": 0.98,
    },
    "wrap": {"factor": 200.0, "full_factor": 20.0, "below": 0.05, "gap_hours": 24.0},
    "stuck": {
        **{"readings": 6, "hours": 1.0, "process_readings": 25, "process_hours": 1.0, "chance": 1e-4},
        **{"patience": 1.5, "changes": 8, "habit_runs": 3, "habit_share": 0.33},
    },
    "unit_jump": {"readings": 6, "tolerance": 0.05, "network_tags": 3, "network_gap": 4.0, "network_tolerance": 1.0},
    "neighbour": {
        **{"others": 3, "noises": 20.0, "share": 2.0, "readings": 12, "hours": 2.0, "flat": 0.1, "reach_hours": 2.0},
    },
    "spike": {
        **{"noises": 10.0, "share": 0.25, "slow_minutes": 30.0, "slow_share": 3.0, "back": 0.15, "gap_hours": 6.0},
        "process_ranges": 5.0,
    },
    "swap": {"readings": 144, "near": 12, "share": 0.04, "usual": 4.0, "variance": 1.3},
}


@pytest.mark.parametrize("name", list(SETTINGS))
def test_a_rule_is_set_to_what_the_published_figures_were_measured_with(name: str) -> None:
    assert asdict(getattr(QualityConfig(), name)) == SETTINGS[name]


def test_rules_run_in_their_order_and_say_what_a_reading_is() -> None:
    assert [(rule.name, rule.flag, rule.says) for rule in RULES] == [
        ("quantised", Flag(0), "readings are rounded"),
        ("range", Flag.RANGE, "outside what the instrument can measure"),
        ("saturated", Flag.SATURATED, "at the top of the instrument's range; the true value was higher"),
        ("startup", Flag.STARTUP, "transient after power-up or a gap"),
        ("wrap", Flag.WRAP, "counter fault: a single reading that no radiation makes"),
        ("stuck", Flag.STUCK, "the same value for longer than the instrument's noise allows"),
        ("unit_jump", Flag.UNIT, "the level differs by a factor of 10, 100 or 1000; check the unit"),
        ("neighbour", Flag.NEIGHBOUR, "a jump that stays; instrument fault likely: no neighbour agrees"),
        ("spike", Flag.SPIKE, "one reading far from both its neighbours in time"),
        ("swap", Flag.SWAP, "level and variance step at once; the detector was probably changed here"),
    ]
    assert QualityConfig().rules == tuple(rule.name for rule in RULES)


def test_an_unknown_rule_is_refused_with_the_nearest_or_with_all() -> None:
    with pytest.raises(ConfigError, match=r"^there is no quality rule 'stuk'; did you mean 'stuck'\?$"):
        QualityConfig(rules=("stuk",))
    with pytest.raises(ConfigError) as refused:
        QualityConfig(rules=("zzz",))
    known = "quantised, range, saturated, startup, wrap, stuck, unit_jump, neighbour, spike, swap"
    assert str(refused.value) == f"there is no quality rule 'zzz'; there are: {known}"


def test_flags_keep_the_numbers_under_which_they_are_stored() -> None:
    assert {flag.name: int(flag) for flag in Flag} == {
        **{"STATE": 1, "SENTINEL": 2, "ZERO": 4, "CENSORED": 8, "NOT_FINITE": 16, "RANGE": 32, "STUCK": 64},
        **{"SPIKE": 128, "SWAP": 256, "STARTUP": 512, "WRAP": 1024, "SATURATED": 2048, "NEIGHBOUR": 4096},
        **{"UNIT": 8192, "DOUBTFUL": 16384, "STALE": 32768},
    }
    assert Flag(0xFFFF) & ~IGNORED == Flag.SWAP | Flag.UNIT | Flag.DOUBTFUL


def test_flags_are_known_by_name_in_any_case() -> None:
    assert parse_flags(["stuck", "Spike", "STUCK"]) == Flag.STUCK | Flag.SPIKE
    assert parse_flags([]) == Flag(0)
    with pytest.raises(ConfigError) as refused:
        parse_flags(["stuck", "wet", "cold"])
    assert str(refused.value).startswith("there is no quality flag wet, cold; known: state, sentinel, zero, censored")
    assert str(refused.value).endswith("unit, doubtful, stale")


# --- counts ---


def test_a_mask_without_flags_takes_no_memory_and_counts_nothing() -> None:
    mask = no_flags((3, 2))
    time = pd.date_range("2024-05-01", periods=3, freq="1h", tz="UTC")
    assert mask.shape == (3, 2)
    assert mask.strides == (0, 0)
    assert count_flags(mask) == {}
    assert count_days(mask, time) == {}


def test_cells_are_counted_by_flag_and_day() -> None:
    flags = np.zeros((4, 2), dtype=np.uint16)
    flags[0] = [Flag.STUCK | Flag.SPIKE, 0]
    flags[2:, 1] = Flag.STUCK
    time = pd.DatetimeIndex(["2024-05-01T23:00Z", "2024-05-02T00:00Z", "2024-05-03T00:00Z", "2024-05-03T12:00Z"])
    assert count_flags(flags) == {"stuck": 3, "spike": 1}
    assert count_days(flags, time) == {
        "stuck": {"2024-05-01": 1, "2024-05-03": 2},
        "spike": {"2024-05-01": 1},
    }
    assert count_flags(np.zeros((2, 2), dtype=np.uint16)) == {}


def long_log(rows: int) -> StationLog:
    """Two tags over some days, a flag in every 1000th row of the second and in the last of the first."""
    flags = np.zeros((rows, 2), dtype=np.uint16)
    flags[::1000, 1] = Flag.SPIKE
    flags[-1, 0] = Flag.STUCK | Flag.SPIKE
    time = pd.date_range("2024-05-01T12:00", periods=rows, freq="10min", tz="UTC")
    return StationLog(np.ones((rows, 2), np.float32), time, [Tag("A"), Tag("B")], flags=flags)


def test_counts_of_a_long_log_miss_no_part_of_it() -> None:
    log = long_log(9001)
    table = flag_counts(log)
    assert list(table.columns) == ["stuck", "spike"]
    assert table.index.name == "tag"
    assert table.loc["A"].tolist() == [1, 1]
    assert table.loc["B"].tolist() == [0, 10]
    days = calendar_counts(log)
    assert days.index.name == "day"
    assert days.columns.name == "flag"
    assert days.index[0] == pd.Timestamp("2024-05-01", tz="UTC")
    assert days.index[-1] == log.time[-1].floor("D")
    assert days["spike"].sum() == 11
    assert days["stuck"].iloc[-1] == 1
    assert days["spike"].iloc[0] == 1


# --- records ---


def test_a_record_that_does_not_balance_is_refused_with_its_counts() -> None:
    with pytest.raises(LogError) as refused:
        QualityRecord(rows_in=5, rows_kept=1, rows_quarantined=2, rows_merged=1)
    assert str(refused.value) == "row accounting broken: 5 in, but 1 kept + 2 quarantined + 1 merged"


def test_records_of_several_files_add_up_and_say_a_thing_once() -> None:
    one = QualityRecord(
        *(4, 2, 1, 1),
        masked={"zero": 2},
        decisions=("same", "one"),
        warnings=("look",),
        gaps=(Gap("A", "a", "b", 2),),
        quarantined=(Quarantined("f", 3, "VALUE", "x", "no number"),),
        sources=("f",),
        flags={"stuck": 1},
        calendar={"stuck": {"2024-05-01": 1}},
    )
    other = QualityRecord(
        *(3, 3, 0, 0),
        masked={"zero": 1, "sentinel": 5},
        decisions=("same",),
        warnings=("look", "more"),
        sources=("g",),
        flags={"stuck": 2, "spike": 1},
        calendar={"stuck": {"2024-05-01": 1, "2024-05-02": 1}, "spike": {"2024-05-02": 1}},
    )
    both = QualityRecord.combine([one, other])
    assert both == QualityRecord(
        *(7, 5, 1, 1),
        masked={"zero": 3, "sentinel": 5},
        decisions=("same", "one"),
        warnings=("look", "more"),
        gaps=one.gaps,
        quarantined=one.quarantined,
        sources=("f", "g"),
        flags={"stuck": 3, "spike": 1},
        calendar={"stuck": {"2024-05-01": 2, "2024-05-02": 1}, "spike": {"2024-05-02": 1}},
    )
    assert QualityRecord.from_dict(both.to_dict()) == both
    assert QualityRecord.from_dict({}) == QualityRecord()
    assert both.with_decision("a", "b").decisions == ("same", "one", "a", "b")


# --- what rules share ---


def test_runs_are_given_by_their_first_and_one_past_their_last_position() -> None:
    first, last = runs_of(np.array([True, True, False, True, False, False, True]))
    assert (first.tolist(), last.tolist()) == ([0, 3, 6], [2, 4, 7])
    assert Finding.of_runs(first, last, "x").index.tolist() == [0, 1, 3, 6]
    assert Finding.of_runs(first[:0], last[:0], "x").index.tolist() == []


def test_scatter_is_the_noise_of_one_reading_and_needs_three() -> None:
    values = np.random.default_rng(0).normal(100, 7, 900)
    assert scatter_of(values) == pytest.approx(7, rel=0.1)
    assert scatter_of(values[:2]) == 0
    assert scatter_of(np.array([0.0, 1.0, 2.0])) == pytest.approx(1.4826 / np.sqrt(2))


def test_a_sample_holds_about_a_thousand_values_of_any_number() -> None:
    for count in (1, 999, 5000, 100_000):
        taken = sample(np.arange(count, dtype=np.float64))
        assert len(taken) == count if count < 1500 else 900 < len(taken) < 1600
        assert taken[0] == 0


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("dose_rate [nSv/h]", -100.0, 1e10),
        ("count_rate [cpm]", 0.0, 1e9),
        ("count_rate [cps]", 0.0, 1e8),
        ("temperature [degC]", -273.15, 5000.0),
        ("temperature [K]", 0.0, 6000.0),
        ("pressure [hPa]", 0.0, 1e7),
        ("rain [mm]", 0.0, 2000.0),
        ("wind_speed [m/s]", 0.0, 150.0),
        ("humidity [%]", 0.0, 110.0),
    ],
)
def test_what_can_be_is_known_for_each_quantity_and_unit(make_log, flagged, kind: str, low: float, high: float) -> None:
    assert LIMITS[kind] == (low, high)
    quantity, unit = kind.rstrip("]").split(" [")
    outside = [low - max(1.0, abs(low) * 1e-3), high * 1.001]
    log = make_log(
        {"A": [low, outside[0], (low + high) / 2, outside[1], np.float32(high)]}, quantity=quantity, unit=unit
    )
    assert flagged(log, "range") == [1, 3]


def test_what_is_allowed_is_said_beside_the_count(make_log) -> None:
    log = make_log({"A": [100.0, 300.0, 100.0, 90.0]})
    seen = screen(log, QualityConfig(rules=("range",), range=RangeRule(limits={"A": (0, 200.5)})))
    said = [s for s in seen.quality.decisions if "allowed 0 to 200.5" in s]
    assert len(said) == 1
    assert "outside what the instrument can measure" in said[0]
    assert "A" in said[0]
