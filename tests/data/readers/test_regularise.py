"""Irregular readings come to a grid by a declared rule, and nothing is used before it was there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data import StationLog, read_log
from attentionmixer.data.log import Tag
from attentionmixer.data.quality import Flag, Gap
from attentionmixer.data.readers.account import Account
from attentionmixer.data.readers.columns import Column
from attentionmixer.data.readers.regularise import Regular, Rules, add_ages, regularise
from attentionmixer.data.readers.series import Series
from attentionmixer.errors import LogError

Write = Callable[[str], Path]
NAN = float("nan")
ORIGIN = pd.Timestamp("2024-05-01", tz="UTC").value
MINUTE = 60_000_000_000
MIXED = """time,tag,value,unit
2024-05-01T10:14:23Z,TI205,301.2,degC
2024-05-01T10:15:52Z,TI205,301.3,degC
2024-05-01T10:21:01Z,TI205,301.9,degC
2024-05-01T10:00:00Z,FIC101,12.1,t/h
2024-05-01T10:30:00Z,FIC101,12.4,t/h
2024-05-01T10:21:00Z,XV17.OPEN,1,
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(text: str) -> Path:
        path = tmp_path / "log.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def column(log: StationLog, name: str) -> list[float]:
    return [round(float(v), 4) for v in log.select([name]).values[:, 0]]


def balances(log: StationLog) -> bool:
    q = log.quality
    return q.rows_in == q.rows_kept + q.rows_quarantined + q.rows_merged


def test_tags_of_different_rates_each_follow_their_declared_rule(write: Write) -> None:
    rules = {"TI205": "mean", "FIC101": "interpolate", "XV17.OPEN": "last"}
    log = read_log(write(MIXED), resample=rules, step="10min", hold="30min")
    assert [str(t)[11:16] for t in log.time] == ["10:00", "10:10", "10:20", "10:30"]
    np.testing.assert_allclose(column(log, "TI205"), [NAN, NAN, 301.25, 301.9], atol=1e-3)
    np.testing.assert_allclose(column(log, "FIC101"), [12.1, 12.2, 12.3, 12.4], atol=1e-4)
    np.testing.assert_array_equal(column(log, "XV17.OPEN"), [NAN, NAN, NAN, 1])
    assert [tag.resample for tag in log.tags] == ["mean", "interpolate", "last"]
    assert (log.quality.rows_in, log.quality.rows_kept, log.quality.rows_merged) == (6, 5, 1)


def test_without_a_rule_states_are_held_and_the_rest_averaged_and_this_is_said(write: Write) -> None:
    log = read_log(write(MIXED))
    said = " ".join(log.quality.decisions)
    assert "the times are irregular" in said
    assert "no rule was declared for TI205, FIC101: the mean of each step was taken" in said
    assert "no rule was declared for XV17.OPEN: the last value, held was taken" in said
    assert balances(log)


def test_the_age_of_a_value_is_a_further_input(write: Write) -> None:
    log = read_log(write(MIXED), resample={"XV17.OPEN": "last"}, step="10min", ages=["XV17.OPEN", "TI205"])
    age = log.select(["XV17.OPEN age"]).tags[0]
    assert (age.unit, age.quantity, age.role) == ("min", "age", "input")
    np.testing.assert_array_equal(column(log, "XV17.OPEN age"), [NAN, NAN, NAN, 9])
    np.testing.assert_allclose(column(log, "TI205 age"), [NAN, NAN, 4.1333, 8.9833], atol=1e-3)


def test_ages_grow_through_the_gaps_of_a_regular_log(write: Write) -> None:
    text = "time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,\n2024-05-01T02:00Z,\n2024-05-01T03:00Z,4\n"
    log = read_log(write(text), ages=True)
    assert column(log, "A age") == [0, 60, 120, 0]
    with pytest.raises(LogError, match="ages names what is not in the log: B"):
        read_log(write(text), ages=["B"])


def test_a_step_longer_than_the_logs_own_averages_what_falls_into_it(write: Write) -> None:
    rows = "".join(f"2024-05-01T00:{m:02d}Z,{m}\n" for m in range(1, 31))
    log = read_log(write("time,A\n" + rows), step="10min")
    assert column(log, "A") == [5.5, 15.5, 25.5]
    assert log.time[0] == pd.Timestamp("2024-05-01T00:10Z")
    assert (log.quality.rows_kept, log.quality.rows_merged) == (3, 27)


def test_a_held_value_that_is_too_old_is_flagged(write: Write) -> None:
    text = "time,A,B\n2024-05-01T00:00Z,1,1\n2024-05-01T01:00Z,,2\n2024-05-01T02:00Z,,3\n2024-05-01T03:00Z,4,4\n"
    log = read_log(write(text), resample={"A": "last"}, hold="1h")
    assert column(log, "A") == [1, 1, 1, 4]
    assert [bool(f & Flag.STALE) for f in log.flags[:, 0]] == [False, False, True, False]
    assert log.quality.flags == {"stale": 1}
    assert np.isnan(log.without_flagged().values[2, 0])


def test_a_bad_reading_ends_the_time_for_which_the_last_good_one_is_held(write: Write) -> None:
    text = "time,A,B\n2024-05-01T00:00Z,1,1\n2024-05-01T01:00Z,Bad,2\n2024-05-01T02:00Z,,3\n2024-05-01T03:00Z,4,4\n"
    log = read_log(write(text), resample={"A": "last"})
    np.testing.assert_array_equal(column(log, "A"), [1, NAN, NAN, 4])
    assert log.flags[1, 0] == Flag.STATE


def test_a_line_between_readings_too_far_apart_is_not_drawn(write: Write) -> None:
    text = "time,A\n2024-05-01T00:00Z,0\n2024-05-01T00:20Z,2\n2024-05-01T00:40Z,4\n2024-05-01T06:00Z,9\n"
    log = read_log(write(text), resample="interpolate", step="10min")
    assert column(log, "A")[:5] == [0, 1, 2, 3, 4]
    assert np.isnan(log.values[5:-1]).all() and log.values[-1, 0] == 9


def test_sums_add_what_falls_into_a_step(write: Write) -> None:
    text = "time,rain [mm]\n2024-05-01T00:01Z,0.2\n2024-05-01T00:07Z,0.4\n2024-05-01T00:19Z,1\n"
    assert column(read_log(write(text), resample="sum", step="10min"), "rain") == pytest.approx([0.6, 1.0])


def test_readings_of_one_tag_and_time_that_disagree_follow_the_policy(write: Write) -> None:
    text = "time,tag,value\n2024-05-01T00:01:07Z,A,1\n2024-05-01T00:01:07Z,A,3\n2024-05-01T00:09Z,A,5\n"
    text += "2024-05-01T00:31:11Z,A,7\n"
    with pytest.raises(LogError, match="fall on a time that another row has"):
        read_log(write(text))
    log = read_log(write(text), duplicates="last", step="10min", resample="mean")
    assert column(log, "A")[0] == 4.0 and balances(log)


def test_rules_for_tags_that_are_not_there_or_do_not_exist_are_refused(write: Write) -> None:
    with pytest.raises(LogError, match="resample names what is not in the log: FIC999"):
        read_log(write(MIXED), resample={"FIC999": "mean"})
    with pytest.raises(LogError, match="resample='median' is unknown"):
        read_log(write(MIXED), resample="median")


def test_a_reason_for_a_missing_value_reaches_the_grid(write: Write) -> None:
    text = "time,A\n2024-05-01T00:00:30Z,1\n2024-05-01T00:10:10Z,Bad\n2024-05-01T00:29:00Z,3\n"
    log = read_log(write(text), step="10min", resample="mean")
    at = list(log.time).index(pd.Timestamp("2024-05-01T00:20Z"))
    assert np.isnan(log.values[at, 0]) and log.flags[at, 0] == Flag.STATE
    assert log.quality.masked == {"state 'Bad'": 1}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7200), st.integers(0, 2), st.integers(-50, 50)), min_size=3, max_size=40).filter(
        lambda rows: len({row[0] for row in rows}) > 2 and max(r[0] for r in rows) - min(r[0] for r in rows) > 1300
    )
)
def test_the_mean_of_each_step_is_what_a_loop_over_the_rows_finds(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]
) -> None:
    rows = list({(second, tag): (second, tag, value) for second, tag, value in rows}.values())
    path = tmp_path_factory.mktemp("log") / "log.csv"
    origin = pd.Timestamp("2024-05-01T00:00Z")
    lines = [f"{(origin + pd.Timedelta(seconds=s)).isoformat()},T{tag},{value}" for s, tag, value in rows]
    path.write_text("time,tag,value\n" + "\n".join(lines) + "\n", encoding="utf-8")
    log = read_log(path, step="10min", resample="mean")
    assert balances(log) and log.quality.rows_in == len(rows)
    for column_, tag in enumerate(log.tags):
        for row, moment in enumerate(log.time):
            end = (moment - origin).total_seconds()
            inside = [v for s, t, v in rows if f"T{t}" == tag.name and end - 600 < s <= end]
            got = float(log.values[row, column_])
            assert np.isnan(got) if not inside else got == pytest.approx(np.mean(inside), abs=1e-4)


# --- what is declared ---


def headed(*headers: str, **stated: Any) -> list[Column]:
    return [Column(header, header, None, **stated) for header in headers]


def test_a_rule_comes_from_the_reader_first_then_from_the_table_of_tags_then_from_the_source() -> None:
    columns = [Column(f"{name} [mm]", name, "mm", resample="sum") for name in "ABCD"]
    tags = {"B": {"resample": "last"}, "C [mm]": {"resample": "last"}, "D": {"unit": "mm"}}
    assert Rules.of(columns, {"A": "mean", "C [mm]": "interpolate"}, tags, "90min") == Rules(
        ("A", "B", "C", "D"), ("mean", "last", "interpolate", "sum"), 90 * MINUTE
    )
    assert Rules.of(columns, "mean", tags, None) == Rules(("A", "B", "C", "D"), ("mean",) * 4, None)
    assert Rules.of(headed("A", "B"), None, None, None) == Rules(("A", "B"), (None, None), None)


def test_one_declared_rule_is_enough_to_count_as_declared_and_only_its_tag_says_it() -> None:
    rules = Rules.of(headed("A", "B"), {"B": "sum"}, None, None)
    assert rules.declared and not Rules.of(headed("A", "B"), {}, None, "1h").declared
    tag = Tag("B", "mm")
    assert rules.dress(0, tag) is tag
    assert rules.dress(1, tag) == Tag("B", "mm", resample="sum")


@pytest.mark.parametrize("resample", ["median", {"A": "median"}, {"A": "mean", "B": "median"}])
def test_an_unknown_rule_is_refused_with_those_there_are(resample: Any) -> None:
    with pytest.raises(LogError) as refused:
        Rules.of(headed("A", "B"), resample, None, None)
    assert str(refused.value) == "resample='median' is unknown; choose mean, last, interpolate, sum"


@pytest.mark.parametrize(("strange", "named"), [(1, 1), (2, 2), (10, 10), (11, 10)])
def test_of_rules_for_what_is_not_there_ten_are_named(strange: int, named: int) -> None:
    rules: Any = {"A": "mean", **{f"X{i}": "mean" for i in range(strange)}}
    with pytest.raises(LogError) as refused:
        Rules.of(headed("A"), rules, None, None)
    names = ", ".join(f"X{i}" for i in range(named))
    assert str(refused.value) == f"resample names what is not in the log: {names}"


# --- readings of several tags ---


def readings(tags: Mapping[str, Mapping[float, float]], **parts: Any) -> Series:
    """Rows (tag by tag) of a long table; times are minutes after the origin."""
    rows = [(minute, group, value) for group, own in enumerate(tags.values()) for minute, value in own.items()]
    made: dict[str, Any] = {
        "time": np.array([ORIGIN + round(minute * MINUTE) for minute, _, _ in rows]),
        "group": np.array([group for _, group, _ in rows]),
        "values": np.array([[value] for _, _, value in rows], dtype=np.float32),
        "columns": tuple(Column(name, name, None) for name in tags),
        "value_names": ("value",),
        "time_name": "time",
        "station_of_group": None,
        "file": np.zeros(len(rows), dtype=np.int64),
        "line": np.arange(2, len(rows) + 2),
        "files": ("log.csv",),
        "row": np.arange(len(rows)),
    }
    return Series(**{**made, **parts})


def gridded(
    series: Series,
    resample: Any = "mean",
    *,
    step: str | None = "10min",
    hold: str | None = None,
    duplicates: str = "error",
) -> tuple[Regular, Account]:
    account = Account(["log.csv"], len(series.time))
    return regularise(series, Rules.of(series.columns, resample, None, hold), step, duplicates, account), account


def test_a_step_ends_with_its_time_and_begins_after_the_one_before() -> None:
    found, account = gridded(readings({"A": {0: 1, 0.1: 2, 10: 4, 10.1: 8, 20: 16, 20.1: 32}}))
    np.testing.assert_array_equal(found.values, [[1], [3], [12], [32]])
    assert (found.grid.origin, found.grid.step, found.grid.steps) == (ORIGIN, 10 * MINUTE, 4)
    assert found.grid.position.tolist() == [0, 1, 1, 2, 2, 3]
    assert (found.grid.moved, found.grid.largest, found.grid.note) == (0, "0 s", None)
    assert (found.kept, account.rows_merged, found.flags, found.gaps) == (4, 2, None, [])
    assert (found.values.dtype, found.ages.dtype) == (np.float32, np.float32)
    np.testing.assert_array_equal(found.ages, np.float32([[0], [0], [0], [9.9]]))


def test_what_was_done_is_said() -> None:
    _, account = gridded(readings({"A": {0: 1, 5: 2, 10: 4}, "B": {3: 1, 10: 2}}))
    assert account.decisions == [
        "readings were put on a grid of 10 min; a step stands for the 10 min before it",
        "2 row(s) share a step of the grid with an earlier one of their tag",
    ]


@pytest.mark.parametrize(("columns", "named"), [(1, "T0"), (10, ""), (11, " and 1 more"), (13, " and 3 more")])
def test_of_tags_without_a_rule_ten_are_named(columns: int, named: str) -> None:
    _, account = gridded(readings({f"T{i}": {0: 0.5, 10: 1} for i in range(columns)}), None)
    shown = ", ".join(f"T{i}" for i in range(min(columns, 10))) + named.removeprefix("T0")
    assert account.decisions[1:] == [
        f"no rule was declared for {shown}: the mean of each step was taken; resample= states another"
    ]


def test_tags_with_a_rule_are_not_named_among_those_without() -> None:
    _, account = gridded(readings({"A": {0: 1, 10: 2}, "B": {0: 0.5, 10: 2}, "C": {0: 1, 10: 2}}), {"A": "last"})
    assert account.decisions[1:] == [
        "no rule was declared for B: the mean of each step was taken; resample= states another",
        "no rule was declared for C: the last value, held was taken; resample= states another",
    ]


@pytest.mark.parametrize(
    ("values", "unit", "held"),
    [
        (range(10), None, True),
        (range(11), None, False),
        ([*range(10), 9, 0], None, True),
        (range(10), "rpm", False),
        ([0, 1, 1.5], None, False),
        ([0, -1, 5], None, True),
    ],
)
def test_up_to_ten_whole_numbers_without_a_unit_are_states(
    values: Sequence[float], unit: str | None, held: bool
) -> None:
    series = readings({"A": {20.0 * i: value for i, value in enumerate(values)}}, columns=(Column("A", "A", unit),))
    found, account = gridded(series, None)
    assert ("the last value, held" in account.decisions[1]) == held
    assert np.isnan(found.values[1, 0]) == (not held)


def test_a_tag_without_a_reading_has_no_values_and_no_age() -> None:
    for rule in ("mean", "sum", "last", "interpolate", None):
        found, _ = gridded(readings({"A": {0: 1, 20: 2}, "B": {0: NAN, 10: NAN}}), {"B": rule} if rule else None)
        assert found.values.shape == found.ages.shape == (3, 2)
        assert np.isnan(found.values[:, 1]).all() and np.isnan(found.ages[:, 1]).all()


def test_steps_without_a_row_of_any_tag_are_gaps() -> None:
    found, _ = gridded(readings({"A": {0: 1, 10: 2, 50: 4}, "B": {0: 1, 20: 2, 60: 4}}))
    assert found.gaps == [Gap("*", "2024-05-01T00:30:00Z", "2024-05-01T00:40:00Z", 2)]


def test_rows_that_share_a_step_are_counted_tag_by_tag() -> None:
    tags = {"A": {1: 1, 2: 2, 3: 3, 14: 4}, "B": {1: 5, 12: 6, 13: 7}, "C": {5: 1}}
    found, account = gridded(readings(tags))
    np.testing.assert_array_equal(found.values, [[2, 5, 1], [4, 6.5, NAN]])
    assert (found.kept, account.rows_merged) == (5, 3)


def test_all_rows_in_one_step_are_refused_and_two_steps_are_enough() -> None:
    with pytest.raises(LogError) as refused:
        gridded(readings({"A": {1: 1, 2: 2, 10: 3}}))
    assert str(refused.value) == "all rows fall into one step of 10 min; give a shorter step="
    assert gridded(readings({"A": {1: 1, 10.1: 3}}))[0].grid.steps == 2


def test_a_step_far_too_short_for_the_log_is_refused() -> None:
    with pytest.raises(LogError, match=r"^a grid of 1 s would hold 1,800,001 steps for 2 rows; check the first and"):
        gridded(readings({"A": {0: 1, 30_000: 2}}), step="1s")


def test_a_sum_too_large_to_be_held_is_infinite_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, _ = gridded(readings({"A": {1: 3e38, 2: 3e38, 11: 1}}), "sum")
    np.testing.assert_array_equal(found.values, [[np.inf], [1]])


# --- rows of one time ---


def test_rows_of_one_tag_and_time_that_disagree_are_named() -> None:
    series = readings({"A": {0: 1, 10: 2, 20: 3}}, time=np.array([ORIGIN, ORIGIN, ORIGIN + 20 * MINUTE]))
    with pytest.raises(LogError) as refused:
        gridded(series)
    assert "1 row(s) fall on a time that another row has" in str(refused.value)
    assert "first: log.csv line 3 (2024-05-01T00:00:00Z). " in str(refused.value)


@pytest.mark.parametrize(
    ("duplicates", "first", "said"),
    [
        ("first", 1, "the first was kept"),
        ("last", 2, "the last was kept"),
        ("mean", 1.5, "their mean was kept"),
        ("nearest", 1, "the reading nearest to the full step was kept"),
    ],
)
def test_rows_of_one_tag_and_time_follow_the_policy(duplicates: str, first: float, said: str) -> None:
    series = readings({"A": {0: 1, 10: 2, 20: 3}}, time=np.array([ORIGIN, ORIGIN, ORIGIN + 20 * MINUTE]))
    found, account = gridded(series, duplicates=duplicates)
    np.testing.assert_array_equal(found.values, [[first], [NAN], [3]])
    assert account.decisions[0] == (f"1 row(s) fell on a step that had one already (0 of them identical to it): {said}")
    assert (found.kept, account.rows_merged) == (2, 1)


def test_readings_of_different_tags_never_fall_on_one_another() -> None:
    tags = {name: {minute: float(minute + group) for minute in (0, 10, 20)} for group, name in enumerate("ABCD")}
    found, account = gridded(readings(tags))
    assert found.values.tolist() == [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    assert account.rows_merged == 0


# --- why there is no value ---


def test_a_flag_that_says_why_there_is_no_value_goes_where_a_value_came_and_others_stay() -> None:
    reasons = (Flag.STATE, Flag.CENSORED)
    note = np.array([Flag.DOUBTFUL, 0, 0, 0, Flag.ZERO | Flag.SENTINEL | Flag.NOT_FINITE], dtype=np.uint16)
    series = readings(
        {"A": {1: NAN, 2: 5, 11: NAN, 12: NAN, 25: 1}},
        reasons={0: np.array([0, -1, 0, 1, -1])},
        reason_names=("bad", "below"),
        reason_flags=reasons,
        notes={0: note},
    )
    found, account = gridded(series)
    np.testing.assert_array_equal(found.values, [[5], [NAN], [1]])
    assert found.flags is not None and found.flags.dtype == np.uint16
    assert found.flags.tolist() == [[Flag.DOUBTFUL], [Flag.STATE | Flag.CENSORED], [0]]
    assert account.masked == {"bad": 2, "below": 1}


def test_a_blank_does_not_end_the_time_for_which_a_reading_is_held_and_a_bad_state_does() -> None:
    series = readings(
        {"A": {0: 1, 10: NAN, 20: NAN, 30: NAN, 40: 4}},
        reasons={0: np.array([-1, -1, 0, -1, -1])},
        reason_names=("bad",),
    )
    found, _ = gridded(series, "last")
    np.testing.assert_array_equal(found.values[:, 0], [1, 1, NAN, NAN, 4])
    np.testing.assert_array_equal(found.ages[:, 0], [0, 10, 20, 30, 0])
    for rule in ("mean", "sum"):
        np.testing.assert_array_equal(gridded(series, rule)[0].values[:, 0], [1, NAN, NAN, NAN, 4])


@pytest.mark.parametrize(("hold", "stale"), [("20min", [3]), ("19min", [2, 3]), ("30min", []), (None, [])])
def test_a_held_value_is_stale_once_it_is_older_than_it_may_be(hold: str | None, stale: list[int]) -> None:
    found, _ = gridded(readings({"A": {0: 1, 40: 2}, "B": {0: 1, 40: 2}}), {"A": "last", "B": "mean"}, hold=hold)
    np.testing.assert_array_equal(found.values[:, 0], [1, 1, 1, 1, 2])
    expected = np.zeros((5, 2))
    expected[stale, 0] = Flag.STALE
    np.testing.assert_array_equal(np.zeros((5, 2)) if found.flags is None else found.flags, expected)


# --- lines between readings ---


@pytest.mark.parametrize(
    ("times", "hold", "drawn"),
    [
        # twice the usual distance, or twice the step where that is more, or what is declared
        ((0, 10, 20, 40), None, True),
        ((0, 10, 20, 40.5), None, False),
        ((0, 1, 2, 22), None, True),
        ((0, 1, 2, 22.5), None, False),
        ((0, 30, 60, 120), None, True),
        ((0, 30, 60, 121), None, False),
        ((0, 20), None, True),
        ((0, 40), None, True),
        ((0, 10, 20, 50), "30min", True),
        ((0, 10, 20, 50.5), "30min", False),
        ((0, 30, 60, 90), "29min", False),
    ],
)
def test_a_line_is_drawn_between_readings_near_enough_to_each_other(
    times: tuple[float, ...], hold: str | None, drawn: bool
) -> None:
    found, _ = gridded(readings({"A": {minute: 2 * minute for minute in times}}), "interpolate", hold=hold)
    ends = 10 * np.arange(len(found.values))
    inside = (ends > times[-2]) & (ends < times[-1])
    assert inside.any()
    expected = 2.0 * ends[inside] if drawn else np.full(inside.sum(), NAN)
    np.testing.assert_allclose(found.values[inside, 0], expected, rtol=1e-6)


def test_no_line_is_drawn_before_the_first_reading_or_after_the_last() -> None:
    found, _ = gridded(readings({"A": {12: 24, 18: 36, 33: 66}, "B": {0: 1, 50: 1}, "C": {20: 7}}), "interpolate")
    np.testing.assert_allclose(found.values[:, 0], [NAN, NAN, 40, 60, NAN, NAN], rtol=1e-6)
    np.testing.assert_array_equal(found.values[:, 2], [NAN, NAN, 7, NAN, NAN, NAN])


# --- the step, where none is given ---


@pytest.mark.parametrize(
    ("minutes", "step"),
    [(1, 1), (1.4, 1), (1.5, 2), (3.8, 3), (3.9, 5), (7, 6), (8, 10), (44, 60), (1e4, 10080), (0.01, 1 / 60)],
)
def test_the_round_step_nearest_by_ratio_is_taken(minutes: float, step: float) -> None:
    found, _ = gridded(readings({"A": {minutes * i: 1.5 * i for i in range(5)}}), step=None)
    assert found.grid.step == round(step * MINUTE)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_every_tag_has_one_say_in_the_step_however_often_it_reports(order: tuple[int, ...]) -> None:
    every = {
        "often": {minute: 0.5 for minute in range(40)},
        "tens": {minute: 0.5 for minute in range(2, 50, 10)},
        "tens too": {minute: 0.5 for minute in range(60, 100, 10)},
    }
    names = [list(every)[i] for i in order]
    found, _ = gridded(readings({name: every[name] for name in names}), step=None)
    assert found.grid.step == 10 * MINUTE


def test_the_time_from_one_tags_last_reading_to_anothers_first_is_no_distance() -> None:
    tags = {name: {start: 0.5, start + 2: 1} for name, start in (("A", 0), ("B", 300), ("C", 600), ("D", 900))}
    assert gridded(readings(tags), step=None)[0].grid.step == 2 * MINUTE
    one = {"A": {0: 0.5, 2: 1}, "B": {300: 1}, "C": {600: 1}, "D": {900: 2}}
    assert gridded(readings(one), step=None)[0].grid.step == 2 * MINUTE


def test_tags_with_one_reading_each_have_the_distance_of_their_times() -> None:
    tags = {"A": {20: 1}, "B": {0: 2}, "C": {10: 4}, "D": {10: 5}}
    found, _ = gridded(readings(tags), step=None)
    np.testing.assert_array_equal(found.values, [[NAN, 2, NAN, NAN], [NAN, NAN, 4, 5], [1, NAN, NAN, NAN]])
    with pytest.raises(LogError) as refused:
        gridded(readings({"A": {5: 1}, "B": {5: 2}}), step=None)
    assert str(refused.value) == "only one time has rows; a log needs at least 2"


# --- ages ---


def test_an_age_is_a_tag_of_its_own_in_minutes_behind_the_others() -> None:
    values = np.array([[NAN, 1], [1, NAN], [NAN, NAN], [2, 3]], dtype=np.float32)
    flags = np.array([[1, 2], [0, 4], [8, 0], [0, 0]], dtype=np.uint16)
    tags = [Tag("A", "rpm", station="north"), Tag("B")]
    more, named, marks = add_ages(values, tags, flags, None, True, 30 * MINUTE)
    np.testing.assert_array_equal(more, [[NAN, 1, NAN, 0], [1, NAN, 0, 30], [NAN, NAN, 30, 60], [2, 3, 0, 0]])
    assert named == [
        *tags,
        Tag("A age", "min", "age", "north", role="input", resample="last"),
        Tag("B age", "min", "age", role="input", resample="last"),
    ]
    assert marks is not None and (more.dtype, marks.dtype) == (np.float32, np.uint16)
    assert marks.tolist() == [[1, 2, 0, 0], [0, 4, 0, 0], [8, 0, 0, 0], [0, 0, 0, 0]]


def test_ages_are_given_for_the_tags_asked_for_in_the_order_asked() -> None:
    values = np.array([[1, 2, 3], [1, 2, NAN]], dtype=np.float32)
    tags = [Tag(name) for name in "ABC"]
    ages = np.array([[0, 5, 1], [9, 6, 7]], dtype=np.float32)
    more, named, marks = add_ages(values, tags, None, ages, ["C", "A"], MINUTE)
    np.testing.assert_array_equal(more[:, 3:], [[1, 0], [7, 9]])
    assert ([tag.name for tag in named], marks) == (["A", "B", "C", "C age", "A age"], None)
    same, named, marks = add_ages(values, tags, None, ages, False, MINUTE)
    assert same is values and (named, marks) == (tags, None)


@pytest.mark.parametrize(("strange", "named"), [(2, 2), (10, 10), (11, 10)])
def test_of_ages_of_what_is_not_there_ten_are_named(strange: int, named: int) -> None:
    with pytest.raises(LogError) as refused:
        add_ages(np.zeros((1, 1), np.float32), [Tag("A")], None, None, ["A", *(f"X{i}" for i in range(strange))], 1)
    names = ", ".join(f"X{i}" for i in range(named))
    assert str(refused.value) == f"ages names what is not in the log: {names}"
