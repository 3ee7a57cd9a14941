"""Keeping account of rows and cells while a log is read."""

from __future__ import annotations

from collections.abc import Sequence

from ..quality import Gap, QualityRecord, Quarantined
from .grid import OUTSIDE

LISTED = 1000
GAPS_LISTED = 10_000


class Account:
    """Counts what happens to rows and cells, and says so in sentences; `record` closes it."""

    def __init__(self, sources: Sequence[str], rows_in: int) -> None:
        self.sources = list(sources)
        self.rows_in = rows_in
        self.rows_quarantined = 0
        self.rows_merged = 0
        self.masked: dict[str, int] = {}
        self.decisions: list[str] = []
        self.warnings: list[str] = []
        self.gaps: list[Gap] = []
        self.quarantined: list[Quarantined] = []

    def decide(self, sentence: str) -> None:
        """Note a decision, once."""
        if sentence not in self.decisions:
            self.decisions.append(sentence)

    def warn(self, sentence: str) -> None:
        """Note what may be wrong, once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def quarantine(self, rows: Sequence[Quarantined], count: int, reason: str) -> None:
        """``count`` rows are left out for this reason; ``rows`` are those (or the first of those) to list."""
        if not count:
            return
        self.rows_quarantined += count
        self.quarantined += rows[: LISTED - len(self.quarantined)]
        self.decide(f"{count:,} row(s) quarantined: {reason}")

    def outside(self, count: int) -> None:
        """Rows outside the period: counted, not listed, since there is nothing wrong with them."""
        self.quarantine([], count, f"{OUTSIDE} (counted, not listed)")

    def merge(self, count: int, identical: int, policy: str) -> None:
        """``count`` rows fell on a step that had one; ``identical`` of them said the same."""
        self.rows_merged += count
        if not count:
            return
        ways = {
            "nearest": "the reading nearest to the full step was kept",
            "mean": "their mean was kept",
            "error": "nothing was lost",
        }
        self.decide(
            f"{count:,} row(s) fell on a step that had one already ({identical:,} of them identical to it): "
            f"{ways.get(policy, f'the {policy} was kept')}"
        )

    def merge_into_steps(self, count: int) -> None:
        """``count`` readings went into a step together with others of their tag."""
        self.rows_merged += count
        if count:
            self.decide(f"{count:,} row(s) share a step of the grid with an earlier one of their tag")

    def mask(self, reason: str, count: int) -> None:
        """``count`` cells became missing for this reason."""
        if count:
            self.masked[reason] = self.masked.get(reason, 0) + count

    def add_gaps(self, gaps: Sequence[Gap]) -> None:
        """Note where rows are missing."""
        self.gaps += gaps

    def record(self, kept: int) -> QualityRecord:
        """The finished account. Raises `LogError` where rows got lost."""
        gaps = self.gaps
        if len(gaps) > GAPS_LISTED:
            self.decide(f"{len(gaps):,} gaps in all; the {GAPS_LISTED:,} longest are listed")
            gaps = sorted(gaps, key=lambda gap: -gap.steps)[:GAPS_LISTED]
        return QualityRecord(
            rows_in=self.rows_in,
            rows_kept=kept,
            rows_quarantined=self.rows_quarantined,
            rows_merged=self.rows_merged,
            masked=self.masked,
            decisions=tuple(self.decisions),
            gaps=tuple(gaps),
            quarantined=tuple(self.quarantined),
            sources=tuple(self.sources),
            warnings=tuple(self.warnings),
        )
