"""From rows to a log: what is left out, what is merged, where rows are missing, and that every row is accounted for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from attentionmixer.data import StationLog
from attentionmixer.data.log import Sampling
from attentionmixer.data.quality import Flag, Gap
from attentionmixer.data.readers.account import LISTED, Account
from attentionmixer.data.readers.assemble import Assembly, assemble
from attentionmixer.data.readers.clock import MISSING
from attentionmixer.data.readers.columns import Column
from attentionmixer.data.readers.series import Series
from attentionmixer.errors import LogError

NAN = float("nan")
MINUTE = 60_000_000_000
ORIGIN = pd.Timestamp("2024-05-01", tz="UTC").value
UNITLESS = "1 column(s) state no unit; their values were taken as they are"


def series(minutes: list[float | None], values: list[Any], group: list[int] | None = None, **parts: Any) -> Series:
    """Rows at minutes of a day (``None``: no time), one value a row, one group a station or tag."""
    of = np.zeros(len(minutes), dtype=np.int64) if group is None else np.array(group)
    names = [f"T{i}" for i in range(int(of.max(initial=0)) + 1)]
    made: dict[str, Any] = {
        "time": np.array([MISSING if m is None else ORIGIN + round(m * MINUTE) for m in minutes], dtype=np.int64),
        "group": of,
        "values": np.array(values, dtype=np.float32).reshape(len(minutes), -1),
        "columns": tuple(Column(name, name, None) for name in names),
        "value_names": ("value",),
        "time_name": "when",
        "station_of_group": None if group is None else tuple(names),
        "file": np.zeros(len(minutes), dtype=np.int64),
        "line": np.arange(2, len(minutes) + 2),
        "files": ("log.csv",),
        "row": np.arange(len(minutes)),
        "time_texts": pa.chunked_array([[f"t{i}" for i in range(len(minutes))]]),
    }
    return Series(**{**made, **parts})


def made(rows: Series, *, refused: int = 0, **wanted: Any) -> StationLog:
    options = {key: wanted.pop(key) for key in ("duplicates_of_format", "clock_checked") if key in wanted}
    if "duplicates_of_format" in options:
        options["duplicates"] = options.pop("duplicates_of_format")
    return assemble(rows, Account(["log.csv"], len(rows.time) + refused), Assembly(**wanted), **options)


def counts(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


def column(log: StationLog, i: int = 0) -> list[float]:
    return log.values[:, i].tolist()


# --- rows that are left out ---


def test_rows_without_a_possible_time_are_left_out_each_for_its_reason() -> None:
    rows = series([0, None, 1, 2, 3], [1, 2, 3, 4, 5])
    rows.time[3] = pd.Timestamp("1970-06-01", tz="UTC").value
    rows.time[4] = pd.Timestamp("2200-01-01", tz="UTC").value
    log = made(rows)
    assert counts(log) == (5, 2, 3, 0)
    assert [(q.file, q.line, q.column, q.text, q.reason) for q in log.quality.quarantined] == [
        ("log.csv", 3, "when", "t1", "not a time"),
        ("log.csv", 5, "when", "t3", "before 1971: the clock was not set"),
        ("log.csv", 6, "when", "t4", "in the future"),
    ]
    assert "1 row(s) quarantined: not a time (column 'when')" in log.quality.decisions


def test_a_clock_that_is_not_checked_may_show_any_year() -> None:
    rows = series([0, 1, 2], [1, 2, 3])
    rows.time[:] -= pd.Timedelta(days=365 * 60).value
    assert counts(made(rows, clock_checked=False)) == (3, 3, 0, 0)
    with pytest.raises(LogError, match=r"no row of log\.csv is left: 3 row\(s\) quarantined: before 1971"):
        made(rows)


def test_rows_outside_the_period_are_counted_and_a_bad_row_outside_it_is_not_counted_twice() -> None:
    rows = series([0, 1, 2, 3, None], [1, 2, 3, 4, 5], bad_cells={0: np.array([True, False, False, False, True])})
    log = made(rows, start="2024-05-01T00:01Z", end="2024-05-01T00:03Z")
    assert counts(log) == (5, 2, 3, 0)
    assert column(log) == [2, 3]
    assert [q.reason for q in log.quality.quarantined] == ["not a time"]


def test_text_costs_its_row_and_a_column_of_text_is_refused() -> None:
    texts = {0: pa.chunked_array([["windy", "1", "2", "3", "x"]])}
    bad = np.array([True, False, False, False, True])
    log = made(series([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], bad_cells={0: bad}, texts=texts))
    assert [(q.line, q.column, q.text, q.reason) for q in log.quality.quarantined] == [
        (2, "value", "windy", "not a number"),
        (6, "value", "x", "not a number"),
    ]
    assert column(log) == [2, 3, 4]
    with pytest.raises(
        LogError,
        match=r"'value' holds text in 2 of 4 rows, first in log\.csv line 2 \(.*\): 'windy'; leave it out with ignore=",
    ):
        made(series([0, 1, 2, 3], [1, 2, 3, 4], bad_cells={0: np.array([True, False, False, True])}, texts=texts))


def test_no_more_rows_are_listed_than_the_list_holds_and_all_are_counted() -> None:
    count = LISTED + 5
    log = made(series([None] * count + [0, 1], list(range(count + 2))))
    assert counts(log) == (count + 2, 2, count, 0)
    assert len(log.quality.quarantined) == LISTED


def test_lines_refused_before_are_missing_from_no_account() -> None:
    with pytest.raises(LogError, match="row accounting broken: 3 in"):
        made(series([0, 1], [1, 2]), refused=1)


# --- stations ---


def test_only_the_stations_asked_for_are_rows_at_all() -> None:
    rows = series([0, 0, 1, 1, None], [1, 2, 3, 4, 5], [0, 1, 0, 1, 1])
    log = made(rows, stations=[" t0 "])
    assert (log.names, counts(log)) == (("T0",), (2, 2, 0, 0))
    assert "3 row(s) of other stations were passed over and are not counted" in log.quality.decisions
    assert made(rows, stations="T0").names == ("T0",)
    both = made(rows, stations=["T0", "T1"])
    assert counts(both) == (5, 4, 1, 0)
    assert not any("other stations" in decision for decision in both.quality.decisions)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["T9", "T0"], r"unknown station\(s\): t9; there: T0, T1"),
        ([], r"unknown station\(s\): \(none given\); there: T0, T1"),
    ],
)
def test_stations_that_are_not_there_are_refused_with_those_that_are(asked: list[str], message: str) -> None:
    with pytest.raises(LogError, match=message):
        made(series([0, 0, 1], [1, 2, 3], [0, 1, 0]), stations=asked)


def test_a_log_without_stations_has_none_to_choose() -> None:
    with pytest.raises(LogError, match=r"stations= is for logs with a column 'station'; choose tags with log\.select"):
        made(series([0, 1], [1, 2]), stations=["T0"])


# --- rows on one step ---


def test_rows_that_disagree_follow_the_users_policy_before_that_of_the_format() -> None:
    rows = series([0, 1, 1, 2], [1, 2, 4, 5])
    with pytest.raises(LogError, match=r"1 row\(s\) fall on a time .*log\.csv line 4 \(2024-05-01T00:01:00Z\)"):
        made(rows)
    for policy, value in (("first", 2), ("last", 4), ("mean", 3), ("nearest", 2)):
        log = made(series([0, 1, 1, 2], [1, 2, 4, 5]), duplicates=policy)
        assert (column(log), counts(log)) == ([1, value, 5], (4, 3, 0, 1))
    log = made(series([0, 1, 1, 2], [1, 2, 4, 5]), duplicates_of_format="last")
    assert column(log) == [1, 4, 5]
    log = made(series([0, 1, 1, 2], [1, 2, 4, 5]), duplicates_of_format="last", duplicates="first")
    assert column(log) == [1, 2, 5]


def test_the_reading_nearest_to_the_full_step_is_kept() -> None:
    rows = series([0, 10, 20, 29, 30.5, 40, 50], [1, 2, 3, 4, 5, 6, 7])
    log = made(rows, duplicates="nearest", step="10min")
    assert column(log) == [1, 2, 3, 5, 6, 7]
    assert counts(log) == (7, 6, 0, 1)
    assert "2 time(s) were up to 1 min off the grid of 10 min and were rounded" in log.quality.decisions


def test_a_step_longer_than_the_logs_own_resamples_what_falls_into_it_unless_a_policy_says_otherwise() -> None:
    minutes, values = [0, 5, 10, 15, 20], [1.5, 2.5, 3.5, 4.5, 5.5]
    log = made(series(minutes, values), step="10min", jitter=0.49)
    assert any("off a grid of 10 min" in d for d in log.quality.decisions)
    assert (column(log), counts(log)) == ([1.5, 3, 5], (5, 3, 0, 2))
    near = [0, 1, 10, 11, 20]
    assert column(made(series(near, values), step="10min")) == [1.5, 3, 5]
    assert column(made(series(near, values), step="10min", duplicates="first")) == [1.5, 3.5, 5.5]
    assert column(made(series(near, values), step="10min", duplicates_of_format="nearest")) == [1.5, 3.5, 5.5]


# --- cells ---


def test_cells_with_a_reason_are_counted_and_flagged_once_even_where_their_row_came_twice() -> None:
    parts = {"reasons": {0: np.array([-1, 0, 0, -1])}, "reason_names": ("below",), "reason_flags": (Flag.CENSORED,)}
    log = made(series([0, 1, 1, 2], [1, NAN, NAN, 3], **parts))
    assert dict(log.quality.masked) == {"below": 1}
    assert log.flags[:, 0].tolist() == [0, Flag.CENSORED, 0]
    assert dict(log.quality.flags) == {"censored": 1}
    assert dict(log.quality.calendar["censored"]) == {"2024-05-01": 1}


def test_the_meaning_of_a_time_stamp_is_handed_on() -> None:
    assert made(series([0, 1], [1, 2])).sampling == Sampling()
    assert made(series([0, 1], [1, 2], sampling=Sampling("end", 60.0))).sampling == Sampling("end", 60.0)


def test_ages_are_further_tags_of_no_unit_conversion() -> None:
    rows = series([0, 1, 2], [1, NAN, 3], columns=(Column("T0", "T0", "uSv/h"),))
    log = made(rows, ages=True)
    assert log.names == ("T0", "T0 age")
    np.testing.assert_array_equal(log.values, [[1000, 0], [NAN, 1], [3000, 0]])


# --- the grid ---


@pytest.mark.parametrize("count", [1, 3])
def test_one_time_is_no_log(count: int) -> None:
    with pytest.raises(LogError, match=r"only one time \(2024-05-01T00:00:00Z\) has rows; a log needs at least 2"):
        made(series([0] * count, [1] * count))


def test_gaps_are_those_of_the_whole_log_and_then_those_of_each_station() -> None:
    rows = series([0, 1, 2, 4, 0, 4, 5], [1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 0, 1, 1, 1])

    def gap(station: str, first: int, last: int) -> Gap:
        return Gap(station, f"2024-05-01T00:0{first}:00Z", f"2024-05-01T00:0{last}:00Z", last - first + 1)

    log = made(rows)
    assert log.quality.gaps == (gap("*", 3, 3), gap("T0", 5, 5), gap("T1", 1, 2))
    # several series of one station are missing only where all of them are
    assert made(series([0, 1, 0, 2], [1, 2, 3, 4], [0, 0, 1, 1], station_of_group=("A", "A"))).quality.gaps == ()
    assert made(series([0, 1, 0, 2], [1, 2, 3, 4], [0, 0, 1, 1], station_of_group=None)).quality.gaps == ()


def test_a_far_away_row_is_refused_with_the_span_it_would_make() -> None:
    rows = series([0, 1 / 60, 2 / 60], [1, 2, 3])
    rows.time[0] -= pd.Timedelta(days=365 * 30).value
    with pytest.raises(LogError, match="a grid of 1 s from 1994-05-09T00:00:00Z to 2024-05-01T00:00:02Z would hold"):
        made(rows, step="1s")


def test_a_clock_that_goes_back_is_a_warning_and_rounding_a_decision() -> None:
    log = made(series([0, 2, 1, 3.1, 4, 5], [1, 3, 2, 4, 5, 6]))
    assert any("1 row(s) are earlier than the row before" in warning for warning in log.quality.warnings)
    assert column(log) == [1, 2, 3, 4, 5, 6]


def test_a_declared_rule_reaches_the_tag_and_another_jitter_the_grid() -> None:
    assert made(series([0, 1, 2], [1, 2, 3]), resample={"T0": "sum"}).tags[0].resample == "sum"
    minutes = [0.0, 10, 20, 34, 40, 50]
    assert column(made(series(minutes, [1, 2, 3, 4, 5, 6]), step="10min", jitter=0.4)) == [1, 2, 3, 4, 5, 6]
    said = made(series(minutes, [1, 2, 3, 4, 5, 6]), step="10min").quality.decisions
    assert any(sentence.startswith("the times are irregular: 1 of 6 row(s)") for sentence in said)


# --- what is said ---


@pytest.mark.parametrize(("sources", "named"), [(1, 1), (2, 2), (5, 5), (6, 5)])
def test_a_log_of_which_nothing_is_left_names_five_of_its_files_and_why(sources: int, named: int) -> None:
    account = Account([f"{i}.csv" for i in range(sources)], 2)
    with pytest.raises(LogError) as refused:
        assemble(series([None, 0], [1, 2]), account, Assembly(start="2024-05-02"))
    assert str(refused.value) == (
        f"no row of {', '.join(f'{i}.csv' for i in range(named))} is left: 1 row(s) quarantined: not a time (column "
        "'when'); 1 row(s) quarantined: outside the period asked for (counted, not listed)"
    )


def test_a_column_of_text_is_named_with_its_first_text_in_the_period_and_the_way_out() -> None:
    texts = {0: pa.chunked_array([["windy", "1", "calm", "x"]])}
    bad = np.array([True, False, True, True])
    rows = series([0, 1, 2, 3], [1, 2, 3, 4], bad_cells={0: bad}, texts=texts)
    with pytest.raises(LogError) as refused:
        made(rows, start="2024-05-01T00:01Z")
    assert str(refused.value) == (
        "column 'value' holds text in 2 of 3 rows, first in log.csv line 4 (2024-05-01T00:02:00Z): 'calm'; leave it "
        "out with ignore=['value'], or declare decimal="
    )


@pytest.mark.parametrize(("texts", "refused"), [(1, False), (2, False), (3, True), (4, True)])
def test_text_in_half_of_the_rows_makes_a_column_of_text(texts: int, refused: bool) -> None:
    rows = series(
        [0, 1, 2, 3, 4, 5],
        [1, 2, 3, 4, 5, 6],
        bad_cells={0: np.arange(6) >= 6 - texts},
        texts={0: pa.chunked_array([list("abcdef")])},
    )
    if refused:
        with pytest.raises(LogError, match=f"holds text in {texts} of 6 rows"):
            made(rows)
    else:
        assert counts(made(rows)) == (6, 6 - texts, texts, 0)


@pytest.mark.parametrize(("stations", "named"), [(2, 2), (20, 20), (21, 20)])
def test_of_stations_that_are_there_twenty_are_named_and_unknown_ones_in_order(stations: int, named: int) -> None:
    rows = series([0] * stations + [1], [1] * (stations + 1), [*range(stations), 0])
    with pytest.raises(LogError) as refused:
        made(rows, stations=["T1", "y", "X"])
    assert str(refused.value) == f"unknown station(s): x, y; there: {', '.join(f'T{i}' for i in range(named))}"


def test_a_step_that_is_not_the_usual_distance_is_reported() -> None:
    said = made(series([0, 10, 30, 50, 70], [1, 2, 3, 4, 5])).quality.decisions
    assert said == ("the step is 10 min, the shortest distance; most times are 20 min apart", UNITLESS)
    assert made(series([0, 10, 20], [1, 2, 3])).quality.decisions == (UNITLESS,)


# --- what is handed on ---


def test_rows_of_one_time_are_no_reason_to_resample() -> None:
    for step in (None, "1min"):
        log = made(series([0, 1, 1, 2], [1.5, 2.5, 2.5, 3.5]), step=step)
        assert log.quality.decisions == (
            "1 row(s) fell on a step that had one already (1 of them identical to it): nothing was lost",
            UNITLESS,
        )


def test_times_a_nanosecond_apart_are_different_times() -> None:
    rows = series([0, 1, 1, 2, 3], [1.5, 2.5, 3.5, 4.5, 5.5])
    rows.time[1] -= 1
    assert column(made(rows, step="1min")) == [1.5, 3.0, 4.5, 5.5]


def test_gaps_of_irregular_readings_are_those_of_the_grid_they_were_put_on() -> None:
    rows = series([0, 9.5, 41, 49, 60], [1.5, 2, 3, 4, 5])
    assert made(rows, step="10min", resample="mean").quality.gaps == (
        Gap("*", "2024-05-01T00:20:00Z", "2024-05-01T00:40:00Z", 3),
    )


def test_units_conversions_tags_and_roles_reach_the_columns() -> None:
    columns = (Column("A [uR/h]", "A", "uR/h"), Column("B", "B", None))
    rows = series([0, 1, 0, 1], [1, 2, 3, 4], [0, 0, 1, 1], columns=columns)
    log = made(
        rows, convert={"uR/h": "8.7 nSv/h"}, units={"B": "degC"}, tags={"B": {"station": "north"}}, roles={"B": "input"}
    )
    np.testing.assert_allclose(log.values, [[8.7, 3], [17.4, 4]], rtol=1e-6)
    assert [(tag.name, tag.unit, tag.station, tag.role) for tag in log.tags] == [
        ("A", "nSv/h", None, "target"),
        ("B", "degC", "north", "input"),
    ]
