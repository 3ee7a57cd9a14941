"""Names of files."""

from __future__ import annotations

import re

import pytest

from attentionmixer.data.fetch.wanted import file_name

NASTY = [
    "../../etc/passwd",
    "a/b",
    "a\\b",
    "a?b",
    "a\0b",
    "CON",
    "Ä: ÖLBRONN",
    ".",
    "",
    "a\nb",
    "x" * 500,
    "AZ:PHOENIX",
]


def test_a_plain_station_keeps_its_name() -> None:
    assert file_name("radnet", "AZ: PHOENIX", "2021", ".csv") == "radnet_AZ_PHOENIX_2021.csv"
    assert file_name("radnet", "LA: BATON ROUGE", "2021", ".csv") == "radnet_LA_BATON_ROUGE_2021.csv"
    assert file_name("odl", "055620080", "2026-12-01", ".json") == "odl_055620080_2026-12-01.json"


@pytest.mark.parametrize("station", NASTY)
def test_a_name_is_safe_whatever_the_station_is_called(station: str) -> None:
    name = file_name("radnet", station, "2021", ".csv")
    assert re.fullmatch(r"radnet_[A-Za-z0-9_]+_2021\.csv", name)
    assert len(name) < 100


def test_stations_that_differ_have_names_that_differ() -> None:
    stations = [*NASTY, "MO: ST. LOUIS", "MO: ST LOUIS", "MO: ST-LOUIS", "MO: ST  LOUIS", "x" * 501]
    names = {file_name("radnet", station, "2021", ".csv").casefold() for station in stations}
    assert len(names) == len(stations)
