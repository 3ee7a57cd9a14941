"""Logs that `attentionmixer.data.export` wrote as Parquet: read back as they were, with account and flags."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import LogError
from ..export import METADATA, VERSION, fingerprint
from ..log import Role, Sampling, StationLog, Tag
from ..quality import Flags, QualityRecord, no_flags
from .grid import Period
from .series import Values
from .source import Source
from .table.arrow import PARQUET


def sniff(head: bytes) -> bool:
    """Whether a file that begins like this can be an exported log; `confirm` tells, for the mark lies at its end."""
    return head.startswith(PARQUET)


def confirm(source: Source) -> bool:
    """Whether a Parquet file carries the description of an exported log."""
    with source.seekable() as stream:
        return _description(_open(source, stream)) is not None


def read(
    sources: Sequence[Source],
    *,
    start: Any = None,
    end: Any = None,
    stations: Sequence[str] | None = None,
    roles: Mapping[str, Role] | None = None,
) -> StationLog:
    """The log that was exported.

    Everything that shapes a log (units, step, duplicates …) was settled when it was read first, so only parts of it can
    be chosen here. The quality record stays that of the whole log, with a sentence about the part.

    Parameters
    ----------
    sources: one exported file.
    start, end: the period in UTC; an ``end`` that is only a date includes that day.
    stations: keep the tags of these stations, named in any case.
    roles: tag name → role.

    Raises
    ------
    LogError: there are several files, the file is damaged, of another version, or its content was changed after it was
        exported, so that the account no longer belongs to it.
    """
    if len(sources) > 1:
        raise LogError(f"{len(sources)} exported logs cannot be read as one; read them one by one")
    log = _whole(sources[0])
    said = []
    period = Period.parse(start, end)
    if period != Period():
        inside = np.flatnonzero(period.holds(log.time.as_unit("ns").asi8))
        log = log.rows(int(inside[0]), int(inside[-1]) + 1) if len(inside) else log.rows(0, 0)
        said.append("only a period of the exported log was taken; rows are those of the whole")
    if stations is not None:
        log = log.select(_of_stations(log, stations))
        said.append("only some stations of the exported log were taken; rows are those of the whole")
    if roles:
        log = log.with_roles(roles)
    return log.with_flags(no_flags(log.shape), *said) if said else log


def _whole(source: Source) -> StationLog:
    raw = source.read()
    file = _open(source, pa.BufferReader(raw))
    described = _description(file)
    if described is None:
        raise LogError(f"{source.name} is no exported log: its Parquet metadata lack {METADATA!r}; read it as a table")
    found = json.loads(described) if _is_json(described) else {}
    if found.get("version") != VERSION:
        raise LogError(
            f"{source.name} was exported in version {found.get('version')!r} of the format, and this reads {VERSION}; "
            "export it again, or read its values with format='table'"
        )
    try:
        tags = [Tag.from_dict(tag) for tag in found["tags"]]
        values, flags, time = _cells(file.read(), tags, found["time"], found["flags"])
        quality = QualityRecord.from_dict(found["quality"])
        log = StationLog(values, time, tags, quality, flags=flags, sampling=Sampling(**found["sampling"]))
    except (
        *(LookupError, TypeError, ValueError, ArithmeticError, AttributeError),
        *(pa.ArrowException, OSError, LogError),
    ) as error:
        raise LogError(f"{source.name} is a damaged exported log: {error}; export it again") from error
    promised = found.pop("sha256", None)
    if fingerprint(log, found) != promised:
        raise LogError(
            f"{source.name} was changed after it was exported, so its account of rows no longer belongs to it; read "
            "its values with format='table'"
        )
    return log


def _cells(
    table: pa.Table, tags: Sequence[Tag], time: str, flag_columns: Mapping[str, int]
) -> tuple[Values, Flags, pd.DatetimeIndex]:
    values = np.empty((table.num_rows, len(tags)), dtype=np.float32)
    for i, tag in enumerate(tags):
        values[:, i] = table[tag.name].to_numpy()
    flags = no_flags(values.shape)
    if flag_columns:
        flags = np.zeros(values.shape, dtype=np.uint16)
        for name, i in flag_columns.items():
            flags[:, i] = table[name].to_numpy()
    ns = table[time].cast(pa.int64()).to_numpy()
    return values, flags, pd.DatetimeIndex(ns.view("datetime64[ns]")).tz_localize("UTC")


def _open(source: Source, content: pa.NativeFile) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(content)
    except (pa.ArrowException, OSError, ValueError) as error:
        # ValueError: a name that is not UTF-8
        raise LogError(f"{source.name} is a damaged Parquet file: {error}") from error


def _description(file: pq.ParquetFile) -> bytes | None:
    metadata: Mapping[bytes, bytes] = file.schema_arrow.metadata or {}
    return metadata.get(METADATA.encode())


def _is_json(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _of_stations(log: StationLog, stations: Sequence[str]) -> list[str]:
    asked = {name.strip().casefold() for name in ([stations] if isinstance(stations, str) else stations)}
    unknown = asked - {name.casefold() for name in log.stations}
    if unknown or not asked:
        there = ", ".join(log.stations[:20]) or "none"
        raise LogError(f"unknown station(s): {', '.join(sorted(unknown)) or '(none given)'}; there: {there}")
    return [tag.name for tag in log.tags if tag.station is not None and tag.station.casefold() in asked]
