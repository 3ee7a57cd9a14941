"""Waits."""

from __future__ import annotations

import datetime as dt

import pytest

from attentionmixer.data.fetch.rules import ClientRules, asked_wait

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)


def test_waits_double_up_to_the_longest() -> None:
    rules = ClientRules(first_wait=1.0, longest_wait=10.0)
    assert [rules.wait(attempt, 1.0) for attempt in range(1, 7)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_wait_is_drawn_from_the_upper_half() -> None:
    rules = ClientRules(first_wait=8.0)
    assert (rules.wait(1, 0.0), rules.wait(1, 0.5)) == (4.0, 6.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Tue, 01 Dec 2026 12:01:00 GMT", 60.0),
        ("Tue, 01 Dec 2026 11:00:00 GMT", 0.0),
        ("Tue, 01 Dec 2026 12:01:00 -0000", 60.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("9" * 5000, None),
        ("٣", None),
    ],
)
def test_the_wait_asked_for_is_seconds_or_a_date(text: str | None, seconds: float | None) -> None:
    assert asked_wait(text, NOW) == seconds
