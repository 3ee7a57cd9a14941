"""Where a log's bytes come from: files, folders and lists of them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import LogError

FOLDER_SUFFIXES = (".csv", ".parquet", ".csv.gz")
GZIP = b"\x1f\x8b"
HEAD = 65536


@dataclass(frozen=True)
class Source:
    """One file. Compressed files (gzip, known by their first bytes) are read as if they were not."""

    path: Path

    @property
    def name(self) -> str:
        """The file's name without its folder, for messages and the quality record."""
        return self.path.name

    def read(self) -> bytes:
        """The whole content, uncompressed."""
        try:
            raw = self.path.read_bytes()
            return gzip.decompress(raw) if raw.startswith(GZIP) else raw
        except (OSError, EOFError) as error:
            raise LogError(f"{self.path} cannot be read: {error}") from error

    def head(self) -> bytes:
        """The first bytes of the content, uncompressed."""
        try:
            with self.path.open("rb") as stream:
                raw = stream.read(HEAD)
            if raw.startswith(GZIP):
                with gzip.open(self.path) as packed:
                    raw = packed.read(HEAD)
        except (OSError, EOFError) as error:
            raise LogError(f"{self.path} cannot be read: {error}") from error
        if not raw.strip():
            raise LogError(f"{self.path} is empty")
        return raw


def expand(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Source]:
    """All files a source stands for: itself, the CSV and Parquet files of a folder, or each of a list.

    Raises `LogError` where nothing is found.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            found = sorted(p for p in path.iterdir() if p.is_file() and p.name.lower().endswith(FOLDER_SUFFIXES))
            if not found:
                raise LogError(f"folder {path} holds no {', '.join('*' + s for s in FOLDER_SUFFIXES)} file")
            return [Source(p) for p in found]
        if not path.exists():
            raise LogError(f"{path} does not exist")
        return [Source(path)]
    if not isinstance(source, Sequence):
        raise LogError(f"a source is a path or a list of paths, not {type(source).__name__}")
    parts = [part for one in source for part in expand(one)]
    if not parts:
        raise LogError("no source given: the list of paths is empty")
    return parts
