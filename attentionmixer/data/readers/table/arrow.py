"""Typed tables: Arrow (Feather), and what spreadsheets and databases hold once it is in columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from ....errors import LogError
from ..grid import Ints
from ..limits import Limits
from ..source import Source
from .parts import FileRules, TableFile, check_columns, find_time_column, is_word_name, whole_table
from .values import NumbersBuilder

PARQUET = b"PAR1"
ARROW = b"ARROW1"
ARROW_STREAM = b"\xff\xff\xff\xff"
SAMPLE = 50
#: What is turned from columns into rows at a time: bytes, columns, and rows.
_SLAB, _COLUMNS, _ROWS = 64 << 20, 64, 1024


@dataclass(frozen=True)
class Plan:
    """What the columns of a typed table are: all ``names`` in order, the ``time``, columns of words, and of numbers."""

    names: tuple[str, ...]
    time: str | None
    words: tuple[str, ...]
    values: tuple[str, ...]

    @classmethod
    def of(cls, schema: pa.Schema, head: pa.Table, rules: FileRules, file: str, limits: Limits) -> Plan:
        """The plan for a table, from its types and first rows.

        Raises `LogError` where names repeat, a column holds neither numbers nor words, or there are too many.
        """
        limits.check("columns", len(schema), file)
        rules.refuse_text_options(file, "a typed table")
        check_columns(schema.names, file)
        names = rules.keep(schema.names, file)
        kinds = {field.name: field.type for field in schema}
        typed = [name for name in names if pa.types.is_timestamp(kinds[name]) or pa.types.is_date(kinds[name])]
        if rules.time_column is None and len(typed) == 1:
            time: str | None = typed[0]
        else:
            columns = [_texts(head[name]) if is_text(kinds[name]) else [""] * head.num_rows for name in names]
            time = find_time_column(names, list(zip(*columns, strict=True)), rules.time_column, file)
        words, values = [], []
        for name in names:
            kind = kinds[name]
            countable = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
            if name == time or is_text(kind) or (countable and is_word_name(name)):
                words.append(name)
            elif _is_number(kind):
                values.append(name)
            else:
                raise LogError(
                    f"{file}: column {name!r} holds {kind}, not numbers; leave it out with ignore=[{name!r}]"
                )
        return cls(tuple(names), time, tuple(words), tuple(values))


@dataclass
class Extras:
    """What a source knows of its rows beside their columns."""

    line: Ints | None = None
    unit_row: Mapping[str, str] = field(default_factory=dict)
    decisions: Sequence[str] = ()


def load_arrow(source: Source, rules: FileRules, head: bytes) -> TableFile:
    """Read an Arrow file (Feather) or stream. Raises `LogError` where it is damaged or over the limits."""
    with faults(source.name, "Arrow"), source.seekable() as stream:
        if head.startswith(ARROW):
            reader = ipc.open_file(stream)
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            reader = ipc.open_stream(stream)
            batches = iter(reader)
        return from_batches(source.name, reader.schema, batches, rules, source.limits)


def from_batches(
    name: str,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    rules: FileRules,
    limits: Limits,
    extras: Extras | None = None,
) -> TableFile:
    """A file from typed batches of rows.

    Parameters
    ----------
    name: names the source.
    schema: of the batches.
    batches: rows, in order.
    rules: what is declared.
    limits: on rows, columns and bytes.
    extras: lines, units and decisions the source has.

    Raises
    ------
    LogError: a column holds neither numbers nor words, or there is more than the limits allow.
    """
    rest = iter(batches)
    first = pa.Table.from_batches([batch] if (batch := next(rest, None)) is not None else [], schema)
    plan = Plan.of(schema, first.slice(0, SAMPLE), rules, name, limits)
    numbers = NumbersBuilder(plan.values, name, limits)
    words: list[pa.Table] = []
    size = 0
    for table in (first, *(pa.Table.from_batches([batch], schema) for batch in rest)):
        size += table.nbytes
        limits.check("bytes", size, name)
        words.append(table.select(list(plan.words)))
        row = numbers.rows
        numbers.extend(table.num_rows)
        for slab in slabs(plan.values, slice(row, numbers.rows)):
            fill_columns(numbers, row, slab.start, table.select(list(plan.values[slab])))
    return finish_file(name, plan, pa.concat_tables(words), numbers, limits, extras or Extras())


def from_columns(
    name: str, columns: Mapping[str, Sequence[Any]], rules: FileRules, limits: Limits, extras: Extras
) -> TableFile:
    """A file from columns of Python values, each typed by what it holds. Raises `LogError` as `from_batches` does."""
    table = pa.table({column: typed(cells) for column, cells in columns.items()})
    return from_batches(name, table.schema, table.to_batches(), rules, limits, extras)


def typed(cells: Sequence[Any]) -> pa.Array:
    """Python values as one column: numbers, whole numbers, times, or else text; blank text is null beside numbers."""
    plain = [None if isinstance(cell, str) and not cell.strip() else cell for cell in cells]
    kinds = {type(cell) for cell in plain if cell is not None}
    if kinds <= {bool}:
        return pa.array(plain, pa.bool_())
    if kinds <= {int}:
        try:
            return pa.array(plain, pa.int64())
        except OverflowError:
            pass
    if all(issubclass(kind, dt.datetime) for kind in kinds):
        aware = {cell.tzinfo is not None for cell in plain if cell is not None}
        if len(aware) == 1:
            return pa.array(plain, pa.timestamp("us", tz="UTC" if aware.pop() else None))
    if kinds == {dt.date}:
        return pa.array(plain, pa.date32())
    if not any(issubclass(kind, str | bytes | dt.date | dt.time | dt.timedelta) for kind in kinds):
        try:
            return pa.array([None if cell is None else float(cell) for cell in plain], pa.float64())
        except (TypeError, ValueError, OverflowError):
            pass
    return pa.array([None if cell is None else as_text(cell) for cell in plain], pa.string())


def as_text(cell: Any) -> str:
    """A cell among cells of several kinds, as text that reads back as what it is."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="replace")
    if isinstance(cell, dt.datetime | dt.date):
        return cell.isoformat()
    return repr(cell) if isinstance(cell, float) else str(cell)


@contextmanager
def faults(name: str, kind: str) -> Iterator[None]:
    """What Arrow raises on a damaged file, as `LogError`."""
    try:
        yield
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError, KeyError, IndexError) as error:
        raise LogError(f"{name} is a damaged {kind} file: {error}") from error


def slabs(values: Sequence[str], rows: slice) -> Iterator[slice]:
    """Columns that are turned into rows together: few, so that little is in memory beside the array they go to."""
    width = min(_COLUMNS, max(1, _SLAB // (8 * max(1, rows.stop - rows.start))))
    for first in range(0, len(values), width):
        yield slice(first, min(len(values), first + width))


def fill_columns(numbers: NumbersBuilder, row: int, column: int, table: pa.Table) -> None:
    """Write some columns into the array, from ``row`` and ``column`` on."""
    block = np.empty((table.num_columns, table.num_rows), dtype=np.float32)
    with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked and counted later
        for i, cells in enumerate(table.columns):
            block[i] = _as_float(cells).to_numpy()
    # in pieces that a cache holds, since turning columns into rows jumps about in memory
    for first in range(0, table.num_rows, _ROWS):
        piece = block[:, first : first + _ROWS].T
        numbers.fill(slice(row + first, row + first + len(piece)), column, piece)


def _as_float(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_float32(column.type) or pa.types.is_float64(column.type):
        return column
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    # whole numbers above 2**53 lose their last digits, as all values do on their way to float32
    return column.cast(pa.float64(), safe=False)


def finish_file(
    name: str, plan: Plan, words: pa.Table, numbers: NumbersBuilder, limits: Limits, extras: Extras
) -> TableFile:
    made = {}
    for column in plan.words:
        cells = words[column]
        kind = cells.type
        if is_text(kind) or column != plan.time:
            cells = cells.cast(pa.string())
            limits.check("cell", pc.max(pc.binary_length(cells)).as_py() or 0, f"{name}, column {column!r},")
        made[column] = cells
    # a table without columns would forget its rows
    texts = pa.table(made) if made else pa.table({"": pa.nulls(numbers.rows)})
    line = np.arange(1, numbers.rows + 1, dtype=np.int64) if extras.line is None else extras.line
    return TableFile(
        name=name,
        time=plan.time,
        table=whole_table(plan.names, texts, numbers.rows),
        line=line,
        refused=[],
        decimal=".",
        unit_row=dict(extras.unit_row),
        decisions=list(extras.decisions),
        numbers=numbers.done(),
    )


def is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def _texts(column: pa.ChunkedArray) -> list[str]:
    return [str(cell or "") for cell in column.cast(pa.string()).to_pylist()]
