"""Text tables: pieces without faults and pieces with them, whatever their size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import Source
from attentionmixer.data.readers.table import text as text_table
from attentionmixer.data.readers.table.file import load
from attentionmixer.data.readers.table.parts import FileRules, TableFile
from attentionmixer.errors import LogError

NAN = float("nan")


def read(path: Path, text: str | bytes, **declared: object) -> TableFile:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(Source(path), FileRules(**declared))  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.csv"


@pytest.fixture(params=[64, 1000, 4 << 20])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes of a piece: a few lines, some, all."""
    size = int(request.param)
    monkeypatch.setattr(text_table, "BLOCK", size)
    return size


def faulty(rows: int) -> tuple[str, np.ndarray, list[int]]:
    """A text with faults of all kinds, the numbers in it, and the lines that are broken."""
    rng = np.random.default_rng(1)
    values = np.round(rng.normal(80, 5, (rows, 3)), 1)
    lines, broken = ["time,A,B,C"], []
    for i, row in enumerate(values):
        cells = [str(v) for v in row]
        if i % 17 == 3:
            cells[1], values[i, 1] = "Bad", NAN
        if i % 29 == 5:
            cells[2], values[i, 2] = "windy", NAN
        if i % 23 == 7:
            cells[0], values[i, 0] = "", NAN
        if i % 31 == 11:
            lines.append("")
        if i % 37 == 13:
            lines.append("broken,line")
            broken.append(len(lines))
        lines.append(f"2024-05-01T00:00:{i:03d}Z," + ",".join(cells))
    return "\n".join(lines) + "\n", values, broken


def test_a_fault_costs_its_own_line_or_cell_however_the_file_is_cut(path: Path, block: int) -> None:
    text, values, broken = faulty(200)
    file = read(path, text)
    np.testing.assert_array_equal(file.numbers.values, values.astype(np.float32))
    assert [bad.line for bad in file.refused] == broken
    split = text.split("\n")
    assert all(
        split[line - 1].startswith(stamp) for line, stamp in zip(file.line, file.table["time"].to_pylist(), strict=True)
    )
    assert file.numbers.odd[2].text == {row: "windy" for row in range(200) if row % 29 == 5}
    state = file.numbers.odd[1]
    assert state.row.tolist() == [row for row in range(200) if row % 17 == 3]
    assert {file.numbers.reasons[i].text for i in state.reason} == {"state 'Bad'"}


def test_a_text_that_is_not_utf8_far_from_its_start_is_read_again_from_there(path: Path, block: int) -> None:
    rows = "".join(f"2024-05-01T00:00:{i:03d}Z,{i},ok\n" for i in range(100))
    file = read(path, ("time,A,remark\n" + rows + "2024-05-02T00:00Z,7,gelöscht\n").encode("cp1252"))
    assert file.table["remark"].to_pylist()[-1] == "gelöscht"
    assert len(file.line) == 101
    assert any("Windows-1252" in decision for decision in file.decisions)


def test_comments_among_the_data_are_counted_and_are_no_rows(path: Path, block: int) -> None:
    rows = [f"2024-05-01T00:00:{i:03d}Z,{i}" + ("\n# checked" if i % 10 == 0 else "") for i in range(50)]
    file = read(path, "# station 7\ntime,A\n" + "\n".join(rows) + "\n")
    assert file.numbers.values[:, 0].tolist() == list(range(50))
    assert not file.refused
    assert "6 line(s) of comments in log.csv were passed over" in file.decisions


def test_thousands_are_read_only_where_declared(path: Path, block: int) -> None:
    text = "time;A;B\n" + "".join(f"2024-05-01T00:00:{i:03d}Z;1.{i:03d},5;{i}\n" for i in range(100))
    file = read(path, text, thousands=".")
    np.testing.assert_array_equal(file.numbers.values, [[1000 + i + 0.5, i] for i in range(100)])
    with pytest.raises(LogError, match=r"thousands='\.'"):
        read(path, text)


def test_a_quote_that_is_never_closed_is_refused_wherever_the_file_is_cut(path: Path, block: int) -> None:
    rows = [f'2024-05-01T00:00:{i:03d}Z,{i},"a"' for i in range(60)]
    rows[30] = '2024-05-01T00:00:030Z,30,"a'
    with pytest.raises(LogError, match=r"over the end of line 32|cannot be read as a table"):
        read(path, "time,A,remark\n" + "\n".join(rows) + "\n")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_kind_keep_line_numbers(path: Path, block: int, end: str) -> None:
    rows = [f"2024-05-01T00:00:{i:03d}Z,{i}" for i in range(40)]
    rows.insert(20, "")
    file = read(path, end.join(["time,A", *rows]))
    assert file.line.tolist() == [*range(2, 22), *range(23, 43)]


def test_the_text_of_a_broken_line_is_cut(path: Path) -> None:
    good = "".join(f"2024-05-01T0{h}:00Z,{h}\n" for h in range(5))
    file = read(path, f"time,A\n{good}{'x' * 1000}\n")
    assert (len(file.refused[0].text), file.refused[0].line) == (200, 7)


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_separators_are_found(path: Path, separator: str) -> None:
    rows = [["time", "A", "B"], ["2024-05-01T00:00Z", "1", "5"], ["2024-05-01T01:00Z", "2", ""]]
    file = read(path, "\n".join(separator.join(row) for row in rows))
    np.testing.assert_array_equal(file.numbers.values, [[1, 5], [2, NAN]])


def test_columns_named_as_ids_or_quality_stay_words(path: Path) -> None:
    text = "time,station,A,A.quality,Status\n2024-05-01T00:00Z,007,1,192,3\n2024-05-01T01:00Z,NA,2,0,4\n"
    file = read(path, text)
    assert file.numbers.names == ("A",)
    assert file.column("station").to_pylist() == ["007", "NA"]
    assert file.column("A.quality").to_pylist() == ["192", "0"]
    assert file.column("A").to_pylist() == [1, 2]
    assert file.table.column_names == ["time", "station", "A", "A.quality", "Status"]


def test_blank_and_headless_files_are_refused(path: Path, block: int) -> None:
    with pytest.raises(LogError, match=r"log\.csv is empty"):
        read(path, "\n \n" * 100)
    with pytest.raises(LogError, match="no rows"):
        read(path, "\n" * 100 + "time,A\n")
    with pytest.raises(LogError, match="but comments"):
        read(path, "# a\n# b\n")
    with pytest.raises(LogError, match="binary"):
        read(path, b"ab\x00\x01\x02,1\n")


# --- a file of which most lines do not fit ---

HOURS = [f"2024-05-01T{h:02d}:00Z" for h in range(12)]


def refusal(path: Path, text: str, **declared: object) -> str:
    with pytest.raises(LogError) as error:
        read(path, text, **declared)
    return str(error.value)


@pytest.mark.parametrize(("good", "bad", "fits"), [(4, 3, True), (3, 3, False), (2, 3, False), (0, 1, False)])
def test_a_file_is_refused_where_no_more_lines_fit_than_do_not(path: Path, good: int, bad: int, fits: bool) -> None:
    text = "time,A,B\n" + "".join(f"{t},1,2\n" for t in HOURS[:good]) + "".join(f"{t},1\n" for t in HOURS[:bad])
    if fits:
        assert len(read(path, text).refused) == bad
        return
    assert refusal(path, text) == (
        f"log.csv: {bad} of {good + bad} lines do not fit the header; line {good + 2} has 2 field(s) instead of 3: "
        "'2024-05-01T00:00Z,1'; the header names time, A, B; lines that come before it are passed over with skip="
    )


def test_of_a_wide_header_eight_names_are_shown_and_of_a_long_line_eighty_signs(path: Path) -> None:
    line = f"{HOURS[0]},{'x' * 100}"
    said = refusal(path, "time,A,B,C,D,E,F,G,H,I\n" + f"{line}\n" * 3)
    assert f"has 2 field(s) instead of 10: {line[:80]!r}; the header names time, A, B, C, D, E, F, G; lines" in said


@pytest.mark.parametrize(
    ("cells", "whole", "parts"),
    [
        ("0,5", "0,5", ("0", "5")),
        ("-12,5", "-12,5", ("-12", "5")),
        ("+ 7,25", "+ 7,25", ("+ 7", "25")),
        ("x,1,5", "1,5", ("1", "5")),
        ("1.5,2,7", "2,7", ("2", "7")),
    ],
)
def test_decimal_commas_between_commas_are_told_by_their_parts(
    path: Path, cells: str, whole: str, parts: tuple[str, str]
) -> None:
    names = ",".join("ABC"[: cells.count(",")])
    said = refusal(path, f"time,{names}\n" + "".join(f"{t},{cells}\n" for t in HOURS[:4]))
    assert said.endswith(
        f"either {whole} is one number with a decimal comma, or two fields, {parts[0]} and {parts[1]}; export with "
        "another separator and declare separator=';', decimal=','"
    )


def test_where_no_two_parts_are_numbers_the_first_two_fields_are_shown(path: Path) -> None:
    said = refusal(path, "time,A\n" + "".join(f"{t},x,y\n" for t in HOURS[:4]))
    assert f"either {HOURS[0]},x is one number" in said


@pytest.mark.parametrize(("text", "separator"), [("time;A\n" + "1;2;3\n" * 4, ";"), ("time,A,B\n" + "1,2\n" * 4, ",")])
def test_only_too_many_fields_between_commas_speak_of_decimal_commas(path: Path, text: str, separator: str) -> None:
    assert "lines that come before it are passed over" in refusal(path, text, separator=separator)


def test_a_file_of_broken_lines_alone_is_refused_before_its_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_table, "BLOCK", 64)
    monkeypatch.setattr(text_table, "_MANY", 5)
    looked_at: list[int] = []
    original = text_table._Parser.__call__

    def counted(self: text_table._Parser, lines: object) -> object:
        looked_at.append(1)
        return original(self, lines)  # type: ignore[arg-type]

    monkeypatch.setattr(text_table._Parser, "__call__", counted)
    refusal(path, "time,A\n" + "broken,line,here\n" * 500)
    assert len(looked_at) < 20


# --- limits, units, declared decimals ---


def test_more_columns_than_allowed_are_refused(path: Path) -> None:
    path.write_text("time,A,B\n2024-05-01T00:00Z,1,2\n2024-05-01T01:00Z,1,2\n")
    load(Source(path, limits=Limits(columns=3)), FileRules())
    with pytest.raises(LogError, match=r"log\.csv holds 3 column\(s\) or more; the limit is 2"):
        load(Source(path, limits=Limits(columns=2)), FileRules())


def test_a_row_of_units_belongs_to_the_columns_it_stands_under(path: Path) -> None:
    file = read(path, "time,A,B\n,nSv/h,hPa\n2024-05-01T00:00Z,1,2\n2024-05-01T01:00Z,3,4\n")
    assert {name: file.unit_row[name] for name in ("A", "B")} == {"A": "nSv/h", "B": "hPa"}
    assert file.line.tolist() == [3, 4]


def test_a_declared_decimal_mark_is_used(path: Path) -> None:
    text = "time;A\n2024-05-01T00:00Z;1,5\n2024-05-01T01:00Z;2\n"
    assert read(path, text, decimal=",").decimal == ","
    np.testing.assert_array_equal(read(path, text, decimal=",").numbers.values[:, 0], [1.5, 2])


def test_blank_lines_first_do_not_hide_the_table(path: Path, block: int) -> None:
    file = read(path, "\n" * 200 + "time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n")
    assert file.line.tolist() == [202, 203] and file.numbers.values[:, 0].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("rows", "size", "whole", "guess"),
    [(100, 1000, 10_000, 1066), (100, 1000, 1000, 121), (100, 1000, None, 400), (7, 0, 10, 28)],
)
def test_room_is_made_for_a_twentieth_more_rows_than_the_first_piece_suggests(
    rows: int, size: int, whole: int | None, guess: int
) -> None:
    assert text_table._guess_rows(rows, size, whole) == guess


def test_room_is_made_once_for_a_file_of_even_lines(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_table, "BLOCK", 400)
    grown: list[int] = []
    original = text_table.NumbersBuilder._grow

    def grow(self: object, *rows: int) -> None:
        grown.append(1)
        original(self, *rows)  # type: ignore[arg-type]

    monkeypatch.setattr(text_table.NumbersBuilder, "_grow", grow)
    read(path, "time,A\n" + "".join(f"2024-05-01T00:00:{i:03d}Z,{i:03d}\n" for i in range(900)))
    assert len(grown) == 1
