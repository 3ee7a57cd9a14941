"""Do maps of other seeds or other months say the same?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata


@dataclass(frozen=True)
class Stability:
    """Agreement of maps of the same routes, pair by pair.

    Attributes
    ----------
    rank_correlation: mean over pairs of maps of Spearman's ρ over all routes; NaN where a map is constant.
    jaccard: mean over pairs of |A ∩ B| / |A ∪ B| for the ``top`` strongest routes of each.
    lowest: smallest rank correlation of a pair. top: routes compared. maps: number of maps.
    """

    rank_correlation: float
    jaccard: float
    lowest: float
    top: int
    maps: int


def stability(strengths: Sequence[NDArray[np.floating]], top: int = 10, *, own: bool = False) -> Stability:
    """Compare at least two maps [N, S] of the same routes; without ``own`` those from a node to itself are left out.

    ρ is Pearson's correlation of ranks, ties at their mean rank. A closed route has strength 0, so maps that close the
    same routes agree on them.

    Raises ``ValueError`` for fewer than two maps, for different shapes, and for strengths that are not numbers.
    """
    if len(strengths) < 2:
        raise ValueError("stability needs at least two maps")
    shapes = {np.shape(strength) for strength in strengths}
    if len(shapes) > 1:
        raise ValueError(f"the maps have different shapes: {sorted(shapes)}")
    rows, columns = next(iter(shapes))
    chosen = np.ones((rows, columns), dtype=bool) if own else ~np.eye(rows, columns, dtype=bool)
    flat = np.array([np.asarray(strength, dtype=np.float64)[chosen] for strength in strengths])
    if not np.isfinite(flat).all():
        raise ValueError("a strength is not a number")
    ranks = rankdata(flat, axis=1)
    best = [set(np.argsort(-values, kind="stable")[:top].tolist()) for values in flat]
    pairs = [(a, b) for a in range(len(flat)) for b in range(a)]
    correlation = [_pearson(ranks[a], ranks[b]) for a, b in pairs]
    shared = [len(best[a] & best[b]) / len(best[a] | best[b]) for a, b in pairs]
    return Stability(
        float(np.mean(correlation)),
        float(np.mean(shared)),
        float(np.min(correlation)),
        min(top, flat.shape[1]),
        len(flat),
    )


def _pearson(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    spread = a.std() * b.std()
    return float(((a - a.mean()) * (b - b.mean())).mean() / spread) if spread > 0 else float("nan")
