"""Units."""

from __future__ import annotations

import pytest

from attentionmixer.data.units import Unit, is_unit, normalise_micro, parse_unit
from attentionmixer.errors import LogError


@pytest.mark.parametrize("text", ["\u00b5Sv/h", "\u03bcSv/h", "uSv/h", " \u00b5Sv/h ", "uSv/hr", "\u00b5Sv*h**-1"])
def test_all_spellings_of_micro_are_one_unit(text: str) -> None:
    assert parse_unit(text) == Unit("nSv/h", "dose_rate", 1000.0)


@pytest.mark.parametrize(
    ("text", "factor"), [("nSv/h", 1.0), ("mSv/h", 1e6), ("Sv/h", 1e9), ("nSv/s", 3600.0), ("mrem/h", 1e4)]
)
def test_dose_equivalent_rates_come_to_nanosievert_per_hour(text: str, factor: float) -> None:
    assert parse_unit(text) == Unit("nSv/h", "dose_rate", factor)


def test_exposure_and_kerma_are_not_taken_for_dose_equivalent() -> None:
    assert parse_unit("\u03bcR/h") == Unit("\u00b5R/h", "exposure_rate")
    assert parse_unit("uR/h") == parse_unit("\u00b5R/h")
    assert parse_unit("nGy/h") == Unit("nGy/h", "kerma_rate")


def test_an_accumulated_dose_is_not_a_dose_rate() -> None:
    assert parse_unit("mSv").quantity != "dose_rate"


@pytest.mark.parametrize(("text", "unit"), [("cpm", "cpm"), ("cps", "cps"), ("counts/s", "cps"), ("counts/min", "cpm")])
def test_count_rates_are_known_and_not_converted(text: str, unit: str) -> None:
    assert parse_unit(text) == Unit(unit, "count_rate", 1.0)


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("m3/h", "flow"),
        ("m³/h", "flow"),
        ("t/h", "flow"),
        ("degC", "temperature"),
        ("°C", "temperature"),
        ("hPa", "pressure"),
        ("barg", "pressure"),
        ("m/s", "speed"),
        ("kW", "power"),
        ("V", "voltage"),
        ("pH", "generic"),
        ("%", "generic"),
        ("-", "generic"),
        ("Bq/m3", "generic"),
        ("s-1", "generic"),
    ],
)
def test_units_of_plants_are_known_and_kept_as_written(text: str, quantity: str) -> None:
    assert parse_unit(text) == Unit(text, quantity, 1.0)


@pytest.mark.parametrize(
    "text", ["bananas", "", "north", "Sv/banana", "__import__('os')", "nSv/h; drop", "1e999999999"]
)
def test_an_unknown_unit_is_refused(text: str) -> None:
    assert not is_unit(text)
    with pytest.raises(LogError, match="unknown"):
        parse_unit(text)


def test_the_greek_letter_becomes_the_micro_sign() -> None:
    assert normalise_micro("\u03bcm") == "\u00b5m"
