"""`write_log_page`: what a log is, as one HTML file, before anything is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..data.command.check import Check
from ..data.command.findings import flagged_tags, quarantined_by_reason
from ..data.command.show import sampling_in_words
from ..data.log import StationLog
from ..data.quality import Flag
from ..files import write_atomically, write_text
from .blocks import Block, Column, Facts, Heading, Note, Section, Table
from .log_account import decision_blocks, gap_blocks, masked_block, quarantine_table, row_table, source_blocks
from .log_flags import flag_blocks, rule_blocks, strips_by_day, strips_by_step
from .log_trends import trend_blocks
from .shell import fill
from .svg import drawing_style
from .text import clean, count, duration, moment, percent
from .verdict import Verdict

_STRIPS: Final = 15
_QUARANTINED: Final = 100
#: A calendar of fewer days says less than one of steps.
_SHORT: Final = pd.Timedelta(days=8)


def write_log_page(check: Check, target: Path) -> None:
    """Write the page of a screened log: one HTML file that needs no network and no program, and prints to A4.

    Raises `OSError` where it cannot be written; an old file is kept then.
    """
    page = render_log(check)
    write_atomically(target, lambda part: write_text(part, page))


def render_log(check: Check) -> str:
    """The page as text. The same log gives the same page."""
    log, record = check.log, check.log.quality
    span = (log.time[0], log.time[-1])
    with drawing_style():
        sections = [
            Section("trends", "Readings", "Readings", trend_blocks(log)),
            Section("gaps", "Gaps", "Gaps", gap_blocks(record.gaps, log.step, span)),
            Section("flags", "Flagged readings", "Flags", _flags(log)),
            Section("rows", "Rows left out, readings masked", "Left out", _left_out(log)),
            Section("read", "How it was read", "How it was read", _reading(check)),
        ]
    return fill("what a log holds", _name(log), _line(log), judge_log(check), sections)


def judge_log(check: Check) -> Verdict:
    """The account of a log in a line, with the numbers to be set large."""
    log, record = check.log, check.log.quality
    kinds = list(dict.fromkeys(finding.kind for finding in check.findings))
    merged = sum(finding.count for finding in check.findings if finding.kind == "merged")
    words = {
        "quarantined": _some(record.rows_quarantined, "row", "quarantined"),
        "masked": _some(sum(record.masked.values()), "reading", "masked"),
        "flagged": _some(int((log.flags != 0).sum()), "reading", "flagged"),
        "gap": _some(len(record.gaps), "gap"),
        "merged": _some(merged, "row", "merged that disagreed"),
        "warning": _some(sum(finding.kind == "warning" for finding in check.findings), "warning"),
    }
    found = ", ".join(words[kind] for kind in kinds)
    read = f"{count(record.rows_in)} rows read, {count(record.rows_kept)} kept"
    headline = f"{read}; {found}." if found else f"{read}; nothing left out, masked, flagged or missing."
    stations = f"of {_some(len(log.stations), 'station')}" if log.stations else "no station named"
    missing = float(np.isnan(log.values).mean())
    return Verdict(
        "mixed" if check.findings else "good",
        headline,
        (
            f"{count(record.rows_in)} rows in = {count(record.rows_kept)} kept + {count(record.rows_quarantined)} "
            f"quarantined + {count(record.rows_merged)} merged. The log spans {moment(log.time[0])} to "
            f"{moment(log.time[-1])} UTC in {count(len(log))} steps of {duration(log.step.total_seconds() / 60)}.",
        ),
        (
            ("Rows kept", count(record.rows_kept), f"of {count(record.rows_in)} read"),
            ("Quarantined", count(record.rows_quarantined), "left out, with reason"),
            ("Merged", count(record.rows_merged), "into a row that was kept"),
            ("Tags", count(len(log.tags)), stations),
            ("Missing", percent(missing, 1), "of all cells of the grid"),
        ),
    )


def _some(number: int, thing: str, what: str = "") -> str:
    return f"{count(number)} {thing}{'' if number == 1 else 's'} {what}".rstrip()


def _name(log: StationLog) -> str:
    sources = log.quality.sources
    return "log" if not sources else sources[0] + (f" and {len(sources) - 1} more" if len(sources) > 1 else "")


def _line(log: StationLog) -> str:
    stations = f" · {_some(len(log.stations), 'station')}" if log.stations else ""
    step = duration(log.step.total_seconds() / 60)
    return (
        f"{_some(len(log.tags), 'tag')}{stations} · step {step} · {moment(log.time[0])} to {moment(log.time[-1])} UTC"
    )


def _flags(log: StationLog) -> list[Block]:
    record, tags = log.quality, flagged_tags(log)
    if not tags:
        return flag_blocks({}, {}, None)
    short = log.time[-1] - log.time[0] < _SHORT
    cells = {flag: _cells(log, flag, log.names) for flag in tags} if short else {}
    span = (log.time[0], log.time[-1])
    strips = strips_by_step(cells, log.time) if short else strips_by_day(record.calendar, span)
    blocks = flag_blocks(record.flags, record.calendar, strips)
    for flag, counts in tags.items():
        found = {name: _cells(log, flag, [name]) for name in list(counts)[:_STRIPS]}
        if short:
            strips = strips_by_step(found, log.time)
        else:
            strips = strips_by_day({name: _days(here, log) for name, here in found.items()}, span)
        blocks += [Heading(flag), *rule_blocks(flag, counts, strips)]
    return blocks


def _cells(log: StationLog, flag: str, names: Sequence[str]) -> NDArray[np.int64]:
    """[T] how many of these tags have the flag."""
    bit, columns = np.uint16(Flag[flag.upper()]), {name: i for i, name in enumerate(log.names)}
    return np.asarray(((log.flags[:, [columns[name] for name in names]] & bit) != 0).sum(axis=1), dtype=np.int64)


def _days(cells: NDArray[np.int64], log: StationLog) -> dict[str, int]:
    there = cells > 0
    counts = pd.Series(cells[there]).groupby(log.time[there].strftime("%Y-%m-%d")).sum()
    return {str(day): int(number) for day, number in counts.items()}


def _left_out(log: StationLog) -> list[Block]:
    record = log.quality
    blocks: list[Block] = [row_table(record)]
    reasons = quarantined_by_reason(record)
    if reasons:
        rows = [[clean(why), count(number)] for why, number in sorted(reasons.items(), key=lambda item: -item[1])]
        blocks.append(Table("Rows quarantined, by reason", [Column("Reason", numeric=False), Column("Rows")], rows))
    else:
        blocks.append(Note("No row was quarantined."))
    if record.quarantined:
        blocks.append(quarantine_table(record, _QUARANTINED))
    return [*blocks, masked_block(record)]


def _reading(check: Check) -> list[Block]:
    log = check.log
    facts = [
        ("Format", clean(check.format)),
        ("Times", "UTC on a regular grid"),
        ("Time stamps", sampling_in_words(log.sampling)),
        ("Units", ", ".join(dict.fromkeys(clean(tag.unit or "none") for tag in log.tags))),
        ("Quantities", ", ".join(dict.fromkeys(clean(tag.quantity.replace("_", " ")) for tag in log.tags))),
    ]
    return [Facts(facts), *decision_blocks(log.quality), *source_blocks(log.quality)]
