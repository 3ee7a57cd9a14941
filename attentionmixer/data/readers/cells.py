"""Cells of text: numbers, bad-state words of historians, values below range, and text that means nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..quality import Flag

NULLS = ("", "NaN", "nan", "NAN", "NA", "N/A", "n/a", "<NA>", "null", "NULL", "Null", "None", "none")

#: What historians write in place of a value that is not good (lower case, without a leading code in brackets).
BAD_STATES = frozenset(
    (
        # errors of spreadsheets
        "#n/a",
        "#div/0!",
        "#value!",
        "#ref!",
        "#name?",
        "#num!",
        "#null!",
        "#getting_data",
        "#spill!",
        "#calc!",
        # states of historians
        "access denied",
        "accessdenied",
        "arc off-line",
        "bad",
        "bad data",
        "bad input",
        "bad output",
        "bad quality",
        "bad total",
        "calc failed",
        "calc off",
        "calc overflow",
        "comm fail",
        "configure",
        "dcs failed",
        "equip fail",
        "error",
        "failed",
        "fault",
        "filtered",
        "i/o timeout",
        "inp out of range",
        "intf shut",
        "invalid",
        "invalid data",
        "maintenance",
        "no data",
        "no good data for calculation",
        "no lab data",
        "no result",
        "no sample",
        "not available",
        "not connect",
        "offline",
        "out of serv",
        "out of service",
        "over range",
        "pt created",
        "sample bad",
        "scan off",
        "scan timeout",
        "set to bad",
        "shutdown",
        "stale",
        "under range",
        "unit down",
    )
)
_CODE = re.compile(r"^\[-?\d+\]\s*")
_CENSORED = re.compile(r"([<>])\s*(.+)")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Reason:
    """Why a cell is missing: the sentence that is counted, and the flag of such cells."""

    text: str
    flag: Flag = Flag.STATE


@dataclass(frozen=True)
class Cells:
    """A text column as numbers.

    ``values`` [R]; ``reason`` [R] is the index in ``reasons`` of why a cell is missing, or -1; ``bad`` [R] marks cells
    with other text. ``words`` are the distinct texts and ``codes`` [R] says which of them a cell holds.
    """

    values: NDArray[np.float64]
    reason: NDArray[np.int64]
    reasons: tuple[Reason, ...]
    bad: NDArray[np.bool_]
    words: list[str]
    codes: NDArray[np.int64]

    def text(self, row: int) -> str:
        """A cell as written."""
        code = int(self.codes[row])
        return self.words[code] if code < len(self.words) else ""


def read_cells(column: pa.ChunkedArray, decimal: str = ".", thousands: str | None = None) -> Cells:
    """Numbers from text, each distinct text looked at once.

    Parameters
    ----------
    column: text.
    decimal: the decimal mark, ``"."`` or ``","``.
    thousands: the mark between groups of three digits, if one is declared.
    """
    encoded = column.combine_chunks().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    codes = pc.fill_null(encoded.indices, len(words)).to_numpy(zero_copy_only=False).astype(np.int64)
    values = np.full(len(words) + 1, np.nan)
    reason = np.full(len(words) + 1, -1, dtype=np.int64)
    bad = np.zeros(len(words) + 1, dtype=bool)
    reasons: dict[Reason, int] = {}
    for i, word in enumerate(words):
        text = word.strip()
        if text in NULLS:
            continue
        number = _number(text, decimal, thousands)
        if number is not None:
            values[i] = number
            continue
        why = _why_missing(text, decimal, thousands)
        if why is None:
            bad[i] = True
            continue
        reason[i] = reasons.setdefault(why, len(reasons))
    return Cells(values[codes], reason[codes], tuple(reasons), bad[codes], words, codes)


def read_numbers(column: pa.ChunkedArray, decimal: str = ".", thousands: str | None = None) -> pa.ChunkedArray:
    """A text column without odd cells as float64, fast. Raises ``pa.ArrowInvalid`` where it has one."""
    trimmed = pc.utf8_trim_whitespace(column)
    blank = pc.is_in(trimmed, value_set=pa.array(NULLS))
    filled = pc.if_else(blank, pa.scalar(None, pa.string()), trimmed)
    if thousands is not None:
        grouped = pc.match_substring_regex(filled, _grouped(decimal, thousands))
        filled = pc.if_else(grouped, pc.replace_substring(filled, thousands, ""), filled)
    if decimal != ".":
        if pc.any(pc.match_substring(filled, ".")).as_py():
            raise pa.ArrowInvalid("a decimal point among decimal commas")
        filled = pc.replace_substring(filled, decimal, ".")
    return filled.cast(pa.float64())


def _number(text: str, decimal: str, thousands: str | None) -> float | None:
    if thousands is not None and re.match(_grouped(decimal, thousands), text):
        text = text.replace(thousands, "")
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    return float(text) if _NUMBER.fullmatch(text) else None


def _grouped(decimal: str, thousands: str) -> str:
    """Pattern of a number whose digits are grouped by three; other marks between digits are no thousands."""
    return rf"^[+-]?[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+(?:{re.escape(decimal)}[0-9]*)?$"


def _why_missing(text: str, decimal: str, thousands: str | None) -> Reason | None:
    censored = _CENSORED.fullmatch(text)
    if censored and _number(censored[2], decimal, thousands) is not None:
        return Reason(f"{'below' if censored[1] == '<' else 'above'} the measuring range ({text})", Flag.CENSORED)
    state = _CODE.sub("", text)
    return Reason(f"state {state!r}") if state.casefold() in BAD_STATES else None
