"""Section 6: what reading did to the data, and what the quality rules found in it."""

from __future__ import annotations

from .blocks import Block, Heading, Section
from .log_account import (
    Span,
    decision_blocks,
    gap_blocks,
    masked_block,
    quarantine_table,
    row_table,
    source_blocks,
)
from .log_flags import flag_blocks, strips_by_day
from .run import Run
from .text import as_time


def section(run: Run) -> Section:
    """Rows in and kept, what was masked and why, flags by rule and day, decisions, gaps, sources."""
    record, span = run.quality, _span(run)
    strips = strips_by_day(record.calendar, span) if record.calendar else None
    blocks: list[Block] = [
        row_table(record),
        masked_block(record),
        Heading("Flagged readings"),
        *flag_blocks(record.flags, record.calendar, strips),
        *decision_blocks(record),
        Heading("Gaps"),
        *gap_blocks(record.gaps, run.step, span),
        *source_blocks(record),
    ]
    if record.quarantined:
        blocks.append(quarantine_table(record))
    return Section("quality", "Data quality", "Data quality", blocks)


def _span(run: Run) -> Span | None:
    """The log's first and last time, where the run has them on record."""
    first, last = (as_time(run.provenance.get(key)) for key in ("data_start", "data_end"))
    return None if first is None or last is None or first > last else (first, last)
