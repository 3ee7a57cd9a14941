"""The body of an answer on its way to the disk: counted, capped, unpacked, and continued where it was cut off."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from ...errors import LogError
from .trouble import CutOff

PARTIAL = 206
_CHUNK = 1 << 16
_PIECE = 1 << 20
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15}|\*)", re.ASCII)
_COUNT = re.compile(r"\d{1,15}", re.ASCII)


class Transfer:
    """What has arrived of one file, kept from one attempt to the next.

    Only what came unpacked and with a strong ETag is continued: of anything else nobody can say that the two parts
    belong to the same content.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.limit = limit
        self.written = 0
        self.etag: str | None = None

    def headers(self) -> dict[str, str]:
        """What to send so that the rest is enough, or nothing where all has to come again."""
        if not self.written or self.etag is None:
            self.restart()
            return {}
        return {"Range": f"bytes={self.written}-", "If-Range": self.etag, "Accept-Encoding": "identity"}

    def restart(self) -> None:
        """Forget what came."""
        self.written, self.etag = 0, None

    def receive(self, response: requests.Response, tick: Callable[[int, int | None], None]) -> None:
        """Write the body. ``tick`` is told bytes so far and in all (or None), and may raise to stop.

        Raises
        ------
        CutOff: the connection ended early, or the part does not continue what is there; what came may be kept.
        LogError: more than the limit, or packed in a way that was not asked for.
        """
        headers = response.headers
        packing = headers.get("Content-Encoding", "identity").strip().casefold()
        if packing not in ("identity", "gzip", "x-gzip", ""):
            raise LogError(f"{response.url} came packed as {packing!r}, which was not asked for; try again later")
        packed = "gzip" in packing
        length = _count(headers.get("Content-Length"))
        offset, rest = self._place(response, packed)
        length = rest if length is None else length
        total = None if length is None else offset + length
        if total is not None:
            self._check_size(total, response.url)
        if not offset:
            self.restart()
        etag = headers.get("ETag", "").strip()
        self.etag = etag if etag.startswith('"') and not packed else None
        came = 0
        unpack = _Unpacker() if packed else None
        with self.path.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            for chunk in _chunks(response):
                came += len(chunk)
                for piece in unpack.pieces(chunk) if unpack else (chunk,):
                    self._write(file, piece, response.url)
                tick(offset + came, total)
        if length is not None and came < length:
            raise CutOff(f"the answer ended after {came:,} of {length:,} bytes")
        if unpack is not None and not unpack.finished:
            raise CutOff(f"the packed answer ended early, after {came:,} bytes")

    def _place(self, response: requests.Response, packed: bool) -> tuple[int, int | None]:
        """Where the body belongs, behind what is there or at the start, and its length if it says so itself."""
        if response.status_code != PARTIAL:
            return 0, None
        span = _RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
        fits = span is not None and int(span[1]) == self.written and span[3] in ("*", str(int(span[2]) + 1))
        if span is None or not fits or packed or response.headers.get("ETag", "").strip() != self.etag:
            self.restart()
            raise CutOff("the part sent does not continue what came before, so all of it is fetched again")
        return self.written, int(span[2]) + 1 - self.written

    def _write(self, file: BinaryIO, piece: bytes, url: str) -> None:
        self._check_size(self.written + len(piece), url)
        file.write(piece)
        self.written += len(piece)

    def _check_size(self, size: int, url: str) -> None:
        if size > self.limit:
            raise LogError(
                f"{url} answers with more than {self.limit:,} bytes, which no file of this kind has; "
                "nothing was kept. Ask for a shorter period"
            )


class _Unpacker:
    """gzip, piece by piece, so that a small answer that unpacks to a huge one is noticed before it is held."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self.finished = False

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        try:
            while chunk:
                if self._member.eof:
                    self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
                piece = self._member.decompress(chunk, _PIECE)
                if piece:
                    yield piece
                chunk = self._member.unconsumed_tail or self._member.unused_data.lstrip(b"\0")
        except zlib.error as error:
            raise CutOff(f"the packed answer is damaged ({error})") from error
        self.finished = self._member.eof


def _chunks(response: requests.Response, *, unpacked: bool = False) -> Iterator[bytes]:
    """The body as it arrives: a slow one comes in small pieces, between which the time can be looked at."""
    try:
        while chunk := response.raw.read1(_CHUNK, decode_content=unpacked):
            yield chunk
    except ReadTimeoutError as error:
        raise CutOff("the answer stopped arriving") from error
    except HTTPError as error:
        raise CutOff("the connection was dropped") from error


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and _COUNT.fullmatch(text.strip()) else None


def body_start(response: requests.Response, tick: Callable[[int, int | None], None], most: int = 4096) -> bytes:
    """The first bytes of an answer that is refused anyway, for the message; what cannot be read is left out."""
    start = b""
    try:
        for chunk in _chunks(response, unpacked=True):
            start += chunk
            tick(len(start), None)
            if len(start) >= most:
                break
    except CutOff:
        return start  # the status says enough
    return start[:most]


def media_type(headers: Mapping[str, str]) -> str:
    """The media type without its parameters, in lower case; empty where none is stated."""
    return headers.get("Content-Type", "").partition(";")[0].strip().casefold()
