"""What the other tags of a log say about one moment: whether a neighbour agrees."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .middle import medians

if TYPE_CHECKING:
    from ..log import Tag

_SAMPLE = 1024
_NEAREST = 8
_WITNESSES = 24
_CHUNK = 4096


class Network:
    """All tags of a log, looked at only where a rule suspects something.

    Parameters
    ----------
    values: [T, N] of the log, NaN = missing; not copied.
    tags: N tags.
    """

    def __init__(self, values: NDArray[np.float32], tags: Sequence[Tag]) -> None:
        self.values = values
        self.tags = tuple(tags)
        self._kind = _numbers([(tag.quantity, tag.unit) for tag in tags])
        # a tag without a station stands alone
        self._station = _numbers([tag.station or (tag.name,) for tag in tags])
        nowhere = (np.nan, np.nan)
        self._place = np.radians([tag.coordinates or nowhere for tag in tags], dtype=np.float64).reshape(-1, 2)
        self._others: dict[int, NDArray[np.int64]] = {}
        self._common: dict[int, NDArray[np.float64] | None] = {}

    def others(self, column: int) -> NDArray[np.int64]:
        """Columns of the same quantity and unit at other stations: the nearest 8 where all have coordinates, else all.

        Tags of one station share an instrument or its power, so they do not bear witness for each other.
        """
        if column not in self._others:
            alike = (self._kind == self._kind[column]) & (self._station != self._station[column])
            self._others[column] = self._nearest(column, np.flatnonzero(alike).astype(np.int64))
        return self._others[column]

    def agree(self, column: int, row: int, direction: float, reach: int, sigmas: float = 5.0) -> tuple[int, int]:
        """How many others could have moved near a row, and how many did.

        One *moved* where its second farthest reading within ``reach`` rows lies more than ``sigmas`` of its noise, in
        the direction asked for, from its median before; the second, since one reading alone may be a fault itself.
        """
        others = self.others(column)
        first, last = max(0, row - reach), min(len(self.values), row + reach + 1)
        before = medians(self.values[max(0, first - 6) : first + 1, others].T.astype(np.float64))
        beyond = np.sort(direction * (self.values[first:last, others].T.astype(np.float64) - before[:, None]), axis=1)
        count = (~np.isnan(beyond)).sum(axis=1)
        heard = np.flatnonzero(count >= 2)
        far = beyond[heard, count[heard] - 2]
        demand = np.maximum(sigmas * self.noises[others[heard]], 1e-6 * np.abs(self.levels[others[heard]]))
        return len(heard), int((far > demand).sum())

    def common(self, column: int) -> NDArray[np.float64] | None:
        """[T] what the tags of a column's quantity and unit do together, as a share of their levels.

        Median of x / median(x) - 1 over up to 24 of them, 0 where none has a reading; ``None`` for fewer than 4 tags.
        """
        kind = int(self._kind[column])
        if kind not in self._common:
            # a comparison with the level of an empty column is False
            alike = np.flatnonzero((self._kind == kind) & (self.levels > 0))
            # by name, so that the order of columns does not choose the witnesses
            alike = alike[np.argsort([self.tags[i].name for i in alike.tolist()])]
            alike = alike[:: max(1, len(alike) // _WITNESSES)][:_WITNESSES]
            self._common[kind] = self._median_share(alike) if len(alike) >= 4 else None
        return self._common[kind]

    @cached_property
    def noises(self) -> NDArray[np.float64]:
        """[N] σ of one reading of each column: 1.4826 · median |Δ| / √2, from an even sample of rows; 0 if unknown."""
        stride = max(1, (len(self.values) - 1) // _SAMPLE)
        later = self.values[1::stride].astype(np.float64)
        change = np.abs(later - self.values[:-1:stride][: len(later)])
        return np.nan_to_num(1.4826 * medians(change.T) / np.sqrt(2))

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """[N] median of each column, from an even sample of rows; NaN where it holds nothing."""
        return medians(self.values[:: max(1, len(self.values) // _SAMPLE)].T.astype(np.float64))

    def _median_share(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        median = np.empty(len(self.values))
        for first in range(0, len(median), _CHUNK):
            part = self.values[first : first + _CHUNK, columns]
            median[first : first + _CHUNK] = medians(part / self.levels[columns] - 1)
        return np.nan_to_num(median)

    def _nearest(self, column: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
        here, there = self._place[column], self._place[others]
        if len(others) <= _NEAREST or np.isnan(here).any() or np.isnan(there).any():
            return others
        north = there[:, 0] - here[0]
        east = (np.mod(there[:, 1] - here[1] + np.pi, 2 * np.pi) - np.pi) * np.cos(here[0])
        return others[np.argsort(np.hypot(north, east), kind="stable")[:_NEAREST]]


def _numbers(labels: Sequence[Hashable]) -> NDArray[np.int64]:
    """A number for each label, the same for equal ones."""
    seen = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return np.array([seen[label] for label in labels], dtype=np.int64)
