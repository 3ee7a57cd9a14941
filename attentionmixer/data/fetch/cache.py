"""Fetched files and the manifest beside them, which knows each by its SHA-256."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...errors import LogError, RunError
from ...files import read_json, sha256, write_atomically, write_json

MANIFEST = "fetched.json"
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"', re.ASCII)


@dataclass(frozen=True)
class Entry:
    """What the manifest says of a file: where it came from, when (UTC, ISO 8601), and what it was then."""

    url: str
    fetched: str
    sha256: str
    bytes: int
    rows: int
    etag: str | None

    @property
    def moment(self) -> dt.datetime:
        """When it was fetched."""
        return dt.datetime.fromisoformat(self.fetched)


class Cache:
    """The files of one folder. Raises `LogError` where the folder or its manifest cannot be used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._entries = self._load()

    def intact(self, name: str) -> tuple[Entry | None, str]:
        """The entry of a file that is as it was fetched, or None and why.

        Raises `LogError` for a file that is there but was not fetched by us: it is not ours to write over.
        """
        path, entry = self.folder / name, self._entries.get(name)
        try:
            if not path.exists():
                return None, "" if entry is None else "it was deleted"
            if entry is None:
                raise LogError(
                    f"{path} is there, but {MANIFEST} does not list it; move it away, or fetch into another folder"
                )
            if sha256(path) == entry.sha256:
                return entry, ""
        except OSError as error:
            raise LogError(f"{path} cannot be read: {error}") from error
        return None, f"it was changed since it was fetched (its SHA-256 is not the one in {MANIFEST})"

    def store(self, name: str, fill: Callable[[Path], Entry | None]) -> Entry | None:
        """Write a file by ``fill``, which fills a temporary one and says what it is, or None to leave all as it was.

        The manifest is written before the file gets its name: after a crash between the two the file does not fit the
        manifest, and is fetched again; it is never taken for somebody else's.
        """
        kept: Entry | None = None

        def write(part: Path) -> None:
            nonlocal kept
            part.touch()
            kept = fill(part)
            if kept is None:
                raise _NothingToKeep
            self._entries[name] = kept
            self._save()

        try:
            write_atomically(self.folder / name, write)
        except _NothingToKeep:
            return None
        except (OSError, RunError) as error:  # RunError: the disk is full
            raise LogError(f"{self.folder / name} cannot be written: {error}") from error
        return kept

    def _load(self) -> dict[str, Entry]:
        path = self.folder / MANIFEST
        if not path.exists():
            return {}
        hint = f"delete it and the files it lists, or fetch into another folder than {self.folder}"
        try:
            return {name: _entry(listed) for name, listed in read_json(path)["files"].items()}
        except RunError as error:
            raise LogError(f"{error}; {hint}") from error
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise LogError(f"{path} is damaged ({type(error).__name__}: {error}); {hint}") from error

    def _save(self) -> None:
        files = {name: asdict(entry) for name, entry in sorted(self._entries.items())}
        write_json(self.folder / MANIFEST, {"files": files})


class _NothingToKeep(Exception):
    """Leaves `write_atomically` without a new file."""


def _entry(data: dict[str, Any]) -> Entry:
    """An entry as stored. Raises for what was not stored by us."""
    etag = data["etag"]
    entry = Entry(
        url=str(data["url"]),
        fetched=str(data["fetched"]),
        sha256=str(data["sha256"]),
        bytes=int(data["bytes"]),
        rows=int(data["rows"]),
        # it is sent as a header, so it must look like one
        etag=etag if isinstance(etag, str) and _ETAG.fullmatch(etag) else None,
    )
    if entry.moment.tzinfo is None:
        raise ValueError(f"time without a zone: {entry.fetched!r}")
    return entry
