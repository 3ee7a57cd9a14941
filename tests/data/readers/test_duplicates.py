"""Rows that fall on one step of one series: one is kept by a stated policy, and the others are counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data.readers.duplicates import POLICIES, Merge, merge_duplicates
from attentionmixer.errors import LogError

NAN = float("nan")


def merge(cell: list[int], values: list[list[float]], policy: str, distance: list[int] | None = None) -> Merge:
    far = None if distance is None else np.array(distance, dtype=np.int64)
    block = np.array(values, dtype=np.float32).reshape(len(cell), -1)
    return merge_duplicates(np.array(cell, dtype=np.int64), block, policy, distance=far)


def facts(found: Merge) -> tuple[list[int], list[int], int, int]:
    return found.keep.tolist(), found.cell.tolist(), found.merged, found.identical


@pytest.mark.parametrize("policy", ["error", "first", "last", "mean"])
def test_rows_in_order_without_duplicates_are_handed_on_untouched(policy: str) -> None:
    found = merge([0, 2, 5], [[1], [2], [3]], policy)
    assert facts(found) == ([0, 1, 2], [0, 2, 5], 0, 0)
    assert found.values[:, 0].tolist() == [1, 2, 3]


def test_rows_out_of_order_are_sorted_by_their_cell() -> None:
    found = merge([5, 0, 2], [[3], [1], [2]], "error")
    assert facts(found) == ([1, 2, 0], [0, 2, 5], 0, 0)
    assert found.values[:, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("policy", POLICIES)
def test_rows_that_repeat_exactly_are_merged_under_every_policy_blanks_included(policy: str) -> None:
    found = merge([0, 1, 1, 1], [[1, NAN], [2, NAN], [2, NAN], [2, NAN]], policy, [0, 0, 0, 0])
    assert (found.cell.tolist(), found.merged, found.identical) == ([0, 1], 2, 2)
    np.testing.assert_array_equal(found.values, [[1, NAN], [2, NAN]])


@pytest.mark.parametrize(
    ("one", "other"), [([2, NAN], [2, 3]), ([2, 3], [2, NAN]), ([2, 3], [2, 4]), ([NAN, 3], [3, NAN])]
)
def test_rows_that_differ_in_any_cell_are_refused_by_default(one: list[float], other: list[float]) -> None:
    with pytest.raises(
        LogError, match=r"1 row\(s\) fall on a time that another row has, with other values; first: row 1\."
    ):
        merge([1, 1], [one, other], "error")
    assert merge([1, 1], [one, other], "first").identical == 0


def test_the_rows_that_disagree_are_named_up_to_five_of_them() -> None:
    values = np.arange(8, dtype=np.float32)[:, None]
    with pytest.raises(LogError, match=r"7 row\(s\) fall") as caught:
        merge_duplicates(np.zeros(8, dtype=np.int64), values, "error", describe=lambda row: f"line {row + 2}")
    assert "line 3; line 4; line 5; line 6; line 7. Choose duplicates='first'" in str(caught.value)
    assert "line 8" not in str(caught.value)


@pytest.mark.parametrize(
    ("policy", "keep", "value"),
    [("first", [0, 1], 5.0), ("last", [0, 4], 8.0), ("mean", [0, 1], 6.0), ("nearest", [0, 3], 6.0)],
)
def test_each_policy_keeps_what_it_says(policy: str, keep: list[int], value: float) -> None:
    found = merge([0, 3, 3, 3, 3], [[1], [5], [5], [6], [8]], policy, [0, 9, 7, 2, 2])
    # under nearest, the first of the cell is the nearest, and no other says the same
    assert facts(found) == (keep, [0, 3], 3, 0 if policy == "nearest" else 1)
    assert found.values[:, 0].tolist() == [1, value]


def test_of_two_rows_equally_near_the_earlier_in_the_file_is_kept() -> None:
    assert merge([4, 4, 4], [[1], [2], [3]], "nearest", [5, 3, 3]).keep.tolist() == [1]


def test_a_mean_is_of_what_is_not_missing_and_leaves_single_rows_as_they_are() -> None:
    found = merge([0, 0, 1, 2, 2], [[1, NAN], [3, NAN], [0.1, NAN], [NAN, 4], [5, NAN]], "mean")
    np.testing.assert_array_equal(found.values, np.array([[2, NAN], [0.1, NAN], [5, 4]], dtype=np.float32))
    assert (found.merged, found.identical) == (2, 0)


def test_a_policy_that_is_none_or_cannot_be_used_is_refused() -> None:
    with pytest.raises(LogError, match="duplicates='best' is unknown; choose one of error, first, last, mean, nearest"):
        merge([0, 1], [[1], [2]], "best")
    with pytest.raises(LogError, match="duplicates='nearest' needs times that are rounded to a grid"):
        merge([0, 1], [[1], [2]], "nearest")


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([1.0, 2.0, NAN]), st.integers(0, 3)), min_size=1, max_size=12
    ),
    policy=st.sampled_from(["first", "last", "mean", "nearest"]),
)
def test_every_policy_does_what_a_loop_over_the_cells_does(rows: list[tuple[int, float, int]], policy: str) -> None:
    found = merge([r[0] for r in rows], [[r[1]] for r in rows], policy, [r[2] for r in rows])
    cells = sorted({r[0] for r in rows})
    assert found.cell.tolist() == cells
    assert found.merged + len(found.keep) == len(rows)
    for cell, keep, (got,) in zip(cells, found.keep.tolist(), found.values.tolist(), strict=True):
        mine = [i for i, row in enumerate(rows) if row[0] == cell]
        values = [rows[i][1] for i in mine if not np.isnan(rows[i][1])]
        chosen = {"first": mine[0], "last": mine[-1], "mean": mine[0], "nearest": min(mine, key=lambda i: rows[i][2])}
        assert keep == chosen[policy]
        wanted = (np.mean(values) if values else NAN) if policy == "mean" else rows[keep][1]
        np.testing.assert_allclose(got, wanted)
