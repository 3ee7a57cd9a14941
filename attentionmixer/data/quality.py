"""The account of a log: what came in, what was kept, what was decided and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import LogError


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
    gaps:
        Where rows are missing.
    quarantined:
        The quarantined rows (the first ones, if they are many; ``rows_quarantined`` is exact).
    sources:
        Names of the files (or other sources) read.
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

    def __post_init__(self) -> None:
        if self.rows_in != self.rows_kept + self.rows_quarantined + self.rows_merged:
            raise LogError(
                f"row accounting broken: {self.rows_in} in, but {self.rows_kept} kept + "
                f"{self.rows_quarantined} quarantined + {self.rows_merged} merged"
            )

    def with_decision(self, *sentences: str) -> QualityRecord:
        """The same record with further decisions appended."""
        return QualityRecord(**{**self.__dict__, "decisions": self.decisions + sentences})

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only."""
        return {**asdict(self), "masked": dict(self.masked)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> QualityRecord:
        """Inverse of `to_dict`."""
        fields = dict(data)
        fields["gaps"] = tuple(Gap(**g) for g in fields.get("gaps", ()))
        fields["quarantined"] = tuple(Quarantined(**q) for q in fields.get("quarantined", ()))
        fields["decisions"] = tuple(fields.get("decisions", ()))
        fields["sources"] = tuple(fields.get("sources", ()))
        return cls(**fields)

    @classmethod
    def combine(cls, records: Sequence[QualityRecord]) -> QualityRecord:
        """Sum of several records, for a log made of several files."""
        masked: dict[str, int] = {}
        for record in records:
            for reason, count in record.masked.items():
                masked[reason] = masked.get(reason, 0) + count
        return cls(
            rows_in=sum(r.rows_in for r in records),
            rows_kept=sum(r.rows_kept for r in records),
            rows_quarantined=sum(r.rows_quarantined for r in records),
            rows_merged=sum(r.rows_merged for r in records),
            masked=masked,
            decisions=tuple(dict.fromkeys(d for r in records for d in r.decisions)),
            gaps=tuple(g for r in records for g in r.gaps),
            quarantined=tuple(q for r in records for q in r.quarantined),
            sources=tuple(s for r in records for s in r.sources),
        )
