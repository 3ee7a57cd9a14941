"""Units."""

from __future__ import annotations

import pytest

from attentionmixer.data.units import TUBES, Unit, convert_unit, is_unit, normalise_micro, parse_unit
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


# --- stated conversions ---


@pytest.mark.parametrize(
    ("tube", "per_cpm"),
    [("LND-7317", 1000 / 334), ("LND-7318", 1000 / 334), ("LND-712", 1000 / 108), ("SBM-20", 1000 / 175.43)],
)
def test_a_tube_turns_counts_a_minute_into_its_published_dose_rate(tube: str, per_cpm: float) -> None:
    assert convert_unit(parse_unit("cpm"), tube, "A") == Unit("nSv/h", "dose_rate", per_cpm)
    assert convert_unit(parse_unit("cps"), tube, "A") == Unit("nSv/h", "dose_rate", 60 * per_cpm)
    assert set(TUBES) == {"LND-7317", "LND-7318", "LND-712", "SBM-20"}


@pytest.mark.parametrize("unit", ["counts", "nSv/h", "degC"])
def test_a_tube_is_refused_for_what_is_no_count_rate(unit: str) -> None:
    with pytest.raises(LogError, match=rf"column 'A' is in {unit}; the tube SBM-20 turns cpm or cps into a dose rate"):
        convert_unit(parse_unit(unit), "SBM-20", "A")


@pytest.mark.parametrize(
    ("unit", "rule", "wanted"),
    [
        ("uR/h", "8.7 nSv/h", Unit("nSv/h", "dose_rate", 8.7)),
        ("uR/h", "0.0087uSv/h", Unit("nSv/h", "dose_rate", 8.7)),
        ("nGy/h", " 1 nSv/h ", Unit("nSv/h", "dose_rate", 1.0)),
        ("cpm", "2e-3 uSv/h", Unit("nSv/h", "dose_rate", 2.0)),
        ("cpm", ".5 cps", Unit("cps", "count_rate", 0.5)),
        ("t/h", "1000 kg/h", Unit("kg/h", "flow", 1000.0)),
        ("uSv/h", "2 nSv/h", Unit("nSv/h", "dose_rate", 2000.0)),
    ],
)
def test_a_stated_amount_is_what_one_of_the_unit_stands_for(unit: str, rule: str, wanted: Unit) -> None:
    found = convert_unit(parse_unit(unit), rule, "A")
    assert (found.text, found.quantity) == (wanted.text, wanted.quantity)
    assert found.factor == pytest.approx(wanted.factor, rel=1e-12)


@pytest.mark.parametrize(
    "rule", ["much", "", "nSv/h", "8", "0 nSv/h", "-1 nSv/h", "1e999 nSv/h", "lnd-7317", "nan nSv/h"]
)
def test_a_rule_that_is_neither_an_amount_nor_a_tube_is_refused_with_the_tubes_there_are(rule: str) -> None:
    with pytest.raises(
        LogError, match=r"is not an amount and a unit, such as '8\.7 nSv/h', nor a tube \(LND-7317, .*SBM-20\)"
    ):
        convert_unit(parse_unit("cpm"), rule, "A")


@pytest.mark.parametrize("rule", ["1.2.3 nSv/h", ". nSv/h", "...... cpm"])
def test_an_amount_that_is_no_number_is_refused(rule: str) -> None:
    with pytest.raises(LogError):
        convert_unit(parse_unit("cpm"), rule, "A")


def test_a_rule_with_an_unknown_unit_is_refused() -> None:
    with pytest.raises(LogError, match="unit 'bananas' is unknown"):
        convert_unit(parse_unit("cpm"), "8.7 bananas", "A")


# --- more of what units are ---


@pytest.mark.parametrize("text", ["25", "1e9", "3.5", ".5", "0", "2/s", "11/s", "1e9/s"])
def test_a_number_is_no_unit(text: str) -> None:
    assert not is_unit(text)


@pytest.mark.parametrize(
    ("text", "quantity"), [("1/s", "generic"), ("1", "generic"), ("m\u00b7s-1", "speed"), ("kg/s", "flow")]
)
def test_a_unit_may_begin_with_one_over(text: str, quantity: str) -> None:
    assert parse_unit(text).quantity == quantity


@pytest.mark.parametrize(
    ("text", "unit"),
    [("R/h", "R/h"), ("mR/hr", "mR/hr"), ("nR/s", "nR/s"), ("\u03bcR/min", "\u00b5R/min"), ("uR/h", "\u00b5R/h")],
)
def test_exposure_keeps_its_prefix_and_time(text: str, unit: str) -> None:
    assert parse_unit(text) == Unit(unit, "exposure_rate", 1.0)


@pytest.mark.parametrize("text", ["Gy/h", "mGy/h", "\u00b5Gy/h"])
def test_air_kerma_is_a_quantity_of_its_own(text: str) -> None:
    assert parse_unit(text) == Unit(text, "kerma_rate", 1.0)
    assert parse_unit("mGy").quantity == "generic"
