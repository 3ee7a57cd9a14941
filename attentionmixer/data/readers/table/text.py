"""Text tables, read in pieces by two workers: a piece without faults costs one pass, one with faults is looked into.

A piece is a few megabytes of whole lines. Its value columns are parsed straight to float32; where that fails, the piece
is read again as text, broken lines are set apart, and cells are looked at one by one. So a fault costs the time of its
piece, not of the file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from numpy.typing import NDArray

from ....errors import LogError
from ...quality import Quarantined
from ..cells import NULLS, Cells, read_cells, read_numbers
from ..encoding import UTF8, Encoding, encoding_of, legacy_encoding
from ..grid import Ints
from ..source import BLOCK, Source
from .dialect import Dialect, find_dialect, mostly_words
from .line_fields import WHITESPACE, fields
from .lines import Lines, NotUtf8Error, check_cells, cut_lines, unclosed_quote
from .other_formats import refuse_binary
from .parts import FileRules, TableFile, check_columns, find_time_column, is_word_name, whole_table
from .values import NumbersBuilder, to_rows

WORKERS = 2
SHOWN = 200
_MANY = 10_000


def load_text(source: Source, rules: FileRules, head: bytes) -> TableFile:
    """Read a text table. Raises `LogError` where it is none."""
    encoding = encoding_of(head, source.name, rules.encoding)
    if encoding.codec == UTF8:
        refuse_binary(head[:4096], source.name)
    try:
        return _load(source, rules, encoding)
    except NotUtf8Error:
        return _load(source, rules, legacy_encoding(source.blocks(), source.name))


@dataclass
class _Piece:
    """Rows of some lines: ``texts`` are columns of words, ``block`` [r, V] the value columns with their odd cells."""

    line: Ints
    texts: pa.Table
    block: NDArray[np.floating[Any]]
    odd: list[tuple[int, Cells]] = field(default_factory=list)
    refused: list[Quarantined] = field(default_factory=list)
    comments: int = 0


def _load(source: Source, rules: FileRules, encoding: Encoding) -> TableFile:
    name, limits = source.name, source.limits
    pieces = cut_lines(source.blocks(BLOCK), encoding, name, limits)
    first = next(pieces, Lines(b"", 0))
    if not first.text or (first.text.isspace() and (first := _merge(first, pieces)).text.isspace()):
        raise LogError(f"{name} is empty")
    dialect = find_dialect(
        first.text,
        name,
        separator=rules.separator,
        decimal=rules.decimal,
        header=rules.header,
        names=rules.names,
        skip=rules.skip,
        comment=rules.comment,
        thousands=rules.thousands,
    )
    limits.check("columns", len(dialect.names), name)
    check_columns(dialect.names, name)
    wanted = rules.keep(dialect.names, name)
    time = find_time_column(dialect.names, dialect.sample, rules.time_column, name)
    wordy = mostly_words(dialect, rules.thousands)
    words = [column for column in wanted if column == time or is_word_name(column) or column in wordy]
    parse = _Parser(source, dialect, [c for c in wanted if c not in set(words)], words, rules.thousands)
    numbers = NumbersBuilder(parse.values, name, limits)
    texts: list[pa.Table] = []
    line: list[Ints] = []
    refused: list[Quarantined] = []
    comments = dialect.comments
    start = first.without_first(dialect.lines_before_data)
    for piece in _in_order(parse, chain([start], pieces)):
        if not line:
            numbers.reserve(_guess_rows(len(piece.line), len(start.text), source.size))
        numbers.append(piece.block, piece.odd)
        refused += piece.refused
        if len(refused) > _MANY:
            _refuse_mostly_broken(name, refused, numbers.rows, dialect)
        texts.append(piece.texts)
        line.append(piece.line)
        comments += piece.comments
    _refuse_mostly_broken(name, refused, numbers.rows, dialect)
    decisions = [*dialect.decisions, *([encoding.decision] if encoding.decision else [])]
    if comments:
        decisions.append(f"{comments:,} line(s) of comments in {name} were passed over")
    return TableFile(
        name=name,
        time=time,
        table=whole_table(wanted, pa.concat_tables(texts), numbers.rows),
        line=np.concatenate(line),
        refused=refused,
        decimal=dialect.decimal,
        unit_row=dict(zip(dialect.names, dialect.unit_row or (), strict=False)),
        decisions=decisions,
        numbers=numbers.done(),
        thousands=rules.thousands,
    )


def _merge(first: Lines, pieces: Iterable[Lines]) -> Lines:
    """The first piece that is not blank, with the blank ones before it."""
    text = first.text
    for piece in pieces:
        text += piece.text
        if not piece.text.isspace():
            break
    return Lines(text, first.before)


def _guess_rows(rows: int, size: int, whole: int | None) -> int:
    """Rows to make room for: what the first piece's lines suggest, or a few times as many where the size is unknown."""
    return 4 * rows if whole is None or not size else int(1.05 * rows * whole / size) + 16


def _in_order(parse: _Parser, pieces: Iterable[Lines]) -> Iterator[_Piece]:
    """What a parser makes of the pieces, in their order, with two of them in work at a time."""
    waiting: deque[Future[_Piece]] = deque()
    with ThreadPoolExecutor(WORKERS) as pool:
        for piece in pieces:
            waiting.append(pool.submit(parse, piece))
            if len(waiting) > WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _Parser:
    """Parses pieces of one file; ``values`` and ``words`` are its columns of numbers and of text."""

    def __init__(
        self, source: Source, dialect: Dialect, values: Sequence[str], words: Sequence[str], thousands: str | None
    ) -> None:
        self.name, self.limits, self.dialect, self.thousands = source.name, source.limits, dialect, thousands
        self.values, self.words = list(values), list(words)
        self.separator = "\t" if dialect.separator == WHITESPACE else dialect.separator

    def __call__(self, lines: Lines) -> _Piece:
        """The rows of some lines. Raises `LogError` where rows and lines cannot be told apart."""
        comments = 0
        if self.dialect.comment is not None:
            lines, comments = lines.without_comments(self.dialect.comment.encode())
        if self.dialect.separator == WHITESPACE:
            lines = Lines(b"\n".join(b"\t".join(line.split()) for line in lines.text.split(b"\n")), lines.before)
        check_cells(lines, self.separator.encode(), self.name, self.limits)
        piece = None
        if not lines.text.strip(b"\n"):
            empty = pa.table({word: pa.array([], pa.string()) for word in self.words})
            piece = _Piece(np.zeros(0, dtype=np.int64), empty, np.empty((0, len(self.values)), dtype=np.float32))
        elif self.thousands is None:
            piece = self._parse_clean(lines)
        piece = piece or self._parse_carefully(lines)
        piece.comments = comments
        return piece

    def _parse_clean(self, lines: Lines) -> _Piece | None:
        """The rows of lines without a fault; ``None`` where there is one."""
        types = {**dict.fromkeys(self.words, pa.string()), **dict.fromkeys(self.values, pa.float32())}
        try:
            table = self._read(lines, types, None)
        except pa.ArrowInvalid:
            return None
        block = to_rows(table.select(self.values))
        return _Piece(self._line_numbers(lines, table.num_rows, []), table.select(self.words), block)

    def _parse_carefully(self, lines: Lines) -> _Piece:
        broken: list[tuple[int, str, str]] = []

        def set_apart(row: pv.InvalidRow) -> str:
            reason = f"{row.actual_columns} field(s) instead of {row.expected_columns}"
            broken.append((row.number or 0, str(row.text), reason))
            return "skip"

        try:
            table = self._read(lines, dict.fromkeys((*self.words, *self.values), pa.string()), set_apart)
        except pa.ArrowInvalid as error:
            raise LogError(f"{self.name} cannot be read as a table after line {lines.before}: {error}") from error
        block = np.empty((table.num_rows, len(self.values)))
        odd = []
        for i, column in enumerate(self.values):
            try:
                numbers = read_numbers(table[column], self.dialect.decimal, self.thousands)
                block[:, i] = pc.fill_null(numbers, np.nan).to_numpy()
            except pa.ArrowInvalid:
                cells = read_cells(table[column], self.dialect.decimal, self.thousands)
                block[:, i] = cells.values
                odd.append((i, cells))
        filled = lines.filled()
        refused = [
            Quarantined(self.name, int(filled[n - 1]) if 0 < n <= len(filled) else 0, "*", text[:SHOWN], why)
            for n, text, why in broken
        ]
        line = self._line_numbers(lines, table.num_rows, [n for n, _, _ in broken])
        return _Piece(line, table.select(self.words), block, odd, refused)

    def _read(self, lines: Lines, types: dict[str, pa.DataType], handler: object) -> pa.Table:
        return pv.read_csv(
            pa.BufferReader(lines.text),
            read_options=pv.ReadOptions(
                column_names=list(self.dialect.names), block_size=max(1, len(lines.text)), use_threads=False
            ),
            parse_options=pv.ParseOptions(
                delimiter=self.separator, invalid_row_handler=handler, newlines_in_values=False
            ),
            convert_options=pv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=list(NULLS),
                strings_can_be_null=False,
                decimal_point=self.dialect.decimal,
            ),
        )

    def _line_numbers(self, lines: Lines, rows: int, bad: Sequence[int]) -> Ints:
        """The line of each row in the file. Raises `LogError` where a quoted cell runs over several lines."""
        if not bad and lines.count == rows:
            return np.arange(lines.before + 1, lines.before + 1 + rows, dtype=np.int64)
        numbers = lines.filled()
        if len(bad):
            numbers = np.delete(numbers, [n - 1 for n in bad if 0 < n <= len(numbers)])
        if len(numbers) != rows:
            raise unclosed_quote(lines, self.name)
        return numbers


def _refuse_mostly_broken(name: str, refused: Sequence[Quarantined], good: int, dialect: Dialect) -> None:
    if len(refused) < max(1, good):
        return
    first = refused[0]
    parts = fields(first.text, dialect.separator)
    hint = f"the header names {', '.join(dialect.names[:8])}; lines that come before it are passed over with skip="
    if dialect.separator == "," and len(parts) > len(dialect.names):
        split = next(
            (i for i in range(len(parts) - 1) if parts[i].strip("+- ").isdigit() and parts[i + 1].isdigit()), 0
        )
        whole = f"{parts[split]},{parts[split + 1]}"
        hint = (
            f"either {whole} is one number with a decimal comma, or two fields, {parts[split]} and {parts[split + 1]}; "
            "export with another separator and declare separator=';', decimal=','"
        )
    raise LogError(
        f"{name}: {len(refused)} of {len(refused) + good} lines do not fit the header; "
        f"line {first.line} has {first.reason}: {first.text[:80]!r}; {hint}"
    )
