"""One bGeigie log, line by line: comments, sentences, and what is wrong with lines that are neither."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor

import numpy as np
import pandas as pd

from ...quality import Quarantined
from ..grid import Ints

#: Headers of sentences with a count: Classic, Mini, Nano, NX, Zen, Pointcast, and the makers' later boards.
HEADERS = ("BGRDD", "BMRDD", "BNRDD", "BNXRDD", "BZRDD", "PNTDD", "CZRDD")
_START = re.compile(rb"\$(?:%b)," % b"|".join(header.encode() for header in HEADERS))
_SENTENCE = re.compile(r"\$([^*]*)\*([0-9A-Fa-f]{1,2})", re.ASCII)
_OTHER = re.compile(rb"\$[A-Z0-9]{3,8},")
_COUNT = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_WHEN = re.compile(r"(?:19|20)\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
# an old firmware wrote the sign of the west and the letter W; the letter decides
_ANGLE = re.compile(r"-?(\d{2,3})(\d\d(?:\.\d{1,8})?)", re.ASCII)
#: Header, device, time, two rates, the total, its flag, latitude, N/S, longitude, E/W, altitude, flag of the fix.
FIELDS = 13
_LISTED_COMMENTS = 20


@dataclass(frozen=True, slots=True)
class Sentence:
    """One reading, as it stands in the line ``text``.

    ``cpm`` are the pulses of the last minute, ``counts`` those of the last 5 s, and ``valid`` says whether they are;
    ``fixed`` says whether the position is valid, in degrees, NaN where it cannot be read.
    """

    file: int
    line: int
    text: bytes
    device: str
    when: str
    cpm: float
    counts: float
    valid: bool
    fixed: bool
    latitude: float
    longitude: float


def sniff(head: bytes) -> bool:
    """Whether the first line that is neither blank nor a comment is a sentence of a bGeigie."""
    lines = (line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return _START.match(first) is not None


def checksum(payload: bytes) -> int:
    """Exclusive or of all bytes between ``$`` and ``*``, as NMEA 0183 has it."""
    return reduce(xor, payload, 0)


def parse(raw: bytes, name: str, file: int) -> tuple[list[Sentence], list[Quarantined], list[str], int]:
    """Sentences, lines that are none, comments (distinct, the first 20), and how many sentences are of other kinds."""
    found: list[Sentence] = []
    refused: list[Quarantined] = []
    comments: dict[str, None] = {}
    others = 0
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        text = line.strip(b" \t\x00\x1a")
        if not text:
            continue
        if text.startswith(b"#"):
            comment = text.lstrip(b"# ").decode("utf-8", "backslashreplace")[:200]
            if comment and len(comments) < _LISTED_COMMENTS:
                comments[comment] = None
            continue
        if not _START.match(text) and _OTHER.match(text) and text.count(b"$") == 1:
            others += 1
            continue
        read = _read(text, file, number)
        if isinstance(read, str):
            refused.append(Quarantined(name, number, "*", text[:400].decode("ascii", "backslashreplace"), read))
        else:
            found.append(read)
    return found, refused, list(comments), others


def times_of(found: Sequence[Sentence]) -> Ints:
    """[sentences] ns since 1970 (UTC), `clock.MISSING` for what is no time, such as the 2012-00-00 of a cold start."""
    texts = pd.Series([s.when if _WHEN.fullmatch(s.when) else None for s in found], dtype=str)
    stamps = pd.to_datetime(texts, format="%Y-%m-%dT%H:%M:%SZ", errors="coerce", utc=True)
    return np.asarray(pd.DatetimeIndex(stamps).as_unit("ns").asi8)


def _read(text: bytes, file: int, line: int) -> Sentence | str:
    """The sentence, or why it is none."""
    if not _START.match(text):
        return "the line is no sentence: it does not start with $BNRDD or the header of another bGeigie"
    try:
        plain = text.decode("ascii")
    except UnicodeDecodeError:
        return "the line holds bytes that no bGeigie writes"
    whole = _SENTENCE.fullmatch(plain)
    if whole is None:
        return "more follows the checksum" if "*" in plain else "there is no checksum: the line was cut short"
    if checksum(whole[1].encode()) != int(whole[2], 16):
        return "checksum is wrong"
    cells = [cell.strip() for cell in whole[1].split(",")]
    if len(cells) < FIELDS:
        return f"{len(cells)} fields instead of {FIELDS} or more"
    _, device, when, cpm, counts, total, valid, latitude, north, longitude, east, _, fixed = cells[:FIELDS]
    if not device:
        return "the device has no number"
    if not all(_COUNT.fullmatch(cell) for cell in (cpm, counts, total)):
        return "a count is no number"
    if valid not in ("A", "V") or fixed not in ("A", "V"):
        return "a validity flag is neither A nor V"
    place = (_angle(latitude, north, "NS", 90), _angle(longitude, east, "EW", 180))
    if any(math.isnan(degrees) for degrees in place) or place == (0.0, 0.0):
        place = (math.nan, math.nan)
    return Sentence(file, line, text, device, when, float(cpm), float(counts), valid == "A", fixed == "A", *place)


def _angle(text: str, letter: str, letters: str, limit: int) -> float:
    """Degrees of ``dddmm.mmmm`` and its letter; NaN where it is none."""
    found = _ANGLE.fullmatch(text)
    if found is None or len(letter) != 1 or letter not in letters:
        return math.nan
    degrees = int(found[1]) + float(found[2]) / 60.0
    if degrees > limit or float(found[2]) >= 60.0:
        return math.nan
    return -degrees if letter == letters[1] else degrees
