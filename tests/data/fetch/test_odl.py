"""ODL: addresses, plans, and what a collection of features holds."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from attentionmixer.data.fetch.odl import canonical, check, plan, url
from attentionmixer.data.fetch.period import Days
from attentionmixer.data.fetch.trouble import CutOff
from attentionmixer.data.fetch.wanted import Finding
from attentionmixer.errors import LogError

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
STATION = "055620080"
WEEK = Days.parse("2026-11-25", "2026-12-01")


def collection(hours: int, first: str = "2026-11-25T01:00:00Z", **more: Any) -> bytes:
    """Hourly features from the hour that ends at ``first``."""
    start = dt.datetime.fromisoformat(first)
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [7.1, 51.5]},
            "properties": {
                "kenn": STATION,
                "end_measure": (start + dt.timedelta(hours=hour)).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "value": 0.071,
                "unit": "µSv/h",
            },
        }
        for hour in range(hours)
    ]
    data = {"type": "FeatureCollection", "features": features, "totalFeatures": hours, "numberReturned": hours, **more}
    return json.dumps(data).encode()


def test_the_address_of_a_series_names_the_station() -> None:
    parts = urlsplit(url(STATION))
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "www.imis.bfs.de", "/ogc/opendata/ows")
    assert {key: value for key, (value,) in parse_qs(parts.query).items()} == {
        "service": "WFS",
        "version": "1.1.0",
        "request": "GetFeature",
        "typeName": "opendata:odlinfo_timeseries_odl_1h",
        "outputFormat": "application/json",
        "viewparams": "kenn:055620080",
        "sortBy": "end_measure",
        "maxFeatures": "10000",
    }


def test_the_address_of_the_last_hour_names_no_station() -> None:
    query = parse_qs(urlsplit(url(None)).query)
    assert query["typeName"] == ["opendata:odlinfo_odl_1h_latest"]
    assert "viewparams" not in query


@pytest.mark.parametrize(
    "station", ["", "55620080", "0556200801", "DEZ0305", "05562008a", "055620080;x:1", "../055620", "٠٥٥٦٢٠٠٨٠", "a\0b"]
)
def test_what_cannot_be_a_station_is_refused(station: str) -> None:
    with pytest.raises(LogError, match="it has nine digits, as in 055620080"):
        url(station)


def test_a_leading_zero_is_kept() -> None:
    assert canonical(" 055620080 ") == "055620080"


def test_a_plan_has_a_file_for_each_station() -> None:
    wanted = plan([STATION, "091811461", STATION], None, None, NOW)
    assert [one.name for one in wanted] == [
        "odl_055620080_2026-11-24_2026-12-01.json",
        "odl_091811461_2026-11-24_2026-12-01.json",
    ]
    # the last day is not over, so the file is not final
    assert wanted[0].settled > NOW


def test_a_plan_without_stations_is_the_last_hour_of_all() -> None:
    (wanted,) = plan([], None, None, NOW)
    assert wanted.name == "odl_LATEST_2026-12-01T12.json"
    assert wanted.url == url(None)


@pytest.mark.parametrize(("start", "end"), [("2026-11-30", None), (None, "2026-11-30")])
def test_a_period_needs_stations(start: str | None, end: str | None) -> None:
    with pytest.raises(LogError, match="a period needs stations"):
        plan([], start, end, NOW)


def test_a_period_in_the_future_is_refused() -> None:
    with pytest.raises(LogError, match="lies in the future"):
        plan([STATION], "2027-01-01", "2027-01-02", NOW)


def test_the_readings_of_the_period_are_counted() -> None:
    assert check(collection(7 * 24), STATION, WEEK) == Finding(168)


def test_the_hour_that_ends_at_midnight_belongs_to_the_day_before() -> None:
    day = Days.parse("2026-11-26", "2026-11-26")
    finding = check(collection(7 * 24), STATION, day)
    assert finding.rows == 24
    assert finding.note.startswith("144 reading(s) outside 2026-11-26 to 2026-11-26 are in the file as well")


def test_a_period_that_the_service_no_longer_holds_is_no_data() -> None:
    finding = check(collection(24), STATION, Days.parse("2020", "2020"))
    assert finding.rows == 0
    assert (
        "no reading in 2020-01-01 to 2020-12-31; the service holds 2026-11-25 01:00 to 2026-11-26 00:00" in finding.note
    )


def test_no_features_are_no_data() -> None:
    finding = check(collection(0), STATION, WEEK)
    assert finding.rows == 0
    assert "does not know the station, or the station sends none" in finding.note


def test_the_last_hour_counts_defective_stations_too() -> None:
    features = [{"properties": {"kenn": "1", "end_measure": None, "value": None}}]
    assert check(json.dumps({"features": features}).encode()) == Finding(1)


@pytest.mark.parametrize("lost", [1, 2, 100, 1000])
def test_json_that_breaks_off_is_noticed(lost: int) -> None:
    with pytest.raises(CutOff, match="breaks off or is damaged"):
        check(collection(24)[:-lost], STATION, WEEK)


def test_json_too_deep_to_read_is_noticed() -> None:
    with pytest.raises(CutOff):
        check(b'{"features": ' + b"[" * 100_000, STATION, WEEK)


def test_readings_that_the_service_left_out_are_noticed() -> None:
    with pytest.raises(LogError, match="sent 24 of 168 readings, so the rest would be lost"):
        check(collection(24, totalFeatures=168), STATION, WEEK)


def test_a_total_that_the_service_does_not_know_is_passed_over() -> None:
    assert check(collection(24, totalFeatures="unknown"), STATION, WEEK).rows == 24


@pytest.mark.parametrize("content", [b"time,dose\n1,2\n", b'"text"', b"{}", b"[]", b"7"])
def test_what_is_no_collection_is_refused(content: bytes) -> None:
    with pytest.raises(LogError, match=r"no JSON|no collection of features"):
        check(content, STATION, WEEK)


def test_readings_of_another_station_are_refused() -> None:
    with pytest.raises(LogError, match="feature 1 is of station '055620080', which was not asked for"):
        check(collection(24), "091811461", WEEK)


@pytest.mark.parametrize("end", [None, 5, "", "2026-11-25 01:00", "yesterday"])
def test_a_reading_without_a_time_is_refused(end: object) -> None:
    content = json.dumps({"features": [{"properties": {"kenn": STATION, "end_measure": end}}]}).encode()
    with pytest.raises(LogError, match=r"feature 1 has end_measure .*, which is no time with a zone"):
        check(content, STATION, WEEK)


@pytest.mark.parametrize("feature", [None, 5, {}, {"properties": []}])
def test_a_feature_without_properties_is_refused(feature: object) -> None:
    with pytest.raises(LogError, match="feature 1 has no properties"):
        check(json.dumps({"features": [feature]}).encode(), STATION, WEEK)
