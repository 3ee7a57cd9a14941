"""The account of a log as blocks."""

from __future__ import annotations

import pandas as pd
import pytest

from attentionmixer.data.quality import Gap, QualityRecord, Quarantined
from attentionmixer.report.blocks import Heading, Items, Note, Picture, Table
from attentionmixer.report.log_account import (
    _missing,
    decision_blocks,
    gap_blocks,
    masked_block,
    quarantine_table,
    row_table,
    source_blocks,
)
from attentionmixer.report.svg import drawing_style

HOUR = pd.Timedelta("1h")


def at(text: str) -> pd.Timestamp:
    return pd.Timestamp(text, tz="UTC")


def test_the_table_of_rows_adds_up() -> None:
    table = row_table(QualityRecord(rows_in=10, rows_kept=7, rows_quarantined=2, rows_merged=1))
    assert [row[:2] for row in table.rows] == [["Read", "10"], ["Kept", "7"], ["Quarantined", "2"], ["Merged", "1"]]


def test_reasons_stand_most_frequent_first() -> None:
    block = masked_block(QualityRecord(masked={"a": 1, "b": 5}))
    assert isinstance(block, Table)
    assert block.rows == [["b", "5"], ["a", "1"]]
    assert masked_block(QualityRecord()) == Note("No value was set to missing by the reader.")


def test_warnings_come_before_decisions() -> None:
    blocks = decision_blocks(QualityRecord(warnings=("check it",), decisions=("done",)))
    assert blocks == [Note("check it", "warning"), Heading("What the reader decided"), Items(["done"])]


def test_many_sources_are_counted() -> None:
    blocks = source_blocks(QualityRecord(sources=tuple(f"{i}.csv" for i in range(30))))
    assert isinstance(blocks[1], Items)
    assert blocks[1].texts[-1] == "… and 10 more"


def test_quarantined_rows_beyond_those_shown_are_counted() -> None:
    rows = tuple(Quarantined("f", i, "c", "t", "r") for i in range(20))
    table = quarantine_table(QualityRecord(rows_in=2000, rows_quarantined=2000, quarantined=rows), 5)
    assert len(table.rows) == 5
    assert table.note == "1\u202f995 more are not listed."


def test_gaps_are_drawn_and_listed_longest_first() -> None:
    gaps = [
        Gap("A", "2024-05-01T03:00:00Z", "2024-05-01T03:00:00Z", 1),
        Gap("*", "2024-05-01T05:00:00Z", "2024-05-01T08:00:00Z", 4),
    ]
    with drawing_style():
        picture, table = gap_blocks(gaps, HOUR, (at("2024-05-01"), at("2024-05-02")))
    assert isinstance(picture, Picture)
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["the whole log", "A"]
    assert table.rows[0][-1] == "4\u202fh"
    assert "5 missing steps in all" in table.note


def test_a_single_missing_step_in_years_is_in_the_picture() -> None:
    first = at("2011-01-01")
    start = at("2015-06-01T07:00")
    shares = _missing([("A", start, start)], first, at("2021-01-01"), HOUR)
    assert 1 <= (shares > 0).sum() <= 2
    assert 0 < shares.max() < 0.01
    assert shares.sum() * (3653 * 24 / 600) == pytest.approx(1)


def test_shares_are_exact_where_a_column_is_a_step() -> None:
    gaps = [
        ("A", at("2024-05-01T02:00"), at("2024-05-01T03:00")),
        ("A", at("2024-05-01T23:00"), at("2024-05-01T23:00")),
    ]
    shares = _missing(gaps, at("2024-05-01"), at("2024-05-02"), HOUR)
    assert shares == pytest.approx([1.0 if hour in (2, 3, 23) else 0.0 for hour in range(24)])
