"""Rows that fall on the same step of the same series: one is kept, by a stated policy, and the others are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import LogError
from .grid import Ints

Floats = NDArray[np.floating[Any]]

POLICIES: tuple[str, ...] = ("error", "first", "last", "mean", "nearest")


@dataclass(frozen=True)
class Merge:
    """Result of `merge_duplicates`.

    ``keep`` are positions of the rows kept, in order of cell, and ``cell`` their cells; ``merged`` counts the rows that
    went into a kept one and ``identical`` how many of these said exactly the same; ``values`` [kept, tags] are the
    values of the kept rows.
    """

    keep: Ints
    cell: Ints
    values: Floats
    merged: int
    identical: int


def merge_duplicates(
    cell: Ints,
    values: Floats,
    policy: str,
    *,
    distance: Ints | None = None,
    describe: Callable[[int], str] | None = None,
) -> Merge:
    """One row a cell (a cell is a station at a grid step).

    Rows that repeat a kept row exactly, blanks included, are merged under every policy. Rows that disagree follow the
    policy: ``error`` refuses, ``first`` and ``last`` go by file order, ``mean`` averages what is not missing,
    ``nearest`` keeps the row with the smallest ``distance`` (the earlier in the file on a tie).
    ``describe(position)`` names a row for the error message.
    """
    if policy not in POLICIES:
        raise LogError(f"duplicates={policy!r} is unknown; choose one of {', '.join(POLICIES)}")
    if policy == "nearest" and distance is None:
        raise LogError("duplicates='nearest' needs times that are rounded to a grid; choose error, first, last or mean")
    if (cell[1:] > cell[:-1]).all():
        return Merge(np.arange(len(cell)), cell, values, 0, 0)
    order = np.argsort(cell, kind="stable")
    if policy == "nearest" and distance is not None:
        order = np.lexsort((np.arange(len(cell)), distance, cell))
    sorted_cell = cell[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = sorted_cell[1:] != sorted_cell[:-1]
    if is_first.all():
        return Merge(order, sorted_cell, values[order], 0, 0)

    group = np.cumsum(is_first) - 1
    first_row, later = order[is_first], np.flatnonzero(~is_first)
    a, b = values[order[later]], values[first_row[group[later]]]
    same = ((a == b) | (np.isnan(a) & np.isnan(b))).all(axis=1)
    if policy == "error" and not same.all():
        clash = later[~same]
        shown = [describe(int(order[i])) if describe else f"row {order[i]}" for i in clash[:5]]
        raise LogError(
            f"{len(clash)} row(s) fall on a time that another row has, with other values; first: {'; '.join(shown)}. "
            "Choose duplicates='first', 'last' or 'mean', or correct the log"
        )
    keep = first_row
    kept_values = values[keep]
    if policy == "last":
        is_last = np.ones(len(order), dtype=bool)
        is_last[:-1] = is_first[1:]
        keep = order[is_last]
        kept_values = values[keep]
    elif policy == "mean":
        # only the cells that really hold several rows, so that a clean log costs nothing here
        doubled = np.unique(group[later])
        rows = np.flatnonzero(np.isin(group, doubled))
        frame = pd.DataFrame(values[order[rows]]).groupby(group[rows]).mean()
        kept_values[doubled] = frame.to_numpy()
    return Merge(keep, cell[keep], kept_values, len(later), int(same.sum()))
