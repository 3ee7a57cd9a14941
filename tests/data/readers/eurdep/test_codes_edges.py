"""What cells of EURDEP records mean, code by code, and what the grammar says of text that does not fit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attentionmixer.data.readers.account import Account
from attentionmixer.data.readers.clock import MISSING
from attentionmixer.data.readers.eurdep.codes import (
    ABOVE,
    BAD,
    BELOW,
    FINE,
    parse_place,
    parse_time,
    parse_value,
    tag_name,
)
from attentionmixer.data.readers.eurdep.grammar import items, split_fields
from attentionmixer.data.readers.eurdep.sigma import standard_uncertainty
from attentionmixer.data.readers.eurdep.units import quantity_of, read_unit, units_of_groups
from attentionmixer.data.readers.eurdep.words import Words
from attentionmixer.errors import LogError

NAN = math.nan


def at(text: str) -> int:
    """Nanoseconds since 1970 of a time in UTC."""
    return int(np.datetime64(text, "ns").astype(np.int64))


# --- times, numbers and places ---


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2013-12-15T23:50Z", "2013-12-15T23:50"),
        ("15-12-2013 23:50", "2013-12-15T23:50"),
        ("2013-12-15 23:50:07.25 UTC", "2013-12-15T23:50:07.25"),
        ("2013-12-15t23:50z", "2013-12-15T23:50"),
        ("2013-12-15T24:00", "2013-12-16T00:00"),
        ("2013-12-15T23:59:59", "2013-12-15T23:59:59"),
        ("2013-12-15T10:00+02:30", "2013-12-15T07:30"),
        ("2013-12-15T10:00-0230", "2013-12-15T12:30"),
        ("2013-12-15T10:00+14:59", "2013-12-14T19:01"),
        ("2013-12-15T10:00:00.000000001", "2013-12-15T10:00:00.000000001"),
        ("1969-12-31T23:59", "1969-12-31T23:59"),
    ],
)
def test_a_time_is_the_moment_it_says(text: str, moment: str) -> None:
    assert parse_time(text) == at(moment)


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "2013-12-15", "13-12-15T10:00Z", "2013-12-2013T10:00", "2013-12-15T24:01", "2013-12-15T10:60"),
        *("2013-12-15T10:59:60", "2013-13-01T10:00", "2013-02-30T10:00", "2013-12-15T10:00+15:00"),
        *("2013-12-15T10:00+02:60", "2300-01-01T00:00", "2013-12-15T10:00 CET"),
    ],
)
def test_what_is_no_time_is_missing(text: str) -> None:
    assert parse_time(text) == MISSING


@pytest.mark.parametrize(
    ("text", "number", "state"),
    [
        ("4.70E+01", 47, FINE),
        ("-.5e-1", -0.05, FINE),
        ("+7.", 7, FINE),
        ("inf", math.inf, FINE),
        ("-Infinity", -math.inf, FINE),
        ("", NAN, FINE),
        ("<", NAN, BELOW),
        ("<=0.5", NAN, BELOW),
        ("< 1e3", NAN, BELOW),
        (">", NAN, ABOVE),
        (">= 5", NAN, ABOVE),
        ("<low", NAN, BAD),
        ("5 nSv/h", NAN, BAD),
        ("1,5", NAN, BAD),
        ("0x1", NAN, BAD),
    ],
)
def test_a_value_is_a_number_or_says_why_not(text: str, number: float, state: int) -> None:
    found, what = parse_value(text)
    np.testing.assert_equal((found, what), (number, state))


@pytest.mark.parametrize(
    ("latitude", "longitude", "place"),
    [
        ("N64.0508", "W021.5035", (64.0508, -21.5035)),
        ("64.5 S", "21.5E", (-64.5, 21.5)),
        ("-64.5", "+21", (-64.5, 21)),
        ("s 5", "w5.", (-5, -5)),
        ("90", "180", (90, 180)),
        ("S90", "W180", (-90, -180)),
        ("90.1", "10", None),
        ("10", "180.5", None),
        ("E10", "10", None),
        ("10", "N10", None),
        ("N-10", "10", None),
        ("S+10", "10", None),
        ("N10N", "10", None),
        ("", "10", None),
        ("10", "x", None),
    ],
)
def test_a_place_is_a_pair_of_degrees_or_none(latitude: str, longitude: str, place: tuple[float, float] | None) -> None:
    assert parse_place(latitude, longitude) == place


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("IS1", "T-GAMMA", "A5", "A", ""), "IS1 T-GAMMA"),
        (("IS1", "T-GAMMA", "", "", ""), "IS1 T-GAMMA"),
        (("IS1", "", "RAIN", "", ""), "IS1 RAIN"),
        (("IS1", "CS-137", "A1", "", ""), "IS1 CS-137 A1"),
        *((("IS1", "T-GAMMA", "A5", usual, ""), "IS1 T-GAMMA") for usual in ("B", "C", "E", "Z", "?")),
        (("IS1", "T-GAMMA", "A5", "G", ""), "IS1 T-GAMMA highest"),
        (("IS1", "T-GAMMA", "A5", "O", ""), "IS1 T-GAMMA lowest"),
        (("IS1", "T-GAMMA", "A5", "D", "GM1"), "IS1 T-GAMMA value type D GM1"),
    ],
)
def test_a_tag_says_what_sets_it_apart(parts: tuple[str, str, str, str, str], name: str) -> None:
    assert tag_name(*parts) == name


# --- units ---


@pytest.mark.parametrize(
    ("code", "unit"),
    [
        pair.split("=")
        for pair in (
            "NSV/H=nSv/h USV/H=µSv/h MSV/H=mSv/h NGY/H=nGy/h UGY/H=µGy/h BQ=Bq BQ.H/M3=Bq*h/m3 BQ.S/M3=Bq*s/m3 "
            "BQ/D=Bq/d BQ/G=Bq/g BQ/KG=Bq/kg BQ/L=Bq/l BQ/M2=Bq/m2 BQ/M2/D=Bq/m2/d BQ/M3=Bq/m3 CI/KM2=Ci/km2 "
            "KBQ/KG=kBq/kg KBQ/L=kBq/l KBQ/M2=kBq/m2 KBQ/M3=kBq/m3 KKBQ/KM2=MBq/km2 KKBQ/M2=MBq/m2 MBQ/KG=mBq/kg "
            "MBQ/L=mBq/l MBQ/M2=mBq/m2 MBQ/M3=mBq/m3 NBQ/L=nBq/l NBQ/M3=nBq/m3 NCI/KG=nCi/kg NCI/M2=nCi/m2 "
            "PCI/CM2=pCi/cm2 PCI/G=pCi/g PCI/L=pCi/l PCI/M3=pCi/m3 UBQ/KG=µBq/kg UBQ/M3=µBq/m3 MM=mm CM=cm "
            "PERCENT=% PERCENTAGE=%"
        ).split()
    ],
)
def test_each_code_of_the_list_is_its_unit(code: str, unit: str) -> None:
    assert read_unit(code) == read_unit(code.lower()) == unit


@pytest.mark.parametrize("text", ["MBq/m3", "nSv/h", "R/H", "", "furlong"])
def test_other_text_is_read_as_it_is_written(text: str) -> None:
    assert read_unit(text) == text


@pytest.mark.parametrize(
    ("nuclide", "unit", "quantity"),
    [
        ("T-GAMMA", None, "dose_rate"),
        ("EXT-RAD", None, "dose_rate"),
        ("CS-137", None, None),
        *(("CS-137", f"Bq/{per}", "activity_concentration") for per in ("m3", "l")),
        *(("CS-137", f"mBq/{per}", "specific_activity") for per in ("kg", "g")),
        *(("CS-137", f"Ci/{per}", "surface_activity") for per in ("m2", "km2", "cm2")),
        ("CS-137", "Bq", "activity"),
        ("CS-137", "Bq/d", None),
        ("T-GAMMA", "nSv/h", None),
        ("PRECIPITATION", "mm", "rain"),
        ("PRESSURE", "hPa", "pressure"),
        ("RELATIVE_HUMIDITY", "%", "humidity"),
        ("TEMPERATURE", None, "temperature"),
        ("WIND_DIRECTION", "deg", "wind_direction"),
        ("WIND_SPEED", "m/s", "wind_speed"),
    ],
)
def test_the_quantity_of_a_series_follows_from_nuclide_and_unit(
    nuclide: str, unit: str | None, quantity: str | None
) -> None:
    assert quantity_of(nuclide, unit) == quantity


def units(cells: list[str], group: list[int], tags: list[str]) -> tuple[list[str | None], list[float], Account]:
    account = Account(["m.eur"], len(cells))
    found, factor = units_of_groups(Words.of(cells), np.array(group), tags, account)
    return found, factor.tolist(), account


def test_units_of_one_quantity_are_brought_to_one_and_that_is_said() -> None:
    found, factor, account = units(["NSV/H", "USV/H", "", "mm"], [0, 0, 0, 1], ["A", "B"])
    assert found == ["nSv/h", "mm"]
    assert factor == [1, 1000, 1, 1]
    assert account.decisions == [
        "tag 'A' comes in nSv/h and µSv/h: brought to nSv/h",
        "1 record(s) state no unit; they were taken in the unit of their tag",
    ]


def test_a_tag_without_any_unit_has_none_and_nothing_is_said() -> None:
    found, factor, account = units(["", "", "CM"], [0, 0, 1], ["A", "B"])
    assert (found, factor, list(account.decisions)) == ([None, "cm"], [1, 1, 1], [])


def test_units_of_several_quantities_are_refused_with_the_tag() -> None:
    with pytest.raises(LogError) as refused:
        units(["nSv/h", "nGy/h"], [0, 0], ["A"])
    assert str(refused.value) == "tag 'A' comes in several units (nSv/h, nGy/h); read the messages one by one"
    with pytest.raises(LogError, match=r"^tag 'A' comes in several units \(nSv/h, frobs\): ."):
        units(["nSv/h", "frobs"], [0, 0], ["A"])


# --- uncertainties ---


def sigma_of_one(stated: str, kind: str, unit: str = "", value_unit: str = "nSv/h", value: float = 200.0) -> object:
    """σ of one value, or why there is none; None where nothing was stated."""
    sigma, why, reasons = standard_uncertainty(
        np.array([value]), Words.of([stated]), Words.of([kind]), Words.of([unit]), Words.of([value_unit])
    )
    if why[0] >= 0:
        assert np.isnan(sigma[0])
        return reasons[why[0]]
    return None if np.isnan(sigma[0]) else round(float(sigma[0]), 9)


@pytest.mark.parametrize(("kind", "divisor"), [("A", 1), ("B", 2), ("C", 3), ("D", 1), ("K", 1), ("L", 1)])
def test_each_type_of_uncertainty_is_brought_to_one_standard_deviation(kind: str, divisor: float) -> None:
    assert sigma_of_one("10", kind, "%") == pytest.approx(20 / divisor)
    assert sigma_of_one("0.1", kind, "RATIO") == pytest.approx(20 / divisor)
    if kind != "L":
        assert sigma_of_one("20", kind) == pytest.approx(20 / divisor)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("", "its type is not stated"),
        ("E", "a 95th percentile (E) states no σ"),
        ("F", "a 99th percentile (F) states no σ"),
        ("G", "an absolute error (G) states no σ"),
        ("H", "a percentage (H) states no σ"),
        ("I", "its type (I) is not clear"),
        ("J", "a detection limit (J) is none"),
        ("M", "an error with an estimated part (M) states no σ"),
        ("Z", "its type is not specified (Z)"),
        ("Y", "its type is unknown"),
    ],
)
def test_types_that_state_no_standard_deviation_say_so(kind: str, reason: str) -> None:
    assert sigma_of_one("1", kind) == f"no standard uncertainty: {reason}"


@pytest.mark.parametrize(
    ("stated", "kind", "unit", "value", "reason"),
    [
        ("about 1", "A", "", 200, "it is no number"),
        ("<1", "A", "", 200, "it is no number"),
        ("0", "A", "", 200, "it is not above 0"),
        ("-1", "A", "", 200, "it is not above 0"),
        ("10", "A", "%", NAN, "there is no value to which it is relative"),
        ("1", "L", "nSv/h", 200, "a relative one (L) needs % or RATIO as its unit"),
        ("1", "A", "nGy/h", 200, "its unit is not that of the value"),
        ("1", "A", "frobs", 200, "its unit or that of the value is unknown"),
    ],
)
def test_what_is_no_standard_uncertainty_says_why(stated: str, kind: str, unit: str, value: float, reason: str) -> None:
    assert sigma_of_one(stated, kind, unit, value=value) == f"no standard uncertainty: {reason}"


def test_an_uncertainty_in_another_unit_of_the_same_quantity_is_converted() -> None:
    assert sigma_of_one("0.002", "A", "uSv/h") == 2
    assert sigma_of_one("2", "A", "nSv/h", "uSv/h", 0.2) == 0.002


def test_where_no_uncertainty_is_stated_nothing_is_said() -> None:
    assert sigma_of_one("", "A") is None
    assert sigma_of_one("", "") is None


def test_a_small_uncertainty_is_one() -> None:
    assert sigma_of_one("0.5", "A") == 0.5
    assert sigma_of_one("10", "A", "%", value=-200.0) == 20


# --- grammar ---


def test_statements_have_their_kind_section_and_line() -> None:
    text = (
        "\\BEGIN_EURDEP;\n! note\n\\BEGIN_HEADER;\n\\SENT now;\n\\END_HEADER;\n\\BEGIN_RADIOLOGICAL;\n"
        "\\FIELD_LIST A,B;\n\\BEGIN_DEFAULT;\n\\UNIT nSv/h; rest\n\\END_DEFAULT;\n\\1,2;\n3,4\n\\5,\n6\n"
        "\\END_RADIOLOGICAL;\n\\BEGIN_EXTRA;\n\\odd;\n\\END_EXTRA;\n\\END_EURDEP;\nafter\n"
    )
    assert [(i.kind, i.section, i.line, i.text, i.bare, i.closed) for i in items(text, "m.eur")] == [
        ("note", "", 2, "! note", False, True),
        ("message", "EURDEP", 1, "BEGIN_EURDEP", False, True),
        ("section", "HEADER", 3, "BEGIN_HEADER", False, True),
        ("header", "HEADER", 4, "SENT now", False, True),
        ("section", "RADIOLOGICAL", 6, "BEGIN_RADIOLOGICAL", False, True),
        ("fields", "RADIOLOGICAL", 7, "A,B", False, True),
        ("default", "RADIOLOGICAL", 9, "UNIT nSv/h", False, True),
        ("remark", "RADIOLOGICAL", 9, "rest", False, True),
        ("record", "RADIOLOGICAL", 11, "1,2", False, True),
        ("record", "RADIOLOGICAL", 12, "3,4", True, True),
        ("record", "RADIOLOGICAL", 13, "5, 6", False, False),
        ("section", "EXTRA", 16, "BEGIN_EXTRA", False, True),
        ("skipped", "EXTRA", 17, "odd", False, True),
        ("outside", "", 20, "after", False, True),
    ]


def test_comments_hide_what_is_in_them() -> None:
    text = "\\BEGIN_EURDEP;\n\\BEGIN_COMMENT;\n\\BEGIN_EURDEP;\n\\END_COMMENT;\n\\END_EURDEP;\n"
    assert [(i.kind, i.line) for i in items(text, "m.eur")] == [("message", 1), ("comment", 2)]


IN_MESSAGE = "\\BEGIN_<section>; or \\END_EURDEP; was expected in the message that begins at line 1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "m.eur holds no \\BEGIN_EURDEP; so it is no EURDEP 2.x message; check what was fetched"),
        (
            "\\BEGIN_EURDEP;\n\\BEGIN_METEO;\n",
            "m.eur ends inside METEO, which begins at line 2 and has no \\END_METEO; the file was cut off: fetch it "
            "again",
        ),
        (
            "\n\\BEGIN_METEO;\n",
            "m.eur line 2: \\BEGIN_METEO cannot stand here; \\BEGIN_EURDEP; was expected",
        ),
        ("\\END_METEO;\n", "m.eur line 1: \\END_METEO closes nothing; \\BEGIN_EURDEP; was expected"),
        (
            "\\BEGIN_EURDEP;\n\\BEGIN_EURDEP;\n",
            f"m.eur line 2: \\BEGIN_EURDEP cannot stand here; {IN_MESSAGE}",
        ),
        (
            "\\BEGIN_EURDEP;\n\\BEGIN_DEFAULT;\n",
            f"m.eur line 2: \\BEGIN_DEFAULT cannot stand here; {IN_MESSAGE}",
        ),
        ("\\BEGIN_EURDEP;\n\\UNIT nSv/h;\n", f"m.eur line 2: 'UNIT nSv/h' stands in no section; {IN_MESSAGE}"),
        (f"\\BEGIN_EURDEP;\n\\{'x' * 70};\n", f"m.eur line 2: {'x' * 60!r} stands in no section; {IN_MESSAGE}"),
        (
            "\\BEGIN_EURDEP;\n\\BEGIN_METEO;\n\\END_LOCALITY;\n",
            "m.eur line 3: \\END_LOCALITY closes nothing; \\END_METEO; was expected, for METEO begins at line 2",
        ),
        (
            "\\BEGIN_EURDEP;\n\\BEGIN_METEO;\n\\BEGIN_HEADER;\n",
            "m.eur line 3: \\BEGIN_HEADER cannot stand here; \\END_METEO; was expected, for METEO begins at line 2",
        ),
        (
            "\\BEGIN_EURDEP;\n\\BEGIN_METEO;\n\\BEGIN_DEFAULT;\n\\FIELD_LIST A;\n",
            "m.eur line 4: \\FIELD_LIST cannot stand among defaults; \\END_DEFAULT; was expected, for DEFAULT begins "
            "at line 3",
        ),
        (
            "\\BEGIN_EURDEP;\n\\BEGIN_HEADER;\n\\BEGIN_DEFAULT;\n",
            "m.eur line 3: \\BEGIN_DEFAULT cannot stand here; \\END_HEADER; was expected, for HEADER begins at line 2",
        ),
    ],
)
def test_text_that_does_not_nest_is_refused_with_its_line_and_what_was_expected(text: str, said: str) -> None:
    with pytest.raises(LogError) as refused:
        list(items(text, "m.eur"))
    assert str(refused.value) == said


@pytest.mark.parametrize("section", ["LOCALITY", "RADIOLOGICAL", "METEO"])
def test_each_list_of_records_may_have_defaults(section: str) -> None:
    records = f"\\BEGIN_{section};\n\\BEGIN_DEFAULT;\n\\A b;\n\\END_DEFAULT;\n\\1;\n\\END {section};\n"
    text = f"\\BEGIN_EURDEP;\n{records}\\END_EURDEP;"
    assert [i.kind for i in items(text, "m.eur")] == ["message", "section", "default", "record"]


def test_fields_are_stripped_and_quotes_keep_commas() -> None:
    assert split_fields(" a , b,, c") == ["a", "b", "", "c"]
    assert split_fields('1, "a, b" ,2') == ["1", "a, b", "2"]
