"""What is declared about files of tables, and how their columns are recognised."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pyarrow as pa
import pytest

from attentionmixer.data.readers.table.parts import (
    FileRules,
    TableFile,
    check_columns,
    find_time_column,
    is_utc_name,
    is_word_name,
    some,
    whole_table,
)
from attentionmixer.data.readers.table.values import Numbers
from attentionmixer.errors import LogError


@pytest.mark.parametrize(
    "name",
    [
        *("tag", "tagname", "tag_name", "variable", "point", "sensor", "station", "station_id", "site", "unit"),
        *("units", " Tag ", "UNITS", "quality", "status", "qc", "flag", "flags", "valid", "validity", "Quality"),
        *("A status", "A_QC", "A.valid", "dose\nflag", "[A] flags", " qc "),
    ],
)
def test_ids_units_and_quality_codes_are_words(name: str) -> None:
    assert is_word_name(name)


@pytest.mark.parametrize(
    "name", ["dose", "tags", "statuses", "flagship", "invalid", "qc1", "quality A", "stationid", ""]
)
def test_other_names_are_no_words(name: str) -> None:
    assert not is_word_name(name)


@pytest.mark.parametrize(
    "name",
    ["utc", " UTC ", "time utc", "Time [UTC]", "time (utc)", "time[ utc ]", "time(UTC", "zeit UTC ]", "time [utc]\t"],
)
def test_a_header_that_says_utc_is_utc(name: str) -> None:
    assert is_utc_name(name)


@pytest.mark.parametrize("name", ["time", "timeutc", "utc time", "time [UTC+1]", "time-utc", ""])
def test_a_header_that_does_not_end_in_utc_is_not_utc(name: str) -> None:
    assert not is_utc_name(name)


TIME_NAMES = [
    *("time", "timestamp", "datetime", "date", "date_time", "date/time", "zeit", "zeitpunkt", "datum", "utc"),
]


@pytest.mark.parametrize("name", [*TIME_NAMES, "TIME", " Datum ", "Zeit [UTC]", "date (utc)", "timestamp utc", " UTC "])
def test_a_column_named_as_times_are_is_the_time_column(name: str) -> None:
    assert find_time_column(["A", name, "B"], [], None, "f.csv") == name


@pytest.mark.parametrize(("first", "second"), list(itertools.pairwise(TIME_NAMES)))
def test_of_two_names_of_times_the_more_telling_one_wins_in_either_order(first: str, second: str) -> None:
    assert find_time_column([second, first], [], None, "f.csv") == first
    assert find_time_column([first, second], [], None, "f.csv") == first


def test_without_a_name_the_first_column_that_reads_as_times_is_the_time_column() -> None:
    sample = [["1", "2024-05-01 00:00", "2024-05-01"], ["2"], ["3", "2024-05-01 00:10", "2024-05-02"]]
    assert find_time_column(["a", "b", "c"], sample, None, "f.csv") == "b"
    assert find_time_column(["a", "b", "c"], [["1", "2", "3"], ["1"]], None, "f.csv") is None
    assert find_time_column(["a"], [], None, "f.csv") is None


def test_a_name_beats_cells_that_read_as_times() -> None:
    assert find_time_column(["a", "time"], [["2024-05-01 00:00", "5"]], None, "f.csv") == "time"


def test_the_time_column_asked_for_is_taken_whatever_it_holds() -> None:
    assert find_time_column(["time", "a"], [["2024-05-01", "5"]], "a", "f.csv") == "a"
    with pytest.raises(LogError, match=r"^f\.csv has no column 'Time'; it has time, a$"):
        find_time_column(["time", "a"], [], "Time", "f.csv")


def names(count: int) -> list[str]:
    return [f"c{i:02d}" for i in range(count)]


@pytest.mark.parametrize(
    ("count", "ends"), [(1, "c00"), (20, "c18, c19"), (21, "c18, c19 and 1 more"), (25, "c19 and 5 more")]
)
def test_twenty_names_are_shown_and_the_rest_counted(count: int, ends: str) -> None:
    shown = some(names(count))
    assert shown.startswith("c00")
    assert shown.endswith(ends)
    assert shown.count(", ") == min(count, 20) - 1


def test_no_names_are_shown_as_nothing() -> None:
    assert some([]) == ""


def test_names_that_repeat_are_named_sorted_once_each_and_ten_at_most() -> None:
    check_columns(["a", "b", "A"], "f.csv")
    check_columns([], "f.csv")
    with pytest.raises(LogError) as error:
        check_columns(["b", "a", "c", "a", "b", "a"], "f.csv")
    assert str(error.value) == "f.csv: column names repeat: 'a', 'b'; rename them or give names=[...]"
    for count in (10, 11):
        with pytest.raises(LogError) as error:
            check_columns([*names(count), *names(count)], "f.csv")
        shown = ", ".join(f"'c{i:02d}'" for i in range(10))
        assert str(error.value) == f"f.csv: column names repeat: {shown}; rename them or give names=[...]"


def test_columns_to_ignore_are_left_out_in_order() -> None:
    assert FileRules().keep(["b", "a"], "f.csv") == ["b", "a"]
    assert FileRules(ignore=("b", "d")).keep(["c", "b", "d", "a"], "f.csv") == ["c", "a"]


def test_columns_to_ignore_that_are_not_there_are_all_named() -> None:
    with pytest.raises(LogError) as error:
        FileRules(ignore=("y", "a", "x")).keep(["a", "b"], "f.csv")
    assert str(error.value) == "f.csv has no column 'y', 'x' to ignore; it has a, b"


@pytest.mark.parametrize(
    ("option", "value"),
    [("separator", ""), ("decimal", "."), ("encoding", "utf-8"), ("comment", "#"), ("thousands", "")],
)
def test_what_only_text_has_is_refused_for_other_formats(option: str, value: str) -> None:
    with pytest.raises(LogError, match=f"^{re.escape(f'x.xlsx is a workbook; {option}= is for text tables')}$"):
        FileRules(**{option: value}).refuse_text_options("x.xlsx", "a workbook")  # type: ignore[arg-type]


def test_what_other_formats_have_too_is_not_refused_and_nothing_is_declared_by_default() -> None:
    FileRules(header=False, names=["a"], skip=3, ignore=("a",), time_column="a", sheet="s").refuse_text_options(
        "x", "y"
    )
    rules = FileRules()
    assert (rules.separator, rules.decimal, rules.header, rules.names, rules.skip) == (None, None, True, None, 0)
    assert (rules.ignore, rules.time_column, rules.encoding, rules.comment) == ((), None, None, None)
    assert (rules.sheet, rules.thousands) == (None, None)


def test_a_whole_table_has_nulls_in_place_of_numbers_in_the_order_of_the_file() -> None:
    table = whole_table(["n", "w", "m"], pa.table({"w": ["x", "y"]}), 2)
    assert table.to_pydict() == {"n": [None, None], "w": ["x", "y"], "m": [None, None]}
    assert table.column_names == ["n", "w", "m"]


def test_a_column_is_found_among_numbers_and_among_words() -> None:
    values = np.array([[1, 2], [3, np.nan]], dtype=np.float32)
    table = whole_table(["w", "n", "m"], pa.table({"w": ["x", "y"]}), 2)
    file = TableFile("f", None, table, np.arange(2), [], ".", {}, [], Numbers(("n", "m"), values))
    assert file.column("w").to_pylist() == ["x", "y"]
    assert file.column("n").to_pylist() == [1, 3]
    np.testing.assert_array_equal(file.column("m").to_numpy(), [2, np.nan])
    assert file.thousands is None
