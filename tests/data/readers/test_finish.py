"""The last step to a log: units converted, what cannot be made missing with its reason, empty columns dropped."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from attentionmixer.data.log import Tag
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers import finish as finish_module
from attentionmixer.data.readers.account import Account
from attentionmixer.data.readers.finish import SENTINELS, finish
from attentionmixer.errors import LogError

NAN = float("nan")


def done(
    values: list[list[float]], *units: str, factors: list[float] | None = None, flags: Any = None
) -> tuple[np.ndarray, list[Tag], Any, Account]:
    quantity = {"nSv/h": "dose_rate", "cpm": "count_rate"}
    tags = [Tag(f"T{i}", unit, quantity.get(unit, "generic")) for i, unit in enumerate(units)]
    account = Account(["log.csv"], len(values))
    block = np.array(values, dtype=np.float32)
    out, kept, marks = finish(block, tags, factors or [1.0] * len(tags), account, flags)
    return out, kept, marks, account


def test_sentinels_are_masked_in_rates_before_conversion_and_nowhere_else() -> None:
    for sentinel in SENTINELS:
        out, _, flags, account = done([[sentinel] * 3, [1, 2, 3]], "nSv/h", "cpm", "degC", factors=[1000, 1, 1])
        np.testing.assert_array_equal(out, [[NAN, NAN, sentinel], [1000, 2, 3]])
        assert account.masked == {"sentinel such as -9999": 2}
        assert flags.tolist() == [[Flag.SENTINEL, Flag.SENTINEL, 0], [0, 0, 0]]
    out, _, flags, account = done([[-9998, -9.999], [1, 2]], "nSv/h", "cpm", factors=[1, 1000])
    assert out.tolist() == [[-9998, pytest.approx(-9999)], [1, 2000]]
    assert (account.masked, flags) == ({}, None)


def test_infinite_values_are_masked_and_so_are_those_that_the_conversion_makes_infinite() -> None:
    out, _, flags, account = done([[np.inf, 3e38], [-np.inf, 1], [5, 3]], "degC", "cpm", factors=[1, 10])
    np.testing.assert_array_equal(out, [[NAN, NAN], [NAN, 10], [5, 30]])
    assert account.masked == {"not finite": 3}
    assert (flags == Flag.NOT_FINITE).sum() == 3


def test_an_exact_zero_is_masked_in_dose_rates_only_and_negative_ones_are_kept_and_said() -> None:
    out, _, flags, account = done([[0, 0, 0], [-0.0, 1, 1], [-0.5, -1, 2], [70, 3, 3]], "nSv/h", "cpm", "degC")
    np.testing.assert_array_equal(out[:, 0], np.array([NAN, NAN, -0.5, 70], dtype=np.float32))
    np.testing.assert_array_equal(out[:, 1:], [[0, 0], [1, 1], [-1, 2], [3, 3]])
    assert account.masked == {"dose rate exactly 0": 2}
    assert flags[:, 0].tolist() == [Flag.ZERO, Flag.ZERO, 0, 0]
    assert account.decisions == ["1 negative dose rate(s) were kept as they are"]


def test_flags_of_masked_cells_are_added_to_those_there_are() -> None:
    before = np.array([[Flag.DOUBTFUL], [Flag.STATE]], dtype=np.uint16)
    _, _, flags, _ = done([[0], [5]], "nSv/h", flags=before)
    assert flags.tolist() == [[Flag.DOUBTFUL | Flag.ZERO], [Flag.STATE]]


def test_empty_columns_are_dropped_with_their_flags_and_constant_ones_are_kept_and_both_are_named() -> None:
    before = np.array([[1, 2, 4], [8, 16, 32]], dtype=np.uint16)
    out, tags, flags, account = done([[5, NAN, 1], [5, NAN, 2]], "degC", "degC", "degC", flags=before)
    assert out.tolist() == [[5, 1], [5, 2]]
    assert [tag.name for tag in tags] == ["T0", "T2"]
    assert flags.tolist() == [[1, 4], [8, 32]]
    assert account.warnings == ["1 column(s) hold no value and were dropped: T1"]
    assert account.decisions == ["1 column(s) never change, and were kept: T0"]


def test_a_column_whose_only_values_are_masked_is_empty() -> None:
    out, tags, _, account = done([[0, 1], [-9999, 2]], "nSv/h", "degC")
    assert out.tolist() == [[1], [2]]
    assert account.masked == {"sentinel such as -9999": 1, "dose rate exactly 0": 1}
    assert [tag.name for tag in tags] == ["T1"]


@pytest.mark.parametrize(("empty", "more"), [(20, ""), (21, " and 1 more")])
def test_of_many_empty_columns_twenty_are_named(empty: int, more: str) -> None:
    _, _, _, account = done([[NAN] * empty + [1], [NAN] * empty + [2]], *["degC"] * (empty + 1))
    assert account.warnings[0].startswith(f"{empty} column(s) hold no value and were dropped: T0, T1, ")
    assert account.warnings[0].endswith(f"T19{more}")


def test_a_log_without_any_number_is_refused() -> None:
    with pytest.raises(LogError, match="no column of the log holds a number"):
        done([[NAN, 0], [NAN, NAN]], "degC", "nSv/h")


def test_long_logs_are_finished_piece_by_piece_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    values = rng.choice(np.array([0.0, -9999, -1, 5, np.inf, NAN, 3e38]), (50, 3)).tolist()
    whole = done([list(row) for row in values], "nSv/h", "cpm", "degC", factors=[1000, 1, 1])
    for chunk in (1, 7, 49, 50):
        monkeypatch.setattr(finish_module, "_CHUNK", chunk)
        parts = done([list(row) for row in values], "nSv/h", "cpm", "degC", factors=[1000, 1, 1])
        np.testing.assert_array_equal(parts[0], whole[0])
        np.testing.assert_array_equal(parts[2], whole[2])
        assert (parts[3].masked, parts[3].decisions) == (whole[3].masked, whole[3].decisions)


@pytest.mark.parametrize("sentinel", [-999, -9999, -99999])
def test_each_number_that_loggers_write_for_nothing_is_one(sentinel: float) -> None:
    out, _, _, account = done([[sentinel, 1], [7, sentinel], [8, 3]], "nSv/h", "cpm")
    np.testing.assert_array_equal(out, [[NAN, 1], [7, NAN], [8, 3]])
    assert account.masked == {"sentinel such as -9999": 2}


@pytest.mark.parametrize("near", [-998, -1000, -9998, -10000, -99998, -100000, 999, 9999, 99999])
def test_numbers_near_a_sentinel_are_readings(near: float) -> None:
    out, _, flags, account = done([[near], [7]], "cpm")
    assert (out.tolist(), flags, account.masked) == ([[near], [7]], None, {})


def test_every_column_is_converted_with_its_own_factor_alone_or_beside_others() -> None:
    for factors, expected in (
        ([1000.0, 1.0], [[500, 2], [250, 4]]),
        ([1.0, 0.5], [[0.5, 1], [0.25, 2]]),
        ([2.0, 2.0], [[1, 4], [0.5, 8]]),
        ([1.0, 1.0], [[0.5, 2], [0.25, 4]]),
    ):
        out, _, flags, account = done([[0.5, 2], [0.25, 4]], "nSv/h", "cpm", factors=factors)
        assert out.tolist() == expected
        assert (out.dtype, flags, account.decisions) == (np.float32, None, [])


def test_the_largest_number_of_single_precision_is_a_reading_and_its_double_is_none() -> None:
    most = float(np.finfo(np.float32).max)
    out, _, flags, account = done([[most, 1], [-most, 2]], "degC", "degC")
    assert (out.tolist(), flags, account.masked) == ([[most, 1], [-most, 2]], None, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out, _, flags, account = done([[most, 1], [-most, 2], [3, 3]], "degC", "degC", factors=[2.0, 1.0])
    np.testing.assert_array_equal(out, [[NAN, 1], [NAN, 2], [6, 3]])
    assert (flags.tolist(), account.masked) == (
        [[Flag.NOT_FINITE, 0], [Flag.NOT_FINITE, 0], [0, 0]],
        {"not finite": 2},
    )


def test_a_column_that_is_constant_once_its_bad_cells_are_masked_never_changes() -> None:
    _, _, _, account = done([[5, 1], [0, 2], [5, 3], [-999, 4], [np.inf, 5]], "nSv/h", "degC")
    assert account.decisions == ["1 column(s) never change, and were kept: T0"]
    _, _, _, account = done([[5, 1], [0, 2], [6, 3]], "nSv/h", "degC")
    assert account.decisions == []


def test_rows_masked_in_one_piece_of_a_log_do_not_change_what_is_found_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finish_module, "_CHUNK", 2)
    out, tags, flags, account = done([[0, 1], [5, 1], [5, 1], [5, 1], [0, 1], [NAN, 1]], "nSv/h", "degC")
    np.testing.assert_array_equal(out[:, 0], [NAN, 5, 5, 5, NAN, NAN])
    assert np.flatnonzero(flags[:, 0]).tolist() == [0, 4]
    assert account.decisions == ["2 column(s) never change, and were kept: T0, T1"]
    assert account.masked == {"dose rate exactly 0": 2}
    assert len(tags) == 2


def test_a_negative_dose_rate_is_counted_once_in_each_cell_and_beside_zeros() -> None:
    _, _, _, account = done([[-1, -2, -3], [0, -4, -5], [6, 7, 8]], "nSv/h", "nSv/h", "cpm")
    assert account.decisions == ["3 negative dose rate(s) were kept as they are"]
    assert account.masked == {"dose rate exactly 0": 1}
    assert done([[1.0], [0.5]], "nSv/h")[3].decisions == []
    _, _, _, account = done([[-1.0]] * 1234 + [[1.0]], "nSv/h")
    assert account.decisions == ["1,234 negative dose rate(s) were kept as they are"]


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_value_that_the_conversion_makes_infinite_is_masked_on_either_side(sign: int) -> None:
    out, _, _, account = done([[sign * 3e38], [sign * 1e36]], "degC", factors=[10.0])
    np.testing.assert_array_equal(out, np.float32([[NAN], [sign * 1e37]]))
    assert account.masked == {"not finite": 1}


def test_a_dose_rate_above_zero_is_not_counted_among_the_negative_ones() -> None:
    _, _, _, account = done([[-0.25], [0.25], [0.5], [1.0]], "nSv/h")
    assert account.decisions == ["1 negative dose rate(s) were kept as they are"]
