"""Readers: one file a format. `read_log` picks one by looking at the content and hands back a `StationLog`."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ...errors import LogError
from ..log import Resample, Role, StationLog
from . import eurdep, exported, historian, nra, odl, radnet, safecast, table
from .assemble import Assembly
from .limits import Limits
from .source import Source, expand

logger = logging.getLogger(__name__)

__all__ = ["READERS", "Reader", "pick_reader", "read_log"]


@dataclass(frozen=True)
class Reader:
    """A format: how to recognise it by the first bytes, and how to read files of it.

    ``confirm`` looks at the whole source, for a format that the first bytes allow but do not prove.
    """

    name: str
    sniff: Callable[[bytes], bool]
    read: Callable[..., StationLog]
    confirm: Callable[[Source], bool] | None = None

    def knows(self, source: Source, head: bytes) -> bool:
        """Whether a source that begins with ``head`` is of this format."""
        return self.sniff(head) and (self.confirm is None or self.confirm(source))

    @property
    def own_options(self) -> tuple[str, ...]:
        """The keyword arguments it takes itself."""
        parameters = inspect.signature(self.read).parameters.values()
        return tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)

    @property
    def options(self) -> tuple[str, ...]:
        """All options it takes."""
        return (*self.own_options, *(SHARED if "assembly" in inspect.signature(self.read).parameters else ()))


#: Options of `Assembly`, which most readers share.
SHARED = tuple(field.name for field in fields(Assembly))
#: Formats in the order they are tried; ``table`` takes what no other knows.
READERS: dict[str, Reader] = {
    name: Reader(name, module.sniff, module.read, getattr(module, "confirm", None))
    for name, module in (
        ("exported", exported),
        ("radnet", radnet),
        ("odl", odl),
        ("nra", nra),
        ("eurdep", eurdep),
        ("safecast", safecast),
        ("historian", historian),
        ("table", table),
    )
}


def read_log(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: str = "auto",
    tz: str | None = None,
    units: Mapping[str, str | None] | str | None = None,
    convert: Mapping[str, str] | None = None,
    step: str | None = None,
    start: Any = None,
    end: Any = None,
    stations: Sequence[str] | None = None,
    duplicates: str | None = None,
    time_column: str | None = None,
    layout: str = "auto",
    roles: Mapping[str, Role] | None = None,
    resample: Mapping[str, Resample] | Resample | None = None,
    hold: str | None = None,
    ages: bool | Sequence[str] = False,
    limits: Limits | None = None,
    **options: Any,
) -> StationLog:
    """Read a log from files or a database.

    Parameters
    ----------
    source: a file, a folder (all files of known suffixes), a list of them, or a database (``sqlite:///FILE?table=T``).
        All must be of one format; gzip, zip and zstd are unpacked on the way, in memory.
    format: ``auto`` looks at the content, never at the name; or a key of `READERS`.
    tz: zone of times that state no offset.
    units: unit per tag, or one for all; overrides what headers say.
    convert: what one unit of a quantity that is no dose rate stands for, by unit or tag: ``{"µR/h": "8.7 nSv/h"}``, or
        a counter tube for count rates: ``{"cpm": "LND-7317"}``. Without it exposure and counts stay what they are.
    step: the grid's step, e.g. ``"10min"``; found from the times if not given.
    start, end: the period in UTC, ``start <= t < end``; an ``end`` that is only a date, such as ``"2021-12-31"``,
        includes that whole day.
    stations: keep these stations only, named in any case.
    duplicates: what to do with rows of one step that disagree: ``error``, ``first``, ``last``, ``mean``, ``nearest``.
        The reader's own default if not given: ``error`` for tables, ``nearest`` (to the full hour) for RadNet.
    time_column: the column of times.
    layout: ``auto``, ``wide`` or ``long``.
    roles: tag name → ``target``, ``estimate``, ``input`` or ``known``.
    resample: how irregular readings come to a regular grid, for all tags or by tag: ``mean``, ``last`` (held), ``sum``,
        ``interpolate``. Without it, irregular readings are averaged and states held, and this is reported.
    hold: longest time a held or interpolated value may bridge, e.g. ``"2h"``; held values older than that are flagged.
    ages: add the age of the value, in minutes, as a further input: ``True`` for all tags, or their names.
    limits: how large a source may be.
    options: what else the reader of the format takes; see the ``read`` function of each.

    Returns
    -------
    `StationLog` with a regular UTC grid; its ``quality`` accounts for every row read and every choice made, its
    ``flags`` say per cell why a value is missing. `attentionmixer.data.screen` adds the flags of values that are
    suspect: stuck, spikes, start-up transients and so on.

    Raises
    ------
    LogError: the source is not there, is of no known format, holds several formats, or cannot be read one way only; or
        an option is not one the reader takes.
    """
    given = {
        "tz": tz,
        "units": units,
        "convert": convert,
        "step": step,
        "start": start,
        "end": end,
        "stations": stations,
        "duplicates": duplicates,
        "time_column": time_column,
        "layout": None if layout == "auto" else layout,
        "roles": roles,
        "resample": resample,
        "hold": hold,
        "ages": ages or None,
    }
    given = {**{name: value for name, value in given.items() if value is not None}, **options}
    sources = expand(source, limits)
    reader = pick_reader(sources, format)
    refused = [name for name in given if name not in reader.options]
    if refused:
        raise LogError(
            f"the {reader.name} reader does not take {', '.join(refused)}; it takes {', '.join(reader.options)}"
        )
    logger.info("reading %d file(s) as %s", len(sources), reader.name)
    own = {name: value for name, value in given.items() if name in reader.own_options}
    shared = {name: value for name, value in given.items() if name not in reader.own_options}
    if "assembly" in inspect.signature(reader.read).parameters:
        return reader.read(sources, Assembly(**shared), **own)
    return reader.read(sources, **own)


def pick_reader(sources: Sequence[Source], format: str = "auto") -> Reader:
    """The reader of the format named or, with ``auto``, of the sources' content. Raises `LogError` where none fits."""
    if format != "auto":
        if format not in READERS:
            raise LogError(f"format={format!r} is unknown; choose auto or one of {', '.join(READERS)}")
        return READERS[format]
    found: dict[str, list[str]] = {}
    for source in sources:
        head = source.head()
        for reader in READERS.values():
            if reader.knows(source, head):
                found.setdefault(reader.name, []).append(source.name)
                break
        else:
            raise LogError(f"{source.path}: no reader knows this format")
    if len(found) > 1:
        seen = "; ".join(f"{name}: {', '.join(files[:3])}" for name, files in found.items())
        raise LogError(f"files of several formats cannot be one log ({seen}); read them one by one")
    return READERS[next(iter(found))]
