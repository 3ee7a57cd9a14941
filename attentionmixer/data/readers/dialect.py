"""How a text table is written: encoding, separator, decimal mark, header. Found from the first lines, never guessed.

A choice is made only where one reading is possible; it is reported as a decision. Everything else is a `LogError` that
says how to declare the dialect.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import LogError
from ..units import is_unit

SAMPLE = 200
WHITESPACE = "whitespace"
SEPARATORS = (";", "\t", "|", ",")
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)
_BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


@dataclass(frozen=True)
class Dialect:
    """Separator (a character or ``"whitespace"``), decimal mark, column names, and how many lines come before data."""

    separator: str
    decimal: str
    names: tuple[str, ...]
    lines_before_data: int
    unit_row: tuple[str, ...] | None
    sample: tuple[tuple[str, ...], ...]
    decisions: tuple[str, ...]


def decode(raw: bytes, name: str) -> tuple[bytes, str | None]:
    """The content as UTF-8 with line ends ``\\n``, and the decision where it was encoded otherwise."""
    text, decision = _decode(raw, name)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text, decision


def _decode(raw: bytes, name: str) -> tuple[bytes, str | None]:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            try:
                text = raw.decode(encoding)
            except UnicodeDecodeError as error:
                raise LogError(f"{name} starts as {encoding} but is not: {error}") from error
            return text.encode(), None if encoding == "utf-8-sig" else f"{name} was read as UTF-16"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return raw, None
    try:
        return raw.decode("cp1252").encode(), f"{name} is not UTF-8; it was read as Windows-1252"
    except UnicodeDecodeError as error:
        raise LogError(f"{name} is neither UTF-8 nor Windows-1252; save it as UTF-8") from error


def refuse_other_formats(head: bytes, name: str) -> None:
    """Raise `LogError` for what is often saved under a table's name but is none."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        raise LogError(f"{name} is a web page or XML, not a table: the source sent an error page; fetch it again")
    if start.startswith((b"{", b"[{")):
        raise LogError(f"{name} is JSON, not a table; export it as CSV or Parquet")
    if start.startswith((b"pk\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise LogError(f"{name} is a spreadsheet or archive, not a table; export it as CSV")
    if b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise LogError(f"{name} holds binary data, not text")


def find_dialect(
    text: bytes,
    name: str,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = True,
    names: Sequence[str] | None = None,
    skip: int = 0,
) -> Dialect:
    """The dialect of a table, from its first lines and what is declared.

    Parameters
    ----------
    text: the content, UTF-8.
    name: the file's name, for messages.
    separator, decimal: declared by the user; found if not given.
    header: whether the first line after ``skip`` names the columns.
    names: the columns' names, for a file without a header (implies ``header=False``).
    skip: lines to pass over at the start.
    """
    numbered = [(i, line) for i, line in _head_lines(text, skip) if line.strip()]
    if not numbered:
        raise LogError(f"{name} holds no line after the first {skip}")
    lines = [line for _, line in numbered]
    decisions: list[str] = []
    if separator is None:
        separator = _find_separator(lines, name, alone=names is not None and len(names) == 1)
        if separator != ",":
            shown = {"\t": "tab", WHITESPACE: "white space"}.get(separator, repr(separator))
            decisions.append(f"columns are separated by {shown}")
    rows = [tuple(fields(line, separator)) for line in lines]
    has_header = header is not None and header and names is None
    if has_header:
        columns = tuple(cell.strip() for cell in rows[0])
        if all(_is_number(cell) for cell in columns):
            raise LogError(
                f"{name}: the first line holds only numbers ({', '.join(columns[:4])} …), so it names no columns; "
                "say header=False or names=[...]"
            )
        before, data = numbered[0][0], rows[1:]
    else:
        columns = tuple(names) if names is not None else tuple(f"column {i + 1}" for i in range(len(rows[0])))
        if len(columns) != len(rows[0]):
            raise LogError(f"{name}: {len(columns)} names are given, but the first line has {len(rows[0])} columns")
        before, data = skip, rows
    _check_names(columns, name)
    unit_row = None
    if has_header and data and _is_unit_row(data[0], len(columns)):
        unit_row = tuple(cell.strip() for cell in data[0])
        before, data = numbered[1][0], data[1:]
        decisions.append("units were taken from the second line")
    if not data:
        raise LogError(f"{name} has a header, but no rows")
    if decimal is None:
        decimal = _find_decimal(data, separator, name)
        if decimal == ",":
            decisions.append("the decimal mark is a comma")
    return Dialect(separator, decimal, columns, before, unit_row, tuple(data), tuple(decisions))


def fields(line: str, separator: str) -> list[str]:
    """The fields of one line."""
    if separator == WHITESPACE:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error as error:
        raise LogError(f"the line {line[:60]!r} cannot be split at {separator!r}: {error}") from error


def _head_lines(text: bytes, skip: int) -> list[tuple[int, str]]:
    """(line number, line) of the first lines, however long they are."""
    found: list[tuple[int, str]] = []
    at, number = 0, 0
    while at < len(text) and len(found) < SAMPLE:
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        number += 1
        if number > skip:
            found.append((number, text[at:end].decode()))
        at = end + 1
    return found


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


def _find_decimal(rows: Sequence[Sequence[str]], separator: str, name: str) -> str:
    if separator == ",":
        return "."
    cells = [cell.strip() for row in rows for cell in row]
    comma = next((cell for cell in cells if _COMMA_NUMBER.fullmatch(cell)), None)
    point = next((cell for cell in cells if _POINT_NUMBER.fullmatch(cell)), None)
    if comma is not None and point is not None:
        raise LogError(
            f"{name} holds {comma!r} and {point!r}; declare the decimal mark with decimal=',' or decimal='.'"
        )
    return "," if comma is not None else "."


def _is_unit_row(row: Sequence[str], width: int) -> bool:
    cells = [cell.strip().strip("[]()") for cell in row]
    if len(cells) != width or cells[0] or not any(cells):
        return False
    return all(not cell or (not _is_number(cell) and is_unit(cell)) for cell in cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _check_names(columns: Sequence[str], name: str) -> None:
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise LogError(
            f"{name}: column names repeat: {', '.join(map(repr, twice[:10]))}; rename them or give names=[...]"
        )
