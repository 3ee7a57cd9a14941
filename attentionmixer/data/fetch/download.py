"""Fetching a list of files into a folder: what is there is kept, what comes is checked, what fails is said."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...errors import LogError
from ...files import sha256
from .cache import Cache, Entry
from .client import Client, utc_now
from .trouble import ServiceDown
from .wanted import Wanted

logger = logging.getLogger(__name__)

State = Literal["fetched", "kept", "no data", "failed"]


@dataclass(frozen=True)
class Outcome:
    """What became of one wanted file.

    ``fetched``: new on disk. ``kept``: the copy at hand is current. ``no data``: the provider has none for this station
    and period. ``failed``: see ``detail``. ``path`` is None where there is no file; ``rows`` and ``bytes`` are those of
    the file.
    """

    wanted: Wanted
    state: State
    path: Path | None
    rows: int = 0
    bytes: int = 0
    detail: str = ""


class Listener:
    """Is told what goes on. This one logs remarks."""

    def starts(self, wanted: Wanted) -> None:
        """A file is looked at."""

    def receives(self, done: int, total: int | None) -> None:
        """So many bytes of it have come, of so many (None: unknown)."""

    def remarks(self, text: str) -> None:
        """Something is not as usual."""
        logger.info(text)

    def ends(self, outcome: Outcome) -> None:
        """A file is done."""


def download(
    wanted: Sequence[Wanted],
    folder: Path,
    client: Client,
    *,
    refresh: bool = False,
    listener: Listener | None = None,
    now: Callable[[], dt.datetime] = utc_now,
) -> list[Outcome]:
    """Fetch files one after another into a folder.

    A copy that is as it was fetched is kept if it is final; otherwise the provider is asked whether there is more. A
    copy that was changed is fetched again, and this is said. An answer never replaces a copy with more readings.

    Parameters
    ----------
    wanted: the files, as planned by a provider.
    folder: where they go; made if needed. One process at a time may use it.
    client: asks the provider.
    refresh: fetch everything again, and take also an answer with fewer readings.
    listener: is told what goes on.
    now: the time (UTC).

    Raises
    ------
    ServiceDown: the provider cannot be reached; what was fetched before is kept.
    LogError: the folder cannot be used. A single file that cannot be had is an `Outcome` instead.
    """
    listener = listener or Listener()
    if folder.exists() and not folder.is_dir():
        raise LogError(f"{folder} is a file; name a folder to fetch into")
    cache = Cache(folder)
    outcomes = []
    for one in wanted:
        listener.starts(one)
        try:
            outcome = _fetch_one(one, cache, client, refresh, listener, now)
        except ServiceDown:
            raise
        except LogError as error:
            outcome = Outcome(one, "failed", None, detail=str(error))
        listener.ends(outcome)
        outcomes.append(outcome)
    return outcomes


def _fetch_one(
    wanted: Wanted,
    cache: Cache,
    client: Client,
    refresh: bool,
    listener: Listener,
    now: Callable[[], dt.datetime],
) -> Outcome:
    path = cache.folder / wanted.name
    have, why = cache.intact(wanted.name)
    if why:
        listener.remarks(f"{wanted.name}: {why}; fetching it again")
    if have is not None and have.url != wanted.url:
        listener.remarks(f"{wanted.name}: it came from {have.url}; fetching it again")
        have = None
    if have is not None and not refresh and have.moment >= wanted.settled:
        return Outcome(wanted, "kept", path, have.rows, have.bytes)
    detail = ""

    def fill(part: Path) -> Entry | None:
        nonlocal detail
        began = now()
        etag = None if have is None or refresh else have.etag
        answer = client.fetch(wanted, part, etag=etag, tick=listener.receives)
        if answer.finding is None:
            return None
        finding, detail = answer.finding, answer.finding.note
        if have is not None and finding.rows < have.rows and not (refresh and finding.rows):
            detail = f"the service now has {finding.rows:,} reading(s), fewer than the copy of {have.fetched}"
            return None
        if not finding.rows:
            return None
        # counted as fetched when asked for: what was added during the transfer may be missing
        when = began.isoformat(timespec="seconds")
        return Entry(wanted.url, when, sha256(part), part.stat().st_size, finding.rows, answer.etag)

    new = cache.store(wanted.name, fill)
    detail = "; ".join(filter(None, (why, detail)))
    if new is not None:
        return Outcome(wanted, "fetched", path, new.rows, new.bytes, detail)
    if have is not None:
        return Outcome(wanted, "kept", path, have.rows, have.bytes, detail)
    return Outcome(wanted, "no data", None, detail=detail)
