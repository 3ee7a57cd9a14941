"""How a text table is written: separator, decimal mark, comments, header. Found from the first lines, never guessed.

A choice is made only where one reading is possible; it is reported as a decision. Everything else is a `LogError` that
says how to declare the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ....errors import LogError
from ..cells import read_cells
from ..encoding import decode
from .comments import commented_header, head_lines, is_data
from .line_fields import WHITESPACE, fields, is_number, is_plain, is_unit_row
from .other_formats import refuse_binary, refuse_other_formats

__all__ = [
    "WHITESPACE",
    "Dialect",
    "decode",
    "fields",
    "find_dialect",
    "mostly_words",
    "refuse_binary",
    "refuse_other_formats",
]

SEPARATORS = (";", "\t", "|", ",")
_COMMA_NUMBER = re.compile(r"(?:[<>]\s*)?[+-]?\d+,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(?:,\d{3})+\.\d*|(?:\.\d{3})+,\d*)", re.ASCII)
_POINT_NUMBER = re.compile(r"(?:[<>]\s*)?[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Dialect:
    """Separator (a character or ``"whitespace"``), decimal mark, column names, and how many lines come before data.

    ``comment`` marks lines of comments among the data, or is None; ``comments`` such lines came before the data.
    """

    separator: str
    decimal: str
    names: tuple[str, ...]
    lines_before_data: int
    unit_row: tuple[str, ...] | None
    sample: tuple[tuple[str, ...], ...]
    decisions: tuple[str, ...]
    comment: str | None = None
    comments: int = 0


def find_dialect(
    text: bytes,
    name: str,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = True,
    names: Sequence[str] | None = None,
    skip: int = 0,
    comment: str | None = None,
    thousands: str | None = None,
) -> Dialect:
    """The dialect of a table, from its first lines and what is declared.

    Lines before the data that begin with ``#``, ``//``, ``%`` or ``;`` are comments. Where the data follows at once,
    the last of them is the header if it has as many fields.

    Parameters
    ----------
    text: the first lines of the content, UTF-8.
    name: the file's name, for messages.
    separator, decimal: declared by the user; found if not given.
    header: whether the first line after ``skip`` names the columns.
    names: the columns' names, for a file without a header (implies ``header=False``).
    skip: lines to pass over at the start.
    comment: what lines of comments begin with, anywhere in the file.
    thousands: the mark between groups of three digits; such marks are not looked for.
    """
    _check_marks(separator, decimal, comment, thousands)
    remarks, numbered, mark = head_lines(text, skip, comment, separator)
    if not numbered:
        raise LogError(f"{name} holds no line after the first {skip}" + (" but comments" if remarks else ""))
    lines = [line for _, line in numbered]
    decisions: list[str] = []
    if separator is None:
        separator = _find_separator(lines, name, alone=names is not None and len(names) == 1)
        if separator != ",":
            shown = {"\t": "tab", WHITESPACE: "white space"}.get(separator, repr(separator))
            decisions.append(f"columns are separated by {shown}")
    rows = [tuple(fields(line, separator)) for line in lines]
    has_header = bool(header) and names is None
    before, data = (remarks[-1][0] if remarks else skip), rows
    if has_header and remarks and mark is not None and is_data(rows[0], decimal):
        columns = commented_header(remarks[-1][1], mark, separator, rows[0], name)
        decisions.append(f"the columns are named in a line that begins with {mark!r}, the last before the data")
        remarks = remarks[:-1]
    elif has_header:
        columns = _header(rows[0], name)
        before, data = numbered[0][0], rows[1:]
    else:
        columns = _given(names, rows[0], name)
    unit_row = None
    if has_header and data and is_unit_row(data[0], len(columns)):
        unit_row = tuple(cell.strip() for cell in data[0])
        before, data = numbered[len(rows) - len(data)][0], data[1:]
        decisions.append("units were taken from the second line")
    if not data:
        raise LogError(f"{name} has a header, but no rows")
    if decimal is None:
        decimal = _find_decimal(data, separator, name, thousands)
        if decimal == ",":
            decisions.append("the decimal mark is a comma")
    if decimal == thousands:
        raise LogError(f"{name}: {decimal!r} cannot be the decimal mark and the mark of thousands; declare decimal=")
    anywhere = comment or ("#" if remarks and mark == "#" else None)
    return Dialect(separator, decimal, columns, before, unit_row, tuple(data), tuple(decisions), anywhere, len(remarks))


def mostly_words(dialect: Dialect, thousands: str | None = None) -> set[str]:
    """Columns most of whose first cells are neither numbers nor known to stand for a missing one."""
    decimal, found = dialect.decimal, set()
    whole = [row for row in dialect.sample if len(row) == len(dialect.names)]
    for name, *cells in zip(dialect.names, *whole, strict=True):
        # most columns are plain numbers, and their first cell shows it
        if not cells or is_plain(cells[0], decimal):
            continue
        read = read_cells(pa.chunked_array([pa.array(cells, pa.string())]), decimal, thousands)
        filled = sum(bool(cell.strip()) for cell in cells)
        if int(read.bad.sum()) * 2 > filled:
            found.add(name)
    return found


def _check_marks(separator: str | None, decimal: str | None, comment: str | None, thousands: str | None) -> None:
    if separator is not None and separator != WHITESPACE and (len(separator) != 1 or not separator.isascii()):
        raise LogError(f"separator={separator!r} is not one character; use ';', ',', '|', a tab, or 'whitespace'")
    if decimal not in (None, ".", ","):
        raise LogError(f"decimal={decimal!r} is no decimal mark; choose '.' or ','")
    if comment is not None and not comment.strip():
        raise LogError("comment= is blank; give what lines of comments begin with, such as '#'")
    if thousands is not None and (len(thousands) != 1 or thousands.isalnum() or thousands in "+-"):
        raise LogError(f"thousands={thousands!r} is no mark between digits; use one such as ',', '.' or a blank")
    if thousands is not None and thousands == decimal:
        raise LogError(f"decimal={decimal!r} and thousands={thousands!r} cannot be the same mark")


def _header(first: Sequence[str], name: str) -> tuple[str, ...]:
    columns = tuple(cell.strip() for cell in first)
    if all(is_number(cell) for cell in columns):
        raise LogError(
            f"{name}: the first line holds only numbers ({', '.join(columns[:4])} …), so it names no columns; "
            "say header=False or names=[...]"
        )
    return columns


def _given(names: Sequence[str] | None, first: Sequence[str], name: str) -> tuple[str, ...]:
    columns = tuple(names) if names is not None else tuple(f"column {i + 1}" for i in range(len(first)))
    if len(columns) != len(first):
        raise LogError(f"{name}: {len(columns)} names are given, but the first line has {len(first)} columns")
    return columns


def _find_separator(lines: Sequence[str], name: str, *, alone: bool) -> str:
    best, best_score = "", (0.0, 0)
    for separator in SEPARATORS:
        width = len(fields(lines[0], separator))
        if width < 2:
            continue
        share = sum(len(fields(line, separator)) == width for line in lines) / len(lines)
        if (share, width) > best_score:
            best, best_score = separator, (share, width)
    if best:
        return best
    widths = [len(line.split()) for line in lines]
    typical = max(set(widths), key=widths.count)
    if typical > 1 and widths.count(typical) >= len(widths) / 2:
        return WHITESPACE
    if alone:
        return ","
    raise LogError(f"{name}: no separator found in {lines[0][:60]!r}; declare it with separator=';'")


def _find_decimal(rows: Sequence[Sequence[str]], separator: str, name: str, thousands: str | None) -> str:
    cells = [cell.strip() for row in rows for cell in row]
    grouped = None if thousands else next((c for c in cells if "," in c and "." in c and _GROUPED.fullmatch(c)), None)
    if grouped is not None:
        last = max(grouped.rfind(","), grouped.rfind("."))
        other = "," if grouped[last] == "." else "."
        raise LogError(
            f"{name} holds {grouped!r}, whose digits seem to be grouped by thousands; declare thousands={other!r}, "
            f"decimal={grouped[last]!r}"
        )
    if separator == "," or thousands == ",":
        return "."
    comma = next((cell for cell in cells if _COMMA_NUMBER.fullmatch(cell)), None)
    if thousands == ".":
        return ","
    point = next((cell for cell in cells if _POINT_NUMBER.fullmatch(cell)), None)
    if comma is not None and point is not None:
        raise LogError(
            f"{name} holds {comma!r} and {point!r}; declare the decimal mark with decimal=',' or decimal='.'"
        )
    return "," if comma is not None else "."
