"""Rows before they are a log: where they came from, what is wrong with their cells, and their way to the grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from attentionmixer.data.quality import Flag
from attentionmixer.data.readers.clock import MISSING
from attentionmixer.data.readers.columns import Column
from attentionmixer.data.readers.series import Series

NAN = float("nan")
ORIGIN = pd.Timestamp("2024-05-01", tz="UTC").value
SECOND = 1_000_000_000


def rows(groups: int = 1, width: int = 2, **parts: Any) -> Series:
    """Four rows of two files."""
    names = tuple("AB"[:width])
    columns = tuple(Column(f"{g}{v}", f"{g}{v}", None) for g in range(groups) for v in names)
    made: dict[str, Any] = {
        "time": np.array([ORIGIN, MISSING, ORIGIN + SECOND, ORIGIN + 2 * SECOND]),
        "group": np.zeros(4, dtype=np.int64),
        "values": np.arange(4 * width, dtype=np.float32).reshape(4, width),
        "columns": columns,
        "value_names": names,
        "time_name": "time",
        "station_of_group": None,
        "file": np.array([0, 0, 1, 1]),
        "line": np.array([2, 3, 2, 5]),
        "files": ("a.csv", "b.csv"),
        "row": np.arange(4),
    }
    return Series(**{**made, **parts})


# --- rows ---


def test_a_row_names_its_file_line_and_time_if_it_has_one() -> None:
    made = rows()
    assert [made.place(i) for i in range(4)] == [("a.csv", 2), ("a.csv", 3), ("b.csv", 2), ("b.csv", 5)]
    assert made.where(1) == "a.csv line 3"
    assert made.where(3) == "b.csv line 5 (2024-05-01T00:00:02Z)"


def test_taking_all_rows_is_the_same_series_and_some_of_them_take_everything_along() -> None:
    texts = {1: pa.chunked_array([["w", "x", "y", "z"]])}
    made = rows(
        bad_cells={1: np.array([True, False, True, False])},
        reasons={0: np.array([-1, 0, 1, -1])},
        notes={1: np.array([1, 2, 4, 8], dtype=np.uint16)},
        texts=texts,
        time_texts=pa.chunked_array([["t0", None, "t2", "t3"]]),
    )
    assert made.take(np.ones(4, dtype=bool)) is made
    some = made.take(np.array([False, True, True, False]))
    assert some.time.tolist() == [MISSING, ORIGIN + SECOND]
    assert some.values.tolist() == [[2, 3], [4, 5]]
    assert (some.group.tolist(), some.file.tolist(), some.line.tolist()) == ([0, 0], [0, 1], [3, 2])
    assert some.bad_cells[1].tolist() == [False, True]
    assert some.reasons[0].tolist() == [0, 1]
    assert some.notes[1].tolist() == [2, 4]
    # cells keep the text they had in the file
    assert [some.cell_text(1, row) for row in (0, 1)] == ["x", "y"]
    assert [some.time_text(row) for row in (0, 1)] == ["", "t2"]
    assert some.where(0) == "a.csv line 3"
    assert rows().time_text(0) == ""


# --- cells with a reason ---


def test_cells_of_kept_rows_are_counted_for_each_reason() -> None:
    made = rows(
        reasons={0: np.array([0, 0, 1, -1]), 1: np.array([0, -1, -1, -1])}, reason_names=("bad", "below", "never")
    )
    assert made.masked(np.array([0, 1, 2, 3])) == {"bad": 3, "below": 1}
    assert made.masked(np.array([1])) == {"bad": 1}
    assert made.masked(np.array([3])) == {}


def test_flags_are_those_of_the_reasons_and_notes_of_the_kept_rows() -> None:
    made = rows(
        reasons={0: np.array([0, 1, -1, -1])},
        reason_names=("below", "bad"),
        reason_flags=(Flag.CENSORED,),
        notes={
            0: np.array([0, 0, 0, Flag.DOUBTFUL], dtype=np.uint16),
            1: np.array([Flag.SWAP, 0, 0, 0], dtype=np.uint16),
        },
    )
    flags = made.flags_of(np.array([0, 1, 2, 3]))
    assert flags is not None
    # a reason without a flag of its own is a state
    assert flags.tolist() == [[Flag.CENSORED, Flag.SWAP], [Flag.STATE, 0], [0, 0], [Flag.DOUBTFUL, 0]]
    assert made.flags_of(np.array([2])) is None
    assert rows().flags_of(np.array([0])) is None
    both = rows(
        reasons={0: np.zeros(4, dtype=int)}, reason_names=("bad",), notes={0: np.full(4, Flag.DOUBTFUL, np.uint16)}
    )
    found = both.flags_of(np.array([0]))
    assert found is not None and found[0, 0] == Flag.STATE | Flag.DOUBTFUL


# --- to the grid ---


def test_values_of_one_group_land_on_their_step_and_the_others_are_missing() -> None:
    values = np.array([[1, 2], [3, 4]], dtype=np.float32)
    np.testing.assert_array_equal(rows().scatter(np.array([0, 2]), values, 3), [[1, 2], [NAN, NAN], [3, 4]])
    whole = rows().scatter(np.array([0, 1]), values, 2)
    assert whole is values


def test_values_of_several_groups_land_in_their_columns() -> None:
    values = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)
    # cells count group by group: 0..2 are the steps of the first, 3..5 those of the second
    found = rows(groups=2).scatter(np.array([0, 2, 4]), values, 3)
    np.testing.assert_array_equal(found, [[1, 2, NAN, NAN], [NAN, NAN, 5, 6], [3, 4, NAN, NAN]])
    assert found.dtype == np.float32


def test_flags_go_where_their_values_go() -> None:
    made = rows(groups=2, reasons={1: np.array([-1, 0, -1, 0])}, reason_names=("bad",))
    flags = made.scatter_flags(np.array([0, 4, 5]), np.array([0, 1, 3]), 3)
    assert flags is not None
    assert flags.tolist() == [[0, 0, 0, 0], [0, 0, 0, Flag.STATE], [0, 0, 0, Flag.STATE]]
    assert made.scatter_flags(np.array([0]), np.array([0]), 3) is None


def test_rows_without_any_reason_or_note_have_no_flags_and_one_of_either_is_enough() -> None:
    note = np.array([Flag.DOUBTFUL, 0, 0, 0], dtype=np.uint16)
    assert rows().flags_of(np.arange(4)) is None
    for parts, flag in (
        ({"notes": {1: note}}, Flag.DOUBTFUL),
        ({"reasons": {1: np.array([0, -1, -1, -1])}, "reason_names": ("bad",)}, Flag.STATE),
    ):
        found = rows(**parts).flags_of(np.arange(4))
        assert found is not None and found.dtype == np.uint16
        assert found.tolist() == [[0, flag], [0, 0], [0, 0], [0, 0]]


@pytest.mark.parametrize("stated", [0, 1, 2])
def test_every_reason_that_states_no_flag_is_a_state(stated: int) -> None:
    made = rows(
        reasons={0: np.array([0, 1, 2, -1])},
        reason_names=("a", "b", "c"),
        reason_flags=(Flag.CENSORED, Flag.SENTINEL)[:stated],
    )
    found = made.flags_of(np.arange(4))
    assert found is not None
    expected = [Flag.CENSORED, Flag.SENTINEL, Flag.STATE][:stated] + [Flag.STATE] * (3 - stated)
    assert found[:, 0].tolist() == [*expected, 0]


@pytest.mark.parametrize("width", [1, 2])
def test_what_lands_on_the_grid_keeps_its_type_for_one_group_or_several(width: int) -> None:
    for groups in (1, 2):
        made = rows(groups=groups, width=width, notes={0: np.full(4, Flag.SWAP, dtype=np.uint16)})
        found = made.scatter(np.array([1, 2]), np.ones((2, width), dtype=np.float32), 3)
        flags = made.scatter_flags(np.array([1, 2]), np.array([0, 1]), 3)
        assert flags is not None
        assert found.shape == flags.shape == (3, groups * width)
        assert (found.dtype, flags.dtype) == (np.float32, np.uint16)
        assert np.isnan(found[0]).all() and (found[1:, :width] == 1).all()
        assert flags[:, 0].tolist() == [0, Flag.SWAP, Flag.SWAP]


def test_a_series_of_no_rows_stated_has_none_and_says_nothing_of_its_cells() -> None:
    made = Series(
        *(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.float32)),
        *((Column("A", "A", None),), ("A",), "time", None),
        *(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), ()),
    )
    assert (made.row.shape, made.row.dtype) == ((0,), np.int64)
    assert (made.bad_cells, made.reasons, made.notes, made.texts) == ({}, {}, {}, {})
    assert (made.reason_names, made.reason_flags, made.sampling, made.time_texts) == ((), (), None, None)
