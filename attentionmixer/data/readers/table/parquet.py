"""Parquet files, some columns at a time, by two workers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq

from ....errors import LogError
from ..limits import Limits
from ..source import Source
from .arrow import SAMPLE, Extras, Plan, faults, fill_columns, finish_file, is_text, slabs
from .parts import FileRules, TableFile
from .values import NumbersBuilder

WORKERS = 2
#: Rows of the row groups that are read together.
_GROUP = 1 << 16
#: Rows of words that are read at a time.
_WORDS = 1 << 13


def load_parquet(source: Source, rules: FileRules) -> TableFile:
    """Read a Parquet file, some columns at a time. Raises `LogError` where it is damaged or over the limits."""
    name, limits = source.name, source.limits
    with faults(name, "Parquet"), source.seekable() as stream:
        file = pq.ParquetFile(stream)
        meta = file.metadata
        limits.check("rows", meta.num_rows, name)
        limits.check("columns", meta.num_columns, name)
        limits.check("bytes", sum(meta.row_group(g).total_byte_size for g in range(meta.num_row_groups)), name)
        schema = file.schema_arrow
        texts = [field.name for field in schema if is_text(field.type)]
        head = next(file.iter_batches(SAMPLE, columns=texts), None) if texts else None
        first = pa.table({n: pa.array([], schema.field(n).type) for n in texts}) if head is None else head
        plan = Plan.of(schema, first, rules, name, limits)
        numbers = NumbersBuilder(plan.values, name, limits)
        numbers.extend(meta.num_rows)
        words = _read_words(file, plan, name, limits)
        if plan.words:
            _check_rows(name, meta.num_rows, words.num_rows)
        parts = [(groups, rows, slab) for groups, rows in _row_groups(meta) for slab in slabs(plan.values, rows)]

        def work(worker: int) -> None:
            # a reader of its own for each worker; they share the file, in which each jumps for itself
            own = pq.ParquetFile(stream, metadata=meta)
            for groups, rows, slab in parts[worker::WORKERS]:
                table = own.read_row_groups(groups, columns=list(plan.values[slab]), use_threads=False)
                _check_rows(name, rows.stop - rows.start, table.num_rows)
                fill_columns(numbers, rows.start, slab.start, table)

        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(work, range(WORKERS)))
    return finish_file(name, plan, words, numbers, limits, Extras())


def _check_rows(name: str, stated: int, there: int) -> None:
    """Raise `LogError` where columns hold other than the rows that the file states: its parts contradict each other."""
    if stated != there:
        raise LogError(f"{name} is a damaged Parquet file: it states {stated} rows where a column has {there}")


def _read_words(file: pq.ParquetFile, plan: Plan, name: str, limits: Limits) -> pa.Table:
    """Columns of words, measured as they grow: repeated words take far more room here than in the file."""
    if not plan.words:
        return pa.table({})
    batches, size = [], 0
    for batch in file.iter_batches(_WORDS, columns=list(plan.words)):
        size += batch.nbytes
        limits.check("bytes", size, name)
        batches.append(batch)
    schema = pa.schema([file.schema_arrow.field(word) for word in plan.words])
    # batches come in the file's order of columns, which is the plan's
    return pa.Table.from_batches(batches, batches[0].schema if batches else schema)


def _row_groups(meta: pq.FileMetaData) -> Iterator[tuple[list[int], slice]]:
    """Row groups that are read together, with the rows they hold: small ones are, since each costs time of its own."""
    groups: list[int] = []
    start = stop = 0
    for g in range(meta.num_row_groups):
        groups.append(g)
        stop += meta.row_group(g).num_rows
        if stop - start >= _GROUP or g == meta.num_row_groups - 1:
            yield groups, slice(start, stop)
            groups, start = [], stop
