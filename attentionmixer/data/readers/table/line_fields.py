"""The fields of a line of text, and what a single one can be."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from ....errors import LogError
from ...units import is_unit

WHITESPACE = "whitespace"


def fields(line: str, separator: str) -> list[str]:
    """The fields of one line."""
    if separator == WHITESPACE:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error as error:
        raise LogError(f"the line {line[:60]!r} cannot be split at {separator!r}: {error}") from error


def is_unit_row(row: Sequence[str], width: int) -> bool:
    """Whether a line below the header holds units: a blank above the times, and nothing else than units."""
    cells = [cell.strip().strip("[]()") for cell in row]
    if len(cells) != width or cells[0] or not any(cells):
        return False
    return all(not cell or (not is_number(cell) and is_unit(cell)) for cell in cells)


def is_number(cell: str) -> bool:
    """Whether a field is a number with a decimal point."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_plain(cell: str, decimal: str) -> bool:
    """Whether a field is a number with this decimal mark."""
    return is_number(cell if decimal == "." else cell.replace(".", "x").replace(decimal, "."))
