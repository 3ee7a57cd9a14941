"""One historian's export as columns of text, each row with the line it came from."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ....errors import LogError
from ...quality import Quarantined
from ..clock import looks_like_time
from ..encoding import decode
from ..grid import Ints
from ..source import Source
from ..table.dialect import WHITESPACE, fields, find_dialect, refuse_binary, refuse_other_formats
from .header import Plan, find_plan, number_repeated
from .quality import Kind, Quality, Scheme, judge

_SEPARATORS = (";", "\t", "|", ",")
_SAMPLE = 50
_SHOWN = 200
_SMALL = re.compile(r"[0-5]?\d|6[0-3]", re.ASCII)


@dataclass(frozen=True)
class TextRules:
    """What is declared about how the text is written: see `historian.read`."""

    separator: str | None = None
    decimal: str | None = None
    names: Sequence[str] | None = None
    skip: int = 0
    ignore: Sequence[str] = ()


@dataclass(frozen=True)
class TextFile:
    """One file: ``table`` [R] of text without the columns to ignore, ``line`` [R], and the lines that do not fit."""

    name: str
    table: pa.Table
    line: Ints
    refused: list[Quarantined]
    decimal: str
    unit_row: dict[str, str]
    decisions: tuple[str, ...]


def sniff(head: bytes) -> bool:
    """Whether the first line names columns of values with their quality, or with times of their own.

    A column called just Status may be anything, so its first cells must be words or codes of quality.
    """
    try:
        text = head.decode("utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig", "replace")
    except UnicodeError:
        return False
    lines = [line for line in text.splitlines() if line.strip()][: _SAMPLE + 1]
    return bool(lines) and any(_fits(lines, separator) for separator in _SEPARATORS if separator in lines[0])


def load(source: Source, rules: TextRules) -> TextFile:
    """Read one file. Raises `LogError` where it is no table."""
    raw = source.read()
    if not raw or raw.isspace():
        raise LogError(f"{source.name} is empty")
    refuse_other_formats(raw[:4096], source.name)
    content, decision = decode(raw, source.name)
    refuse_binary(content[:4096], source.name)
    dialect = find_dialect(
        content,
        source.name,
        separator=rules.separator,
        decimal=rules.decimal,
        names=rules.names,
        skip=rules.skip,
    )
    names = number_repeated(dialect.names)
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise LogError(
            f"{source.name}: column names repeat: {', '.join(map(repr, twice[:10]))}; rename them or give names=[...]"
        )
    unknown = [name for name in rules.ignore if name not in names]
    if unknown:
        raise LogError(f"{source.name} has no column {unknown[0]!r} to ignore; it has {', '.join(names[:20])}")
    # all cells one after another: a list a row would keep the garbage collector busy
    flat: list[str] = []
    line: list[int] = []
    refused: list[Quarantined] = []
    before = dialect.lines_before_data
    for number, text in enumerate(content.decode().split("\n")[before:], before + 1):
        if not text.strip():
            continue
        cells = _cells(text, dialect.separator)
        if isinstance(cells, str) or len(cells) != len(names):
            why = cells if isinstance(cells, str) else f"{len(cells)} field(s) instead of {len(names)}"
            refused.append(Quarantined(source.name, number, "*", text[:_SHOWN], why))
            continue
        flat += cells
        line.append(number)
    if len(refused) > len(line):
        first = refused[0]
        raise LogError(
            f"{source.name}: {len(refused):,} of {len(refused) + len(line):,} lines do not fit the header "
            f"({', '.join(names[:8])}); line {first.line} has {first.reason}: {first.text[:80]!r}; declare separator= "
            "or decimal=, or skip= for lines before the header"
        )
    wanted = [(i, name) for i, name in enumerate(names) if name not in rules.ignore]
    table = pa.table({name: pa.array(flat[i :: len(names)], pa.string()) for i, name in wanted})
    decisions = (*dialect.decisions, *([decision] if decision else []))
    unit_row = dict(zip(names, dialect.unit_row or (), strict=False))
    return TextFile(source.name, table, np.array(line, dtype=np.int64), refused, dialect.decimal, unit_row, decisions)


def _cells(text: str, separator: str) -> list[str] | str:
    """The fields of a line, or what is wrong with it."""
    if separator != WHITESPACE and '"' not in text:
        return text.split(separator)
    if separator == WHITESPACE:
        return text.split()
    try:
        return next(csv.reader([text], delimiter=separator, strict=True), [])
    except csv.Error as error:
        return f"broken quotes ({error})"


def _fits(lines: Sequence[str], separator: str) -> bool:
    try:
        names = number_repeated([cell.strip() for cell in fields(lines[0], separator)])
        plan = find_plan(names) if len(set(names)) == len(names) else Plan(None)
    except LogError:
        return False
    if not plan.has_quality and not plan.pairs:
        return False
    if not plan.signals and plan.tag is None:
        return False
    sample = [cells for cells in (_cells(line, separator) for line in lines[1:]) if len(cells) == len(names)]

    def cells_of(name: str) -> list[str]:
        at = names.index(name)
        return [cells[at].strip() for cells in sample if cells[at].strip()]

    qualities = (*plan.quality, *(pair for signal in plan.signals for pair in signal.quality))
    times = [cells_of(signal.time) for signal in plan.signals if signal.time is not None]
    return all(not cells or looks_like_time(cells) for cells in times) and all(
        _says_quality(name, kind, cells_of(name)) for kind, name in qualities
    )


def _says_quality(name: str, kind: Kind, cells: Sequence[str]) -> bool:
    """Whether a column's first cells are words of quality, or codes under a name that says so."""
    if not cells or "quality" in name.casefold():
        return True
    judged = judge(pa.chunked_array([pa.array(cells, pa.string())]), kind, Scheme())
    known = float((judged.level != Quality.UNKNOWN).mean()) > 0.5
    # a status of 0 and 1 may be that of a pump
    return known and not (kind == "status" and all(_SMALL.fullmatch(cell) for cell in cells))
