"""Readers: one file a format. `read_log` picks one by looking at the content and hands back a `StationLog`."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import LogError
from ..log import Role, StationLog
from . import radnet, table
from .source import Source, expand

logger = logging.getLogger(__name__)

__all__ = ["READERS", "Reader", "read_log"]


@dataclass(frozen=True)
class Reader:
    """A format: how to recognise it by the first bytes, and how to read files of it."""

    name: str
    sniff: Callable[[bytes], bool]
    read: Callable[..., StationLog]

    @property
    def options(self) -> tuple[str, ...]:
        """The keyword arguments it takes."""
        parameters = inspect.signature(self.read).parameters.values()
        return tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)


#: Formats in the order they are tried.
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (Reader("radnet", radnet.sniff, radnet.read), Reader("table", table.sniff, table.read))
}


def read_log(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: str = "auto",
    tz: str | None = None,
    units: Mapping[str, str | None] | str | None = None,
    step: str | None = None,
    start: Any = None,
    end: Any = None,
    stations: Sequence[str] | None = None,
    duplicates: str | None = None,
    time_column: str | None = None,
    layout: str = "auto",
    roles: Mapping[str, Role] | None = None,
    **options: Any,
) -> StationLog:
    """Read a log from files.

    Parameters
    ----------
    source: a file, a folder (all its ``*.csv``, ``*.csv.gz`` and ``*.parquet`` files) or a list of them. All must be of
        one format; gzip is unpacked on the way.
    format: ``auto`` looks at the content, never at the name; or a key of `READERS`: ``radnet``, ``table``.
    tz: zone of times that state no offset.
    units: unit per tag, or one for all; overrides what headers say.
    step: the grid's step, e.g. ``"10min"``; found from the times if not given.
    start, end: the period in UTC, ``start <= t < end``; an ``end`` that is only a date, such as ``"2021-12-31"``,
        includes that whole day.
    stations: keep these stations only, named in any case.
    duplicates: what to do with rows of one step that disagree: ``error``, ``first``, ``last``, ``mean``, ``nearest``.
        The reader's own default if not given: ``error`` for tables, ``nearest`` (to the full hour) for RadNet.
    time_column: the column of times.
    layout: ``auto``, ``wide`` or ``long``.
    roles: tag name → ``target``, ``input`` or ``known``.
    options: what else the reader of the format takes; see `readers.table.read` and `readers.radnet.read`.

    Returns
    -------
    `StationLog` with a regular UTC grid; its ``quality`` accounts for every row read and every choice made.

    Raises
    ------
    LogError: the source is not there, is of no known format, holds several formats, or cannot be read one way only; or
        an option is not one the reader takes.
    """
    given = {
        "tz": tz,
        "units": units,
        "step": step,
        "start": start,
        "end": end,
        "stations": stations,
        "duplicates": duplicates,
        "time_column": time_column,
        "layout": None if layout == "auto" else layout,
        "roles": roles,
    }
    given = {**{name: value for name, value in given.items() if value is not None}, **options}
    sources = expand(source)
    reader = _pick(sources, format)
    refused = [name for name in given if name not in reader.options]
    if refused:
        raise LogError(
            f"the {reader.name} reader does not take {', '.join(refused)}; it takes {', '.join(reader.options)}"
        )
    logger.info("reading %d file(s) as %s", len(sources), reader.name)
    return reader.read(sources, **given)


def _pick(sources: Sequence[Source], format: str) -> Reader:
    if format != "auto":
        if format not in READERS:
            raise LogError(f"format={format!r} is unknown; choose auto or one of {', '.join(READERS)}")
        return READERS[format]
    found: dict[str, list[str]] = {}
    for source in sources:
        head = source.head()
        for reader in READERS.values():
            if reader.sniff(head):
                found.setdefault(reader.name, []).append(source.name)
                break
        else:
            raise LogError(f"{source.path}: no reader knows this format")
    if len(found) > 1:
        seen = "; ".join(f"{name}: {', '.join(files[:3])}" for name, files in found.items())
        raise LogError(f"files of several formats cannot be one log ({seen}); read them one by one")
    return READERS[next(iter(found))]
