"""Value columns of a file as one float32 array, filled piece by piece so that nothing is held twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..cells import Cells, Reason
from ..grid import Ints
from ..limits import Limits


@dataclass
class OddCells:
    """Cells of one value column that are no plain numbers.

    ``row`` [K] are their rows and ``reason`` [K] the index of why each is missing, or -1 for text that means nothing,
    which ``text`` keeps by row.
    """

    row: Ints
    reason: NDArray[np.int32]
    text: dict[int, str]


@dataclass
class Numbers:
    """Value columns of a file.

    ``names`` (V) and ``values`` [R, V], NaN = missing; ``odd`` holds the odd cells per column position, ``reasons`` why
    some are missing.
    """

    names: tuple[str, ...]
    values: NDArray[np.float32]
    odd: dict[int, OddCells] = field(default_factory=dict)
    reasons: tuple[Reason, ...] = ()


class NumbersBuilder:
    """Gathers `Numbers` from pieces of rows.

    Parameters
    ----------
    names: V value columns.
    where: names the source, for messages.
    limits: rows, and bytes of the array, are checked before memory is asked for.
    """

    def __init__(self, names: Sequence[str], where: str, limits: Limits) -> None:
        self.names, self.where, self.limits = tuple(names), where, limits
        self.rows = 0
        self._values = np.empty((0, len(self.names)), dtype=np.float32)
        self._odd: dict[int, list[OddCells]] = {}
        self._reasons: dict[Reason, int] = {}

    def reserve(self, rows: int) -> None:
        """Make room for about so many rows in all. Memory that is never filled is never taken from the machine."""
        if len(self._values) < min(rows, self._most()):
            self._grow(min(rows, self._most()), self.rows)

    def extend(self, rows: int) -> None:
        """So many rows more, to be filled. Raises `LogError` where that is over the limits."""
        before, self.rows = self.rows, self.rows + rows
        self.limits.check("rows", self.rows, self.where)
        self.limits.check("bytes", 4 * self.rows * len(self.names), f"{self.where}, as an array,")
        if self.rows > len(self._values):
            self._grow(max(self.rows, min(2 * before, self._most())), before)

    def append(self, block: NDArray[np.floating[Any]], odd: Sequence[tuple[int, Cells]] = ()) -> None:
        """Add rows: ``block`` [r, V], and the columns of it that hold odd cells. Raises `LogError` as `extend` does."""
        first = self.rows
        self.extend(len(block))
        self.fill(slice(first, self.rows), 0, block)
        for column, cells in odd:
            self._add_odd(column, first, cells)

    def fill(self, rows: slice, column: int, block: NDArray[np.floating[Any]]) -> None:
        """Write a part of the rows: ``block`` [r, v], its columns from ``column`` on."""
        with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked and counted later
            self._values[rows, column : column + block.shape[1]] = block

    def done(self) -> Numbers:
        """All of it."""
        odd = {
            column: OddCells(
                np.concatenate([part.row for part in parts]),
                np.concatenate([part.reason for part in parts]),
                {row: text for part in parts for row, text in part.text.items()},
            )
            for column, parts in sorted(self._odd.items())
        }
        return Numbers(self.names, self._values[: self.rows], odd, tuple(self._reasons))

    def _most(self) -> int:
        """Rows that the limits allow."""
        return min(self.limits.rows, self.limits.bytes // (4 * max(1, len(self.names))))

    def _grow(self, room: int, rows: int) -> None:
        larger = np.empty((room, len(self.names)), dtype=np.float32)
        larger[:rows] = self._values[:rows]
        self._values = larger

    def _add_odd(self, column: int, first: int, cells: Cells) -> None:
        rows = np.flatnonzero(cells.bad | (cells.reason >= 0))
        if not len(rows):
            return
        codes = [self._reasons.setdefault(reason, len(self._reasons)) for reason in cells.reasons]
        reason = np.array([*codes, -1], dtype=np.int32)[cells.reason[rows]]
        texts = {int(row) + first: cells.text(int(row)) for row in rows[reason < 0]}
        self._odd.setdefault(column, []).append(OddCells(rows + first, reason, texts))


def to_rows(table: pa.Table) -> NDArray[np.floating[Any]]:
    """Columns of float numbers as one array [rows, columns], NaN for null."""
    if not table.num_columns or not table.num_rows:
        return np.empty((table.num_rows, table.num_columns), dtype=np.float32)
    parts = [batch.to_tensor(null_to_nan=True, row_major=True).to_numpy() for batch in table.to_batches()]
    array: NDArray[np.floating[Any]] = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return array
