"""A `StationLog` as a file: Parquet with all that it holds, or CSV with its values for a spreadsheet."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..errors import ConfigError, LogError
from ..files import write_atomically
from .log import StationLog, Tag

#: Key of the Parquet schema's metadata under which the log's description lies, as JSON.
METADATA: Final = "attentionmixer"
#: Version of that description.
VERSION: Final = 1
Epoch = Literal["s", "ms", "us", "ns"]
#: What CSV times can be counted in since 1970, with its length in nanoseconds.
EPOCHS: Final[dict[Epoch, int]] = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_ROWS: Final = 65536


def export_log(log: StationLog, path: Path, *, epoch: Epoch | None = None) -> None:
    """Write a log; the ending of ``path`` decides how. The file is whole or absent, and an old one is replaced.

    ``.parquet``: a column of times (timestamp[ns, UTC]), one of float32 for each tag under its own name, and one of
    uint16 ``"flags of TAG"`` for each tag with flags. The schema's metadata hold the rest, so that
    `attentionmixer.data.read_log` gives an equal log back.

    ``.csv``: UTF-8 with byte order mark; a column ``time`` and one for each tag, headed ``NAME [UNIT]``; missing is
    blank. Text that a spreadsheet would run as a formula gets a leading apostrophe, numbers never do. Flags and the
    quality record have no place in it.

    Parameters
    ----------
    epoch: for CSV: write times as whole ``s``, ``ms``, ``us`` or ``ns`` since 1970 in place of ISO 8601.

    Raises
    ------
    ConfigError: the ending is neither, or ``epoch`` is given for Parquet.
    LogError: a time is no whole number of the ``epoch`` asked for.
    OSError: the file cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in (".parquet", ".csv"):
        raise ConfigError(f"{path} must end in .parquet or .csv")
    if kind == ".csv":
        times = _iso(log.time) if epoch is None else _since_1970(log.time, epoch)
        write_atomically(path, lambda part: _write_csv(log, times, part))
    elif epoch is not None:
        raise ConfigError(f"epoch={epoch!r} is for CSV; Parquet has a type for times")
    else:
        write_atomically(path, lambda part: _write_parquet(log, part))


def guard_text(text: str) -> str:
    """Text that a spreadsheet would run as a formula, made harmless by a leading apostrophe."""
    return "'" + text if text.startswith(_FORMULA_STARTS) else text


def fingerprint(log: StationLog, description: Mapping[str, Any]) -> str:
    """SHA-256 over times, values and flags of a log, and over the description that is stored beside them."""
    values, flags = log.values, log.flags
    digest = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    digest.update(log.time.as_unit("ns").asi8.astype("<i8").tobytes())
    for first in range(0, len(values), _ROWS):
        part = values[first : first + _ROWS]
        # "missing" has many bit patterns, and only one meaning
        digest.update(np.where(np.isnan(part), np.float32(np.nan), part).astype("<f4").tobytes())
        digest.update(np.ascontiguousarray(flags[first : first + _ROWS], dtype="<u2").tobytes())
    return digest.hexdigest()


# --- Parquet ---------------------------------------------------------------------------------------------------------


def _write_parquet(log: StationLog, path: Path) -> None:
    time_name, flag_names = _other_names(log.tags)
    flagged = [i for i in range(len(log.tags)) if log.flags.strides != (0, 0) and bool(log.flags[:, i].any())]
    schema = pa.schema(
        [
            pa.field(time_name, pa.timestamp("ns", tz="UTC"), nullable=False),
            *(pa.field(tag.name, pa.float32()) for tag in log.tags),
            *(pa.field(flag_names[i], pa.uint16(), nullable=False) for i in flagged),
        ],
        metadata={METADATA: json.dumps(_description(log, time_name, {flag_names[i]: i for i in flagged}))},
    )
    time = log.time.as_unit("ns").asi8
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for first in range(0, len(log), _ROWS):
            part = slice(first, first + _ROWS)
            columns = [
                pa.array(time[part]).cast(schema.field(0).type),
                *_columns(log.values[part]),
                *(pa.array(np.ascontiguousarray(log.flags[part, i])) for i in flagged),
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _description(log: StationLog, time: str, flags: dict[str, int]) -> dict[str, Any]:
    description = {
        "version": VERSION,
        "time": time,
        "tags": [tag.to_dict() for tag in log.tags],
        "flags": flags,
        "sampling": dict(log.sampling.__dict__),
        "quality": log.quality.to_dict(),
    }
    return {**description, "sha256": fingerprint(log, description)}


def _other_names(tags: Sequence[Tag]) -> tuple[str, list[str]]:
    """Names of the columns that are no tag's: the times', and the flags' of each tag. None is also a tag's name."""
    taken = {tag.name for tag in tags}
    return _free("time", taken), [_free(f"flags of {tag.name}", taken) for tag in tags]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _columns(values: NDArray[np.float32]) -> Iterator[pa.Array]:
    for column in np.ascontiguousarray(values.T):
        yield pa.array(column, from_pandas=True)


# --- CSV -------------------------------------------------------------------------------------------------------------


def _write_csv(log: StationLog, times: NDArray[Any], path: Path) -> None:
    heads = [tag.name if tag.unit is None else f"{tag.name} [{tag.unit}]" for tag in log.tags]
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([guard_text(head) for head in ("time", *heads)])
    options = pv.WriteOptions(include_header=False, quoting_style="needed")
    with path.open("wb") as file:
        # the byte order mark tells Excel that this is UTF-8
        file.write(line.getvalue().encode("utf-8-sig"))
        for first in range(0, len(log), _ROWS):
            part = slice(first, first + _ROWS)
            columns = [pa.array(times[part]), *_columns(log.values[part])]
            pv.write_csv(pa.Table.from_arrays(columns, names=[str(i) for i in range(len(columns))]), file, options)


def _iso(time: pd.DatetimeIndex) -> NDArray[Any]:
    ns = time.as_unit("ns").asi8
    unit = next(unit for unit, length in EPOCHS.items() if not (ns % length).any())
    # no digit that no time of this log needs
    texts = np.datetime_as_string(ns.view("datetime64[ns]"), unit=unit)
    return np.char.add(texts, "Z")


def _since_1970(time: pd.DatetimeIndex, epoch: Epoch) -> NDArray[np.int64]:
    if epoch not in EPOCHS:
        raise ConfigError(f"epoch={epoch!r} is unknown; choose one of {', '.join(EPOCHS)}")
    ns = time.as_unit("ns").asi8
    rest = ns % EPOCHS[epoch]
    if rest.any():
        raise LogError(
            f"{time[int(np.flatnonzero(rest)[0])]} is no whole number of {epoch} since 1970; take epoch='ns'"
        )
    return np.asarray(ns // EPOCHS[epoch], dtype=np.int64)
