"""How text is encoded: found from marks and bytes, reported where it is not UTF-8, and brought to UTF-8.

What is not UTF-8 and has no mark is Shift-JIS where it decodes strictly and reads as Japanese, and else Windows-1252.
Any other encoding is declared.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...errors import LogError

UTF8 = "utf-8"
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)
_SAMPLE = 1 << 20
#: hiragana, katakana, kanji, Japanese punctuation and full-width signs
_JAPANESE = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]+")
#: what says nothing: Greek letters, degrees, arrows, and half-width katakana, which any letter with an accent reads as
_NEUTRAL = re.compile("[\u00b0-\u00b1\u00d7\u0391-\u03c9\u2010-\u2312\uff61-\uff9f]")
_PLAIN = re.compile("[\x00-\x7f]")
_HIGH = re.compile(b"[\x80-\xff]+")
#: The most letters with accents that follow each other in Western text, on average.
_ACCENTS = 3


@dataclass(frozen=True)
class Encoding:
    """A codec's name, and the decision to report where it is not UTF-8."""

    codec: str
    decision: str | None = None


def encoding_of(head: bytes, name: str, declared: str | None = None) -> Encoding:
    """The encoding that is declared, or marked, or shown by the NUL bytes of UTF-16; else UTF-8, to be tried.

    Parameters
    ----------
    head: the first bytes of the content.
    name: the file's name, for messages.
    declared: a codec's name.

    Raises
    ------
    LogError: the declared encoding is unknown.
    """
    marked = next((codec for mark, codec in _MARKS if head.startswith(mark)), None)
    if declared is not None:
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=declared)  # takes encodings of text only
            codec = codecs.lookup(declared).name
        except LookupError as error:
            raise LogError(f"encoding={declared!r} is unknown; use a name such as 'utf-8' or 'shift_jis'") from error
        if codec == UTF8:
            return Encoding("utf-8-sig")
        return Encoding(codec, f"{name} was read as {codec}, as declared")
    if marked is not None:
        return Encoding(marked, None if marked == "utf-8-sig" else f"{name} was read as {marked.upper()}")
    wide = _without_mark(head)
    if wide is not None:
        return Encoding(wide, f"{name} has no mark, but every second byte of its text is NUL; it was read as UTF-16")
    return Encoding(UTF8)


def legacy_encoding(blocks: Iterable[bytes], name: str) -> Encoding:
    """The encoding of content that is not UTF-8, from its lines with bytes above 127.

    In Japanese text such characters come in runs; in Western text read as Japanese they stand alone between letters.

    Raises
    ------
    LogError: it is neither Japanese nor Western text, such as Cyrillic or Chinese.
    """
    text, is_japanese = _foreign_lines(blocks), False
    try:
        runs = [len(run) for run in _JAPANESE.findall(text.decode("cp932"))]
        foreign = len(_NEUTRAL.sub("", _PLAIN.sub("", text.decode("cp932"))))
        is_japanese = bool(runs) and sum(runs) >= 0.9 * foreign and sum(runs) >= 2 * len(runs)
    except UnicodeDecodeError:
        pass
    if is_japanese:
        return Encoding(
            "cp932",
            f"{name} is not UTF-8; it was read as Shift-JIS, since nearly all its other letters are kana and kanji; "
            "declare encoding= if it is not",
        )
    high = [len(run) for run in _HIGH.findall(text)]
    if sum(high) > _ACCENTS * len(high):
        raise LogError(
            f"{name} is neither UTF-8 nor Shift-JIS, and its letters are not those of Western text; declare encoding=, "
            "such as 'cp1251', 'euc_jp' or 'gb18030'"
        )
    return Encoding("cp1252", f"{name} is not UTF-8; it was read as Windows-1252")


class Transcoder:
    """Text that comes in pieces, as UTF-8. `feed` returns what is complete so far."""

    def __init__(self, encoding: Encoding, name: str) -> None:
        self.codec, self.name = encoding.codec, name
        self._decoder = None if encoding.codec == UTF8 else codecs.getincrementaldecoder(encoding.codec)("strict")

    def feed(self, raw: bytes, final: bool = False) -> bytes:
        """The next piece as UTF-8; UTF-8 itself is handed on unchecked.

        Raises `LogError` where the bytes are not of the encoding.
        """
        if self._decoder is None:
            return raw
        try:
            return self._decoder.decode(raw, final).encode()
        except (UnicodeDecodeError, UnicodeEncodeError) as error:
            if self.codec == "cp1252":
                raise LogError(
                    f"{self.name} is neither UTF-8 nor Windows-1252 ({error.reason}); save it as UTF-8, or declare "
                    "encoding="
                ) from error
            raise LogError(f"{self.name} starts as {self.codec} but is not: {error}; declare encoding=") from error


def is_utf8(text: bytes) -> bool:
    """Whether whole lines are valid UTF-8."""
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def decode(raw: bytes, name: str) -> tuple[bytes, str | None]:
    """The content as UTF-8 with line ends ``\\n``, and the decision where it was encoded otherwise."""
    encoding = encoding_of(raw, name)
    if encoding.codec == UTF8 and not is_utf8(raw):
        encoding = legacy_encoding([raw], name)
    text = Transcoder(encoding, name).feed(raw, final=True)
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), encoding.decision


def _without_mark(head: bytes) -> str | None:
    """UTF-16 without a mark: ASCII signs have NUL as every first or every second byte, and no sign has it elsewhere."""
    head = head[: len(head) // 2 * 2]
    if b"\x00" not in head:
        return None
    pairs = np.frombuffer(head, dtype=np.uint8).reshape(-1, 2) == 0
    first, second = pairs.mean(axis=0)
    for codec, share, other in (("utf-16-le", second, first), ("utf-16-be", first, second)):
        if share >= 0.4 and other == 0:
            try:
                # the last sign may be cut in half, which such a decoder waits for
                codecs.getincrementaldecoder(codec)().decode(head)
            except UnicodeDecodeError:
                return None
            return codec
    return None


def _foreign_lines(blocks: Iterable[bytes]) -> bytes:
    """Lines with bytes above 127, the first of them."""
    found, size, rest = [], 0, b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            if not line.isascii():
                found.append(line)
                size += len(line)
        if size > _SAMPLE:
            break
    if not rest.isascii():
        found.append(rest)
    return b"\n".join(found)
