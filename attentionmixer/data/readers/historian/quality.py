"""What historians and OPC servers say of a value's quality: words, codes and yes-or-no columns, in five levels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ....errors import LogError
from ..cells import BAD_STATES, NULLS
from ..grid import Ints

#: What a column of quality holds: words or codes (``status``), or whether a value is good, bad, questionable …
Kind = Literal["status", "good", "bad", "questionable", "substituted"]


class Quality(IntEnum):
    """How far a value can be trusted; the higher, the less."""

    GOOD = 0
    UNCERTAIN = 1
    """in doubt for the source: uncertain, questionable, suspect, last usable value"""
    SUBSTITUTED = 2
    """not measured: entered by a person, forced, or replaced"""
    BAD = 3
    UNKNOWN = 4
    """a text that says nothing known"""


@dataclass(frozen=True)
class Scheme:
    """How numbers are read: by OPC DA (192 is good, 0 bad) or OPC UA (0 is good); and what words are declared to be."""

    codes: Literal["da", "ua"] = "da"
    declared: Mapping[str, Quality] | None = None


@dataclass(frozen=True)
class Judged:
    """Quality of rows: ``level`` [R] of `Quality`, and ``reason`` [R] the index in ``reasons`` of why, -1 for good."""

    level: NDArray[np.int8]
    reason: Ints
    reasons: tuple[str, ...]


_CODE = re.compile(r"0x[0-9A-Fa-f]{1,8}|\d{1,10}", re.ASCII)
_FLAG_LETTERS = re.compile(r"[ASQ]{1,3}")
_TRUE, _FALSE = frozenset(("true", "t", "yes", "y", "1")), frozenset(("false", "f", "no", "n", "0"))
_GOOD = frozenset(("ok", "valid", "g", "goodquality"))
_UNCERTAIN = ("uncertain", "questionable", "suspect", "doubtful")
_SUBSTITUTED = ("substitut", "localoverride", "manuallyentered", "manualentry", "forced", "overridden")
_BAD = ("bad", "notgood", "invalid")
_DA_OVERRIDE, _DA_UNCERTAIN = 6, 64
_DA_BYTE, _UA_FIRST, _UA_LAST = 0xFF, 0x10000, 0xFFFFFFFF
_UA_OVERRIDE, _UA_SUBSTITUTE = 0x0096, 0x4091
_BLANK = "quality is blank"
_STATUS_BLANKS = frozenset(NULLS) - {"none", "None"}


def find_scheme(columns: Iterable[tuple[str, pa.ChunkedArray]], declared: Mapping[str, str] | None) -> Scheme:
    """The scheme of all status columns of a log, named by their headers.

    Raises
    ------
    LogError: a declared level is unknown, or the numbers read both ways: a 0 is bad by OPC DA, and good by OPC UA and
        in some historians.
    """
    words = {_plain(word): _level_named(word, level) for word, level in (declared or {}).items()}
    codes: dict[int, str] = {}
    hints: set[str] = set()
    for header, column in columns:
        name = _squeezed(header)
        for word in pc.unique(column).to_pylist():
            text = (word or "").strip()
            if _CODE.fullmatch(text) and _plain(text) not in words:
                codes.setdefault(int(text, 0) if text[:2].lower() == "0x" else int(text), text)
                hints.add("ua" if len(text) == len("0x00000000") and "x" in text.lower() else "")
                hints.add("da" if "opcquality" in name or "qualitydetail" in name else "")
                hints.add("ua" if "statuscode" in name else "")
    wide = [code for code in codes if code >= _UA_FIRST]
    narrow = [code for code in codes if 0 < code <= _DA_BYTE]
    if wide and narrow:
        raise LogError(
            f"quality holds {codes[wide[0]]} as OPC UA has it and {codes[narrow[0]]} as OPC DA has it; declare what "
            f"they mean, e.g. qualities={{{codes[narrow[0]]!r}: 'bad'}}"
        )
    if wide or ("ua" in hints and not narrow):
        return Scheme("ua", words)
    if codes and "da" not in hints and max(narrow, default=0) < _DA_UNCERTAIN:
        shown = ", ".join(sorted(codes.values())[:5])
        raise LogError(
            f"quality holds the number(s) {shown} and none of 64 and more: 0 is bad by OPC DA, and good by OPC UA and "
            "in some historians; declare what they mean, e.g. qualities={'0': 'good'}"
        )
    return Scheme("da", words)


def judge(column: pa.ChunkedArray, kind: Kind, scheme: Scheme, *, blank_is_good: bool = False) -> Judged:
    """Quality of the rows of one text column, each distinct text looked at once.

    Parameters
    ----------
    column: text. kind: what it holds. scheme: how numbers and declared words are read.
    blank_is_good: in a column of status, a blank says that nothing is wrong.
    """
    encoded = column.combine_chunks().dictionary_encode()
    words = [word.strip() for word in encoded.dictionary.to_pylist()]
    codes = pc.fill_null(encoded.indices, len(words)).to_numpy(zero_copy_only=False).astype(np.int64)
    level = np.zeros(len(words) + 1, dtype=np.int8)
    reason = np.full(len(words) + 1, -1, dtype=np.int64)
    reasons: dict[str, int] = {}
    for i, word in enumerate([*words, ""] if column.null_count else words):
        found, why = _of_status(word, scheme, blank_is_good) if kind == "status" else _of_answer(word, kind)
        level[i] = found
        if found != Quality.GOOD:
            reason[i] = reasons.setdefault(why, len(reasons))
    return Judged(level[codes], reason[codes], tuple(reasons))


def worst(judged: Sequence[Judged], rows: int) -> Judged:
    """The worst of several judgements of the same rows, the first of equals; all good where there is none."""
    level, reason = np.zeros(rows, dtype=np.int8), np.full(rows, -1, dtype=np.int64)
    reasons: dict[str, int] = {}
    for one in judged:
        lookup = np.array([*(reasons.setdefault(why, len(reasons)) for why in one.reasons), -1], dtype=np.int64)
        worse = one.level > level
        level[worse], reason[worse] = one.level[worse], lookup[one.reason[worse]]
    return Judged(level, reason, tuple(reasons))


def says_good(column: pa.ChunkedArray, scheme: Scheme) -> bool:
    """Whether a column of status says of any value that it is good, so that a blank is no way to say it."""
    for word in pc.unique(column).to_pylist():
        text = (word or "").strip()
        is_letters = _FLAG_LETTERS.fullmatch(text) and _plain(text) not in (scheme.declared or {})
        if text not in _STATUS_BLANKS and not is_letters and _of_status(text, scheme, False)[0] == Quality.GOOD:
            return True
    return False


def _of_status(text: str, scheme: Scheme, blank_is_good: bool) -> tuple[Quality, str]:
    """Level of a word or code, and the reason to count."""
    declared = (scheme.declared or {}).get(_plain(text))
    if declared is not None:
        return declared, f"quality {text}"
    if text in _STATUS_BLANKS:
        return (Quality.GOOD, "") if blank_is_good else (Quality.UNKNOWN, _BLANK)
    if _FLAG_LETTERS.fullmatch(text):
        # value attributes of PI DataLink: an annotation alone is no fault
        found = Quality.SUBSTITUTED if "S" in text else Quality.UNCERTAIN if "Q" in text else Quality.GOOD
        return found, f"quality {found.name.lower()}"
    if _CODE.fullmatch(text):
        return _of_code(int(text, 0) if text[:2].lower() == "0x" else int(text), scheme)
    word = _squeezed(text)
    if word.startswith(_BAD) or text.casefold() in BAD_STATES:
        return Quality.BAD, f"quality {text}"
    # anywhere in the text: GoodLocalOverride and UncertainSubstituteValue are no measurements
    if any(part in word for part in _SUBSTITUTED):
        return Quality.SUBSTITUTED, f"quality {text}"
    if any(part in word for part in _UNCERTAIN):
        return Quality.UNCERTAIN, f"quality {text}"
    if word.startswith("good") or word in _GOOD:
        return Quality.GOOD, ""
    return Quality.UNKNOWN, "quality is a text that says nothing known"


def _of_code(code: int, scheme: Scheme) -> tuple[Quality, str]:
    """Level of a number: bits 6 and 7 by OPC DA, bits 30 and 31 by OPC UA."""
    if code > _UA_LAST:
        return Quality.UNKNOWN, "quality is a number that is no OPC code"
    if scheme.codes == "ua":
        found = (Quality.GOOD, Quality.UNCERTAIN, Quality.BAD, Quality.BAD)[code >> 30]
        if code >> 16 in (_UA_OVERRIDE, _UA_SUBSTITUTE):
            found = Quality.SUBSTITUTED
        return found, f"quality 0x{code & 0xFFFF0000:08X} ({found.name.lower()})"
    # the high byte is the maker's own
    code &= _DA_BYTE
    found = (Quality.BAD, Quality.UNCERTAIN, Quality.UNKNOWN, Quality.GOOD)[code >> 6]
    if found == Quality.GOOD and code >> 2 & 0xF == _DA_OVERRIDE:
        found = Quality.SUBSTITUTED
    return found, f"quality {code} ({found.name.lower()})"


def _of_answer(text: str, kind: Kind) -> tuple[Quality, str]:
    """Level of a yes or no; a blank means no, but not that a value is good."""
    word = text.casefold()
    if text in NULLS:
        return (Quality.UNKNOWN, _BLANK) if kind == "good" else (Quality.GOOD, "")
    if word not in _TRUE | _FALSE:
        return Quality.UNKNOWN, f"quality: {kind} is neither true nor false"
    yes = word in _TRUE
    if kind == "good":
        return (Quality.GOOD, "") if yes else (Quality.BAD, "quality not good")
    level = {"bad": Quality.BAD, "questionable": Quality.UNCERTAIN, "substituted": Quality.SUBSTITUTED}[kind]
    return (level, f"quality {kind}") if yes else (Quality.GOOD, "")


def _level_named(word: str, level: str) -> Quality:
    names = [quality.name.lower() for quality in Quality if quality != Quality.UNKNOWN]
    if level not in names:
        raise LogError(f"qualities: {word!r} is declared {level!r}; choose {', '.join(names)}")
    return Quality[level.upper()]


def _plain(text: str) -> str:
    return text.strip().casefold()


def _squeezed(text: str) -> str:
    """Letters and digits only, lower case: ``Bad_SensorFailure`` and ``bad sensor failure`` are one."""
    return re.sub(r"[\W_]+", "", text.casefold())
