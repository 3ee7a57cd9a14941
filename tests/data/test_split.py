"""Chronological splits: shares, counts, dates, and errors that say what would fit."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.split import Split, SplitConfig, check_windows, split_rows
from attentionmixer.errors import ConfigError, LogError


def make(rows: int) -> StationLog:
    time = pd.date_range("2024-01-01", periods=rows, freq="h", tz="UTC")
    return StationLog(np.zeros((rows, 1), np.float32), time, [Tag("A")])


@given(
    rows=st.integers(20, 5000),
    train=st.floats(0.1, 0.8),
    validation=st.floats(0.1, 0.5),
    test=st.floats(0.1, 0.5),
)
def test_shares_give_adjoining_parts_of_their_size(rows: int, train: float, validation: float, test: float) -> None:
    total = train + validation + test
    if total > 1:
        train, validation, test = train / total, validation / total, test / total
    split = split_rows(make(rows), SplitConfig(train, validation, test))
    parts = split.parts()
    assert parts["train"][0] == 0
    assert parts["train"][1] == parts["validation"][0]
    assert parts["validation"][1] == parts["test"][0]
    assert parts["test"][1] <= rows
    for name, share in (("train", train), ("validation", validation), ("test", test)):
        first, last = parts[name]
        assert abs((last - first) - share * rows) <= 1.01


@pytest.mark.parametrize("rows", [100, 101, 999, 17_520])
def test_shares_that_add_up_to_one_use_every_row(rows: int) -> None:
    assert split_rows(make(rows), SplitConfig()).test_end == rows


def test_counts_are_rows_and_what_is_left_over_is_not_used() -> None:
    assert split_rows(make(100), SplitConfig(50, 20, 10)) == Split(50, 70, 80)
    with pytest.raises(LogError, match=r"110 rows.*has 100"):
        split_rows(make(100), SplitConfig(50, 40, 20))


def test_dates_name_the_first_row_of_a_part() -> None:
    config = SplitConfig(validation_start="2024-01-02", test_start="2024-01-03T12:00", end="2024-01-04")
    assert split_rows(make(100), config) == Split(24, 60, 72)
    # a date between two rows begins with the later one; a date with a zone is converted
    config = SplitConfig(validation_start="2024-01-02T00:30", test_start="2024-01-03T00:00+01:00")
    assert split_rows(make(100), config) == Split(25, 47, 100)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (SplitConfig(0.8, 0.2, 0.2), r"1\.2"),
        (SplitConfig(0.8, 0.2, 0.0), "above 0"),
        (SplitConfig(-0.1, 0.5, 0.5), "above 0"),
        (SplitConfig(0.5, 100, 100), "more than 1"),
        (SplitConfig(validation_start="2024-01-02"), "both"),
        (SplitConfig(test_start="2024-01-02"), "both"),
        (SplitConfig(end="2024-01-02"), "end needs validation_start"),
        (SplitConfig(validation_start="2024-01-03", test_start="2024-01-02"), "a part empty.*2024-01-01 00:00"),
        (SplitConfig(validation_start="2023-01-01", test_start="2024-01-02"), "a part empty"),
        (SplitConfig(validation_start="2024-01-02", test_start="2025-01-01"), "a part empty"),
    ],
)
def test_a_split_that_makes_no_sense_says_why(config: SplitConfig, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        split_rows(make(100), config)


def test_what_is_no_date_is_named() -> None:
    with pytest.raises(LogError, match="'next week'"):
        split_rows(make(100), SplitConfig(validation_start="next week", test_start="2024-01-03"))


def test_a_log_too_short_for_its_parts_is_refused() -> None:
    with pytest.raises(ConfigError, match="a part empty"):
        split_rows(make(3), SplitConfig())


@given(
    train=st.integers(1, 60),
    validation=st.integers(1, 30),
    test=st.integers(1, 30),
    lookback=st.integers(1, 40),
    horizon=st.integers(1, 40),
)
def test_the_longest_horizon_named_is_the_longest_that_fits(
    train: int, validation: int, test: int, lookback: int, horizon: int
) -> None:
    log = make(max(2, train + validation + test))
    split = Split(train, train + validation, train + validation + test)

    def fits(steps: int) -> bool:
        # a window of each part: its look-back may begin at row 0, its targets stay inside
        return all(max(first, lookback) + steps <= last for first, last in split.parts().values())

    if fits(horizon):
        check_windows(log, split, lookback, horizon)
        return
    with pytest.raises(LogError) as raised:
        check_windows(log, split, lookback, horizon)
    named = re.search(r"longest horizon that fits is (\d+)", str(raised.value))
    if named is None:
        assert "no horizon fits" in str(raised.value)
        assert not fits(1)
    else:
        longest = int(named[1])
        check_windows(log, split, lookback, longest)
        assert fits(longest) and not fits(longest + 1)


def test_the_error_says_rows_there_rows_needed_and_what_to_change() -> None:
    with pytest.raises(LogError) as raised:
        check_windows(make(100), Split(70, 85, 100), lookback=60, horizon=24)
    message = str(raised.value)
    for part in (
        "the train part has 70 rows",
        "need 84",
        "longest horizon that fits is 10",
        "has 100 rows",
        "lookback",
    ):
        assert part in message
    with pytest.raises(LogError, match=r"the validation part has 15 rows.*need 16.*fits is 15"):
        check_windows(make(100), Split(70, 85, 100), lookback=10, horizon=16)


@pytest.mark.parametrize(
    ("shares", "rows", "expected"),
    [
        # 0.7 + 0.1 is 0.7999… and 100 · 0.29 is 28.9… in binary: neither may cost a row
        ((0.7, 0.1, 0.2), 1000, Split(700, 800, 1000)),
        ((0.7, 0.1, 0.2), 10, Split(7, 8, 10)),
        ((0.29, 0.29, 0.42), 100, Split(29, 58, 100)),
        ((0.6, 0.2, 0.1), 100, Split(60, 80, 90)),
    ],
)
def test_shares_that_are_whole_rows_lose_none_to_rounding(
    shares: tuple[float, float, float], rows: int, expected: Split
) -> None:
    assert split_rows(make(rows), SplitConfig(*shares)) == expected
