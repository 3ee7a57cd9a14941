"""Ticks of time axes."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attentionmixer.report.timeaxis import ticks

START = pd.Timestamp("2021-03-05 07:13:20", tz="UTC")


@given(st.integers(1, 10**10), st.integers(3, 9))
def test_there_are_never_too_many_ticks_and_all_lie_inside(seconds: int, most: int) -> None:
    last = START + pd.Timedelta(seconds=seconds % (40 * 365 * 86400) + 1)
    found = ticks(START, last, most)
    assert len(found) <= most
    assert all(START <= tick <= last for tick in found)


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ("2h", ["07:30", "08:00", "08:30", "09:00"]),
        ("14D", ["2021-03-06", "2021-03-08", "2021-03-10", "2021-03-12", "2021-03-14", "2021-03-16", "2021-03-18"]),
        ("700D", ["2021-07-01", "2021-10-01", "2022-01-01", "2022-04-01", "2022-07-01", "2022-10-01", "2023-01-01"]),
    ],
)
def test_ticks_are_round_times(span: str, expected: list[str]) -> None:
    found = ticks(START, START + pd.Timedelta(span), 8)
    wanted = [pd.Timestamp(f"2021-03-05 {text}" if ":" in text else text, tz="UTC") for text in expected]
    assert [tick for tick in found if tick in wanted] == wanted
    assert len(found) <= 8
