"""What a rule looks at: the readings of one tag, and through them the network it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .flags import Flags
from .network import Network

if TYPE_CHECKING:
    from ..log import Tag

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: Quantities that are counted, and so noisy: an honest instrument repeats itself only by rounding.
RADIATION = frozenset(("dose_rate", "kerma_rate", "exposure_rate", "count_rate"))
_SAMPLE = 1024


@dataclass(frozen=True)
class Readings:
    """The R readings of one tag: what is there, without missing cells and without what an earlier rule set aside.

    Attributes
    ----------
    value: [R] float64, engineering units, finite.
    row: [R] row of the log's grid, increasing; neighbours differ by more than 1 across a gap.
    flags: [R] flags so far; none of `IGNORED`.
    tag: whose readings they are.
    step: seconds between two rows.
    column: the tag's column in the log.
    network: all tags of the log.
    level: median of the readings before any was set aside.
    scatter: σ of one of them, 1.4826 · median |Δ| / √2.
    resolution: what the readings are rounded to (see `rules.quantised`), 0 where they are not.
    """

    value: Array
    row: Ints
    flags: Flags
    tag: Tag
    step: float
    column: int
    network: Network
    level: float
    scatter: float
    resolution: float = 0.0

    @classmethod
    def of(
        cls, value: Array, row: Ints, flags: Flags, tag: Tag, step: float, column: int, network: Network
    ) -> Readings:
        """Readings of a tag with the level and scatter they have."""
        level = float(np.median(sample(value))) if len(value) else 0.0
        return cls(value, row, flags, tag, step, column, network, level, scatter_of(value))

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def counted(self) -> bool:
        """Whether counting noise is to be expected."""
        return self.tag.quantity in RADIATION

    @cached_property
    def change(self) -> Array:
        """[R - 1] from each reading to the next, across gaps."""
        return np.diff(self.value)

    @cached_property
    def jump(self) -> Array:
        """[R - 1] magnitude of `change`."""
        return np.abs(self.change)

    @property
    def noise(self) -> float:
        """σ of one reading: at least half the resolution, since noise that is smaller hides below the rounding."""
        return max(self.scatter, 0.5 * self.resolution)

    def steps(self, hours: float) -> int:
        """Grid steps in a time, at least 1."""
        return max(1, round(hours * 3600 / self.step))

    def without(self, index: Ints) -> Readings:
        """The readings that are left when these positions are set aside."""
        keep = np.ones(len(self), dtype=bool)
        keep[index] = False
        return replace(self, value=self.value[keep], row=self.row[keep], flags=self.flags[keep])


@dataclass(frozen=True)
class Finding:
    """What a rule found in the readings of one tag.

    Attributes
    ----------
    index: [K] positions in the readings (not rows of the grid) that get the rule's flag, increasing.
    note: what to say about this tag beside the count, e.g. ``"rounded to 10 nSv/h"``.
    resolution: the resolution found, for the rules that follow; ``None`` to leave it as it is.
    """

    index: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    note: str = ""
    resolution: float | None = None

    @classmethod
    def at(cls, index: Sequence[int] | Ints, note: str = "") -> Finding:
        """A finding at these positions, in any order."""
        return cls(np.unique(np.asarray(index, dtype=np.int64)), note)

    @classmethod
    def of_runs(cls, first: Ints, last: Ints, note: str = "") -> Finding:
        """A finding of all positions ``first <= i < last`` of several runs."""
        spans = [np.arange(a, b, dtype=np.int64) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return cls.at(np.concatenate(spans), note) if spans else cls()


def sample(values: Array) -> Array:
    """About a thousand of the values, evenly spread: a median needs no more."""
    return values[:: max(1, len(values) // _SAMPLE)]


def scatter_of(values: Array) -> float:
    """1.4826 · median |Δ| / √2 of neighbours, robust against steps and events; 0 for fewer than 3 values."""
    if len(values) < 3:
        return 0.0
    stride = max(1, (len(values) - 1) // _SAMPLE)
    change = np.abs(values[1::stride] - values[:-1:stride][: len(values[1::stride])])
    return float(1.4826 * np.median(change) / np.sqrt(2))


def runs_of(where: Bools) -> tuple[Ints, Ints]:
    """First and one past the last position of each run of True."""
    edge = np.flatnonzero(np.diff(np.concatenate(([False], where, [False])).astype(np.int8)))
    return edge[::2].astype(np.int64), edge[1::2].astype(np.int64)
