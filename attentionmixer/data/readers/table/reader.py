"""Tables: CSV or Parquet, wide (a column a tag) or long (a row a value), one file or many.

What is read is read strictly; what has two readings is refused with the way to declare the right one. Choices that have
one reading only (separator, decimal mark, date order, step) are made and reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ....errors import LogError
from ...log import StationLog
from ..account import Account
from ..assemble import Assembly, assemble
from ..clock import ClockRules
from ..source import Source
from .file import FileRules, TableFile, load, sniff
from .layout import lay_out

__all__ = ["read", "sniff"]


def read(
    sources: Sequence[Source],
    assembly: Assembly | None = None,
    *,
    tz: str | None = None,
    time_column: str | None = None,
    layout: Literal["auto", "wide", "long"] = "auto",
    start_time: str | None = None,
    date_order: Literal["dmy", "mdy"] | None = None,
    time_format: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = True,
    names: Sequence[str] | None = None,
    skip: int = 0,
    ignore: Sequence[str] = (),
    encoding: str | None = None,
    comment: str | None = None,
    thousands: str | None = None,
    sheet: str | None = None,
) -> StationLog:
    """One log from one or more tables with the same columns.

    Parameters
    ----------
    sources: the files; their rows are put one after another.
    assembly: the options all readers share.
    tz: zone of times that state no offset, e.g. ``"UTC"`` or ``"Europe/Berlin"``.
    time_column: the column of times; found by name (time, timestamp, date …) or content if not given.
    layout: ``wide``: a column a tag; ``long``: a column ``tag`` and/or ``station``, and one or more of values;
        ``auto``: long where there is such a column.
    start_time: time of the first row, for a table without times; needs ``step``.
    date_order, time_format: how dates are written where that is not plain: ``"dmy"``, ``"mdy"``, or a strptime format.
    separator, decimal, header, names, skip, ignore: how the text is written: separator (or ``"whitespace"``), decimal
        mark, whether there is a line of names, names for a file without, lines to pass over, columns to leave out.
    encoding: of text that is not UTF-8, UTF-16, Windows-1252 or Shift-JIS, or not plainly one of them.
    comment: what a line of remarks begins with; thousands: the mark between groups of digits.
    sheet: name of the sheet of a workbook; the first if not given.

    Raises
    ------
    LogError: anything that cannot be read one way only; the message names column, row and time, and what to declare.
    """
    assembly = assembly or Assembly()
    clock = ClockRules(tz, date_order, time_format)
    rules = FileRules(
        separator,
        decimal,
        header,
        names,
        skip,
        tuple(ignore),
        time_column,
        encoding=encoding,
        comment=comment,
        sheet=sheet,
        thousands=thousands,
    )
    files = [load(source, rules) for source in sources]
    _check_same_columns(files)
    account = Account([file.name for file in files], sum(len(f.line) + len(f.refused) for f in files))
    for file in files:
        for sentence in file.decisions:
            account.decide(sentence)
        account.quarantine(file.refused, len(file.refused), "the line does not fit the header")

    series = lay_out(files, clock, layout=layout, start_time=start_time, step=assembly.step, account=account)
    return assemble(series, account, assembly, clock_checked=start_time is None)


def _check_same_columns(files: Sequence[TableFile]) -> None:
    first = files[0]
    for other in files[1:]:
        missing = [c for c in first.table.column_names if c not in other.table.column_names]
        extra = [c for c in other.table.column_names if c not in first.table.column_names]
        if missing or extra or other.time != first.time:
            raise LogError(
                f"{first.name} and {other.name} cannot be one log: {other.name} lacks {missing[:5]} and has "
                f"{extra[:5]} besides; read them one by one"
            )
