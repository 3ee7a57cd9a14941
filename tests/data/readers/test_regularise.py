"""Irregular readings come to a grid by a declared rule, and nothing is used before it was there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data import StationLog, read_log
from attentionmixer.data.quality import Flag
from attentionmixer.errors import LogError

Write = Callable[[str], Path]
NAN = float("nan")
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
