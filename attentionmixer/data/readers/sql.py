"""Tables of databases, through SQLAlchemy: named in the URL, looked up among those there, and only ever read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pyarrow as pa

from ...errors import LogError
from .limits import Limits
from .source import Source
from .table.arrow import as_text, from_batches, typed
from .table.parts import FileRules, TableFile

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

DIALECTS = ("sqlite", "postgresql", "mysql", "mariadb", "mssql", "oracle")
HEAD = b"table of a database"
#: Rows that are fetched at a time.
_ROWS = 20_000


@dataclass(frozen=True)
class SqlSource(Source):
    """A table (or view) of a database. ``url`` may hold a password, so only ``shown`` is ever shown."""

    url: str = ""
    table: str = ""
    shown: str = ""

    @classmethod
    def parse(cls, address: str, dialect: str, limits: Limits) -> SqlSource:
        """From ``sqlite:///FILE?table=NAME`` or another URL that SQLAlchemy knows, with ``table=`` in its query.

        Raises `LogError` where it is another kind of address, or names no table or no such file.
        """
        if dialect not in DIALECTS:
            raise LogError(
                f"{dialect}:// is no database that can be read ({', '.join(DIALECTS)}); fetch a file of the web first"
            )
        base, _, query = address.partition("?")
        options = parse_qsl(query, keep_blank_values=True)
        tables = [value for key, value in options if key == "table"]
        if len(tables) != 1 or not tables[0]:
            raise LogError(f"the address of a database needs its table once: {dialect}:///FILE?table=NAME")
        with _errors("the database"):
            import sqlalchemy as sa

            url = sa.make_url(base).update_query_pairs([(k, v) for k, v in options if k != "table"])
        shown = url.render_as_string(hide_password=True)
        database = url.database or ""
        if dialect == "sqlite":
            if not Path(database).is_file():
                raise LogError(
                    f"{database or address} does not exist; a database is given as sqlite:///FILE?table=NAME"
                )
            # read only: a wrong name would make an empty database
            url = url.set(database=Path(database).resolve().as_uri()).update_query_pairs(
                [("mode", "ro"), ("uri", "true")]
            )
        return cls(Path(database), limits, (), url.render_as_string(hide_password=False), tables[0], shown)

    @property
    def name(self) -> str:
        """``FILE:TABLE``, for messages and the quality record."""
        return f"{self.path.name}:{self.table}"

    @property
    def size(self) -> None:
        """Unknown."""
        return None

    def blocks(self, size: int = 0) -> Iterator[bytes]:
        """A table of a database has no bytes. Raises `LogError`."""
        raise LogError(f"{self.name} is a table of a database; only format='table' reads it")

    def head(self) -> bytes:
        """What stands in place of first bytes, so that no reader of files takes it."""
        return HEAD


def load_sql(source: SqlSource, rules: FileRules) -> TableFile:
    """Read a table of a database, some rows at a time.

    Raises `LogError` where it is not there, cannot be read, or is over the limits.
    """
    rules.refuse_text_options(source.name, "a table of a database")
    if rules.names is not None or rules.skip or rules.sheet is not None:
        raise LogError(f"{source.name} is a table of a database; names=, skip= and sheet= are for files")
    with _errors(source.shown), _engine(source) as engine, engine.connect() as connection:
        columns = _columns(source, engine)
        source.limits.check("columns", len(columns), source.name)
        rows = _select(connection, source.table, columns)
        chunks, size = [], 0
        for number, chunk in enumerate(rows, 1):
            source.limits.check("rows", (number - 1) * _ROWS + len(chunk), source.name)
            chunks.append([typed(cells) for cells in zip(*chunk, strict=True)])
            size += sum(array.nbytes for array in chunks[-1])
            source.limits.check("bytes", size, source.name)
    kinds = [_common([chunk[i] for chunk in chunks]) for i in range(len(columns))]
    schema = pa.schema(list(zip(columns, kinds, strict=True)))
    batches = (
        pa.RecordBatch.from_arrays([_cast(a, kind) for a, kind in zip(chunk, kinds, strict=True)], schema=schema)
        for chunk in chunks
    )
    return from_batches(source.name, schema, batches, rules, source.limits)


@contextmanager
def _engine(source: SqlSource) -> Iterator[Engine]:
    import sqlalchemy as sa

    engine = sa.create_engine(source.url, poolclass=sa.NullPool)
    try:
        yield engine
    finally:
        engine.dispose()


def _columns(source: SqlSource, engine: Engine) -> list[str]:
    """Names of the table's columns, once the table is known to be there."""
    import sqlalchemy as sa

    inspector = sa.inspect(engine)
    there = [*inspector.get_table_names(), *inspector.get_view_names()]
    if source.table not in there:
        raise LogError(f"{source.shown} has no table {source.table!r}; it has {', '.join(there[:20]) or 'none'}")
    return [str(column["name"]) for column in inspector.get_columns(source.table)]


def _select(connection: Connection, table: str, columns: Sequence[str]) -> Iterator[list[Sequence[Any]]]:
    """Rows as the database's driver gives them; names are quoted by SQLAlchemy, as they were found."""
    import sqlalchemy as sa

    quoted: list[sa.ColumnClause[Any]] = [sa.column(sa.quoted_name(column, True)) for column in columns]
    query = sa.select(*quoted).select_from(sa.table(sa.quoted_name(table, True), *quoted))
    result = connection.execution_options(yield_per=_ROWS).execute(query)
    while chunk := result.fetchmany(_ROWS):
        yield [tuple(row) for row in chunk]


def _common(arrays: Sequence[pa.Array]) -> pa.DataType:
    """The type that holds all parts of a column: text where they have none in common."""
    kinds = {array.type for array in arrays if array.null_count < len(array)}
    if len(kinds) <= 1:
        return kinds.pop() if kinds else pa.float64()
    return pa.float64() if kinds <= {pa.int64(), pa.float64(), pa.bool_()} else pa.string()


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.null_count == len(array):
        return pa.nulls(len(array), kind)
    if array.type == kind:
        return array
    if pa.types.is_string(kind):
        return pa.array([None if cell is None else as_text(cell) for cell in array.to_pylist()], pa.string())
    return array.cast(pa.uint8()).cast(kind) if pa.types.is_boolean(array.type) else array.cast(kind, safe=False)


@contextmanager
def _errors(shown: str) -> Iterator[None]:
    """What SQLAlchemy and its drivers raise, as `LogError`."""
    import sqlalchemy as sa

    try:
        yield
    except ModuleNotFoundError as error:
        raise LogError(f"{shown} needs a driver that is not installed: pip install {error.name}") from error
    except sa.exc.SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or error
        raise LogError(f"{shown} cannot be read: {reason}") from error
