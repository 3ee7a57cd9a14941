"""Intervals for numbers that were measured on windows which overlap and follow one another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def block_draws(windows: int, block: int, draws: int, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """Rows of windows for each draw: moving blocks with replacement, as many windows as there are.

    Parameters
    ----------
    windows: number of windows, in order of time. block: windows that hang together, at least 1; a quarter of all at
        most. draws: number of draws. seed: of the generator; equal seeds draw equal rows, so comparisons are paired.

    Source: Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 1989.
    """
    if windows < 1 or block < 1:
        raise ValueError(f"windows and block must be at least 1, not {windows} and {block}")
    generator = np.random.default_rng(seed)
    block = min(block, max(1, windows // 4))
    wanted = -(-windows // block)
    for _ in range(draws):
        first = generator.integers(0, windows - block + 1, wanted)
        yield (first[:, None] + np.arange(block)).ravel()[:windows]
