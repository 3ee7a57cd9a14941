"""The rows of EURDEP records as a `Series`: times, groups, values, and why a value is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ....errors import LogError
from ...log import Sampling
from ...quality import Flag, Quarantined
from ..account import LISTED, Account
from ..clock import MISSING
from ..columns import Column
from ..grid import Bools, Ints, span
from ..series import Series
from .codes import (
    ABOVE,
    BAD,
    BELOW,
    FINE,
    parse_place,
    parse_time,
    parse_value,
    tag_name,
)
from .records import Records
from .section import FIELDS
from .sigma import standard_uncertainty
from .units import quantity_of, units_of_groups
from .words import Words

_SECOND = 1_000_000_000
#: What VALIDATED says: 1 validated (or nothing said), 0 not validated.
_VALIDATED = {"": 1, **dict.fromkeys(("Y", "YES", "1", "T", "TRUE", "V"), 1)}
_VALIDATED |= dict.fromkeys(("N", "NO", "0", "F", "FALSE"), 0)
_REASONS = {
    "below the measuring range (<)": Flag.CENSORED,
    "above the measuring range (>)": Flag.CENSORED,
    "VALUE_CONSTRAINT is neither < nor >": Flag.STATE,
    "not validated": Flag.STATE,
}


class _Key(NamedTuple):
    """A series: its station, what is measured, and its tag."""

    code: str
    nuclide: str
    name: str


class Readings:
    """The rows of all records, column by column, without those that have no value or no interval that can be."""

    def __init__(self, records: Records, files: Sequence[str], account: Account) -> None:
        self.files = tuple(files)
        self.account = account
        self.records = records
        self.places = dict(records.places)
        cells = {field: Words.of(column) for field, column in zip(FIELDS, zip(*records.rows, strict=True), strict=True)}
        file, line = np.array(records.file, dtype=np.int64), np.array(records.line, dtype=np.int64)
        end, begin = (cells[name].map(parse_time, np.int64) for name in ("END", "BEGIN"))
        state = cells["VALUE"].map(lambda word: parse_value(word)[1], np.int64)
        keep = np.ones(len(file), dtype=bool)
        for where, column, reason in (
            (state == BAD, "VALUE", "not a number"),
            ((begin > end) & (end != MISSING), "BEGIN", "the interval begins after its end"),
        ):
            rows = np.flatnonzero(where & keep)
            listed = [
                Quarantined(self.files[file[row]], int(line[row]), column, cells[column][row], reason)
                for row in rows[:LISTED].tolist()
            ]
            account.quarantine(listed, len(rows), f"{reason} (column {column!r})")
            keep &= ~where
        if not keep.any():
            raise LogError(f"no record of {', '.join(files[:5])} is left: {'; '.join(account.decisions)}")
        self.cells = {field: column.take(keep) for field, column in cells.items()}
        self.file, self.line, self.end, self.begin, self.state = (x[keep] for x in (file, line, end, begin, state))
        self.trial = np.array(records.trial, dtype=bool)[keep]
        self.values = self.cells["VALUE"].map(lambda word: parse_value(word)[0], np.float64)
        self.why = np.full(len(self.end), -1, dtype=np.int64)

    def series(self, uncertainty: bool, apparatus: bool, unvalidated: bool) -> Series:
        """The rows as one series of the log; see `read` for the options."""
        reasons, flags, doubted = self._mask(unvalidated)
        why = {0: self.why}
        values = [self.values]
        stated = int((self.cells["UNCERTAINTY"].map(bool, bool)).sum())
        if uncertainty:
            sigma, missing, more = standard_uncertainty(
                self.values, *(self.cells[f] for f in ("UNCERTAINTY", "UNCERTAINTY_TYPE", "UNCERTAINTY_UNIT", "UNIT"))
            )
            values.append(sigma)
            why[1] = np.where(missing < 0, -1, missing + len(reasons))
            reasons, flags = [*reasons, *more], [*flags, *[Flag.STATE] * len(more)]
        elif stated:
            self.account.decide(f"the uncertainty of {stated:,} record(s) was not taken; uncertainty=True takes it")
        group, keys = self._groups(apparatus)
        units, factor = units_of_groups(self.cells["UNIT"], group, [key.name for key in keys], self.account)
        with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked and counted later
            block = (np.stack(values, axis=1) * factor[:, None]).astype(np.float32)
        doubtful = self.trial | doubted
        note = np.where(doubtful[:, None] & ~np.isnan(block), np.uint16(Flag.DOUBTFUL), np.uint16(0))
        self._locate(keys)
        columns: list[Column] = []
        for key, unit in zip(keys, units, strict=True):
            place = self.places.get(key.code)
            columns.append(Column(key.name, key.name, unit, key.code, place, quantity_of(key.nuclide, unit)))
            if uncertainty:
                tag = f"{key.name} uncertainty"
                columns.append(Column(tag, tag, unit, key.code, place, "uncertainty", role="input"))
        return Series(
            time=self.end,
            group=group,
            values=block,
            columns=tuple(columns),
            value_names=("VALUE", "UNCERTAINTY") if uncertainty else ("VALUE",),
            time_name="END",
            station_of_group=tuple(key.code for key in keys),
            file=self.file,
            line=self.line,
            files=self.files,
            reasons={i: missing for i, missing in why.items() if (missing >= 0).any()},
            reason_names=tuple(reasons),
            reason_flags=tuple(flags),
            notes={i: note[:, i] for i in range(block.shape[1])} if note.any() else {},
            sampling=Sampling("end", self._interval()),
            time_texts=pa.chunked_array([pa.array(self.cells["END"].words).take(pa.array(self.cells["END"].codes))]),
            row=np.arange(len(self.end)),
        )

    def _mask(self, unvalidated: bool) -> tuple[list[str], list[Flag], Bools]:
        """Make values missing that are none; (reasons, flag of each, rows marked as not validated)."""
        constraint = self.cells["VALUE_CONSTRAINT"].map(_constraint, np.int64)
        state = np.where(self.state == FINE, constraint, self.state)
        there = ~np.isnan(self.values)
        marks = self.cells["VALIDATED"].map(lambda word: _VALIDATED.get(word.upper(), -1), np.int64)
        doubted = (marks == 0) & there & (state == FINE)
        odd = (marks < 0) & there
        if odd.any():
            word = self.cells["VALIDATED"][int(np.flatnonzero(odd)[0])]
            self.account.warn(f"{int(odd.sum()):,} value(s) have an unknown mark VALIDATED, e.g. {word!r}: kept")
        if doubted.any() and unvalidated:
            self.account.decide(
                f"{int(doubted.sum()):,} value(s) are marked as not validated; they were kept and flagged as doubtful "
                "(unvalidated=False leaves them out)"
            )
        if self.trial.any():
            self.account.warn(
                f"{int(self.trial.sum()):,} reading(s) are from messages marked as a test; they were kept, and flagged "
                "as doubtful"
            )
        faults = [state == BELOW, state == ABOVE, state == BAD, doubted & (not unvalidated)]
        for i, where in enumerate(faults):
            self.why[where] = i
            self.values[where] = np.nan
        return list(_REASONS), list(_REASONS.values()), doubted & unvalidated

    def _groups(self, apparatus: bool) -> tuple[Ints, list[_Key]]:
        """Group of each row, and the key of each group."""
        columns = [self.cells[f] for f in ("LOCALITY_CODE", "NUCLIDE", "SAMPLE_TYPE", "VALUE_TYPE", "APPARATUS")]
        used = columns if apparatus else columns[:-1]
        kinds, which = np.unique(np.stack([c.codes for c in used], axis=1), axis=0, return_inverse=True)
        index: dict[tuple[str, str], int] = {}
        keys: list[_Key] = []
        group_of_kind = np.zeros(len(kinds), dtype=np.int64)
        for i, kind in enumerate(kinds.tolist()):
            code, *rest = [column.words[word] for column, word in zip(used, kind, strict=True)]
            nuclide, sample, value_type, *instrument = [word.upper() for word in rest]
            name = tag_name(code, nuclide, sample, value_type, "".join(instrument))
            group_of_kind[i] = index.setdefault((code, name), len(index))
            if len(index) > len(keys):
                keys.append(_Key(code, nuclide or sample, name))
        group = group_of_kind[which.reshape(-1)]
        instruments = columns[-1]
        pairs = np.unique(group * len(instruments.words) + instruments.codes)
        several = int((np.bincount(pairs // len(instruments.words)) > 1).sum())
        if several and not apparatus:
            self.account.decide(f"{several:,} tag(s) come from several apparatus; apparatus=True keeps them apart")
        return group, keys

    def _locate(self, keys: Sequence[_Key]) -> None:
        """Places that only the records state, and which stations have none."""
        code, north, east = (self.cells[name] for name in ("LOCALITY_CODE", "LATITUDE", "LONGITUDE"))
        placed = np.flatnonzero(north.map(bool, bool) & east.map(bool, bool))
        _, first = np.unique(code.codes[placed], return_index=True)
        for row in placed[first].tolist():
            place = parse_place(north[row], east[row])
            if place is not None:
                self.places.setdefault(code[row], place)
        stations = dict.fromkeys(key.code for key in keys)
        unlisted = [name for name in stations if name not in self.records.declared]
        nowhere = [name for name in stations if name not in self.places]
        moved = [name for name in stations if name in self.records.moved]
        if unlisted:
            self.account.decide(f"{len(unlisted):,} station(s) are in no section LOCALITY: {_some(unlisted)}")
        if nowhere:
            self.account.warn(f"{len(nowhere):,} station(s) state no position: {_some(nowhere)}")
        if moved:
            self.account.warn(
                f"{len(moved):,} station(s) came with several positions; the first was taken: {_some(moved)}"
            )

    def _interval(self) -> float | None:
        """Seconds of the interval that most records have; the others are said."""
        known = (self.begin != MISSING) & (self.end != MISSING)
        unknown = int((~known).sum())
        if unknown:
            self.account.decide(f"{unknown:,} record(s) do not say when their interval begins")
        # whole seconds first: two times far apart would overflow in nanoseconds
        widths, counts = np.unique(self.end[known] // _SECOND - self.begin[known] // _SECOND, return_counts=True)
        if not len(widths):
            return None
        most = int(np.argmax(counts))
        usual = int(widths[most]) if counts[most] * 2 > len(self.end) else None
        others = [(int(w), int(c)) for w, c in zip(widths, counts, strict=True) if w != usual]
        if others:
            shown = ", ".join(f"{span(width * _SECOND)} ({count:,})" for width, count in others[:10])
            what = "no one interval" if usual is None else f"another interval than {span(usual * _SECOND)}"
            self.account.decide(f"{sum(c for _, c in others):,} record(s) stand for {what}: {shown}")
        return None if usual is None else float(usual)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10:,} more" if len(names) > 10 else "")


def _constraint(text: str) -> int:
    """What a VALUE_CONSTRAINT says of its value."""
    if text in ("", "="):
        return FINE
    return {"<": BELOW, ">": ABOVE}.get(text[0], BAD)
