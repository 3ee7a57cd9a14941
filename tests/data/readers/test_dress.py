"""From columns to tags: where a unit comes from, who goes first, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from attentionmixer.data.log import Role, Tag
from attentionmixer.data.readers.columns import Column, name_columns
from attentionmixer.data.readers.dress import dress
from attentionmixer.errors import LogError


def made(*headers: str | Column, **given: Any) -> tuple[list[Tag], list[float], list[str]]:
    columns = [name_columns([h])[0] if isinstance(h, str) else h for h in headers]
    return dress(columns, **{"units": None, "tags": None, "roles": None, **given})


def units(*headers: str | Column, **given: Any) -> list[str | None]:
    return [tag.unit for tag in made(*headers, **given)[0]]


# --- where a unit comes from ---


def test_a_header_gives_unit_quantity_and_factor_and_a_conversion_is_said_once() -> None:
    tags, factors, decisions = made("A [uSv/h]", "B [uSv/h]", "C [nSv/h]", "D [cpm]")
    assert [(tag.name, tag.unit, tag.quantity) for tag in tags] == [
        ("A", "nSv/h", "dose_rate"),
        ("B", "nSv/h", "dose_rate"),
        ("C", "nSv/h", "dose_rate"),
        ("D", "cpm", "count_rate"),
    ]
    assert factors == [1000, 1000, 1, 1]
    assert decisions == ["uSv/h was converted to nSv/h"]


def test_declared_units_go_before_the_table_of_tags_and_that_before_nothing() -> None:
    assert units("A", tags={"A": {"unit": "cps"}}) == ["cps"]
    assert units("A [cpm]", units={"A": "cps"}, tags={"A": {"unit": "degC"}}) == ["cps"]
    assert units("A [cpm]", units={"A [cpm]": "cps"}) == ["cps"]
    assert units("A [cpm]", "B", units="degC") == ["degC", "degC"]
    assert units("A [nSv/h]", "B [cpm]", units={"B": None}) == ["nSv/h", None]
    assert units("A [cpm]", units={"A": ""}) == [None]


def test_a_table_of_tags_may_repeat_the_header_in_another_spelling_and_not_contradict_it() -> None:
    assert units("A [uSv/h]", tags={"A": {"unit": "\u00b5Sv/h"}}) == ["nSv/h"]
    with pytest.raises(
        LogError, match=r"column 'A \[uSv/h\]' states 'uSv/h', but tags says 'nSv/h'; settle it with units="
    ):
        units("A [uSv/h]", tags={"A": {"unit": "nSv/h"}})
    assert units("A [uSv/h]", tags={"A": {"unit": "nSv/h"}}, units={"A": "mSv/h"}) == ["nSv/h"]


def test_an_unknown_unit_names_its_column_and_the_way_out() -> None:
    with pytest.raises(
        LogError, match=r"column 'A \[bananas\]': unit 'bananas' is unknown; declare units=\{'A': 'nSv/h'\}"
    ):
        made("A [bananas]")


@pytest.mark.parametrize(
    "name", ["Gamma dose rate", "DOSE-RATE", "dose_rate", "Ortsdosisleistung", "ODL 1", "線量率", "H*(10)"]
)
def test_a_column_that_calls_itself_a_dose_rate_may_not_go_without_a_unit(name: str) -> None:
    with pytest.raises(LogError, match="has no unit in a log of dose rates; declare units=") as caught:
        made("valve", name)
    assert repr(name) in str(caught.value)
    assert units(name, units={name: None}) == [None]


@pytest.mark.parametrize("name", ["model", "dose", "H10", "rate of dosing", "ODLX"])
def test_other_names_may(name: str) -> None:
    assert units(name) == [None]


def test_a_column_without_unit_is_taken_as_it_is_among_others_than_dose_rates() -> None:
    tags, factors, decisions = made("A", "B [cpm]", "C")
    assert [tag.quantity for tag in tags] == ["generic", "count_rate", "generic"]
    assert factors == [1.0, 1.0, 1.0]
    assert decisions == ["2 column(s) state no unit; their values were taken as they are"]
    with pytest.raises(
        LogError, match=r"column 'A' has no unit in a log of dose rates; declare units=\{'A': 'nSv/h'\}"
    ):
        made("A", "B [nSv/h]")
    assert units("A", "B [nSv/h]", units={"A": None}) == [None, "nSv/h"]
    assert made("A", units={"A": None})[2] == []


# --- stated conversions ---


def test_a_stated_factor_is_found_by_name_header_unit_or_its_usual_spelling() -> None:
    for key in ("E", "E [uR/h]", "uR/h", "\u00b5R/h"):
        tags, factors, decisions = made("E [uR/h]", convert={key: "8.7 nSv/h"})
        assert (tags[0].unit, tags[0].quantity, factors) == ("nSv/h", "dose_rate", [8.7])
        assert decisions == ["uR/h was converted to nSv/h with the factor stated: 8.7 nSv/h"]


def test_a_name_goes_before_a_unit_among_stated_factors() -> None:
    with pytest.raises(LogError, match="convert names cpm, which no column has as unit or name"):
        made("C [cpm]", convert={"C": "2 nSv/h", "cpm": "3 nSv/h"})
    _, factors, _ = made("C [cpm]", "D [cpm]", convert={"C": "2 nSv/h", "cpm": "3 nSv/h"})
    assert factors == [2.0, 3.0]


def test_stated_factors_for_what_is_not_there_are_named() -> None:
    with pytest.raises(LogError, match="convert names X, cps, which no column has"):
        made("C [cpm]", convert={"cps": "2 nSv/h", "X": "1 nSv/h"})


# --- what else becomes of a column ---


def test_what_the_source_says_of_a_column_reaches_the_tag() -> None:
    column = Column("h", "a", "mm/h", "north", (1.0, 2.0), "rain", None, "known")
    tag = made(column)[0][0]
    assert tag == Tag("a", "mm/h", "rain", "north", (1.0, 2.0), "known")


@pytest.mark.parametrize(
    ("unit", "says", "quantity"),
    [
        ("m/s", "wind_speed", "wind_speed"),
        ("-", "index", "index"),
        (None, "age", "age"),
        ("nSv/h", "rain", "dose_rate"),
        ("nSv/h", "uncertainty", "uncertainty"),
        ("hPa", "rain", "pressure"),
        ("cpm", None, "count_rate"),
    ],
)
def test_a_source_names_the_quantity_only_where_the_unit_leaves_it_open(
    unit: str | None, says: str | None, quantity: str
) -> None:
    assert made(Column("a", "a", unit, quantity=says), units=None)[0][0].quantity == quantity


def test_the_table_of_tags_goes_before_the_source() -> None:
    column = Column("h", "a", "cpm", "north", (1.0, 2.0), role="known")
    fields = {"station": "south", "coordinates": (3.0, 4.0), "role": "input", "resample": "sum", "quantity": "counts"}
    for key in ("a", "h"):
        assert made(column, tags={key: fields})[0][0] == Tag("a", "cpm", "counts", "south", (3.0, 4.0), "input", "sum")


def test_a_dose_rate_by_the_table_of_tags_needs_a_unit() -> None:
    with pytest.raises(LogError, match="column 'a' is a dose rate without a unit; declare units="):
        made("a", tags={"a": {"quantity": "dose_rate"}}, units={"a": None})


def test_roles_are_given_by_name_or_header_and_go_before_all_else() -> None:
    tags, _, _ = made("A [cpm]", "B", roles={"A [cpm]": "known", "B": "input"}, tags={"A": {"role": "target"}})
    assert [tag.role for tag in tags] == ["known", "input"]
    with pytest.raises(LogError, match=r"^roles: 'A' has role 'boss'; allowed: target, estimate, input, known$"):
        made("A", roles={"A": "boss"})


@pytest.mark.parametrize("what", ["units", "roles"])
def test_declarations_for_what_is_not_in_the_log_are_refused_with_what_is(what: str) -> None:
    headers = [f"T{i}" for i in range(12)]
    given = {what: {"X": "known" if what == "roles" else "cpm", "T1": "input" if what == "roles" else "cpm"}}
    with pytest.raises(LogError, match=rf"^{what} names what is not in the log: X; it holds T0, .*, T9 and 2 more$"):
        made(*headers, **given)


def test_a_table_of_tags_of_another_log_is_refused_and_one_of_more_tags_is_not() -> None:
    with pytest.raises(LogError, match=r"none of the 2 entries of tags is in the log, which holds a$"):
        made("a", tags={"x": {"unit": "cpm"}, "y": {"unit": "cpm"}})
    assert units("a", tags={"x": {"unit": "cpm"}, "a": {"unit": "cps"}}) == ["cps"]


@pytest.mark.parametrize("role", ["target", "estimate", "input", "known"])
def test_each_role_may_be_given_and_a_column_without_one_is_a_target(role: Role) -> None:
    for key in ("A", "A [cpm]"):
        assert [tag.role for tag in made("A [cpm]", "B", roles={key: role})[0]] == [role, "target"]


@pytest.mark.parametrize(("strange", "named"), [(2, 2), (10, 10), (11, 10)])
def test_of_declarations_for_what_is_not_there_ten_are_named(strange: int, named: int) -> None:
    names = ", ".join(f"X{i}" for i in range(named))
    with pytest.raises(LogError) as refused:
        made("A", "B", units={f"X{i}": "cpm" for i in range(strange)})
    assert str(refused.value) == f"units names what is not in the log: {names}; it holds A, B"


@pytest.mark.parametrize(("columns", "more"), [(9, ""), (10, ""), (11, " and 1 more"), (21, " and 11 more")])
def test_of_what_is_there_ten_are_named_and_the_others_counted(columns: int, more: str) -> None:
    shown = ", ".join(f"T{i}" for i in range(min(columns, 10))) + more
    with pytest.raises(LogError) as refused:
        made(*(f"T{i}" for i in range(columns)), roles={"X": "known"})
    assert str(refused.value) == f"roles names what is not in the log: X; it holds {shown}"


def test_a_refusal_says_under_which_name_the_column_is_to_be_settled() -> None:
    with pytest.raises(LogError) as refused:
        made("A [uSv/h]", tags={"A": {"unit": "nSv/h"}})
    assert str(refused.value) == (
        "column 'A [uSv/h]' states 'uSv/h', but tags says 'nSv/h'; settle it with units={'A': \u2026}"
    )
    with pytest.raises(LogError) as refused:
        made(Column("a [?]", "a", None), tags={"a": {"quantity": "dose_rate"}}, units={"a": None})
    assert str(refused.value) == "column 'a [?]' is a dose rate without a unit; declare units={'a': \u2026}"


def test_the_column_that_has_no_unit_is_the_one_named() -> None:
    for headers, odd in ((("A", "B", "C [nSv/h]"), "A"), (("A", "dose rate", "C"), "dose rate")):
        with pytest.raises(LogError) as refused:
            made(*headers)
        assert str(refused.value) == (
            f"column {odd!r} has no unit in a log of dose rates; declare units={{{odd!r}: 'nSv/h'}}, "
            "or None for a tag that has none"
        )


def test_one_unit_for_all_columns_declares_it_for_each() -> None:
    tags, factors, decisions = made("A", "B [uSv/h]", "dose rate", units="mSv/h")
    assert [(tag.unit, tag.quantity) for tag in tags] == [("nSv/h", "dose_rate")] * 3
    assert (factors, decisions) == ([1e6] * 3, ["mSv/h was converted to nSv/h"])
