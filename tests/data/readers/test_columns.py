"""What headers and a table of tags say about columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data.log import Tag
from attentionmixer.data.readers.columns import Column, name_columns, read_tag_table, split_header
from attentionmixer.errors import LogError

Table = Callable[[str | bytes], Path]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    def _write(text: str | bytes) -> Path:
        path = tmp_path / "tags.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


# --- headers ---


@pytest.mark.parametrize(
    ("header", "name", "unit"),
    [
        ("flow [m3/h]", "flow", "m3/h"),
        ("flow[m3/h]", "flow", "m3/h"),
        ("flow (m3/h)", "flow", "m3/h"),
        ("flow  [ m3/h ]", "flow", "m3/h"),
        ("flow", "flow", None),
        ("XMEAS(1)", "XMEAS(1)", None),
        ("XMEAS(1) [-]", "XMEAS(1)", "-"),
        ("XMEAS(1) (kPa)", "XMEAS(1)", "kPa"),
        ("a [b] [nSv/h]", "a [b]", "nSv/h"),
        ("a (b) [nSv/h]", "a (b)", "nSv/h"),
        ("a [b] (nSv/h)", "a [b]", "nSv/h"),
        ("flow []", "flow", None),
        ("flow [ ]", "flow", None),
        ("flow ()", "flow", None),
        ("[nSv/h]", "[nSv/h]", None),
        (" [nSv/h]", " [nSv/h]", None),
        (" (nSv/h)", " (nSv/h)", None),
        ("two\nlines [nSv/h]", "two\nlines", "nSv/h"),
        ("flow [m3/h] raw", "flow [m3/h] raw", None),
        ("", "", None),
    ],
)
def test_a_unit_is_what_stands_in_the_last_brackets(header: str, name: str, unit: str | None) -> None:
    assert split_header(header) == (name, unit)


def test_names_that_differ_only_by_their_unit_keep_the_whole_header() -> None:
    columns = name_columns(["A [nSv/h]", "A [cpm]", "B [cpm]"])
    assert [column.name for column in columns] == ["A [nSv/h]", "A [cpm]", "B"]
    assert [column.unit for column in columns] == ["nSv/h", "cpm", "cpm"]
    assert columns[2] == Column("B [cpm]", "B", "cpm")


def test_a_row_of_units_goes_before_the_brackets_where_it_says_something() -> None:
    columns = name_columns(["A [nSv/h]", "B [cpm]", "C"], {"A [nSv/h]": "uSv/h", "B [cpm]": "", "C": "degC"})
    assert [column.unit for column in columns] == ["uSv/h", "cpm", "degC"]


# --- the table of tags ---


def test_no_table_says_nothing() -> None:
    assert read_tag_table(None) == {}


def test_a_mapping_may_hold_tags_or_their_fields() -> None:
    found = read_tag_table(
        {"a": {"unit": "nSv/h", "lat": "47.5", "lng": 8}, "b": Tag("other", "mm", coordinates=(1.0, 2.0))}
    )
    assert found["a"] == {"name": "a", "unit": "nSv/h", "coordinates": (47.5, 8.0)}
    assert found["other"]["coordinates"] == (1.0, 2.0) and found["other"]["unit"] == "mm"


def test_a_file_gives_the_fields_it_knows_under_any_spelling_of_their_names(table: Table) -> None:
    found = read_tag_table(table("\ufeffTag , LAT,lon,Unit,colour\na,47.5,8.25,nSv/h,red\nb,,,,\n".replace(", ", ",")))
    assert found == {"a": {"name": "a", "coordinates": (47.5, 8.25), "unit": "nSv/h"}, "b": {"name": "b"}}


def test_a_station_names_the_tags_of_a_file_that_has_no_other_name(table: Table) -> None:
    assert read_tag_table(table("station,latitude,longitude\nnorth,1,2\n")) == {
        "north": {"name": "north", "station": "north", "coordinates": (1.0, 2.0)}
    }
    assert read_tag_table(table("station,name\nnorth,a\n")) == {"a": {"name": "a", "station": "north"}}


def test_a_file_may_be_written_in_another_encoding(table: Table) -> None:
    assert list(read_tag_table(table("name,unit\nD\u00e9bit,m3/h\n".encode("cp1252")))) == ["D\u00e9bit"]
    assert list(read_tag_table(table("name,unit\n\u7dda\u91cf,m3/h\n".encode("utf-16")))) == ["\u7dda\u91cf"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,unit\n", "has no rows"),
        ("name,unit\na," + "x" * 200_000, "is no CSV"),
        ("post,unit\na,cpm\n", "has no column 'name'; it has post, unit"),
        ("name,unit\na,cpm\na,cps\n", "tags: 'a' is listed twice"),
        ("name,unit\n,cpm\n", "tags: an entry has no name"),
        ("name,role\na,boss\n", "tags: 'a' has role 'boss'; allowed: target, estimate, input, known"),
        ("name,resample\na,median\n", "tags: 'a' has resample 'median'; allowed: mean, last, interpolate, sum"),
        ("name,latitude,longitude\na,north,8\n", r"'a' has coordinates \('north', '8'\), not \(latitude, longitude\)"),
        ("name,latitude\na,47\n", "'a' has coordinates"),
        ("name,longitude\na,47\n", "'a' has coordinates"),
    ],
)
def test_a_file_that_cannot_be_a_table_of_tags_is_refused(table: Table, text: str, message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_tag_table(table(text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"the table of tags .*none\.csv cannot be read"):
        read_tag_table(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("latitude", "longitude", "there"),
    [
        *((90, 180, True), (-90, -180, True), (0, 0, True), (90.01, 0, False), (-90.01, 0, False), (0, 180.01, False)),
        *((0, -180.01, False), (float("nan"), 0, False), (0, float("nan"), False)),
    ],
)
def test_coordinates_must_be_on_the_earth(latitude: float, longitude: float, there: bool) -> None:
    given = {"a": {"latitude": latitude, "longitude": longitude}}
    if there:
        assert read_tag_table(given)["a"]["coordinates"] == (latitude, longitude)
        return
    with pytest.raises(LogError, match=r"tags: 'a' lies at .*: no such latitude and longitude"):
        read_tag_table(given)


@pytest.mark.parametrize("pair", [(1.0,), (1.0, 2.0, 3.0), "ab", 5])
def test_a_pair_of_coordinates_has_two_numbers(pair: Any) -> None:
    with pytest.raises(LogError, match="'a' has coordinates"):
        read_tag_table({"a": {"coordinates": pair}})


def test_fields_of_a_mapping_that_are_unknown_are_named() -> None:
    with pytest.raises(LogError, match=r"tags: 'a' has unknown field\(s\) colour, size; known: name, unit"):
        read_tag_table({"a": {"unit": "cpm", "colour": "red", "size": 5}})


@pytest.mark.parametrize("latitude", ["lat", "latitude"])
@pytest.mark.parametrize("longitude", ["lng", "lon", "long", "longitude"])
def test_latitude_and_longitude_may_be_shortened(table: Table, latitude: str, longitude: str) -> None:
    expected = {"a": {"name": "a", "coordinates": (47.5, 8.0)}}
    assert read_tag_table({"a": {latitude: 47.5, longitude: "8"}}) == expected
    assert read_tag_table(table(f"name,{latitude.upper()},{longitude}\na,47.5,8\n")) == expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("unit", "cpm"), ("quantity", "count_rate"), ("station", "north")),
        *(("role", "input"), ("role", "target"), ("role", "known"), ("role", "estimate")),
        *(("resample", "mean"), ("resample", "last"), ("resample", "interpolate"), ("resample", "sum")),
    ],
)
def test_a_field_of_a_tag_is_taken_from_a_mapping_and_from_a_file(table: Table, field: str, value: str) -> None:
    expected = {"a": {"name": "a", field: value}}
    assert read_tag_table({"a": {field: value}}) == expected
    assert read_tag_table(table(f"name,{field}\na,{value}\n")) == expected


def test_a_file_that_is_refused_is_named_with_what_is_wrong_with_it(table: Table, tmp_path: Path) -> None:
    none = tmp_path / "none.csv"
    with pytest.raises(LogError) as refused:
        read_tag_table(none)
    assert str(refused.value).startswith(f"the table of tags {none} cannot be read: ")
    assert "No such file or directory" in str(refused.value)
    path = table("name,unit\na," + "x" * 200_000)
    with pytest.raises(LogError) as refused:
        read_tag_table(path)
    assert str(refused.value) == f"the table of tags {path} is no CSV: field larger than field limit (131072)"
    with pytest.raises(LogError) as refused:
        read_tag_table(table("name,unit\n"))
    assert str(refused.value) == f"the table of tags {path} has no rows"
    with pytest.raises(LogError) as refused:
        read_tag_table(table("post,unit\na,cpm\n"))
    message = f"the table of tags {path} has no column 'name'; it has post, unit"
    assert str(refused.value) == message
    with pytest.raises(LogError) as refused:
        read_tag_table(table("post,unit\na,cpm\nb,cps,more than the header\n"))
    assert str(refused.value) == message


def test_coordinates_that_are_nowhere_are_named_in_full() -> None:
    with pytest.raises(LogError) as refused:
        read_tag_table({"a": {"latitude": 91.5, "longitude": 181.25}})
    assert str(refused.value) == "tags: 'a' lies at 91.5, 181.25: no such latitude and longitude"


def test_the_names_of_a_files_columns_are_those_of_its_first_row(table: Table) -> None:
    # a row that is longer than the header has cells without a column; they are nobody's
    found = read_tag_table(table("name,unit\na,cpm\nb,cps,what is this\n"))
    assert found == {"a": {"name": "a", "unit": "cpm"}, "b": {"name": "b", "unit": "cps"}}


@pytest.mark.parametrize("blank", ["", " ", None])
def test_a_blank_field_says_nothing(blank: str | None) -> None:
    assert read_tag_table({"a": {"unit": blank, "role": blank, "latitude": blank}}) == {"a": {"name": "a"}}
