"""Excel workbooks: one sheet as a table. Values are taken as cached; a formula without a value is no number."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....errors import LogError
from ..limits import Limits
from ..source import Source
from .arrow import Extras, as_text, from_columns
from .line_fields import is_unit_row
from .parts import FileRules, TableFile, check_columns

#: The most rows and columns a sheet can have.
_ROWS, _COLUMNS = 1_048_576, 16_384
#: Bytes that a cell takes in memory.
_CELL = 64


def load_excel(source: Source, rules: FileRules, raw: bytes) -> TableFile:
    """Read the first sheet of a workbook (``raw``), or the one that is declared.

    The header is the first line with two cells or more; titles above it are passed over and counted. Cells of errors
    (``#N/A``, ``#DIV/0!``) are bad states; columns without any cell are left out.

    Raises
    ------
    LogError: openpyxl is not installed, the workbook is damaged or over the limits, or the sheet is not there or empty.
    """
    rules.refuse_text_options(source.name, "an Excel workbook")
    _check_unpacked(raw, source)
    with _open(raw, source.name, values=True) as book:
        titles = book.sheetnames
        title = rules.sheet if rules.sheet is not None else titles[0]
        if title not in titles:
            raise LogError(f"{source.name} has no sheet {title!r}; it has {', '.join(map(repr, titles))}")
        rows = list(_rows(book[title], source.name, source.limits))
    with _damage_named(source.name):
        formulas = _has_formulas(raw)
    rows = _with_formulas(rows, raw, title, source) if formulas else rows
    decisions = [f"{source.name}: sheet {title!r} of {len(titles)} was read"] if len(titles) > 1 else []
    return _as_table(rows, source, rules, title, decisions)


def _as_table(
    rows: list[tuple[int, tuple[Any, ...]]], source: Source, rules: FileRules, title: str, decisions: list[str]
) -> TableFile:
    rows = [(number, cells) for number, cells in rows if number > rules.skip and any(c is not None for c in cells)]
    has_header = bool(rules.header) and rules.names is None
    width = max((len(cells) for _, cells in rows), default=0)
    if has_header:
        above = next((i for i, (_, cells) in enumerate(rows) if sum(c is not None for c in cells) > 1), 0)
        if above:
            decisions.append(f"{above} line(s) of titles above the table in {source.name} were passed over")
        rows = rows[above:]
    if len(rows) < (2 if has_header else 1):
        raise LogError(f"{source.name}: sheet {title!r} holds no rows below a header")
    used = [i for i in range(width) if any(len(cells) > i and cells[i] is not None for _, cells in rows)]
    if has_header:
        header = rows.pop(0)[1]
        names = [_text(header, i).strip() for i in used]
        if all(isinstance(cell, int | float) for cell in header if cell is not None):
            raise LogError(f"{source.name}: the first line holds only numbers; say header=False or names=[...]")
    else:
        names = list(rules.names) if rules.names is not None else [f"column {i + 1}" for i in used]
        if len(names) != len(used):
            raise LogError(f"{source.name}: {len(names)} names are given for {len(used)} columns with cells")
    check_columns(names, source.name)
    units: dict[str, str] = {}
    second = [_text(rows[0][1], i) for i in used]
    if has_header and is_unit_row(second, len(used)):
        units = dict(zip(names, (cell.strip() for cell in second), strict=True))
        rows = rows[1:]
        decisions.append("units were taken from the second line")
    columns = {
        name: [cells[i] if len(cells) > i else None for _, cells in rows] for name, i in zip(names, used, strict=True)
    }
    line = np.array([number for number, _ in rows], dtype=np.int64)
    return from_columns(source.name, columns, rules, source.limits, Extras(line, units, decisions))


def _text(cells: Sequence[Any], i: int) -> str:
    return "" if len(cells) <= i or cells[i] is None else as_text(cells[i])


def _rows(sheet: Any, name: str, limits: Limits) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """(line, values) of a sheet's rows."""
    # the size a sheet states for itself may be anything
    sheet.reset_dimensions()
    size = 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        size += _CELL * len(cells)
        limits.check("bytes", size, name)
        limits.check("rows", number, name)
        limits.check("columns", len(cells), name)
        if number > _ROWS or len(cells) > _COLUMNS:
            raise LogError(f"{name}: a sheet has {_ROWS:,} rows and {_COLUMNS:,} columns at most; the file is damaged")
        yield number, cells


def _with_formulas(
    rows: list[tuple[int, tuple[Any, ...]]], raw: bytes, title: str, source: Source
) -> list[tuple[int, tuple[Any, ...]]]:
    """The same rows with the text of a formula where it has no cached value, so that it is not taken for a blank."""
    with _open(raw, source.name, values=False) as book:
        formulas = _rows(book[title], source.name, source.limits)
        return [
            (number, tuple(f if v is None and f is not None else v for v, f in zip(values, texts, strict=True)))
            for (number, values), (_, texts) in zip(rows, formulas, strict=True)
        ]


def _has_formulas(raw: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        for entry in book.infolist():
            if not entry.filename.startswith("xl/worksheets/"):
                continue
            with book.open(entry) as sheet:
                tail = b""
                while block := sheet.read(1 << 20):
                    if b"<f>" in tail + block or b"<f " in tail + block:
                        return True
                    tail = block[-3:]
    return False


def _check_unpacked(raw: bytes, source: Source) -> None:
    with _damage_named(source.name), zipfile.ZipFile(io.BytesIO(raw)) as book:
        # what is stated is the most that is unpacked: reading stops there
        source.limits.check("bytes", sum(entry.file_size for entry in book.infolist()), source.name)
        source.limits.check("members", len(book.infolist()), source.name)


@contextmanager
def _open(raw: bytes, name: str, *, values: bool) -> Iterator[Any]:
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise LogError(f"{name} is an Excel workbook; reading it needs: pip install 'attentionmixer[excel]'") from error
    with _damage_named(name):
        book = load_workbook(io.BytesIO(raw), read_only=True, data_only=values, keep_links=False)
        try:
            yield book
        finally:
            book.close()


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    """Make a `LogError` of what unpacking a workbook and reading its XML raise."""
    try:
        yield
    except (LogError, MemoryError):
        raise
    except Exception as error:
        # openpyxl checks little of what it reads, so that damaged XML may end in any exception
        raise LogError(f"{name} is a damaged workbook: {error}") from error
