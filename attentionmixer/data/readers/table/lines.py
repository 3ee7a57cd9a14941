"""Text in pieces of whole lines: UTF-8, line ends ``\\n``, numbered, and within the limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....errors import LogError
from ..encoding import UTF8, Encoding, Transcoder, is_utf8
from ..limits import Limits


@dataclass(frozen=True)
class Lines:
    """Some lines of a text; ``before`` lines come before them. The last one ends the text or with ``\\n``."""

    text: bytes
    before: int

    @property
    def count(self) -> int:
        """How many lines they are."""
        return self.text.count(b"\n") + (0 if self.text.endswith(b"\n") or not self.text else 1)

    def without_first(self, lines: int) -> Lines:
        """What follows the first so many lines of the whole text."""
        at = 0
        for _ in range(lines - self.before):
            at = self.text.find(b"\n", at) + 1
            if at == 0:
                return Lines(b"", lines)
        return Lines(self.text[at:], max(lines, self.before))

    def without_comments(self, mark: bytes) -> tuple[Lines, int]:
        """The same with comments left blank, so that line numbers stay, and how many lines that were."""
        if not self.text.startswith(mark) and b"\n" + mark not in self.text:
            return self, 0
        lines = self.text.split(b"\n")
        is_comment = [line.startswith(mark) for line in lines]
        kept = [b"" if comment else line for line, comment in zip(lines, is_comment, strict=True)]
        return Lines(b"\n".join(kept), self.before), sum(is_comment)

    def filled(self) -> NDArray[np.int64]:
        """Numbers of the lines that are not empty, counted from 1 in the whole text."""
        ends = np.flatnonzero(np.frombuffer(self.text, dtype=np.uint8) == ord("\n"))
        if not self.text.endswith(b"\n"):
            ends = np.append(ends, len(self.text))
        return self.before + 1 + np.flatnonzero(np.diff(ends, prepend=-1) > 1)


class NotUtf8Error(Exception):
    """Text taken as UTF-8 is not."""


def cut_lines(blocks: Iterable[bytes], encoding: Encoding, name: str, limits: Limits) -> Iterator[Lines]:
    """The text in pieces of whole lines, about as long as the blocks.

    Parameters
    ----------
    blocks: the content as it is stored.
    encoding: how it is stored.
    name: the source's name, for messages.
    limits: ``line`` is checked.

    Raises
    ------
    NotUtf8Error: the encoding was taken for UTF-8 and is not.
    LogError: the content is not of its encoding, or a line is too long.
    """
    begun, before, held = b"", 0, Lines(b"", 0)
    for piece in _transcoded(blocks, encoding, name):
        text = begun + piece
        cut = text.rfind(b"\n") + 1
        if not cut:
            limits.check("line", len(text), f"{name} line {before + 1}")
            begun = text
            continue
        begun, text = text[cut:], text[:cut]
        if held.text:
            yield _checked(held, encoding, name, limits)
        # a last line without an end belongs to the lines before it: a small table is known by all its lines
        held = Lines(text, before)
        before += text.count(b"\n")
    if held.text or begun:
        yield _checked(Lines(held.text + begun, held.before), encoding, name, limits)


def _transcoded(blocks: Iterable[bytes], encoding: Encoding, name: str) -> Iterator[bytes]:
    """UTF-8 with ``\\n`` as the only line end."""
    transcoder = Transcoder(encoding, name)
    held = b""
    for block in blocks:
        text = held + transcoder.feed(block)
        # a carriage return at the end of a piece may belong to a line feed in the next
        held = b"\r" if text.endswith(b"\r") else b""
        yield _unix(text[: len(text) - len(held)])
    yield _unix(held + transcoder.feed(b"", final=True))


def _unix(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def _checked(lines: Lines, encoding: Encoding, name: str, limits: Limits) -> Lines:
    if encoding.codec == UTF8 and not is_utf8(lines.text):
        raise NotUtf8Error(name)
    number, size = longest_line(lines, limits.line)
    limits.check("line", size, f"{name} line {number}")
    return lines


def longest_line(lines: Lines, limit: int) -> tuple[int, int]:
    """(number, length) of the first line longer than ``limit``; (0, 0) if there is none."""
    at, text = 0, lines.text
    # in leaps of the limit: a line end in each leap shows that no line is longer
    while len(text) - at > limit:
        end = text.rfind(b"\n", at, at + limit + 1)
        if end < 0:
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end
            return lines.before + text.count(b"\n", 0, at) + 1, end - at
        at = end + 1
    return 0, 0


def check_cells(lines: Lines, separator: bytes, name: str, limits: Limits) -> None:
    """Raise `LogError` where a cell is too long."""
    number, size = longest_line(lines, limits.cell)
    if not size:
        return
    for i, line in enumerate(lines.text.split(b"\n")[number - lines.before - 1 :], number):
        if len(line) > limits.cell:
            limits.check("cell", max(map(len, line.split(separator))), f"{name} line {i}")


def unclosed_quote(lines: Lines, name: str) -> LogError:
    """The error for rows that do not agree with lines: one quote that is never closed would swallow rows uncounted."""
    split = lines.text.split(b"\n")
    odd = next((lines.before + i for i, line in enumerate(split, 1) if line.count(b'"') % 2), lines.before + 1)
    return LogError(f"{name}: a quoted cell runs over the end of line {odd}; close the quote, or take the break out")
