"""What a person should look at before using a log, apart from what was merely decided.

A *finding* is a fact about the data that may change what the log is good for: a row left out, a reading masked or
flagged, a step without a row, rows of one step that disagreed, a sentence that the reader warns with. How the log was
read (separator, zone, units, rounding to the grid) is a decision and no finding, and neither are rows outside the
period asked for or exact repetitions of a row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ..log import StationLog
from ..quality import Gap, QualityRecord, flag_counts
from ..readers.grid import OUTSIDE

Kind = Literal["quarantined", "masked", "flagged", "gap", "merged", "warning"]

#: What each flag says of a reading, for people.
MEANING: Final = {
    "state": "the source says that the value is not good",
    "sentinel": "a number that stands for none, such as -9999",
    "zero": "an ambient dose rate of exactly 0",
    "censored": "below or above the measuring range",
    "not_finite": "infinite, overflowing or not a number",
    "range": "outside what the instrument can measure",
    "stuck": "the same value for longer than noise allows",
    "spike": "one reading far from both its neighbours in time",
    "swap": "level and noise change at once, as when a detector is replaced",
    "startup": "transient after power-up or a gap",
    "wrap": "counter fault: wrap or overflow",
    "saturated": "at the top of the instrument's range",
    "neighbour": "no neighbour agrees: instrument fault likely",
    "unit": "level off by a factor of 10, 100 or 1000: check the unit",
    "doubtful": "marked as doubtful by the source",
    "stale": "a held value that is older than allowed",
}
_OUTSIDE: Final = re.compile(rf"([\d,]+) row\(s\) quarantined: {OUTSIDE}")
_MERGED: Final = re.compile(r"([\d,]+) row\(s\) fell on a step that had one already \(([\d,]+) of them identical")
_NOT_LISTED: Final = "reason among the decisions; too many to list"
#: The station of a gap in the whole log.
WHOLE: Final = "*"


@dataclass(frozen=True)
class Finding:
    """``count`` rows (quarantined, merged), readings (masked, flagged) or steps (gap) of one kind.

    ``what`` is the reason, the flag or the warning's sentence; ``where`` names tags (flagged) or stations (gap).
    """

    kind: Kind
    what: str
    count: int
    where: tuple[str, ...] = ()


def find(log: StationLog) -> tuple[Finding, ...]:
    """All findings about a log: of its record and of its flags."""
    record = log.quality
    return (
        *(Finding("quarantined", why, count) for why, count in quarantined_by_reason(record).items() if why != OUTSIDE),
        *(Finding("masked", why, count) for why, count in record.masked.items()),
        *_flagged(log),
        *_gaps(record.gaps),
        *_merged(record.decisions),
        *(Finding("warning", sentence, 1) for sentence in record.warnings),
    )


def quarantined_by_reason(record: QualityRecord) -> dict[str, int]:
    """Rows left out per reason; they add up to ``record.rows_quarantined``.

    The record lists the first rows only. What it neither lists nor counts as outside the period has one entry of its
    own, for its reasons stand in the decisions.
    """
    counts: dict[str, int] = dict(Counter(row.reason for row in record.quarantined))
    outside = sum(_number(found[1]) for sentence in record.decisions if (found := _OUTSIDE.match(sentence)))
    if outside:
        counts[OUTSIDE] = outside
    rest = record.rows_quarantined - sum(counts.values())
    if rest:
        counts[_NOT_LISTED] = rest
    return counts


def flagged_tags(log: StationLog) -> dict[str, dict[str, int]]:
    """Flag → tag → flagged readings, most first; both only where there are any."""
    counts = flag_counts(log)
    found: dict[str, dict[str, int]] = {}
    for flag in counts.columns:
        tags = counts[flag][counts[flag] > 0].sort_values(ascending=False, kind="stable")
        found[str(flag)] = {str(tag): int(count) for tag, count in tags.items()}
    return found


def _flagged(log: StationLog) -> Iterator[Finding]:
    for flag, tags in flagged_tags(log).items():
        yield Finding("flagged", flag, sum(tags.values()), tuple(tags))


def _gaps(gaps: Sequence[Gap]) -> Iterator[Finding]:
    for station in dict.fromkeys(gap.station for gap in gaps):
        mine = [gap for gap in gaps if gap.station == station]
        yield Finding("gap", f"{len(mine):,} gap(s)", sum(gap.steps for gap in mine), (station,))


def _merged(decisions: Sequence[str]) -> Iterator[Finding]:
    for sentence in decisions:
        found = _MERGED.match(sentence)
        disagreed = 0 if found is None else _number(found[1]) - _number(found[2])
        if disagreed:
            yield Finding("merged", "rows of one step that disagree", disagreed)


def _number(text: str) -> int:
    return int(text.replace(",", ""))
