"""Value columns gathered piece by piece."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from attentionmixer.data.quality import Flag
from attentionmixer.data.readers.cells import read_cells
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.table.values import NumbersBuilder, to_rows
from attentionmixer.errors import LogError

NAN = float("nan")


def builder(columns: int = 2, **limits: int) -> NumbersBuilder:
    return NumbersBuilder([f"c{i}" for i in range(columns)], "f.csv", Limits(**limits))


def block(rows: int, columns: int = 2, start: int = 0) -> NDArray[np.float64]:
    return np.arange(start, start + rows * columns, dtype=np.float64).reshape(rows, columns)


@pytest.mark.parametrize("sizes", [[0], [1], [3, 1, 5], [1, 1, 1, 1, 1], [2, 0, 9]])
@pytest.mark.parametrize("reserved", [0, 1, 4, 1000])
def test_pieces_of_any_size_and_any_room_give_the_rows_in_order(sizes: list[int], reserved: int) -> None:
    made, start = builder(), 0
    made.reserve(reserved)
    for size in sizes:
        made.append(block(size, start=2 * start))
        start += size
    assert made.rows == start
    numbers = made.done()
    assert numbers.names == ("c0", "c1")
    assert numbers.values.dtype == np.float32
    assert (numbers.odd, numbers.reasons) == ({}, ())
    np.testing.assert_array_equal(numbers.values, block(start))


def test_room_reserved_later_keeps_the_rows_there_are() -> None:
    made = builder()
    made.append(block(3))
    made.reserve(50)
    made.reserve(2)
    made.append(block(2, start=6))
    np.testing.assert_array_equal(made.done().values, block(5))


def test_rows_up_to_the_limit_are_taken_and_one_more_refused() -> None:
    made = builder(rows=5)
    made.reserve(10**15)
    made.append(block(3))
    made.append(block(2))
    with pytest.raises(LogError, match=r"^f\.csv holds 6 row\(s\) or more; the limit is 5\."):
        made.append(block(1))


def test_bytes_of_the_array_up_to_the_limit_are_taken_and_one_more_row_refused() -> None:
    made = builder(bytes=40)
    made.reserve(10**15)
    made.append(block(4))
    made.append(block(1))
    with pytest.raises(LogError, match=r"^f\.csv, as an array, holds 48 byte\(s\) .*; the limit is 40\."):
        made.append(block(1))


def test_a_file_without_value_columns_still_counts_its_rows() -> None:
    made = builder(0, rows=3)
    made.reserve(10)
    made.append(np.empty((3, 0)))
    assert made.done().values.shape == (3, 0)
    with pytest.raises(LogError, match=r"4 row\(s\)"):
        made.extend(1)


def test_a_part_of_the_rows_and_columns_can_be_filled() -> None:
    made = builder(3)
    made.extend(3)
    made.fill(slice(0, 3), 0, np.zeros((3, 3)))
    made.fill(slice(1, 3), 1, np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(made.done().values, [[0, 0, 0], [0, 1, 2], [0, 3, 4]])


def test_what_overflows_becomes_infinite_without_a_warning() -> None:
    made = builder(1)
    with np.errstate(all="raise"):
        made.append(np.array([[1e300], [-1e300]]))
    assert made.done().values.tolist() == [[np.inf], [-np.inf]]


def test_odd_cells_keep_their_rows_reasons_and_texts_over_pieces() -> None:
    made = builder(2)
    first = read_cells(pa.chunked_array([["1", "Bad", "windy"]]))
    second = read_cells(pa.chunked_array([["<0.1", "Bad", "gusty"]]))
    plain = read_cells(pa.chunked_array([["1", "2", "3"]]))
    made.append(np.full((3, 2), NAN), [(1, first), (0, plain)])
    made.append(np.full((3, 2), NAN), [(1, second), (0, first)])
    numbers = made.done()
    assert [(reason.text, reason.flag) for reason in numbers.reasons] == [
        ("state 'Bad'", Flag.STATE),
        (second.reasons[0].text, Flag.CENSORED),
    ]
    assert list(numbers.odd) == [0, 1]
    assert numbers.odd[1].row.tolist() == [1, 2, 3, 4, 5]
    assert numbers.odd[1].reason.tolist() == [0, -1, 1, 0, -1]
    assert numbers.odd[1].reason.dtype == np.int32
    assert numbers.odd[1].text == {2: "windy", 5: "gusty"}
    assert (numbers.odd[0].row.tolist(), numbers.odd[0].text) == ([4, 5], {5: "windy"})


@pytest.mark.parametrize("chunks", [[[1.0, None, 3.0]], [[1.0], [None, 3.0]], [[], [1.0, None, 3.0]]])
def test_columns_become_rows_with_nan_for_null(chunks: list[list[float | None]]) -> None:
    column = pa.chunked_array([pa.array(chunk, pa.float32()) for chunk in chunks])
    np.testing.assert_array_equal(to_rows(pa.table({"a": column, "b": column})), [[1, 1], [NAN, NAN], [3, 3]])


def test_tables_without_rows_or_columns_keep_their_shape() -> None:
    empty = pa.array([], pa.float32())
    assert to_rows(pa.table({"a": empty, "b": empty})).shape == (0, 2)
    assert to_rows(pa.table({"a": [1.0, 2.0]}).select([])).shape == (2, 0)


def test_rows_have_the_type_of_their_columns_and_without_any_that_of_the_array() -> None:
    assert to_rows(pa.table({"a": pa.array([1.0], pa.float64())})).dtype == np.float64
    assert to_rows(pa.table({"a": pa.array([], pa.float64())})).dtype == np.float32
