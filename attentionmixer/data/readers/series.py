"""Rows of a table before they are a log: times, groups, values, and where each row came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import LogError
from ..log import Tag
from .account import Account
from .clock import MISSING
from .columns import Column
from .grid import Bools, Ints, as_text

Values = NDArray[np.float32]
#: Values that loggers write for "none", far below anything a dose or count rate can be.
SENTINELS = (-999.0, -9999.0, -99999.0)
_CHUNK = 4096


@dataclass(frozen=True)
class Series:
    """Rows of all files.

    ``time`` [R] ns, ``group`` [R], ``values`` [R, V] in the units written; ``columns`` has a `Column` for each
    (group, value) pair, group first. ``bad_cells`` marks rows per value column whose text is no number; ``reasons``
    holds per value column why cells are missing (index into ``reason_names``, or -1). ``row`` is a row's number in
    ``texts`` and ``time_texts``, which keep the cells as written.
    """

    time: Ints
    group: Ints
    values: Values
    columns: tuple[Column, ...]
    value_names: tuple[str, ...]
    time_name: str
    station_of_group: tuple[str, ...] | None
    file: Ints
    line: Ints
    files: tuple[str, ...]
    bad_cells: dict[int, Bools] = field(default_factory=dict)
    reasons: dict[int, Ints] = field(default_factory=dict)
    reason_names: tuple[str, ...] = ()
    texts: Mapping[int, pa.ChunkedArray] = field(default_factory=dict)
    time_texts: pa.ChunkedArray | None = None
    row: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def take(self, keep: Bools) -> Series:
        """These rows only."""
        if keep.all():
            return self
        return replace(
            self,
            time=self.time[keep],
            group=self.group[keep],
            values=self.values[keep],
            file=self.file[keep],
            line=self.line[keep],
            row=self.row[keep],
            bad_cells={i: bad[keep] for i, bad in self.bad_cells.items()},
            reasons={i: why[keep] for i, why in self.reasons.items()},
        )

    def place(self, row: int) -> tuple[str, int]:
        """File and line of a row."""
        return self.files[self.file[row]], int(self.line[row])

    def where(self, row: int) -> str:
        """Names a row for people."""
        file, line = self.place(row)
        moment = "" if self.time[row] == MISSING else f" ({as_text(int(self.time[row]))})"
        return f"{file} line {line}{moment}"

    def time_text(self, row: int) -> str:
        """A row's time as written."""
        return "" if self.time_texts is None else str(self.time_texts[int(self.row[row])].as_py() or "")

    def cell_text(self, column: int, row: int) -> str:
        """A cell as written."""
        return str(self.texts[column][int(self.row[row])].as_py())

    def masked(self, kept: Ints) -> dict[str, int]:
        """Cells of the kept rows that a reader of text made missing, per reason."""
        counts: dict[str, int] = {}
        for why in self.reasons.values():
            for i, name in enumerate(self.reason_names):
                hits = int((why[kept] == i).sum())
                if hits:
                    counts[name] = counts.get(name, 0) + hits
        return counts

    def scatter(self, cell: Ints, values: Values, steps: int) -> Values:
        """[steps, groups x V] on the grid, NaN where no row came."""
        groups, width = len(self.columns) // max(1, len(self.value_names)), len(self.value_names)
        if groups == 1 and len(cell) == steps:
            return values
        if groups == 1:
            out = np.full((steps, width), np.nan, dtype=np.float32)
            out[cell] = values
            return out
        block = np.full((steps, groups, width), np.nan, dtype=np.float32)
        block[cell % steps, cell // steps] = values
        return block.reshape(steps, groups * width)


def finish(values: Values, tags: Sequence[Tag], factors: Sequence[float], account: Account) -> tuple[Values, list[Tag]]:
    """Convert to the tags' units, mask what cannot be, and drop columns that hold nothing. Works in place.

    Parameters
    ----------
    values: [T, N] in the units of the source.
    tags, factors: N tags, and what their values are multiplied by.
    account: where masked cells, dropped and constant columns are noted.

    Raises
    ------
    LogError: no column holds a number.
    """
    dose = np.array([tag.quantity == "dose_rate" for tag in tags])
    rate = dose | np.array([tag.quantity == "count_rate" for tag in tags])
    low = np.full(len(tags), np.nan, dtype=np.float32)
    high = low.copy()
    below = 0
    factor = np.asarray(factors, dtype=np.float64)
    for first in range(0, len(values), _CHUNK):
        part = values[first : first + _CHUNK]
        if rate.any():
            # before the conversion, since the sentinel was written in the source's unit
            sentinel = np.isin(part, SENTINELS) & rate
            _mask(part, sentinel, "sentinel such as -9999", account)
        if (factor != 1).any():
            with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked next
                part[:] = part * factor
        _mask(part, np.isinf(part), "not finite", account)
        if dose.any():
            # an ambient dose rate is never exactly 0; a little below 0 can be noise about a subtracted background
            _mask(part, (part == 0) & dose, "dose rate exactly 0", account)
            below += int(((part < 0) & dose).sum())
        low = np.fmin(low, np.fmin.reduce(part, axis=0))
        high = np.fmax(high, np.fmax.reduce(part, axis=0))
    if below:
        account.decide(f"{below:,} negative dose rate(s) were kept as they are")
    empty = np.flatnonzero(np.isnan(low))
    if len(empty) == len(tags):
        raise LogError("no column of the log holds a number")
    flat = [tags[i].name for i in np.flatnonzero(low == high).tolist()]
    if flat:
        account.decide(f"{len(flat)} column(s) never change, and were kept: {', '.join(flat[:20])}")
    if not len(empty):
        return values, list(tags)
    lost = [tags[i].name for i in empty.tolist()]
    account.decide(f"{len(lost)} column(s) hold no value and were dropped: {', '.join(lost)}")
    gone = set(empty.tolist())
    return np.delete(values, empty, axis=1), [tag for i, tag in enumerate(tags) if i not in gone]


def _mask(part: Values, where: Bools, reason: str, account: Account) -> None:
    count = int(where.sum())
    if count:
        account.mask(reason, count)
        part[where] = np.nan
