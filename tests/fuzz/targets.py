"""What must hold when a reader is given any bytes at all: a log whose account balances, or a `LogError`."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from attentionmixer.data import StationLog, screen
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers import READERS
from attentionmixer.data.readers.assemble import Assembly
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import GZIP, HEAD, ZSTD, Source
from attentionmixer.errors import LogError

#: Small, so that a reader which ignores them is found by the fuzzer's own limit on memory.
LIMITS = Limits(bytes=64 << 20, rows=200_000, columns=2_000, line=1 << 20)
_VALUELESS = Flag.STATE | Flag.SENTINEL | Flag.ZERO | Flag.CENSORED | Flag.NOT_FINITE
#: What each reader takes, asked once: a run of the fuzzer asks a thousand times a second.
_TAKES = {name: (reader.own_options, reader.options) for name, reader in READERS.items()}
#: One input in so many is also screened and shown to the other readers' sniffers, which take half of the time.
_EVERY = 4


@dataclass(frozen=True)
class Memory(Source):
    """A source whose content is at hand; unpacked, as a file would be, where it is packed."""

    path: Path = Path("fuzzed")
    content: bytes = b""
    limits: Limits = field(default=LIMITS)

    @property
    def size(self) -> int | None:
        """Bytes of the content, or ``None`` where it is packed."""
        return None if self.content.startswith((GZIP, ZSTD)) else len(self.content)

    def seekable(self) -> pa.NativeFile:
        """The content, unpacked."""
        return pa.BufferReader(self.read() if self.size is None else self.content)

    def _open(self) -> Any:
        if self.content.startswith(GZIP):
            return gzip.GzipFile(fileobj=BytesIO(self.content))
        if self.content.startswith(ZSTD):
            return pa.CompressedInputStream(pa.BufferReader(self.content), "zstd")
        return BytesIO(self.content)


def format_of(content: bytes) -> str | None:
    """The reader that `read_log` would take, or ``None`` where there is none."""
    source, head = Memory(content=content), content[:HEAD]
    return next((name for name, reader in READERS.items() if reader.knows(source, head)), None)


def read_any(name: str, content: bytes, *, thoroughly: bool = False) -> StationLog | None:
    """Read with one reader. Raises whatever is not a `LogError`, and `AssertionError` where a promise is broken.

    ``thoroughly`` also screens the log and asks every sniffer; otherwise the content decides whether that is done.
    """
    reader = READERS[name]
    own, options = _TAKES[name]
    thoroughly = thoroughly or zlib.crc32(content) % _EVERY == 0
    for other in READERS.values() if thoroughly else (reader,):
        other.sniff(content[:HEAD])
    # the length decides about options, so that both ways are tried and a file of the corpus always goes the same
    declared = {"tz": "Europe/Berlin"} if "tz" in own and len(content) % 2 else {}
    shared = (Assembly(duplicates="last", ages=True),) if "step" in options and len(content) % 3 == 0 else ()
    try:
        log = reader.read([Memory(content=content)], *shared, **declared)
    except LogError as error:
        assert str(error), "an error without a message"
        return None
    check(log)
    if thoroughly and log.values.size < 10_000:
        check(screen(log))
    return log


def check(log: StationLog) -> None:
    """The promises of every log."""
    quality = log.quality
    assert quality.rows_in == quality.rows_kept + quality.rows_quarantined + quality.rows_merged
    assert min(quality.rows_in, quality.rows_kept, quality.rows_quarantined, quality.rows_merged) >= 0
    assert not np.isinf(log.values).any()
    assert not (np.isfinite(log.values) & ((log.flags & np.uint16(_VALUELESS)) != 0)).any()
    assert log.values.nbytes <= LIMITS.bytes * 4
    assert len(set(log.names)) == len(log.tags)
    assert log.time.is_monotonic_increasing and log.time[0].year >= 1971
    quality.to_dict()
