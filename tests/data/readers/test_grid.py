"""The grid of a log: the period asked for, the step found, phase, rounding and gaps, at their edges."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data.quality import Gap
from attentionmixer.data.readers.grid import (
    NICE,
    Grid,
    IrregularTimes,
    Period,
    as_text,
    check_size,
    find_gaps,
    find_grid,
    parse_step,
    regular_index,
    round_half_up,
    span,
)
from attentionmixer.errors import LogError

SECOND = 1_000_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND
ORIGIN = pd.Timestamp("2024-05-01", tz="UTC").value


def ns(text: str) -> int:
    return pd.Timestamp(text, tz="UTC").value


def grid(seconds: list[float], step: str | None = None, jitter: float = 0.25) -> Grid:
    time = ORIGIN + np.array([round(s * SECOND) for s in seconds], dtype=np.int64)
    return find_grid(time, step, jitter, lambda row: f"row {row}")


# --- the period asked for ---


@pytest.mark.parametrize(
    ("end", "moment"),
    [
        ("2021-06-30", "2021-07-01"),
        (" 2021-06-30 ", "2021-07-01"),
        (dt.date(2021, 6, 30), "2021-07-01"),
        ("2021-06-30T00:00", "2021-06-30"),
        ("2021-06-30T12:00Z", "2021-06-30 12:00"),
        ("2021-06-30T12:00+02:00", "2021-06-30 10:00"),
        (dt.datetime(2021, 6, 30), "2021-06-30"),
        (pd.Timestamp("2021-06-30", tz="Asia/Tokyo"), "2021-06-29 15:00"),
    ],
)
def test_an_end_that_is_only_a_date_includes_that_day_and_a_start_never_does(end: Any, moment: str) -> None:
    assert Period.parse(end=end).end == ns(moment)
    start = Period.parse(start=end).start
    assert start == ns(moment) - (DAY if "T" not in str(end) and not isinstance(end, dt.datetime) else 0)


def test_a_period_holds_its_start_and_not_its_end() -> None:
    time = np.array([9, 10, 19, 20])
    assert Period(10, 20).holds(time).tolist() == [False, True, True, False]
    assert Period(None, 20).holds(time).tolist() == [True, True, True, False]
    assert Period(10, None).holds(time).tolist() == [False, True, True, True]
    assert Period().holds(time).all()
    assert Period.parse() == Period(None, None)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ("soon", None, "start='soon' is not a date; write it as 2021-06-30"),
        (None, "now", "end='now' is not a date"),
        ("2021-13-01", None, "start='2021-13-01' is not a date"),
        (None, "30.06.2021", "end='30.06.2021' is not a date"),
        (pd.NaT, None, "start is not a time"),
        ([1], None, r"start=\[1\] is not a date"),
        ("2021-06-02", "2021-06-01", "empty: start 2021-06-02 is not before end 2021-06-01"),
        ("2021-06-01T00:00", "2021-06-01T00:00", "is empty"),
    ],
)
def test_a_period_that_cannot_be_is_refused(start: Any, end: Any, message: str) -> None:
    with pytest.raises(LogError, match=message):
        Period.parse(start, end)


def test_one_day_is_a_period() -> None:
    period = Period.parse("2021-06-01", "2021-06-01")
    assert (period.start, period.end) == (ns("2021-06-01"), ns("2021-06-02"))


# --- small things ---


@pytest.mark.parametrize(("time", "to"), [(0, 0), (4, 0), (5, 10), (14, 10), (15, 20), (-5, 0), (-6, -10)])
def test_a_tie_is_rounded_to_the_later_step(time: int, to: int) -> None:
    assert round_half_up(np.array([time]), 10).tolist() == [to]
    assert round_half_up(np.array([time + 3]), 10, origin=3).tolist() == [to + 3]


@pytest.mark.parametrize(
    ("time", "text"),
    [(0, "00:00:00Z"), (1, "00:00:00.000000001Z"), (1000, "00:00:00.000001Z"), (61 * SECOND, "00:01:01Z")],
)
def test_moments_are_written_with_as_many_digits_as_they_need(time: int, text: str) -> None:
    assert as_text(ORIGIN + time) == f"2024-05-01T{text}"


def test_an_index_holds_both_its_ends() -> None:
    index = regular_index(ORIGIN, ORIGIN + 2 * HOUR, HOUR)
    assert [str(t) for t in index] == [f"2024-05-01 0{h}:00:00+00:00" for h in range(3)]
    assert len(regular_index(ORIGIN, ORIGIN + 2 * HOUR - 1, HOUR)) == 2
    assert len(regular_index(ORIGIN, ORIGIN, HOUR)) == 1


@pytest.mark.parametrize(
    ("present", "gaps"),
    [
        ([1, 1], []),
        ([0, 0], [(0, 1)]),
        ([0, 1, 0, 0, 1, 0], [(0, 0), (2, 3), (5, 5)]),
        ([], []),
    ],
)
def test_gaps_are_runs_of_missing_steps_with_their_first_and_last(
    present: list[int], gaps: list[tuple[int, int]]
) -> None:
    wanted = [Gap("north", as_text(ORIGIN + a * HOUR), as_text(ORIGIN + b * HOUR), b - a + 1) for a, b in gaps]
    assert find_gaps(np.array(present, dtype=bool), ORIGIN, HOUR, "north") == wanted
    assert all(gap.station == "*" for gap in find_gaps(np.array(present, dtype=bool), ORIGIN, HOUR))


@pytest.mark.parametrize(
    ("text", "width"),
    [
        *(
            ("10min", 10 * MINUTE),
            ("1h", HOUR),
            ("h", HOUR),
            ("1d", DAY),
            ("1D", DAY),
            ("7d", 7 * DAY),
            (" 30s ", 30 * SECOND),
        ),
        *(("90min", 90 * MINUTE), ("0.5h", HOUR // 2), ("00:10:00", 10 * MINUTE), ("250ms", SECOND // 4), ("1ns", 1)),
    ],
)
def test_steps_are_read_as_people_write_them(text: str, width: int) -> None:
    assert parse_step(text) == width


@pytest.mark.parametrize("text", ["soon", "", "10", "0min", "-1h", "1 banana", "NaT"])
def test_a_step_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LogError, match="step="):
        parse_step(text)
    with pytest.raises(LogError, match="not a span of time"):
        parse_step(10)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("width", "text"),
    [
        *(
            (DAY, "1 d"),
            (7 * DAY, "7 d"),
            (36 * HOUR, "36 h"),
            (HOUR, "1 h"),
            (90 * MINUTE, "90 min"),
            (61 * SECOND, "61 s"),
        ),
        *((SECOND, "1 s"), (SECOND // 4, "0.250 s"), (1_500_000_000, "1.500 s"), (0, "0.000 s")),
    ],
)
def test_a_span_is_shown_in_the_largest_unit_that_fits(width: int, text: str) -> None:
    assert span(width) == text


def test_steps_that_people_choose_divide_a_day_or_are_whole_days() -> None:
    assert list(NICE) == sorted(set(NICE))
    assert all(DAY % nice == 0 or nice % DAY == 0 for nice in NICE)


# --- the largest grid ---


@pytest.mark.parametrize(
    ("steps", "columns", "readings", "what"),
    [
        (1_000_000, 1, (1, 1), None),
        (1_000_001, 1, (1, 1), "1,000,001 steps for 1 rows"),
        (1_000_001, 1, (20_001, 1), None),
        (1_500_000, 1, (30_000, 1), None),
        (1_500_001, 1, (30_000, 1), "1,500,001 steps for 30,000 rows"),
        (1_000_000, 20, (1, 1), None),
        (1_000_000, 21, (1, 1), "21,000,000 values for 1 rows"),
        (1_000_000, 30, (100_000, 3), None),
        (1_000_000, 30, (99_999, 3), "30,000,000 values for 99,999 rows"),
    ],
)
def test_a_grid_far_larger_than_what_came_in_is_refused(
    steps: int, columns: int, readings: tuple[int, int], what: str | None
) -> None:
    if what is None:
        check_size(steps, columns, readings, "1 h")
        return
    with pytest.raises(
        LogError, match=f"a grid of 1 h would hold {what}; check the first and last time, or give step="
    ):
        check_size(steps, columns, readings, "1 h")


# --- finding the grid ---


def test_a_single_time_is_a_grid_of_one_step() -> None:
    found = grid([5, 5, 5])
    assert (found.steps, found.position.tolist(), found.moved, found.origin) == (1, [0, 0, 0], 0, ORIGIN + 5 * SECOND)


def test_the_step_is_the_shortest_distance_where_all_are_its_multiples() -> None:
    found = grid([0, 600, 1800, 2400])
    assert (found.step, found.steps, found.position.tolist()) == (600 * SECOND, 5, [0, 1, 3, 4])
    assert (found.moved, found.note, found.label, found.largest) == (0, None, "10 min", "0.000 s")
    assert found.last == found.origin + 4 * found.step
    assert found.time_of(found.position).tolist() == [ORIGIN + s * SECOND for s in (0, 600, 1800, 2400)]
    assert len(found.index()) == 5 and found.index()[-1] == pd.Timestamp(found.last, tz="UTC")


def test_a_step_that_is_not_the_usual_distance_is_said_to_be_so() -> None:
    found = grid([0, 600, 1800, 3000, 4200])
    assert found.step == 600 * SECOND
    assert found.note == "the step is 10 min, the shortest distance; most times are 20 min apart"


def test_any_order_of_rows_gives_the_same_grid() -> None:
    found = grid([1200, 0, 600, 0])
    assert (found.origin, found.position.tolist()) == (ORIGIN, [2, 0, 1, 0])


def test_a_regular_log_keeps_a_phase_of_its_own_to_the_nanosecond() -> None:
    time = ORIGIN + 7 + np.arange(5) * 600 * SECOND
    found = find_grid(time, None, 0.25, str)
    assert (found.origin, found.moved) == (ORIGIN + 7, 0)


def test_one_odd_time_does_not_make_the_grid_nearly_empty() -> None:
    seconds = [*(600 * i for i in range(60)), 600 * 59 + 1]
    with pytest.raises(IrregularTimes, match=r"no common step|more than 0.25 steps off"):
        grid([*seconds, 36_300.5])
    # two times a second apart in a log of ten minutes are one step
    found = grid(seconds)
    assert (found.step, found.steps, found.moved) == (600 * SECOND, 60, 1)


def test_a_shortest_distance_counts_up_to_twenty_steps_for_each_time() -> None:
    assert grid([0, 1, 60]).step == SECOND  # 60 steps, three times
    with pytest.raises(IrregularTimes):
        grid([0, 1, 61])
    assert grid([0, 1, 61, 80]).step == SECOND


def test_jittered_times_are_rounded_to_full_steps_and_counted() -> None:
    found = grid([0, 3605, 7199, 10800, 14400, 18000])
    assert (found.origin, found.step, found.moved, found.largest) == (ORIGIN, HOUR, 2, "5 s")
    assert found.position.tolist() == list(range(6))


def test_jittered_times_with_an_offset_keep_it_to_the_second() -> None:
    found = grid([1500 + 3600 * i + e for i, e in enumerate((0.2, 0.1, -0.3, 0.2, -0.1, 0.1))])
    assert (found.origin, found.step, found.steps) == (ORIGIN + 1500 * SECOND, HOUR, 6)
    assert found.moved == 6


def test_the_usual_distance_may_be_five_per_cent_off_a_round_one() -> None:
    assert grid([0, 62, 125.5, 188, 251, 314], jitter=0.4).step == MINUTE
    with pytest.raises(IrregularTimes, match=r"they are 64 s to 66 s apart|64"):
        grid([0, 64, 130, 195, 259.5, 324])


def test_many_short_distances_are_no_jitter() -> None:
    seconds = np.cumsum([0, *[60, 60.5, 30, 61] * 5])
    with pytest.raises(IrregularTimes, match="they have no common step") as caught:
        grid(list(seconds))
    assert "Give step= or resample=" in str(caught.value)
    assert caught.value.found.startswith("they have no common step; they are 30 s to 61 s apart")


@pytest.mark.parametrize(("off", "fits"), [(15, True), (15.001, False), (-15, True), (-15.001, False)])
def test_a_time_may_lie_up_to_the_jitter_off_the_grid(off: float, fits: bool) -> None:
    seconds = [*(60.0 * i for i in range(20)), 1200 + off]
    if fits:
        assert grid(seconds, "1min").largest == "15 s"
        return
    with pytest.raises(
        IrregularTimes, match=r"1 of 21 row\(s\) lie more than 0.25 steps off a grid of 1 min, first: row 20"
    ):
        grid(seconds, "1min")


def test_no_more_than_five_rows_are_shown() -> None:
    with pytest.raises(IrregularTimes) as caught:
        grid([*(60.0 * i for i in range(20)), *(60.0 * i + 30 for i in range(20, 26))], "1min", jitter=0.1)
    assert "6 of 26 row(s)" in str(caught.value) or "20 of 26" in str(caught.value)
    assert str(caught.value).count("row ") == 5


@pytest.mark.parametrize("jitter", [-0.01, 0.5, 1.0, float("nan")])
def test_a_jitter_of_half_a_step_or_more_is_refused(jitter: float) -> None:
    with pytest.raises(LogError, match="is not a share of the step"):
        grid([0, 60], jitter=jitter)


def test_without_any_jitter_only_exact_times_are_taken() -> None:
    assert grid([0, 60, 120], jitter=0.0).moved == 0
    with pytest.raises(IrregularTimes):
        grid([0, 60, 120.001], "1min", jitter=0.0)


def test_a_declared_step_is_taken_as_it_is() -> None:
    assert grid([0, 3600], "30min").steps == 3
    assert grid([0, 60, 120], "1min").note is None
    found = grid([7, 67, 127], "1min")
    assert (found.origin, found.moved) == (ORIGIN + 7 * SECOND, 0)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    step=st.sampled_from(NICE),
    phase=st.integers(0, DAY),
    positions=st.sets(st.integers(2, 40), max_size=12),
    jitter=st.lists(st.floats(-0.02, 0.02), min_size=14, max_size=14),
)
def test_every_row_lands_on_its_own_step_however_it_jitters(
    step: int, phase: int, positions: set[int], jitter: list[float]
) -> None:
    at = np.array([0, 1, *sorted(positions)])
    time = ORIGIN + phase + at * step + np.array([int(j * step) for j in jitter[: len(at)]])
    found = find_grid(time, f"{step}ns", 0.25, str)
    assert (np.diff(found.position) == np.diff(at)).all()
    assert found.position.min() == 0 and found.steps == int(found.position.max()) + 1
    off = np.abs(time - found.time_of(found.position))
    assert off.max() <= 0.25 * step
    assert found.moved == int((off > 0).sum())


# --- what is said ---


def test_what_is_no_step_is_said_with_the_ways_to_write_one() -> None:
    for text in ("soon", "10"):
        with pytest.raises(LogError) as refused:
            parse_step(text)
        assert str(refused.value) == f"step={text!r} is not a span of time; write it as '10min', '1h' or '1d'"
    assert str(refused.value.__cause__) == "a bare number, which pandas takes as nanoseconds"
    for text in ("0min", "-1h"):
        with pytest.raises(LogError) as refused:
            parse_step(text)
        assert str(refused.value) == f"step={text!r} must be longer than nothing"


@pytest.mark.parametrize("jitter", [-0.01, 0.5])
def test_what_is_no_jitter_is_said(jitter: float) -> None:
    with pytest.raises(LogError) as refused:
        grid([0, 60], jitter=jitter)
    assert str(refused.value) == f"jitter={jitter} is not a share of the step from 0 to below 0.5"


def test_rows_off_the_grid_are_named_with_what_to_do() -> None:
    seconds = [*(60.0 * i for i in range(1200)), *(60.0 * i + 30 for i in range(1200, 1207))]
    with pytest.raises(IrregularTimes) as refused:
        grid(seconds, "1min", jitter=0.125)
    found = (
        "7 of 1,207 row(s) lie more than 0.125 steps off a grid of 1 min, first: row 1200; row 1201; row 1202; "
        "row 1203; row 1204"
    )
    assert refused.value.found == found
    assert str(refused.value) == (
        f"the times are not regular: {found}. Give step= if the step is another, or resample="
    )


def test_times_without_a_common_step_are_described() -> None:
    with pytest.raises(IrregularTimes) as refused:
        grid([0, 64, 130, 195, 260, 324.5])
    found = "they have no common step; they are 64 s to 66 s apart, 65 s in the middle"
    assert str(refused.value) == f"the times are not regular: {found}. Give step= or resample="


# --- limits of what is taken as regular ---


def offset(*offsets: float, step: float = 60) -> list[float]:
    """Times (s) that lie this far off each step of a grid."""
    return [step * i + off for i, off in enumerate(offsets)]


def test_a_usual_distance_exactly_five_per_cent_off_a_week_is_one() -> None:
    hours = np.cumsum([0, 150, 160, 160, 186, 184])
    assert grid((3600 * hours).tolist()).step == 7 * DAY
    hours = np.cumsum([0, 150, 159.9, 159.9, 186, 184])
    with pytest.raises(IrregularTimes, match="no common step"):
        grid((3600 * hours).tolist())


@pytest.mark.parametrize(
    ("offsets", "regular"),
    [
        # three quarters of the usual distance is not well below it; one in ten may be
        ((0, 0, 7.5, -7.5, 0, 0, 7.5, -7.5, 0, 0, 0), True),
        ((0, 0, 7.5, -7.6, 0, 0, 7.5, -7.6, 0, 0, 0), False),
        ((0, 0, 8, -8, 0, 0, 0, 0, 0, 0, 0), True),
        ((0, 0, 8, -8, 0, 0, 0, 0, 0, 0), False),
    ],
)
def test_few_distances_may_be_well_below_the_usual_one(offsets: tuple[float, ...], regular: bool) -> None:
    if regular:
        assert grid(offset(*offsets)).step == MINUTE
        return
    with pytest.raises(IrregularTimes, match="they have no common step"):
        grid(offset(*offsets))


@pytest.mark.parametrize("off", [-29, -20, 20, 29])
def test_a_time_is_taken_to_the_nearest_step_up_to_nearly_half_a_step(off: float) -> None:
    found = grid([*offset(*[0] * 20), 1200 + off], "1min", jitter=0.49)
    assert found.position.tolist() == list(range(21))
    assert (found.origin, found.moved, found.largest) == (ORIGIN, 1, f"{abs(off)} s")


@pytest.mark.parametrize(
    ("offsets", "origin"),
    [((15, 15, -15, 0), 0), ((15, 15, 15.001, 0), 12), ((-15, -15, 15, 0), 0), ((-15, -15.001, 0, 0), -8)],
)
def test_steps_begin_at_full_minutes_where_every_time_is_near_enough_to_one(
    offsets: tuple[float, ...], origin: int
) -> None:
    found = grid(offset(*offsets), "1min")
    assert found.origin == ORIGIN + origin * SECOND
    assert (type(found.origin), found.position.dtype) == (int, np.int64)
    assert found.position.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("step", "origin"), [(9, 4.4), (10, 4.0), (11, 4.0)])
def test_a_phase_is_rounded_to_full_seconds_for_steps_of_ten_seconds_or_more(step: int, origin: float) -> None:
    start = -(ORIGIN // SECOND) % step
    found = grid([start + s for s in offset(4.3, 4.5, 4.3, 4.5, step=step)], f"{step}s")
    assert (found.origin - ORIGIN) / SECOND - start == pytest.approx(origin, abs=1e-3)
    assert found.moved == 4


def test_a_single_time_is_a_grid_of_the_smallest_step_with_nothing_to_say() -> None:
    found = grid([5, 5])
    assert (found.step, found.last, found.largest, found.note) == (1, found.origin, "0 s", None)
    assert found.position.dtype == np.int64


def test_times_on_the_grid_were_moved_by_nothing() -> None:
    found = grid([0, 60, 120])
    assert (found.moved, found.largest) == (0, "0.000 s")


def test_the_steps_that_people_choose_are_these() -> None:
    counts = (1, 2, 3, 5, 6, 10, 12, 15, 20, 30)
    assert list(NICE) == [
        *(SECOND * n for n in counts),
        *(MINUTE * n for n in counts),
        *(HOUR * n for n in (1, 2, 3, 4, 6, 8, 12)),
        *(DAY * n for n in (1, 7)),
    ]
