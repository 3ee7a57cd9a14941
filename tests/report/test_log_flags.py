"""Calendars of flagged readings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attentionmixer.report.blocks import Note, Picture, Table
from attentionmixer.report.log_flags import flag_blocks, rule_blocks, strips_by_day, strips_by_step
from attentionmixer.report.svg import drawing_style

CALENDAR = {"stuck": {"2024-01-03": 5, "2024-01-30": 1}, "swap": {"2024-01-03": 2}}


def test_days_are_columns_from_the_first_to_the_last_of_the_log() -> None:
    span = (pd.Timestamp("2024-01-01 05:00", tz="UTC"), pd.Timestamp("2024-01-31 20:00", tz="UTC"))
    strips = strips_by_day(CALENDAR, span)
    assert strips.counts.shape == (2, 31)
    assert strips.counts[0, 2] == 5
    assert strips.counts[0, 29] == 1
    assert strips.counts[1, 2] == 2
    assert strips.counts.sum() == 8
    assert (strips.first, strips.end) == (pd.Timestamp("2024-01-01", tz="UTC"), pd.Timestamp("2024-02-01", tz="UTC"))


def test_without_the_logs_span_the_flagged_days_are_the_span() -> None:
    assert strips_by_day(CALENDAR).counts.shape == (2, 28)


def test_many_days_share_columns_and_none_is_lost() -> None:
    days = pd.date_range("2011-01-01", "2021-12-31", freq="D").strftime("%Y-%m-%d")
    strips = strips_by_day({"spike": {day: i % 3 + 1 for i, day in enumerate(days)}})
    assert strips.counts.shape[1] <= 366
    assert strips.counts.sum() == sum(i % 3 + 1 for i in range(len(days)))
    assert strips.column == "11 days"


def test_steps_are_columns_of_a_short_log() -> None:
    time = pd.date_range("2024-01-01", periods=800, freq="1min", tz="UTC")
    cells = np.zeros(800, dtype=np.int64)
    cells[799] = 2
    strips = strips_by_step({"stuck": cells}, time)
    assert strips.counts.shape == (1, 267)
    assert strips.counts[0, -1] == 2
    assert strips.column == "3\u202fmin"


def test_the_table_says_what_a_flag_means_and_whether_training_uses_the_reading() -> None:
    with drawing_style():
        picture, table = flag_blocks({"swap": 2, "stuck": 6}, CALENDAR, strips_by_day(CALENDAR))
    assert isinstance(picture, Picture)
    assert isinstance(table, Table)
    assert [row[:3] + row[4:] for row in table.rows] == [["stuck", "6", "2", "ignored"], ["swap", "2", "1", "used"]]


def test_a_record_of_another_version_with_an_unknown_flag_is_shown() -> None:
    (table,) = flag_blocks({"<b>new": 3}, {}, None)
    assert isinstance(table, Table)
    assert table.rows[0] == ["<b>new", "3", "0", "", ""]


def test_without_flags_there_is_a_sentence() -> None:
    assert flag_blocks({}, {}, None) == [Note("No reading has a flag.")]


def test_tags_that_are_not_drawn_are_said_and_stand_in_the_table() -> None:
    tags = {f"T{i}": 20 - i for i in range(20)}
    drawn = strips_by_day({name: {"2024-01-03": number} for name, number in list(tags.items())[:15]})
    with drawing_style():
        picture, table = rule_blocks("stuck", tags, drawn)
    assert isinstance(picture, Picture)
    assert isinstance(table, Table)
    assert "Of 20 tags, the 15 with most are drawn." in picture.caption
    assert len(table.rows) == 20
