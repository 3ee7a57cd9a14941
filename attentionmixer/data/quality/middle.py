"""Medians of many short windows at once, with missing values passed over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def medians(rows: Array) -> Array:
    """[K] median of each row of [K, w], NaN passed over; NaN where a row holds nothing. No warning for those."""
    ordered = np.sort(rows, axis=1)  # NaN come last
    count = (~np.isnan(ordered)).sum(axis=1)
    each, last = np.arange(len(ordered)), np.maximum(count - 1, 0)
    return np.asarray((ordered[each, last // 2] + ordered[each, (last + 1) // 2]) / 2, dtype=np.float64)


def medians_between(value: Array, first: Ints, last: Ints) -> Array:
    """[K] median of each ``value[first:last]``; bounds are cut to the values there are, NaN where nothing is left."""
    first, last = np.maximum(first, 0), np.minimum(last, len(value))
    width = int((last - first).max(initial=1))
    index = first[:, None] + np.arange(max(1, width))
    inside = index < last[:, None]
    return medians(np.where(inside, value[np.minimum(index, len(value) - 1)], np.nan))
