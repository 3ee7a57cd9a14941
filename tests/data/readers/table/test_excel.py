"""Excel workbooks."""

from __future__ import annotations

import builtins
import datetime as dt
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from attentionmixer.data import read_log
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import Source, expand
from attentionmixer.data.readers.table import excel
from attentionmixer.data.readers.table.file import load
from attentionmixer.data.readers.table.parts import FileRules, TableFile
from attentionmixer.errors import LogError

openpyxl = pytest.importorskip("openpyxl")

NAN = float("nan")
TIMES = [dt.datetime(2024, 5, 1, 0, minute) for minute in range(0, 60, 10)]
HEADER = ["time", "A [nSv/h]", "B [cpm]"]
ROWS = [[time, 70.5 + i, 800 + i] for i, time in enumerate(TIMES)]
Book = Callable[..., Path]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    def make(rows: Sequence[Sequence[Any]], merge: str | None = None, more: Mapping[str, Any] | None = None) -> Path:
        made = openpyxl.Workbook()
        for row in rows:
            made.active.append(row)
        if merge:
            made.active.merge_cells(merge)
        for title, further in (more or {}).items():
            sheet = made.create_sheet(title)
            for row in further:
                sheet.append(row)
        made.save(tmp_path / "log.xlsx")
        return tmp_path / "log.xlsx"

    return make


def read(path: Path, **declared: object) -> TableFile:
    return load(Source(path), FileRules(**declared))  # type: ignore[arg-type]


def changed(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """The workbook with another first sheet."""
    made = path.with_name("changed.xlsx")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            raw = old.read(entry)
            new.writestr(entry.filename, change(raw) if entry.filename.endswith("sheet1.xml") else raw)
    return made


def test_a_sheet_is_read_with_typed_times_and_numbers(book: Book) -> None:
    log = read_log(book([HEADER, *ROWS]), tz="UTC")
    assert log.names == ("A", "B")
    np.testing.assert_array_equal(log.values, [[70.5 + i, 800 + i] for i in range(6)])
    assert str(log.step) == "0 days 00:10:00"


def test_error_cells_are_states_and_text_costs_its_row_with_the_line_in_the_sheet(book: Book) -> None:
    rows = [list(row) for row in ROWS]
    rows[1][1], rows[2][2], rows[4][1] = "#N/A", "#DIV/0!", "windy"
    log = read_log(book([HEADER, *rows]), tz="UTC")
    np.testing.assert_array_equal(log.values[:, 0], [70.5, NAN, 72.5, 73.5, NAN, 75.5])
    np.testing.assert_array_equal(log.values[:, 1], [800, 801, NAN, 803, NAN, 805])
    assert log.quality.masked == {"state '#N/A'": 1, "state '#DIV/0!'": 1}
    assert [(q.line, q.text) for q in log.quality.quarantined] == [(6, "windy")]


def test_a_formula_without_a_cached_value_costs_its_row_and_is_no_blank(book: Book) -> None:
    rows = [list(row) for row in ROWS]
    rows[3][1], rows[4][1] = "=B2+1", None
    log = read_log(book([HEADER, *rows]), tz="UTC")
    assert log.quality.rows_quarantined == 1
    assert (log.quality.quarantined[0].line, log.quality.quarantined[0].text) == (5, "=B2+1")
    np.testing.assert_array_equal(log.values[:, 0], [70.5, 71.5, 72.5, NAN, NAN, 75.5])


def test_a_formula_with_a_cached_value_is_that_value(book: Book) -> None:
    path = book([HEADER, *ROWS[:2], [TIMES[2], "=B2+1", 802]])
    path = changed(path, lambda xml: xml.replace(b"<v></v>", b"<v>99</v>").replace(b"<v />", b"<v>99</v>"))
    assert read(path).numbers.values[2, 0] == 99


def test_merged_titles_above_the_table_are_passed_over_and_units_below_the_header_are_taken(book: Book) -> None:
    rows = [["Messnetz Nord", None, None], [None], ["time", "A", "B"], [None, "nSv/h", "cpm"], *ROWS]
    file = read(book(rows, merge="A1:C1"))
    assert file.unit_row == {"time": "", "A": "nSv/h", "B": "cpm"}
    assert file.line.tolist() == list(range(5, 11))
    assert any("1 line(s) of titles" in decision for decision in file.decisions)


def test_the_first_sheet_is_read_unless_another_is_named_and_this_is_said(book: Book) -> None:
    path = book([HEADER, *ROWS], more={"south": [HEADER, *ROWS[:3]]})
    assert len(read(path).line) == 6
    assert "log.xlsx: sheet 'Sheet' of 2 was read" in read(path).decisions
    assert len(read(path, sheet="south").line) == 3
    with pytest.raises(LogError, match="no sheet 'north'; it has 'Sheet', 'south'"):
        read(path, sheet="north")


def test_columns_without_cells_are_left_out_and_names_can_be_given(book: Book) -> None:
    path = book([[time, None, value] for time, value, _ in ROWS])
    assert read(path, names=["when", "A"]).numbers.names == ("A",)
    with pytest.raises(LogError, match="3 names are given for 2 columns"):
        read(path, names=["when", "A", "B"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [([], "no rows below a header"), ([HEADER], "no rows"), ([[1, 2], [3, 4]], "holds only numbers")],
)
def test_a_sheet_that_is_no_table_is_refused(book: Book, rows: list[list[Any]], message: str) -> None:
    with pytest.raises(LogError, match=message):
        read(book(rows))


def test_a_sheet_that_states_a_huge_size_is_read_for_what_it_holds(book: Book) -> None:
    path = changed(book([HEADER, *ROWS]), lambda xml: xml.replace(b'ref="A1:C7"', b'ref="A1:XFD1048576"'))
    assert b"XFD1048576" in zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml")
    assert len(read(path).line) == 6


@pytest.mark.parametrize(
    "change",
    [
        lambda xml: xml[: len(xml) // 2],
        lambda xml: xml.replace(b'r="C7"', b'r="ZZZ7"'),
        lambda xml: (
            b'<!DOCTYPE x [<!ENTITY a "zzzzzzzzzz">'
            + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 20) for i in range(8))
            + b"]>"
            + xml.replace(b"<v>70.5</v>", b"<v>&i;</v>")
        ),
    ],
)
def test_a_damaged_or_hostile_sheet_is_an_error(book: Book, change: Callable[[bytes], bytes]) -> None:
    with pytest.raises(LogError, match=r"changed\.xlsx"):
        read(changed(book([HEADER, *ROWS]), change))


def test_a_workbook_is_measured_before_it_is_unpacked(book: Book) -> None:
    path = book([HEADER, *ROWS])
    with pytest.raises(LogError, match=r"log\.xlsx holds .* uncompressed"):
        load(expand(path, Limits(bytes=path.stat().st_size))[0], FileRules())
    with pytest.raises(LogError, match=r"log\.xlsx holds 3 column\(s\)"):
        load(expand(path, Limits(columns=2))[0], FileRules())


def test_a_workbook_in_an_archive_is_read(book: Book, tmp_path: Path) -> None:
    path = book([HEADER, *ROWS])
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(path, "log.xlsx")
    file = load(expand(tmp_path / "a.zip")[0], FileRules())
    assert (file.name, len(file.line)) == ("a.zip:log.xlsx", 6)


def test_without_openpyxl_the_error_says_how_to_install_it(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = book([HEADER, *ROWS]), builtins.__import__

    def absent(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("openpyxl"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(LogError, match=r"pip install 'attentionmixer\[excel\]'"):
        read(path)


def test_times_become_timestamps_and_stay_so(book: Book) -> None:
    file = read(book([HEADER, *ROWS]))
    assert pa.types.is_timestamp(file.table["time"].type)
    assert file.table["time"].to_pylist() == TIMES


def refusal(path: Path, limits: Limits | None = None, **declared: object) -> str:
    """What is said where a workbook is refused."""
    with pytest.raises(LogError) as error:
        load(Source(path, limits or Limits()), FileRules(**declared))  # type: ignore[arg-type]
    return str(error.value)


@pytest.mark.parametrize(
    ("rows", "declared", "message"),
    [
        ([HEADER], {}, "log.xlsx: sheet 'Sheet' holds no rows below a header"),
        ([], {"header": False}, "log.xlsx: sheet 'Sheet' holds no rows below a header"),
        (
            [[None, 1, 2.5], [3, 4, 5]],
            {},
            "log.xlsx: the first line holds only numbers; say header=False or names=[...]",
        ),
        (ROWS, {"names": ["when", "A"]}, "log.xlsx: 2 names are given for 3 columns with cells"),
        ([["time", "A", " A "], *ROWS], {}, "log.xlsx: column names repeat: 'A'; rename them or give names=[...]"),
        ([HEADER, *ROWS], {"sheet": "x"}, "log.xlsx has no sheet 'x'; it has 'Sheet'"),
        ([HEADER, *ROWS], {"decimal": ","}, "log.xlsx is an Excel workbook; decimal= is for text tables"),
    ],
)
def test_a_refused_sheet_is_named_with_what_to_do(
    book: Book, rows: list[list[Any]], declared: dict[str, Any], message: str
) -> None:
    assert refusal(book(rows), **declared) == message


def test_one_row_is_enough_with_a_header_and_without(book: Book) -> None:
    assert read(book([HEADER, ROWS[0]])).line.tolist() == [2]
    assert read(book([ROWS[0]]), header=False).line.tolist() == [1]


def test_an_ordinary_sheet_is_read_without_remarks(book: Book) -> None:
    file = read(book([HEADER, *ROWS]))
    assert (file.decisions, file.unit_row, file.line.tolist()) == ([], {}, [2, 3, 4, 5, 6, 7])


def test_titles_units_and_the_choice_of_a_sheet_are_said_in_whole_sentences(book: Book) -> None:
    rows = [["North"], ["of 2024"], ["time", " A ", "B"], [None, " nSv/h ", "cpm"], *ROWS]
    file = read(book(rows, more={"south": [HEADER, *ROWS]}))
    assert file.decisions == [
        "log.xlsx: sheet 'Sheet' of 2 was read",
        "2 line(s) of titles above the table in log.xlsx were passed over",
        "units were taken from the second line",
    ]
    assert file.unit_row == {"time": "", "A": "nSv/h", "B": "cpm"}
    assert file.table.column_names == ["time", "A", "B"]
    assert file.line.tolist() == [5, 6, 7, 8, 9, 10]


def test_lines_to_skip_are_counted_in_the_sheet(book: Book) -> None:
    rows = [["x", "y", "z"], *ROWS[:1], HEADER, *ROWS[1:3]]
    file = read(book(rows), skip=2)
    assert (file.table.column_names, file.line.tolist()) == (HEADER, [4, 5])
    assert read(book(rows[:2]), skip=1, header=False).line.tolist() == [2]


def test_columns_without_a_header_are_numbered_as_they_stand_in_the_sheet(book: Book) -> None:
    rows = [[time, None, value] for time, value, _ in ROWS]
    assert read(book(rows), header=False).table.column_names == ["column 1", "column 3"]


def test_numbers_beside_words_make_a_header(book: Book) -> None:
    assert read(book([["time", 7, 2.5], *ROWS])).table.column_names == ["time", "7", "2.5"]


def test_rows_of_a_sheet_may_be_shorter_than_its_header_and_blank_lines_are_passed_over(book: Book) -> None:
    file = read(book([HEADER, ROWS[0][:1], [], ROWS[1][:2], ROWS[2]]))
    assert file.line.tolist() == [2, 4, 5]
    np.testing.assert_array_equal(file.numbers.values, [[NAN, NAN], [71.5, NAN], [72.5, 802]])


def test_each_limit_of_a_workbook_is_kept_exactly(book: Book) -> None:
    path = book([HEADER, *ROWS])
    entries = zipfile.ZipFile(path).infolist()
    exact = {"rows": 7, "columns": 3, "members": len(entries), "bytes": sum(entry.file_size for entry in entries)}
    for what, limit in exact.items():
        assert len(load(Source(path, Limits(**{what: limit})), FileRules()).line) == 6
        assert refusal(path, Limits(**{what: limit - 1})).startswith(f"log.xlsx holds {limit:,} ")


def test_cells_are_measured_as_they_take_memory_even_where_blank(book: Book) -> None:
    path = book([["time", *[None] * 998, "A"], *([time, *[None] * 998, 1.5] for time in TIMES)])
    assert len(load(Source(path, Limits(bytes=7 * 1000 * 64)), FileRules()).line) == 6
    assert refusal(path, Limits(bytes=7 * 1000 * 64 - 1)).startswith("log.xlsx holds 448,000 byte(s)")


@pytest.mark.parametrize(
    ("name", "most", "message"),
    [("_ROWS", 7, "6 rows and 16,384 columns"), ("_COLUMNS", 3, "1,048,576 rows and 2 columns")],
)
def test_a_sheet_larger_than_any_sheet_can_be_is_damaged(
    book: Book, monkeypatch: pytest.MonkeyPatch, name: str, most: int, message: str
) -> None:
    path = book([HEADER, *ROWS])
    monkeypatch.setattr(excel, name, most)
    assert len(read(path).line) == 6
    monkeypatch.setattr(excel, name, most - 1)
    assert refusal(path) == f"log.xlsx: a sheet has {message} at most; the file is damaged"


@pytest.mark.parametrize("before", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("tag", [b"<f>", b'<f t="normal">'])
def test_a_formula_is_found_wherever_it_stands(book: Book, before: int, tag: bytes) -> None:
    def moved(xml: bytes) -> bytes:
        blank = (1 << 20) - before - xml.index(b"<f>") - len(b"<!---->")
        return xml.replace(b"<sheetData>", b"<!--" + b"x" * blank + b"--><sheetData>").replace(b"<f>", tag)

    path = changed(book([HEADER, *ROWS[:2], [TIMES[2], "=B2+1", 802], ROWS[3]]), moved)
    assert read(path).table["A [nSv/h]"].to_pylist() == ["70.5", "71.5", "=B2+1", "73.5"]


def test_what_is_damaged_is_said_with_the_reason(book: Book) -> None:
    path = book([HEADER, *ROWS])
    with pytest.raises(LogError) as error:
        excel.load_excel(Source(path), FileRules(), b"PK no archive")
    assert str(error.value) == "log.xlsx is a damaged workbook: File is not a zip file"


def test_a_sheet_of_one_column_has_no_titles(book: Book) -> None:
    file = read(book([["A"], [1.5], [2.5]]))
    assert (file.table.column_names, file.line.tolist(), file.decisions) == (["A"], [2, 3], [])
    assert file.numbers.values.tolist() == [[1.5], [2.5]]
