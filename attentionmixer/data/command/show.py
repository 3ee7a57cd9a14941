"""What ``check`` says on a terminal, or as plain text where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..log import Sampling, StationLog
from ..quality import Quarantined
from ..readers.grid import span
from .check import Check
from .findings import MEANING, WHOLE, Finding
from .printable import printable

_TAGS = 40
_LISTED = 10
_NAMED = 5
_PLAIN_WIDTH = 160


def console(*, plain_width: int = _PLAIN_WIDTH) -> Console:
    """A console on standard output that takes nothing in a text for markup, an emoji or a link.

    Where standard output is no terminal, lines are ``plain_width`` wide and have no colours.
    """
    screen = Console(markup=False, emoji=False, highlight=False)
    if not screen.is_terminal:
        screen = Console(markup=False, emoji=False, highlight=False, width=plain_width)
    return screen


def show(check: Check, screen: Console) -> None:
    """Print what was understood, decided, refused and found."""
    log, record = check.log, check.log.quality
    _facts(check, screen)
    _tags(log, screen)
    _list("Decided", record.decisions, screen)
    if record.quarantined:
        _quarantined(record.quarantined, record.rows_quarantined, screen)
    if record.gaps:
        longest = sorted(record.gaps, key=lambda gap: (-gap.steps, gap.start))
        lines = [f"{_station(g.station)}: {g.start} to {g.end}, {g.steps:,} step(s)" for g in longest[:_LISTED]]
        _list("Gaps, longest first", lines, screen, more=len(longest) - _LISTED)
    _findings(check.findings, screen)


def sampling_in_words(sampling: Sampling) -> str:
    """What a time stamp means, as a sentence."""
    if sampling.stamp is None:
        return "the source does not say what a time stamp means"
    if sampling.stamp == "instant":
        return "a time is the instant of the reading"
    length = "" if sampling.interval is None else f" of {span(round(sampling.interval * 1e9))}"
    return f"a time is the {sampling.stamp} of the interval{length} that the reading covers"


def _facts(check: Check, screen: Console) -> None:
    log, record = check.log, check.log.quality
    sources = [printable(source) for source in record.sources[:_NAMED]]
    rest = len(record.sources) - _NAMED
    stations = f", {len(log.stations):,} station(s)" if log.stations else ""
    facts = {
        "read as": f"{check.format}: {', '.join(sources) or 'no source on record'}"
        + (f" and {rest:,} more" if rest > 0 else ""),
        "rows": f"{record.rows_in:,} read = {record.rows_kept:,} kept + {record.rows_quarantined:,} quarantined + "
        f"{record.rows_merged:,} merged",
        "time": f"{log.time[0]:%Y-%m-%d %H:%M:%S} to {log.time[-1]:%Y-%m-%d %H:%M:%S} UTC, {len(log):,} steps of "
        f"{span(log.step.value)}",
        "stamps": sampling_in_words(log.sampling),
        "tags": f"{len(log.tags):,}{stations}",
    }
    for term, text in facts.items():
        _print(Text.assemble((f"{term:<9}", "bold"), text), screen)


def _tags(log: StationLog, screen: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    labels = {"tag": "left", "unit": "left", "quantity": "left", "station": "left", "role": "left", "resample": "left"}
    for label in labels:
        table.add_column(label, overflow="fold")
    table.add_column("readings", justify="right")
    table.add_column("missing", justify="right")
    missing = np.isnan(log.values).sum(axis=0)
    for tag, absent in zip(log.tags[:_TAGS], missing.tolist(), strict=False):
        words = (tag.name, tag.unit or "-", tag.quantity, tag.station or "-", tag.role, tag.resample)
        table.add_row(*(Text(printable(word)) for word in words), f"{len(log) - absent:,}", f"{absent:,}")
    screen.print()
    screen.print(table)
    if len(log.tags) > _TAGS:
        screen.print(f"and {len(log.tags) - _TAGS:,} more tags")


def _quarantined(rows: Sequence[Quarantined], count: int, screen: Console) -> None:
    lines = [f"{row.file} line {row.line}, column {row.column!r}: {row.text!r}: {row.reason}" for row in rows[:_LISTED]]
    _list("Quarantined rows", lines, screen, more=count - len(lines))


def _findings(findings: Sequence[Finding], screen: Console) -> None:
    if not findings:
        screen.print()
        screen.print(Text("Clean: nothing was left out, masked, flagged or missing.", style="bold green"))
        return
    shown = [line for kind in dict.fromkeys(f.kind for f in findings) for line in _of_kind(kind, findings)]
    _list("Findings", shown, screen, style="bold yellow")


def _of_kind(kind: str, findings: Sequence[Finding]) -> Iterator[str]:
    mine = [finding for finding in findings if finding.kind == kind]
    for finding in mine[:_TAGS]:
        yield _sentence(finding)
    if len(mine) > _TAGS:
        rest = mine[_TAGS:]
        yield f"{len(rest):,} more of this kind ({kind}), {sum(f.count for f in rest):,} in all"


def _sentence(finding: Finding) -> str:
    named = ", ".join(map(_station, finding.where[:_NAMED]))
    more = f" and {len(finding.where) - _NAMED:,} more" if len(finding.where) > _NAMED else ""
    return {
        "quarantined": f"{finding.count:,} row(s) quarantined: {finding.what}",
        "masked": f"{finding.count:,} reading(s) set to missing: {finding.what}",
        "flagged": f"{finding.count:,} reading(s) flagged {finding.what} ({MEANING.get(finding.what)}): {named}{more}",
        "gap": f"{finding.what} with {finding.count:,} missing step(s): {named}",
        "merged": f"{finding.count:,} row(s) merged: {finding.what}",
        "warning": finding.what,
    }[finding.kind]


def _list(title: str, lines: Sequence[str], screen: Console, *, more: int = 0, style: str = "bold") -> None:
    screen.print()
    screen.print(Text(title, style=style))
    for line in (*(lines or ["nothing"]), *([f"and {more:,} more"] if more > 0 else [])):
        _print(Text(f"- {printable(line)}"), screen, indent=2)


def _print(text: Text, screen: Console, *, indent: int = 0) -> None:
    """Wrapped on a terminal; elsewhere one line, for `grep`."""
    if screen.is_terminal:
        screen.print(Padding(text, (0, 0, 0, indent)))
    else:
        screen.print(" " * indent + text.plain, soft_wrap=True)


def _station(name: str) -> str:
    return "the whole log" if name == WHOLE else name
