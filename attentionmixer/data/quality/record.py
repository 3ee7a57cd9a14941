"""The account of a log: what came in, what was kept, what was decided and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pandas as pd

from ...errors import LogError
from .flags import Flags, count_days, count_flags


@dataclass(frozen=True)
class Quarantined:
    """One input row that was left out of the series, with the reason."""

    file: str
    line: int
    column: str
    text: str
    reason: str


@dataclass(frozen=True)
class Gap:
    """A run of grid steps for which no row came in, for one station (or ``"*"``: for the whole log)."""

    station: str
    start: str
    end: str
    steps: int


@dataclass(frozen=True)
class QualityRecord:
    """What reading did to a log.

    The identity ``rows_in == rows_kept + rows_quarantined + rows_merged`` always holds; breaking it raises `LogError`.

    Attributes
    ----------
    rows_in, rows_kept, rows_quarantined, rows_merged:
        Counts of input rows. *Merged* rows were duplicates of a kept row.
    masked:
        Cells set to missing, counted per reason, e.g. ``{"exact zero": 12}``.
    decisions:
        Sentences for people: what the reader chose, and on what grounds.
    warnings:
        Sentences that ask for a person's look: what may be wrong, and how to settle it.
    gaps:
        Where rows are missing.
    quarantined:
        The quarantined rows (the first ones, if they are many; ``rows_quarantined`` is exact).
    sources:
        Names of the files (or other sources) read.
    flags:
        Cells per flag, by its lower-case name; a cell can have several.
    calendar:
        The same by day (UTC): flag → ``{"2021-05-01": cells}``, days without any left out.
    """

    rows_in: int = 0
    rows_kept: int = 0
    rows_quarantined: int = 0
    rows_merged: int = 0
    masked: Mapping[str, int] = field(default_factory=dict)
    decisions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    sources: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    flags: Mapping[str, int] = field(default_factory=dict)
    calendar: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rows_in != self.rows_kept + self.rows_quarantined + self.rows_merged:
            raise LogError(
                f"row accounting broken: {self.rows_in} in, but {self.rows_kept} kept + "
                f"{self.rows_quarantined} quarantined + {self.rows_merged} merged"
            )

    def with_decision(self, *sentences: str) -> QualityRecord:
        """The same record with further decisions appended."""
        return replace(self, decisions=self.decisions + sentences)

    def with_flags(self, flags: Flags, time: pd.DatetimeIndex) -> QualityRecord:
        """The same record with the counts of these flags [T, N] at these times [T]."""
        return replace(self, flags=count_flags(flags), calendar=count_days(flags, time))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> QualityRecord:
        """Inverse of `to_dict`."""
        fields = dict(data)
        fields["gaps"] = tuple(Gap(**g) for g in fields.get("gaps", ()))
        fields["quarantined"] = tuple(Quarantined(**q) for q in fields.get("quarantined", ()))
        fields["decisions"] = tuple(fields.get("decisions", ()))
        fields["sources"] = tuple(fields.get("sources", ()))
        fields["warnings"] = tuple(fields.get("warnings", ()))
        return cls(**fields)

    @classmethod
    def combine(cls, records: Sequence[QualityRecord]) -> QualityRecord:
        """Sum of several records, for a log made of several files."""
        return cls(
            rows_in=sum(r.rows_in for r in records),
            rows_kept=sum(r.rows_kept for r in records),
            rows_quarantined=sum(r.rows_quarantined for r in records),
            rows_merged=sum(r.rows_merged for r in records),
            masked=_sum([r.masked for r in records]),
            decisions=tuple(dict.fromkeys(d for r in records for d in r.decisions)),
            gaps=tuple(g for r in records for g in r.gaps),
            quarantined=tuple(q for r in records for q in r.quarantined),
            sources=tuple(s for r in records for s in r.sources),
            warnings=tuple(dict.fromkeys(w for r in records for w in r.warnings)),
            flags=_sum([r.flags for r in records]),
            calendar={
                flag: _sum([r.calendar.get(flag, {}) for r in records])
                for flag in dict.fromkeys(name for r in records for name in r.calendar)
            },
        )


def _sum(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    keys = dict.fromkeys(key for one in counts for key in one)
    return {key: sum(one.get(key, 0) for one in counts) for key in keys}
