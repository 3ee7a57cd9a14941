"""Rows of a table before they are a log: times, groups, values, and where each row came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..log import Sampling
from ..quality import Flag, Flags
from .clock import MISSING
from .columns import Column
from .grid import Bools, Ints, as_text

Values = NDArray[np.float32]


@dataclass(frozen=True)
class Series:
    """Rows of all files.

    ``time`` [R] ns, ``group`` [R], ``values`` [R, V] in the units written; ``columns`` has a `Column` for each
    (group, value) pair, group first. ``bad_cells`` marks rows per value column whose text is no number; ``reasons``
    holds per value column why cells are missing (index into ``reason_names``, or -1), and ``reason_flags`` the flag of
    each reason (`Flag.STATE` where there are none); ``notes`` holds per value column flags of cells that keep their
    value. ``row`` is a row's number in ``texts`` and ``time_texts``, which keep the cells as written.
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
    reason_flags: tuple[Flag, ...] = ()
    notes: dict[int, Flags] = field(default_factory=dict)
    sampling: Sampling | None = None
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
            notes={i: note[keep] for i, note in self.notes.items()},
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

    def flags_of(self, kept: Ints) -> Flags | None:
        """[kept, V] flags of the kept rows' cells, or ``None`` where none has any."""
        if not self.reasons and not self.notes:
            return None
        flags = np.zeros((len(kept), len(self.value_names)), dtype=np.uint16)
        codes = [*self.reason_flags, *[Flag.STATE] * (len(self.reason_names) - len(self.reason_flags))]
        lookup = np.array([*codes, 0], dtype=np.uint16)
        for i, why in self.reasons.items():
            flags[:, i] = lookup[why[kept]]
        for i, note in self.notes.items():
            flags[:, i] |= note[kept]
        return flags if flags.any() else None

    def scatter_flags(self, cell: Ints, kept: Ints, steps: int) -> Flags | None:
        """[steps, groups x V] flags on the grid, or ``None`` where there are none."""
        flags = self.flags_of(kept)
        if flags is None:
            return None
        groups, width = len(self.columns) // len(self.value_names), len(self.value_names)
        block = np.zeros((steps, groups, width), dtype=np.uint16)
        block[cell % steps, cell // steps] = flags
        return block.reshape(steps, groups * width)

    def scatter(self, cell: Ints, values: Values, steps: int) -> Values:
        """[steps, groups x V] on the grid, NaN where no row came."""
        groups, width = len(self.columns) // len(self.value_names), len(self.value_names)
        if groups == 1 and len(cell) == steps:
            return values
        if groups == 1:
            out = np.full((steps, width), np.nan, dtype=np.float32)
            out[cell] = values
            return out
        block = np.full((steps, groups, width), np.nan, dtype=np.float32)
        block[cell % steps, cell // steps] = values
        return block.reshape(steps, groups * width)
