"""Values of a historian's export: numbers, bad-state words, and digital states such as OPEN and CLOSED as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ....errors import LogError
from ...quality import Flag, Flags
from ..cells import Cells, Reason, read_cells
from ..grid import Bools, Ints
from .quality import Judged, Quality

#: States in their order; a tag whose words are all in one of these gets the word's place.
ORDERS: tuple[tuple[str, ...], ...] = (
    ("off", "on"),
    ("closed", "open"),
    ("close", "open"),
    ("stop", "run"),
    ("stop", "start"),
    ("stopped", "running"),
    ("stopped", "started"),
    ("manual", "auto"),
    ("man", "auto"),
    ("manual", "auto", "cascade"),
    ("man", "auto", "cas"),
    ("false", "true"),
    ("no", "yes"),
    ("inactive", "active"),
    ("disabled", "enabled"),
    ("normal", "alarm"),
    ("low", "high"),
)
#: More distinct words than this are text, such as batch numbers, and no states.
STATES = 20


@dataclass
class Reading:
    """What reading the values of all tags gathers: reasons of missing cells, digital tags with their numbers.

    ``declared`` holds the numbers of states by tag, ``keep`` the levels of quality whose values stay, of which ``kept``
    were.
    """

    declared: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    keep: frozenset[Quality] = frozenset()
    decimal: str = "."
    reasons: dict[Reason, int] = field(default_factory=dict)
    digital: dict[str, dict[str, float]] = field(default_factory=dict)
    kept: int = 0

    def why(self, reason: Reason) -> int:
        """The index of a reason."""
        return self.reasons.setdefault(reason, len(self.reasons))


@dataclass(frozen=True)
class Valued:
    """Rows of values [R]: numbers, why cells are missing (or -1), notes on kept ones, and text that means nothing."""

    values: NDArray[np.float64]
    reason: Ints
    note: Flags
    bad: Bools


def check_states(states: Mapping[str, Mapping[str, float]] | None, tags: Sequence[str]) -> dict[str, dict[str, float]]:
    """Declared states, words in lower case. Raises `LogError` for a tag that is not there or what is no number."""
    checked: dict[str, dict[str, float]] = {}
    for tag, numbers in (states or {}).items():
        if tag not in tags:
            raise LogError(f"states names the tag {tag!r}, which is not in the log; it holds {', '.join(tags[:20])}")
        for word, number in numbers.items():
            if isinstance(number, bool) or not isinstance(number, int | float) or not np.isfinite(number):
                raise LogError(f"states: {word!r} of {tag!r} is {number!r}, not a number")
        checked[tag] = {_plain(word): float(number) for word, number in numbers.items()}
    return checked


def read_values(column: pa.ChunkedArray, quality: Judged, group: Ints, tags: Sequence[str], into: Reading) -> Valued:
    """The values of rows.

    Parameters
    ----------
    column: text [R]. quality: of the rows. group: [R] index in ``tags``. into: what is gathered.

    A value whose quality is not good is missing, unless its level is kept; then it is noted as doubtful.
    """
    cells = read_cells(column, into.decimal)
    doubtful = np.isin(quality.level, [int(level) for level in into.keep])
    lost = (quality.level != Quality.GOOD) & ~doubtful
    values, bad = cells.values, cells.bad & ~lost
    _number_states(cells, values, bad, lost, group=group, tags=tags, into=into)
    own = np.array([*(into.why(reason) for reason in cells.reasons), -1], dtype=np.int64)[cells.reason]
    own[~np.isnan(values)] = -1
    judged = np.array([*(into.why(Reason(text)) for text in quality.reasons), -1], dtype=np.int64)[quality.reason]
    # a blank that is not good either says nothing more than that it is blank
    empty = np.isnan(values) & (own < 0) & ~bad & (quality.level == Quality.UNKNOWN)
    lost &= ~empty
    reason = np.where(own >= 0, own, np.where(lost, judged, -1))
    values[lost] = np.nan
    note = np.where(doubtful & ~np.isnan(values), np.uint16(Flag.DOUBTFUL), np.uint16(0)).astype(np.uint16)
    into.kept += int((note != 0).sum())
    return Valued(values, reason, note, bad)


def _number_states(
    cells: Cells,
    values: NDArray[np.float64],
    bad: Bools,
    lost: Bools,
    *,
    group: Ints,
    tags: Sequence[str],
    into: Reading,
) -> None:
    """Put numbers in place of the states of digital tags; their cells are no longer bad."""
    named = np.isin(group, [i for i, tag in enumerate(tags) if tag in into.declared])
    rows = np.flatnonzero((bad | (named & (cells.reason >= 0))) & ~lost)
    numeric = np.zeros(len(tags), dtype=bool)
    numeric[group[~np.isnan(values) & ~lost]] = True
    words: dict[int, dict[str, list[int]]] = {}
    for row in rows.tolist():
        words.setdefault(int(group[row]), {}).setdefault(_plain(cells.text(row)), []).append(row)
    for g, places in words.items():
        tag = tags[g]
        numbers = into.declared.get(tag)
        if numbers is None and not numeric[g] and len(places) <= STATES:
            numbers = _in_order(list(places))
        for word, at in places.items():
            if numbers is not None and word in numbers:
                values[at], bad[at] = numbers[word], False
        if numbers is not None:
            into.digital.setdefault(tag, {}).update(numbers)


def _in_order(words: Sequence[str]) -> dict[str, float]:
    """Numbers of states: their place in a known order, else in the alphabet."""
    for order in ORDERS:
        if set(words) <= set(order):
            return {word: float(order.index(word)) for word in order}
    return {word: float(i) for i, word in enumerate(sorted(words))}


def describe_states(reading: Reading) -> list[str]:
    """Sentences that list the numbers of states, for the record."""
    said = []
    for tag, numbers in reading.digital.items():
        listed = ", ".join(f"{word} = {number:g}" for word, number in sorted(numbers.items(), key=lambda item: item[1]))
        known = tag in reading.declared or any(set(numbers) <= set(order) for order in ORDERS)
        how = "" if known else "; by the alphabet, since no order of them is known: declare states= to fix it"
        said.append(f"states of {tag!r} became numbers: {listed}{how}")
    return said


def _plain(word: str) -> str:
    return word.strip().casefold()
