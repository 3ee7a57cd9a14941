"""What sources of many kinds say of themselves where they cannot be read one way, and how their cells come out."""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data import StationLog, read_log
from attentionmixer.data.readers import historian
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import Source, expand
from attentionmixer.data.readers.table.file import load
from attentionmixer.data.readers.table.parts import FileRules
from attentionmixer.errors import LogError


def database(folder: Path, cells: list[tuple[Any, ...]]) -> str:
    """The address of a table of times and two columns without a type."""
    connection = sqlite3.connect(folder / "plant.db")
    connection.execute('create table readings (time text, "A [cpm]", B)')
    connection.executemany("insert into readings values (?, ?, ?)", cells)
    connection.commit()
    connection.close()
    return f"sqlite:///{folder / 'plant.db'}?table=readings"


def test_a_column_of_a_database_with_numbers_and_words_is_text(tmp_path: Path) -> None:
    cells = [("2024-05-01 00:00", 1, "open"), ("2024-05-01 01:00", 2.5, 7), ("2024-05-01 02:00", None, None)]
    table = load(expand(database(tmp_path, cells), Limits())[0], FileRules()).table
    assert table.column("B").to_pylist() == ["open", "7", None]


def test_an_unreadable_archive_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(b"PK")

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(LogError, match=rf"^{re.escape(str(path))} cannot be read: not yours$"):
        expand(path)
    with pytest.raises(LogError, match=rf"^{re.escape(str(path))} cannot be read: not yours$"):
        list(Source(path).blocks())


def test_columns_of_a_sheet_without_a_header_are_numbered(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for hour in range(3):
        book.active.append([dt.datetime(2024, 5, 1, hour), 70 + hour, None, 5])
    book.save(tmp_path / "log.xlsx")
    found = load(Source(tmp_path / "log.xlsx"), FileRules(header=False)).table.column_names
    assert found == ["column 1", "column 2", "column 4"]


def irregular(tmp_path: Path) -> StationLog:
    path = tmp_path / "log.csv"
    minutes = [0, 7, 19, 23, 41, 300, 303, 322, 331, 347]
    rows = [f"2024-05-01T{m // 60:02d}:{m % 60:02d}:00Z,{70 + m % 7}" for m in minutes]
    path.write_text("time,A [nSv/h]\n" + "\n".join(rows) + "\n")
    return read_log(path, step="10min")


def test_steps_without_a_reading_of_an_irregular_log_are_gaps(tmp_path: Path) -> None:
    log = irregular(tmp_path)
    gaps = log.quality.gaps
    filled = sum(1 for row in log.values if row[0] == row[0])
    assert sum(gap.steps for gap in gaps) == len(log) - filled
    assert max(gap.steps for gap in gaps) > 20


@pytest.mark.parametrize("level", ["bad", "fine"])
def test_a_level_that_cannot_be_kept_is_refused_with_those_that_can(tmp_path: Path, level: str) -> None:
    with pytest.raises(LogError) as refused:
        historian.read([Source(tmp_path / "a.csv")], keep=[level])
    assert str(refused.value) == (
        f"keep={level!r} is no level of quality that can be kept; choose uncertain, questionable, substituted"
    )


def test_historian_files_that_cannot_be_one_log_say_why(tmp_path: Path) -> None:
    for name, text in (
        ("a.csv", "Time;Tag;Value;Quality\n2024-05-01T00:00Z;A;1.5;Good\n2024-05-01T01:00Z;A;2.5;Good\n"),
        ("b.csv", "Time;Tag;Value;Quality\n2024-05-01T02:00Z;A;1,5;Good\n2024-05-01T03:00Z;A;2,5;Good\n"),
        ("c.csv", "Time;Tag;Value;Good\n2024-05-01T02:00Z;A;1.5;1\n2024-05-01T03:00Z;A;2.5;1\n"),
    ):
        (tmp_path / name).write_text(text)
    a, b, c = (Source(tmp_path / name) for name in ("a.csv", "b.csv", "c.csv"))
    with pytest.raises(LogError, match=r"^a\.csv and b\.csv have different decimal marks; declare decimal=$"):
        historian.read([a, b])
    with pytest.raises(LogError) as refused:
        historian.read([a, c])
    assert str(refused.value) == (
        "a.csv and c.csv cannot be one log: only one of them has the column(s) Good, Quality; read them one by one"
    )
