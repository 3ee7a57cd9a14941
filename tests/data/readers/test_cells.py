"""Cells of text: numbers, reasons, and text that means nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from attentionmixer.data.quality import Flag
from attentionmixer.data.readers.cells import NULLS, read_cells, read_numbers

NAN = float("nan")


def column(*cells: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, pa.string())])


def test_numbers_blanks_states_and_other_text_are_told_apart() -> None:
    cells = read_cells(column("1.5", " 2 ", "", "NaN", None, "Bad", "[-11059] Bad", "<20", "windy", "1e400"))
    np.testing.assert_array_equal(cells.values, [1.5, 2, *[NAN] * 7, np.inf])
    assert [reason.text for reason in cells.reasons] == ["state 'Bad'", "below the measuring range (<20)"]
    assert [reason.flag for reason in cells.reasons] == [Flag.STATE, Flag.CENSORED]
    assert cells.reason.tolist() == [-1, -1, -1, -1, -1, 0, 0, 1, -1, -1]
    assert np.flatnonzero(cells.bad).tolist() == [8]
    assert (cells.text(8), cells.text(4)) == ("windy", "")


@pytest.mark.parametrize("error", ["#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"])
def test_errors_of_spreadsheets_are_states_with_their_reason(error: str) -> None:
    cells = read_cells(column(error))
    assert [reason.text for reason in cells.reasons] == [f"state {error!r}"]
    assert not cells.bad.any()


@pytest.mark.parametrize(
    ("decimal", "thousands", "cell", "value"),
    [
        (".", None, "1,234.5", None),
        (".", ",", "1,234.5", 1234.5),
        (".", ",", "-12,345,678", -12345678.0),
        (".", ",", "1,23", None),
        (".", ",", "1234,567", None),
        (",", ".", "1.234,5", 1234.5),
        (",", ".", "1.5", None),
        (",", None, "1,5", 1.5),
        (",", None, "1.5", None),
        (",", " ", "12 345,5", 12345.5),
        (".", "'", "1'234", 1234.0),
    ],
)
def test_marks_between_digits_count_only_as_declared(
    decimal: str, thousands: str | None, cell: str, value: float | None
) -> None:
    cells = read_cells(column(cell), decimal, thousands)
    assert bool(cells.bad[0]) == (value is None)
    if value is not None:
        assert cells.values[0] == value
        assert read_numbers(column(cell), decimal, thousands).to_pylist() == [value]
    else:
        with pytest.raises(pa.ArrowInvalid):
            read_numbers(column(cell), decimal, thousands)


def test_the_fast_way_gives_what_the_slow_one_gives() -> None:
    rng = np.random.default_rng(0)
    texts = [*(f"{v:.3g}" for v in rng.normal(0, 1e4, 500)), *NULLS, " 7 ", "+1e-3"]
    slow, fast = read_cells(column(*texts)), read_numbers(column(*texts))
    assert not slow.bad.any() and not slow.reasons
    np.testing.assert_array_equal(slow.values, fast.to_numpy())
