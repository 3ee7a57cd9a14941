"""Where a log's bytes come from: files, folders, archives, tables of databases, and lists of them."""

from __future__ import annotations

import gzip
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from ...errors import LogError
from .limits import Limits

FOLDER_SUFFIXES = (
    *(".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst"),
    *(".parquet", ".feather", ".arrow", ".xlsx", ".zip"),
)
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
ZIP = b"PK"
HEAD = 65536
BLOCK = 4 << 20
_URL = re.compile(r"([a-z][a-z0-9]*)(\+[a-z0-9_]+)?://", re.IGNORECASE)
#: what the libraries that unpack raise on damaged or encrypted content
_FAULTS = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError, pa.ArrowException)


@dataclass(frozen=True)
class Source:
    """One file. Compressed files (gzip and zstd, known by their first bytes) are read as if they were not.

    Attributes
    ----------
    path: the file.
    limits: the most that is read.
    notes: what is to be said about how the source was found.
    """

    path: Path
    limits: Limits = field(default_factory=Limits)
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The file's name without its folder, for messages and the quality record."""
        return self.path.name

    @property
    def size(self) -> int | None:
        """Bytes of the content, or ``None`` where only unpacking would tell."""
        try:
            with self.path.open("rb") as stream:
                packed = stream.read(4).startswith((GZIP, ZSTD))
            return None if packed else self.path.stat().st_size
        except OSError as error:
            raise LogError(f"{self.path} cannot be read: {error}") from error

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """The content, uncompressed, in pieces of at most ``size`` bytes.

        Raises `LogError` where it is damaged, or as soon as there is more of it than ``limits.bytes``.
        """
        total = 0
        try:
            with self._open() as stream:
                while block := stream.read(size):
                    total += len(block)
                    self.limits.check("bytes", total, self.name)
                    yield block
        except _FAULTS as error:
            raise LogError(f"{self.path} cannot be read: {error}") from error

    def read(self) -> bytes:
        """The whole content, uncompressed. Raises `LogError` as `blocks` does."""
        return b"".join(self.blocks())

    def head(self) -> bytes:
        """The first bytes of the content, uncompressed. Raises `LogError` where there are none."""
        raw = b""
        for block in self.blocks(HEAD):
            raw += block
            if len(raw) >= HEAD:
                break
        if not raw.strip():
            raise LogError(f"{self.path} is empty")
        return raw[:HEAD]

    def seekable(self) -> pa.NativeFile:
        """The content as a file to jump about in, for formats with an index; read into memory only if compressed."""
        if self.size is None:
            return pa.BufferReader(self.read())
        self.limits.check("bytes", self.size, self.name)
        try:
            return pa.OSFile(str(self.path))
        except OSError as error:
            raise LogError(f"{self.path} cannot be read: {error}") from error

    def _open(self) -> IO[bytes] | Any:
        with self.path.open("rb") as stream:
            magic = stream.read(4)
        if magic.startswith(GZIP):
            return gzip.open(self.path)
        if magic == ZSTD:
            return pa.CompressedInputStream(pa.OSFile(str(self.path)), "zstd")
        return self.path.open("rb")


def expand(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], limits: Limits | None = None
) -> list[Source]:
    """All sources that one stands for.

    A file is itself; an archive (zip) its tables; a folder its tables; ``sqlite:///FILE?table=NAME``, or another URL
    that SQLAlchemy knows, a table of a database; a list all of these.

    Raises
    ------
    LogError: nothing is found, or an archive is encrypted, nested or over the limits.
    """
    limits = limits or Limits()
    if isinstance(source, str) and (url := _URL.match(source)):
        from .sql import SqlSource

        return [SqlSource.parse(source, url[1].lower(), limits)]
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            return _of_folder(path, limits)
        if not path.exists():
            raise LogError(f"{path} does not exist")
        if not path.is_file():
            raise LogError(f"{path} is neither a file nor a folder")
        return _of_file(path, limits)
    if not isinstance(source, Sequence):
        raise LogError(f"a source is a path or a list of paths, not {type(source).__name__}")
    parts = [part for one in source for part in expand(one, limits)]
    if not parts:
        raise LogError("no source given: the list of paths is empty")
    return parts


def _of_file(path: Path, limits: Limits) -> list[Source]:
    from .archive import is_archive, members

    return list(members(path, limits)) if is_archive(path) else [Source(path, limits)]


def _of_folder(folder: Path, limits: Limits) -> list[Source]:
    tables = sorted(p for p in folder.iterdir() if p.is_file() and p.name.lower().endswith(FOLDER_SUFFIXES))
    # what systems and spreadsheets leave beside a file under nearly its name is no table
    hidden = [p.name for p in tables if p.name.startswith((".", "~$"))]
    found = [part for p in tables if p.name not in hidden for part in _of_file(p, limits)]
    if not found:
        raise LogError(f"folder {folder} holds no {', '.join('*' + s for s in FOLDER_SUFFIXES)} file")
    if hidden:
        note = f"{len(hidden)} hidden file(s) of {folder.name} were passed over: {', '.join(hidden[:5])}"
        found[0] = replace(found[0], notes=(*found[0].notes, note))
    return found
