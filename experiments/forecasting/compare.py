"""Is one model better than another, on these windows? Paired, over blocks of time and over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attentionmixer.interpret.bootstrap import block_draws

#: Groups in a block: what hangs together in time (`scoring.per_group`).
BLOCK = 8
DRAWS = 2000


@dataclass(frozen=True)
class Difference:
    """Relative difference of the mean squared error, ours / theirs − 1, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``tie`` (the interval holds 0)."""
        return "better" if self.high < 0 else "worse" if self.low > 0 else "tie"


def difference(ours: Sequence[Any], theirs: Sequence[Any], seed: int = 0) -> Difference:
    """Compare two models by their results (`cell.measure`), one for each seed.

    Moving blocks of groups of windows are drawn with replacement, the same for both, and so are seeds, for each by
    itself: the interval covers another stretch of time and another training (`block_draws`).
    """
    a, b = _sums(ours), _sums(theirs)
    if a.shape[1:] != b.shape[1:] or not np.array_equal(a[0, 1], b[0, 1]):
        raise ValueError("the two were not measured on the same windows")
    generator = np.random.default_rng(seed)
    ratios = [
        _error(a, generator, rows) / _error(b, generator, rows) - 1
        for rows in block_draws(a.shape[2], BLOCK, DRAWS, seed)
    ]
    everything = a[:, 0].sum() / a[:, 1].sum(), b[:, 0].sum() / b[:, 1].sum()
    low, high = np.quantile(ratios, (0.025, 0.975))
    return Difference(float(everything[0] / everything[1] - 1), float(low), float(high))


def _sums(results: Sequence[Any]) -> NDArray[np.float64]:
    """[seeds, 2, groups]: squared error and count."""
    found: NDArray[np.float64] = np.array([[result["test"]["groups"][i] for i in (0, 2)] for result in results])
    return found


def _error(sums: NDArray[np.float64], generator: np.random.Generator, rows: NDArray[np.int64]) -> float:
    seeds = generator.integers(0, len(sums), len(sums))
    square, count = sums[seeds][:, :, rows].sum(axis=(0, 2))
    return float(square / count)
