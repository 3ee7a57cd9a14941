"""`screen`: the quality rules applied to a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .config import QualityConfig
from .flags import IGNORED, Flag, Flags, no_flags
from .network import Network
from .readings import Finding, Ints, Readings
from .rules import RULES, Rule

if TYPE_CHECKING:
    from ..log import StationLog

#: Columns taken out of the log at a time: whole cache lines, and little memory beside a large log.
_BLOCK = 32
_WORST = 5


@dataclass(frozen=True)
class _Hit:
    """What one rule found in one tag: positions in the readings it saw, their grid rows, and a remark."""

    name: str
    index: Ints
    rows: Ints
    note: str


def screen(log: StationLog, config: QualityConfig | None = None) -> StationLog:
    """The same log with the flags of the rules, and a sentence in its record for each rule that found something.

    Values are never changed; whether a flagged reading is used is for those who use the log (`without_flagged`).
    Screening a screened log changes nothing.

    Parameters
    ----------
    log: what to look at. Memory: about 32 columns in float64, and 2 bytes a cell if anything is flagged.
    config: rules and their settings; all rules by default.
    """
    config = config or QualityConfig()
    rules = [rule for rule in RULES if rule.name in config.rules]
    own = np.uint16(sum(rule.flag for rule in rules))
    flags: Flags | None = None
    hits: dict[str, list[_Hit]] = {rule.name: [] for rule in rules}
    for readings in _tags(log, own):
        for rule, found, row in _apply(readings, rules, config):
            hits[rule.name].append(_Hit(readings.tag.name, found.index, row[found.index], found.note))
            if len(found.index):
                flags = np.zeros(log.shape, dtype=np.uint16) if flags is None else flags
                flags[row[found.index], readings.column] |= np.uint16(rule.flag)
    said = [_sentence(rule, hits[rule.name], log.time) for rule in rules if hits[rule.name]]
    fresh = [sentence for sentence in said if sentence not in log.quality.decisions]
    return log.with_flags(no_flags(log.shape) if flags is None else flags, *fresh)


def _tags(log: StationLog, own: np.uint16) -> Iterator[Readings]:
    """The readings of each tag, column by column; flags of a former screening are taken off."""
    network = Network(log.values, log.tags)
    step = log.step.total_seconds()
    every = np.arange(len(log), dtype=np.int64)
    flagged = log.flags.strides != (0, 0)
    for first in range(0, len(log.tags), _BLOCK):
        part = slice(first, first + _BLOCK)
        values = np.ascontiguousarray(log.values[:, part].T)
        masks = log.flags[:, part].T
        if flagged:
            masks = np.ascontiguousarray(masks) & ~own
        for column, (series, mask) in enumerate(zip(values, masks, strict=True), start=first):
            there = ~np.isnan(series)
            if flagged:
                there &= (mask & np.uint16(IGNORED)) == 0
            whole = bool(there.all())
            row = every if whole else np.flatnonzero(there).astype(np.int64)
            value, flags = (series, mask) if whole else (series[there], mask[there])
            yield Readings.of(value.astype(np.float64), row, flags, log.tags[column], step, column, network)


def _apply(readings: Readings, rules: list[Rule], config: QualityConfig) -> Iterator[tuple[Rule, Finding, Ints]]:
    """What each rule finds in what the rules before it left, with the grid rows of the readings it saw."""
    for rule in rules:
        found = rule.find(readings, getattr(config, rule.name))
        if len(found.index) or found.note:
            yield rule, found, readings.row
        if found.resolution is not None:
            readings = replace(readings, resolution=found.resolution)
        if not len(found.index):
            continue
        if rule.flag & IGNORED:
            readings = readings.without(found.index)
        else:
            flags = readings.flags.copy()
            flags[found.index] |= np.uint16(rule.flag)
            readings = replace(readings, flags=flags)


def _sentence(rule: Rule, hits: list[_Hit], time: pd.DatetimeIndex) -> str:
    hits = sorted(hits, key=lambda hit: -len(hit.rows))
    worst = "; ".join(_remark(hit, time) for hit in hits[:_WORST])
    more = f" and {len(hits) - _WORST:,} more" if len(hits) > _WORST else ""
    if not rule.flag:
        return f"{rule.says}: {len(hits):,} tag(s): {worst}{more}"
    count = sum(len(hit.rows) for hit in hits)
    flag = str(Flag(rule.flag).name).lower()
    return f"{count:,} reading(s) of {len(hits):,} tag(s) flagged {flag} ({rule.says}): {worst}{more}"


def _remark(hit: _Hit, time: pd.DatetimeIndex) -> str:
    """One tag: count, longest run of readings (a gap inside does not part it), and the rule's note."""
    if not len(hit.rows):
        return f"{hit.name!r} ({hit.note})"
    cut = np.flatnonzero(np.diff(hit.index) > 1) + 1
    runs = np.split(hit.rows, cut)
    longest = max(runs, key=lambda run: int(run[-1] - run[0]))
    first, last = (f"{time[int(row)]:%Y-%m-%d %H:%M}" for row in (longest[0], longest[-1]))
    span = f"{first} UTC" if first == last else f"{first} to {last} UTC"
    place = span if len(runs) == 1 else f"{len(runs):,} places, longest {span}"
    return f"{hit.name!r} {len(hit.rows):,} ({place}{', ' + hit.note if hit.note else ''})"
