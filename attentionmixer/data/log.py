"""`StationLog`: a plant's log on a regular time grid. Everything above this file works on it and on nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from ..errors import LogError
from .quality import IGNORED, Flag, Flags, QualityRecord, no_flags

Role = Literal["target", "estimate", "input", "known"]
Resample = Literal["mean", "last", "interpolate", "sum"]


@dataclass(frozen=True)
class Tag:
    """One column of a log.

    Attributes
    ----------
    name: unique within a log, kept verbatim as the source wrote it.
    unit: as written for people, e.g. ``"nSv/h"``; ``None`` for a generic process tag.
    quantity: ``"dose_rate"``, ``"count_rate"``, ``"rain"``, ``"wind_speed"`` …; ``"generic"`` if nothing is known.
    station: the station it belongs to, or ``None``.
    coordinates: (latitude, longitude) in degrees, or ``None``.
    role: ``target`` is forecast and scored; ``estimate`` is too, but from the other tags alone: its own readings are
        never given to a model (a laboratory value, a soft sensor); ``input`` is observed only up to now and not
        scored; ``known`` is known ahead as well (a rain forecast, a calendar).
    resample: how values between grid times become one value.
    """

    name: str
    unit: str | None = None
    quantity: str = "generic"
    station: str | None = None
    coordinates: tuple[float, float] | None = None
    role: Role = "target"
    resample: Resample = "mean"

    @property
    def scored(self) -> bool:
        """Whether it is forecast and scored."""
        return self.role in ("target", "estimate")

    @property
    def seen(self) -> bool:
        """Whether a model is given its readings."""
        return self.role != "estimate"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only."""
        data = dict(self.__dict__)
        data["coordinates"] = list(self.coordinates) if self.coordinates is not None else None
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tag:
        """Inverse of `to_dict`."""
        fields = dict(data)
        if fields.get("coordinates") is not None:
            latitude, longitude = fields["coordinates"]
            fields["coordinates"] = (float(latitude), float(longitude))
        return cls(**fields)


@dataclass(frozen=True)
class Sampling:
    """What a time stamp means.

    Attributes
    ----------
    stamp: whether a time is the ``begin``, the ``middle`` or the ``end`` of the interval its value was averaged over,
        or the ``instant`` it was read; ``None`` where the source does not say.
    interval: averaging interval in seconds, or ``None``.
    """

    stamp: Literal["begin", "middle", "end", "instant"] | None = None
    interval: float | None = None


class StationLog:
    """Values of N tags on T regular UTC steps; missing values are NaN. Immutable.

    Parameters
    ----------
    values: [T, N] float32, engineering units, NaN = missing; no infinities. Taken over without a copy where possible.
    time: [T] regular, increasing, in UTC.
    tags: N tags with unique names.
    quality: the account of how the log came to be.
    flags: [T, N] uint16, bits of `Flag` per cell; none if not given.
    sampling: what a time stamp means.

    Raises
    ------
    LogError: shapes disagree, the index is not regular UTC, names repeat, or a value is infinite.
    """

    __slots__ = ("_array", "_flags", "quality", "sampling", "tags", "time")

    _array: NDArray[np.float32]
    _flags: Flags
    time: pd.DatetimeIndex
    tags: tuple[Tag, ...]
    quality: QualityRecord
    sampling: Sampling

    def __init__(
        self,
        values: NDArray[np.floating[Any]],
        time: pd.DatetimeIndex,
        tags: Sequence[Tag],
        quality: QualityRecord | None = None,
        *,
        flags: Flags | None = None,
        sampling: Sampling | None = None,
    ) -> None:
        array = np.require(values, dtype=np.float32, requirements=["C", "W"])
        tags = tuple(tags)
        _check(array, time, tags)
        if quality is None:
            quality = QualityRecord(rows_in=len(array), rows_kept=len(array))
        if flags is None:
            flags = no_flags(array.shape)
        elif flags.shape != array.shape or flags.dtype != np.uint16:
            raise LogError(f"flags are {flags.dtype} {flags.shape}, but the values are {array.shape} and need uint16")
        held = {"_array": array, "_flags": flags, "time": time, "tags": tags, "quality": quality}
        for name, value in {**held, "sampling": sampling or Sampling()}.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a StationLog is immutable; make a new one")

    # --- what it holds -----------------------------------------------------------------------------------------------

    @property
    def values(self) -> NDArray[np.float32]:
        """[T, N] read-only view, NaN = missing."""
        view = self._array.view()
        view.flags.writeable = False
        return view

    @property
    def flags(self) -> Flags:
        """[T, N] read-only view of the cells' flags, bits of `Flag`."""
        view = self._flags.view()
        view.flags.writeable = False
        return view

    def tensor(self) -> torch.Tensor:
        """[T, N] float32 tensor that shares the log's memory. It is for reading only."""
        return torch.from_numpy(self._array)

    def without_flagged(self, ignored: Flag = IGNORED) -> StationLog:
        """The same log with NaN where a cell has one of these flags; itself where none has."""
        hit = (self._flags & np.uint16(ignored)) != 0 if self._flags.strides != (0, 0) else None
        if hit is None or not (hit & ~np.isnan(self._array)).any():
            return self
        return self._with(values=np.where(hit, np.float32(np.nan), self._array))

    @property
    def step(self) -> pd.Timedelta:
        """Time between two rows."""
        return pd.Timedelta(self.time[1] - self.time[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Tag names in column order."""
        return tuple(tag.name for tag in self.tags)

    @property
    def stations(self) -> tuple[str, ...]:
        """Distinct stations in order of first appearance."""
        return tuple(dict.fromkeys(tag.station for tag in self.tags if tag.station is not None))

    @property
    def shape(self) -> tuple[int, int]:
        """(T, N)."""
        return self._array.shape[0], self._array.shape[1]

    def __len__(self) -> int:
        return len(self._array)

    # --- making others from it ---------------------------------------------------------------------------------------

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, tags: Sequence[Tag] | None = None, quality: QualityRecord | None = None
    ) -> StationLog:
        """A log from a frame with a regular, time-zone-aware index, one numeric column a tag.

        Raises `LogError` where the index is naive, irregular or not increasing, or a column is not numeric.
        """
        index = frame.index
        if not isinstance(index, pd.DatetimeIndex):
            raise LogError(f"the frame's index holds {index.dtype}, not timestamps; use set_index with a time column")
        if index.tz is None:
            raise LogError("the frame's index has no time zone; state it with frame.tz_localize('Europe/Berlin')")
        for column in frame.columns:
            if not pd.api.types.is_numeric_dtype(frame[column]):
                raise LogError(f"column {column!r} holds {frame[column].dtype}, not numbers")
        if tags is None:
            tags = [Tag(str(column)) for column in frame.columns]
        return cls(frame.to_numpy(np.float32, na_value=np.nan), index.tz_convert("UTC"), tags, quality)

    def to_frame(self) -> pd.DataFrame:
        """The log as a pandas frame (UTC index, one column a tag)."""
        return pd.DataFrame(self._array, index=self.time, columns=list(self.names), copy=True)

    def select(self, names: Sequence[str]) -> StationLog:
        """The same log with these tags, in this order. Raises `LogError` listing tags that are not there."""
        position = {tag.name: i for i, tag in enumerate(self.tags)}
        missing = [name for name in names if name not in position]
        if missing:
            raise LogError(f"{len(missing)} tag(s) missing from the log: {', '.join(missing[:10])}")
        columns = [position[name] for name in names]
        if columns == list(range(len(self.tags))):
            return self
        flags = no_flags((len(self), len(columns))) if self._flags.strides == (0, 0) else self._flags[:, columns]
        return self._with(values=self._array[:, columns], tags=[self.tags[i] for i in columns], flags=flags)

    def between(self, start: str | pd.Timestamp | None = None, end: str | pd.Timestamp | None = None) -> StationLog:
        """Rows with ``start <= time < end``; a date without a zone is UTC. Shares memory."""
        first = 0 if start is None else int(self.time.searchsorted(utc(start)))
        last = len(self) if end is None else int(self.time.searchsorted(utc(end)))
        return self.rows(first, last)

    def rows(self, first: int, last: int) -> StationLog:
        """Rows ``first <= i < last``. Shares memory."""
        if last - first < 2:
            raise LogError(
                f"the part asked for holds {max(0, last - first)} row(s) of a log that spans "
                f"{self.time[0]} to {self.time[-1]}; at least 2 are needed"
            )
        part = slice(first, last)
        return self._with(values=self._array[part], time=self.time[part], flags=self._flags[part])

    def with_roles(self, roles: Mapping[str, Role]) -> StationLog:
        """The same log with other roles for the named tags."""
        self.select(list(roles))
        tags = [replace(tag, role=roles.get(tag.name, tag.role)) for tag in self.tags]
        return self._with(tags=tags)

    def with_flags(self, flags: Flags, *decisions: str) -> StationLog:
        """The same log with these flags beside those it has, and with further decisions in its record."""
        both = flags if self._flags.strides == (0, 0) else self._flags | flags
        record = self.quality.with_flags(both, self.time).with_decision(*decisions)
        return self._with(flags=both, quality=record)

    def _with(self, **changes: Any) -> StationLog:
        now = {"values": self._array, "time": self.time, "tags": self.tags, "quality": self.quality}
        return StationLog(**{**now, "flags": self._flags, "sampling": self.sampling, **changes})

    # --- showing itself ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        missing = float(np.isnan(self._array).mean())
        return (
            f"StationLog({len(self):,} steps of {self.step}, {len(self.tags)} tags, "
            f"{len(self.stations)} stations, {self.time[0]:%Y-%m-%d %H:%M} to {self.time[-1]:%Y-%m-%d %H:%M} UTC, "
            f"{missing:.1%} missing)"
        )


def utc(moment: str | pd.Timestamp) -> pd.Timestamp:
    """A moment in UTC; without a zone it is taken as UTC. Raises `LogError` for what is no date."""
    try:
        stamp = pd.Timestamp(moment)
    except ValueError as error:
        raise LogError(f"{moment!r} is not a date or time; write it as 2021-06-30 or 2021-06-30T12:00Z") from error
    return stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp.tz_convert("UTC")


#: Values that `_check` looks at together.
_CHECKED = 1 << 18


def _check(array: NDArray[np.float32], time: pd.DatetimeIndex, tags: tuple[Tag, ...]) -> None:
    if array.ndim != 2:
        raise LogError(f"values must be [time, tags], not {array.ndim}-dimensional")
    if array.shape != (len(time), len(tags)):
        raise LogError(f"values are {array.shape}, but there are {len(time)} times and {len(tags)} tags")
    if len(time) < 2:
        raise LogError(f"a log needs at least 2 rows, not {len(time)}")
    if not tags:
        raise LogError("a log needs at least one tag")
    if time.tz is None or str(time.tz) != "UTC":
        raise LogError(f"the time index must be in UTC, not {time.tz}")
    steps = np.diff(time.as_unit("ns").asi8)
    if steps[0] <= 0 or (steps != steps[0]).any():
        row = int(np.flatnonzero((steps != steps[0]) | (steps <= 0))[0]) + 1
        raise LogError(f"the time index is not regular: row {row} is at {time[row]}, one step after {time[row - 1]}")
    names = [tag.name for tag in tags]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise LogError(f"tag names must be unique; these repeat: {', '.join(map(repr, twice[:10]))}")
    # in chunks that a cache holds, so that the check of a large log needs neither time nor memory of its own
    rows = max(1, _CHECKED // array.shape[1])
    for first in range(0, len(array), rows):
        part = array[first : first + rows]
        if np.isinf(part).any():
            row, column = np.argwhere(np.isinf(part))[0]
            raise LogError(
                f"tag {names[column]!r} is infinite in row {first + row} ({time[first + row]}); "
                "make it NaN (missing) and count the reason"
            )
