"""Tables in zip archives, read in place: nothing is unpacked to disk, and names in an archive are only shown."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pyarrow as pa

from ...errors import LogError
from .limits import Limits
from .source import FOLDER_SUFFIXES, ZIP, Source

#: Parts that tell a workbook from an archive of tables; both are zip files.
WORKBOOK = "xl/workbook.xml"
_ENCRYPTED = 0x1
_NESTED = (".zip", ".gz", ".zst", ".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz")
_TABLES = tuple(suffix for suffix in FOLDER_SUFFIXES if not suffix.endswith(_NESTED))


@dataclass(frozen=True)
class Member(Source):
    """One file in a zip archive; ``info`` is its entry in the archive's directory."""

    info: zipfile.ZipInfo = field(default_factory=zipfile.ZipInfo)

    @property
    def name(self) -> str:
        """``archive.zip:member.csv``, for messages and the quality record."""
        return f"{self.path.name}:{_shown(self.info.filename)}"

    @property
    def size(self) -> int:
        """Bytes of the content, as the archive states them."""
        return self.info.file_size

    def seekable(self) -> pa.NativeFile:
        """The content, read into memory."""
        return pa.BufferReader(self.read())

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        with zipfile.ZipFile(self.path) as archive, archive.open(self.info) as stream:
            yield stream


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive and no workbook."""
    try:
        with path.open("rb") as stream:
            if stream.read(2) != ZIP:
                return False
        return zipfile.is_zipfile(path) and not is_workbook(path)
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error}") from error


def is_workbook(file: Path | IO[bytes]) -> bool:
    """Whether a zip file is an Excel workbook."""
    try:
        with zipfile.ZipFile(file) as archive:
            return WORKBOOK in archive.NameToInfo
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
        # ValueError: a name that is not in the encoding it states
        return False


def members(path: Path, limits: Limits) -> list[Member]:
    """The tables of an archive, in its order.

    Folders, hidden files and what systems add (``__MACOSX``) are passed over and named in the first member's notes, as
    are files that are no tables by their name. An archive of one file holds a table whatever that is called.

    Raises
    ------
    LogError: the archive is damaged, encrypted, holds archives or no table, or is over the limits.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise LogError(f"{path} is a damaged zip archive: {error}") from error
    limits.check("members", len(entries), path.name)
    files = [entry for entry in entries if not entry.is_dir() and not _is_hidden(entry.filename)]
    tables = [entry for entry in files if entry.filename.lower().endswith((*_TABLES, *_NESTED))]
    chosen = files if len(files) == 1 else tables
    if not chosen:
        raise LogError(f"{path} holds no {', '.join('*' + s for s in _TABLES)} file; it holds {_some(entries)}")
    for entry in chosen:
        if entry.flag_bits & _ENCRYPTED:
            raise LogError(f"{path}: {_shown(entry.filename)!r} is encrypted; unpack it with its password first")
        if entry.filename.lower().endswith(_NESTED):
            raise LogError(f"{path}: {_shown(entry.filename)!r} is packed within the archive; unpack the archive first")
    # what is stated is the most that is ever unpacked: reading stops there
    limits.check("bytes", sum(entry.file_size for entry in chosen), path.name)
    taken = {id(entry) for entry in chosen}
    others = [entry for entry in entries if id(entry) not in taken]
    note = f"{len(others)} entr{'y' if len(others) == 1 else 'ies'} of {path.name} passed over: {_some(others)}"
    first = (note,) if others else ()
    return [Member(path, limits, first if i == 0 else (), entry) for i, entry in enumerate(chosen)]


def _is_hidden(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return "__MACOSX" in parts or parts[-1].startswith((".", "~$"))


def _shown(name: str) -> str:
    """A name from an archive as it can be shown on a terminal."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in name)[:200]


def _some(entries: Sequence[zipfile.ZipInfo]) -> str:
    names = [_shown(entry.filename) for entry in entries]
    return (", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")) or "nothing"
