"""Cells of text: numbers, reasons, and text that means nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from attentionmixer.data.quality import Flag
from attentionmixer.data.readers.cells import NULLS, Reason, read_cells, read_numbers

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


@pytest.mark.parametrize(
    "error",
    [
        *("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
        *("#GETTING_DATA", "#SPILL!", "#CALC!"),
    ],
)
def test_errors_of_spreadsheets_are_states_with_their_reason(error: str) -> None:
    cells = read_cells(column(error))
    assert [reason.text for reason in cells.reasons] == [f"state {error!r}"]
    assert not cells.bad.any()


@pytest.mark.parametrize(
    "state",
    [
        *("Access Denied", "AccessDenied", "Arc Off-line", "Bad", "Bad Data", "Bad Input", "Bad Output"),
        *("Bad Quality", "Bad Total", "Calc Failed", "Calc Off", "Calc Overflow", "Comm Fail", "Configure"),
        *("DCS failed", "Equip Fail", "Error", "Failed", "Fault", "Filtered", "I/O Timeout", "Inp Out of Range"),
        *("Intf Shut", "Invalid", "Invalid Data", "Maintenance", "No Data", "No Good Data For Calculation"),
        *("No Lab Data", "No Result", "No Sample", "Not Available", "Not Connect", "Offline", "Out of Serv"),
        *("Out of Service", "Over Range", "Pt Created", "Sample Bad", "Scan Off", "Scan Timeout", "Set to Bad"),
        *("Shutdown", "Stale", "Under Range", "Unit Down"),
    ],
)
@pytest.mark.parametrize("code", ["", "[-11059] ", "[307]"])
def test_states_of_historians_are_reasons_with_or_without_their_code(state: str, code: str) -> None:
    for cell in (code + state, code + state.lower(), code + state.upper()):
        cells = read_cells(column(cell))
        text = cell.removeprefix(code)
        assert (cells.reasons, cells.reason.tolist()) == ((Reason(f"state {text!r}", Flag.STATE),), [0])
        assert (cells.bad.tolist(), np.isnan(cells.values).tolist()) == ([False], [True])


@pytest.mark.parametrize(
    "blank",
    ["", " ", "NaN", "nan", "NAN", "NA", "N/A", "n/a", "<NA>", "null", "NULL", "Null", "None", "none", " none "],
)
def test_words_for_nothing_are_missing_without_a_reason(blank: str) -> None:
    cells = read_cells(column(blank, "1"))
    np.testing.assert_array_equal(cells.values, [NAN, 1])
    assert (cells.reasons, cells.reason.tolist(), cells.bad.tolist()) == ((), [-1, -1], [False, False])
    assert read_numbers(column(blank, "1")).to_pylist() == [None, 1.0]


@pytest.mark.parametrize("cell", ["nAn", "-", "?", "good", "[12] good", "[x] Bad", "Bad day", "bad\u00a0data"])
def test_other_words_are_neither_blank_nor_a_state(cell: str) -> None:
    cells = read_cells(column(cell))
    assert (cells.bad.tolist(), cells.reasons) == ([True], ())


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("<20", "below the measuring range (<20)"),
        ("< 0.05", "below the measuring range (< 0.05)"),
        (">1e6", "above the measuring range (>1e6)"),
        (">  -3", "above the measuring range (>  -3)"),
        ("<", None),
        ("<low", None),
        ("20<", None),
        ("=20", None),
        ("<1,5", None),
    ],
)
def test_a_value_outside_the_range_is_censored_and_says_on_which_side(cell: str, reason: str | None) -> None:
    cells = read_cells(column(cell))
    assert cells.reasons == (() if reason is None else (Reason(reason, Flag.CENSORED),))
    assert cells.bad.tolist() == [reason is None]
    assert read_cells(column("<1.234,5"), ",", ".").reasons == (
        Reason("below the measuring range (<1.234,5)", Flag.CENSORED),
    )


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        *(("5", 5), ("+5", 5), ("-5.", -5), (".5", 0.5), ("-.5E+2", -50), ("1e-3", 0.001), ("1E3", 1000)),
        *(("inf", np.inf), ("-INF", -np.inf), ("+Infinity", np.inf), ("infinit", None), (".", None), ("1e", None)),
        *(("0x10", None), ("1_000", None), ("--1", None), ("1 2", None), ("\u0663", None)),
    ],
)
def test_a_number_is_written_with_digits_and_at_most_one_exponent(cell: str, value: float | None) -> None:
    cells = read_cells(column(cell))
    np.testing.assert_array_equal(cells.values, [NAN if value is None else value])
    assert cells.bad.tolist() == [value is None]


def test_what_is_said_of_each_cell_has_a_fixed_type_also_in_an_empty_column() -> None:
    for cells in (read_cells(column("Bad", "1", None)), read_cells(column())):
        assert (cells.values.dtype, cells.reason.dtype, cells.bad.dtype) == (np.float64, np.int64, np.bool_)
        assert cells.codes.dtype == np.int64
    empty = read_cells(column())
    assert (len(empty.values), empty.words, empty.reasons) == (0, [], ())


def test_a_decimal_point_among_decimal_commas_is_said_to_be_one() -> None:
    with pytest.raises(pa.ArrowInvalid, match=r"^a decimal point among decimal commas$"):
        read_numbers(column("1,5", "1.5"), ",")
    assert read_numbers(column("1,5", "-2", None), ",").to_pylist() == [1.5, -2.0, None]


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
