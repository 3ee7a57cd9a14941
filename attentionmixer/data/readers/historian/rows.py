"""From the files of an export to one set of series, whichever of its three forms it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....errors import LogError
from ..account import Account
from ..cells import NULLS
from ..clock import ClockRules, read_times
from ..columns import Column, split_header
from ..grid import Bools, Ints
from ..series import Series
from .file import TextFile
from .header import Plan, Qualities, Signal, says_utc
from .quality import Judged, find_scheme, judge, says_good, worst
from .states import Reading, Valued, check_states, describe_states, read_values

_TRUE = ("true", "t", "yes", "y", "1")


@dataclass(frozen=True)
class TagRules:
    """What is declared about tags: see `historian.read`."""

    qualities: Mapping[str, str] | None = None
    states: Mapping[str, Mapping[str, float]] | None = None
    stepped: Sequence[str] = ()


@dataclass(frozen=True)
class _Rows:
    """Rows of all files: ``table`` of text, and the file and line of each."""

    table: pa.Table
    file: Ints
    line: Ints

    def filled(self, names: Sequence[str]) -> _Rows:
        """The rows in which one of these columns at least is not blank."""
        blank = np.ones(self.table.num_rows, dtype=bool)
        for name in names:
            trimmed = pc.fill_null(pc.utf8_trim_whitespace(self.table[name]), "")
            blank &= pc.is_in(trimmed, value_set=pa.array(NULLS)).to_numpy(zero_copy_only=False).astype(bool)
        kept = np.flatnonzero(~blank)
        return _Rows(self.table.take(pa.array(kept)), self.file[kept], self.line[kept])


def lay_out(
    files: Sequence[TextFile], plan: Plan, clock: ClockRules, rules: TagRules, reading: Reading, account: Account
) -> Series:
    """One `Series` of all files; ``account.rows_in`` grows by the rows that hold anything."""
    series = _Export(files, plan, clock, rules, reading, account).series()
    account.rows_in += len(series.time)
    for sentence in describe_states(reading):
        account.decide(sentence)
    if reading.kept:
        account.decide(f"{reading.kept:,} value(s) that are not good were kept, as asked for, and flagged as doubtful")
    names = [column.name for column in series.columns]
    stepped = [rules.stepped] if isinstance(rules.stepped, str) else list(rules.stepped)
    strange = [tag for tag in stepped if tag not in names]
    if strange:
        raise LogError(f"stepped names {strange[0]!r}, which is not in the log; it holds {', '.join(names[:20])}")
    return replace(
        series,
        columns=tuple(_hold(column, stepped, reading) for column in series.columns),
        files=tuple(file.name for file in files),
        reason_names=tuple(reason.text for reason in reading.reasons),
        reason_flags=tuple(reason.flag for reason in reading.reasons),
        row=np.arange(len(series.time)),
    )


def _hold(column: Column, stepped: Sequence[str], reading: Reading) -> Column:
    """A column of states, or one that is declared to be stepped, holds its value."""
    if column.name in reading.digital:
        return replace(column, resample="last", quantity="state")
    return replace(column, resample="last") if column.name in stepped else column


class _Export:
    """The rows of an export on their way to a `Series`."""

    def __init__(
        self,
        files: Sequence[TextFile],
        plan: Plan,
        clock: ClockRules,
        rules: TagRules,
        reading: Reading,
        account: Account,
    ) -> None:
        self.plan, self.clock, self.rules, self.reading, self.account = plan, clock, rules, reading, account
        self.name, self.unit_row = ", ".join(file.name for file in files[:5]), files[0].unit_row
        names = files[0].table.column_names
        self.rows = _Rows(
            pa.concat_tables([file.table.select(names) for file in files]),
            np.repeat(np.arange(len(files)), [len(file.line) for file in files]),
            np.concatenate([file.line for file in files]),
        ).filled(names)
        if not self.rows.table.num_rows:
            raise LogError(f"{self.name} holds no reading: there is a header, but no row under it")
        pairs = (*plan.quality, *(pair for signal in plan.signals for pair in signal.quality))
        status = [(name, self.rows.table[name]) for kind, name in pairs if kind == "status"]
        self.scheme = find_scheme(status, rules.qualities)
        # a blank is good only in an export that never writes that a value is good
        self.blank_is_good = not any(says_good(column, self.scheme) for _, column in status)
        if self.blank_is_good and status:
            account.decide("no status says of any value that it is good, so a blank one was taken to say so")

    def series(self) -> Series:
        """The series, but for what is known only of all of them."""
        if not self.plan.signals:
            return self._long()
        self.reading.declared = check_states(self.rules.states, [signal.name for signal in self.plan.signals])
        return self._pairs() if self.plan.pairs else self._wide()

    def _long(self) -> Series:
        """A row a value: its tag and station are the group."""
        rows, plan = self.rows, self.plan
        group, tags, stations = _groups(rows.table, plan)
        self.reading.declared = check_states(self.rules.states, tags)
        header, unit = split_header(plan.value)
        units = _units(rows.table, plan, group, tags)
        held = _stepped(rows.table, plan, group, len(tags))
        columns = [
            Column(
                tag,
                tag,
                units.get(g) or self.unit_row.get(plan.value) or unit,
                stations[g] if stations is not None else None,
                resample="last" if held[g] else None,
            )
            for g, tag in enumerate(tags)
        ]
        found = read_values(rows.table[plan.value], self._judge(rows, plan.quality), group, tags, self.reading)
        when = rows.table[plan.time]
        time = self._times(when, str(plan.time), group)
        series = self._finish(rows, time, group, [found], columns, (header,))
        return replace(
            series,
            texts={0: rows.table[plan.value]},
            time_texts=when,
            station_of_group=tuple(stations) if stations is not None else None,
        )

    def _wide(self) -> Series:
        """A row a time: V values of one group."""
        names = [signal.value for signal in self.plan.signals]
        rows = self.rows
        group = np.zeros(rows.table.num_rows, dtype=np.int64)
        found = [self._read(rows, signal) for signal in self.plan.signals]
        when = rows.table[self.plan.time]
        time = self._times(when, str(self.plan.time), None)
        series = self._finish(rows, time, group, found, self._columns(), tuple(names))
        return replace(series, texts={i: rows.table[name] for i, name in enumerate(names)}, time_texts=when)

    def _pairs(self) -> Series:
        """Tags with times of their own: each is a group, and what is blank below the end of one is no row."""
        parts: list[_Rows] = []
        found: list[Valued] = []
        when: list[pa.Array] = []
        texts: list[pa.Array] = []
        for signal in self.plan.signals:
            time = signal.time or str(self.plan.time)
            quality = [name for _, name in signal.quality]
            rows = self.rows.filled([signal.value, *quality, *([signal.time] if signal.time else [])])
            found.append(self._read(rows, signal))
            parts.append(rows)
            when += rows.table[time].chunks
            texts += rows.table[signal.value].chunks
        group = np.repeat(np.arange(len(parts)), [part.table.num_rows for part in parts])
        if not len(group):
            raise LogError(f"{self.name} holds no reading: all columns are blank")
        rows = _Rows(self.rows.table, np.concatenate([p.file for p in parts]), np.concatenate([p.line for p in parts]))
        both = Valued(
            np.concatenate([f.values for f in found]),
            np.concatenate([f.reason for f in found]),
            np.concatenate([f.note for f in found]),
            np.concatenate([f.bad for f in found]),
        )
        times = pa.chunked_array(when, pa.string())
        label = next(str(signal.time) for signal in self.plan.signals if signal.time)
        series = self._finish(rows, self._times(times, label, group), group, [both], self._columns(), ("value",))
        return replace(series, texts={0: pa.chunked_array(texts, pa.string())}, time_texts=times)

    def _columns(self) -> list[Column]:
        return [Column(s.value, s.name, self.unit_row.get(s.value) or s.unit) for s in self.plan.signals]

    def _read(self, rows: _Rows, signal: Signal) -> Valued:
        alone = np.zeros(rows.table.num_rows, dtype=np.int64)
        quality = self._judge(rows, signal.quality)
        return read_values(rows.table[signal.value], quality, alone, [signal.name], self.reading)

    def _judge(self, rows: _Rows, columns: Qualities) -> Judged:
        """The worst that any of these columns says, row by row."""
        found = [judge(rows.table[n], kind, self.scheme, blank_is_good=self.blank_is_good) for kind, n in columns]
        return worst(found, rows.table.num_rows)

    def _times(self, column: pa.ChunkedArray, name: str, group: Ints | None) -> Ints:
        clock = replace(self.clock, tz="UTC") if self.clock.tz is None and says_utc(name) else self.clock
        times = read_times(column, clock, f"{self.name}: column {name!r}", group=group)
        for sentence in times.decisions:
            self.account.decide(sentence)
        for sentence in times.warnings:
            self.account.warn(sentence)
        return times.ns

    def _finish(
        self,
        rows: _Rows,
        time: Ints,
        group: Ints,
        found: Sequence[Valued],
        columns: Sequence[Column],
        names: tuple[str, ...],
    ) -> Series:
        with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked and counted later
            values = np.stack([one.values for one in found], axis=1).astype(np.float32)
        return Series(
            time=time,
            group=group,
            values=values,
            columns=tuple(columns),
            value_names=names,
            time_name=self.plan.time or "time",
            station_of_group=None,
            file=rows.file,
            line=rows.line,
            files=(),
            bad_cells={i: one.bad for i, one in enumerate(found) if one.bad.any()},
            reasons={i: one.reason for i, one in enumerate(found) if (one.reason >= 0).any()},
            notes={i: one.note for i, one in enumerate(found) if one.note.any()},
        )


def _groups(table: pa.Table, plan: Plan) -> tuple[Ints, list[str], list[str] | None]:
    """(group of each row, tag of each group, station of each group)."""
    names = [name for name in (plan.station, plan.tag) if name is not None]
    parts = [[cell or "" for cell in table[name].to_pylist()] for name in names]
    for name, cells in zip(names, parts, strict=True):
        blank = sum(not cell.strip() for cell in cells)
        if blank:
            raise LogError(f"column {name!r} is blank in {blank:,} row(s), so that their values belong to no tag")
    keys = list(zip(*parts, strict=True))
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    group = np.array([number[key] for key in keys], dtype=np.int64)
    return group, [" ".join(key) for key in number], [key[0] for key in number] if plan.station else None


def _units(table: pa.Table, plan: Plan, group: Ints, tags: Sequence[str]) -> dict[int, str]:
    """The unit of each group that has one in the column of units."""
    found: dict[int, str] = {}
    cells = table[plan.unit].to_pylist() if plan.unit is not None else []
    for g, cell in dict.fromkeys(zip(group.tolist(), cells, strict=False)):
        text = (cell or "").strip()
        if text and found.setdefault(g, text) != text:
            raise LogError(f"tag {tags[g]!r} comes in several units ({found[g]}, {text}); export it in one")
    return found


def _stepped(table: pa.Table, plan: Plan, group: Ints, tags: int) -> Bools:
    """Which tags are step-held, by the column that says so: [tags]."""
    held = np.zeros(tags, dtype=bool)
    if plan.step is not None:
        says = [(cell or "").strip().casefold() in _TRUE for cell in table[plan.step].to_pylist()]
        held[group[np.array(says, dtype=bool)]] = True
    return held
