"""Lines of comments before the data, and the header that may hide in the last of them."""

from __future__ import annotations

from collections.abc import Sequence

from ....errors import LogError
from ..clock import looks_like_time
from .line_fields import fields, is_plain

SAMPLE = 200
#: Marks of lines of comments that are known without being declared.
COMMENTS = ("#", "//", "%", ";")


def head_lines(
    text: bytes, skip: int, comment: str | None, separator: str | None
) -> tuple[list[tuple[int, str]], list[tuple[int, str]], str | None]:
    """(comments before the data, first other lines, mark of the comments); lines with their numbers, none blank."""
    remarks: list[tuple[int, str]] = []
    found: list[tuple[int, str]] = []
    mark = comment
    at, number = 0, 0
    while at < len(text) and len(found) < SAMPLE:
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        number += 1
        line = text[at:end].decode()
        at = end + 1
        if number <= skip or not line.strip():
            continue
        if mark is None and not found:
            mark = next((sign for sign in COMMENTS if line.startswith(sign)), None)
        is_comment = mark is not None and line.startswith(mark) and (comment is not None or not found or mark == "#")
        if not is_comment:
            found.append((number, line))
        elif not found:
            remarks.append((number, line))
    if mark == ";" and comment is None and remarks and (separator == ";" or not found or ";" in found[0][1]):
        # an empty first field, not a comment
        return [], [*remarks, *found][:SAMPLE], None
    return remarks, found, mark if remarks else comment


def commented_header(line: str, mark: str, separator: str, first: Sequence[str], name: str) -> tuple[str, ...]:
    """The columns that a comment names, where ``first`` is the first line of data.

    Raises `LogError` where it has another number of fields.
    """
    columns = tuple(cell.strip() for cell in fields(line.removeprefix(mark).strip(" "), separator))
    if columns and not columns[0]:
        columns = (mark, *columns[1:])
    if len(columns) != len(first):
        raise LogError(
            f"{name}: data follows the comments at once ({', '.join(first[:4])} …), and no line names its columns; "
            "say header=False or names=[...]"
        )
    return columns


def is_data(row: Sequence[str], decimal: str | None) -> bool:
    """Whether a line holds only times and numbers, and so names nothing."""
    filled = [cell for cell in row if cell.strip()]
    return bool(filled) and all(
        looks_like_time([cell]) or any(is_plain(cell, mark) for mark in (decimal or ".,")) for cell in filled
    )
