"""Cells that are not plain numbers: bad-state words of historians, values below range, and text that means nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

NULLS = ("", "NaN", "nan", "NAN", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "Null", "None", "none")

#: What historians write in place of a value that is not good (lower case, without a leading code in brackets).
BAD_STATES = frozenset(
    (
        "bad",
        "bad input",
        "bad data",
        "bad quality",
        "calc failed",
        "comm fail",
        "configure",
        "error",
        "fault",
        "i/o timeout",
        "inp out of range",
        "intf shut",
        "invalid",
        "maintenance",
        "no data",
        "no good data for calculation",
        "no result",
        "no sample",
        "not available",
        "not connect",
        "offline",
        "out of serv",
        "out of service",
        "over range",
        "pt created",
        "scan off",
        "scan timeout",
        "shutdown",
        "stale",
        "under range",
    )
)
_CODE = re.compile(r"^\[-?\d+\]\s*")
_CENSORED = re.compile(r"([<>])\s*(.+)")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Cells:
    """A text column as numbers: ``masked`` counts cells made missing per reason, ``bad`` marks rows with other text."""

    values: NDArray[np.float64]
    reason: NDArray[np.int64]
    reasons: tuple[str, ...]
    bad: NDArray[np.bool_]


def read_cells(column: pa.ChunkedArray, decimal: str = ".") -> Cells:
    """Numbers from text, each distinct text looked at once.

    ``reason[i]`` is the index in ``reasons`` of why cell i is missing, or -1.
    """
    encoded = column.combine_chunks().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    codes = pc.fill_null(encoded.indices, len(words)).to_numpy(zero_copy_only=False).astype(np.int64)
    values = np.full(len(words) + 1, np.nan)
    reason = np.full(len(words) + 1, -1, dtype=np.int64)
    bad = np.zeros(len(words) + 1, dtype=bool)
    reasons: list[str] = []
    for i, word in enumerate(words):
        text = word.strip()
        number = text.replace(",", ".") if decimal == "," and "." not in text else text
        if text in NULLS:
            continue
        if _NUMBER.fullmatch(number) and (decimal == "." or "," not in number):
            values[i] = float(number)
            continue
        why = _why_missing(text, decimal)
        if why is None:
            bad[i] = True
            continue
        if why not in reasons:
            reasons.append(why)
        reason[i] = reasons.index(why)
    return Cells(values[codes], reason[codes], tuple(reasons), bad[codes])


def _why_missing(text: str, decimal: str) -> str | None:
    censored = _CENSORED.fullmatch(text)
    if censored and _NUMBER.fullmatch(censored[2].replace(decimal, ".")):
        return f"{'below' if censored[1] == '<' else 'above'} the measuring range ({text})"
    state = _CODE.sub("", text)
    return f"state {state!r}" if state.casefold() in BAD_STATES else None
