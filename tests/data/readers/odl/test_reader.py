"""The reader of German ODL answers (GeoJSON of the BfS)."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data.log import StationLog
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers import odl
from attentionmixer.data.readers.assemble import Assembly
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

Write = Callable[..., Source]
Feature = dict[str, Any]
HOUR = 3_600_000_000_000
FIRST = pd.Timestamp("2024-05-01T00:00:00")


def feature(hour: int = 1, value: Any = 0.073, *, length: int = 1, **changes: Any) -> Feature:
    """A reading of the hour that ends ``hour`` hours after the first midnight, as the service writes it."""
    end = FIRST + pd.Timedelta(hours=hour)
    properties = {
        "id": "DEZ0654",
        "kenn": "055620080",
        "plz": "45711",
        "name": "Datteln",
        "site_status": 1,
        "site_status_text": "in Betrieb",
        "kid": 4,
        "height_above_sea": 50,
        "start_measure": f"{(end - pd.Timedelta(hours=length)).isoformat()}Z",
        "end_measure": f"{end.isoformat()}Z",
        "value": value,
        "value_cosmic": 0.043,
        "value_terrestrial": 0.03,
        "unit": "µSv/h",
        "validated": 1,
        "nuclide": "Gamma-ODL-Brutto",
        "duration": "1h" if length == 1 else "1d",
    }
    place = changes.pop("place", [7.36, 51.67])
    return {
        "type": "Feature",
        "id": f"odlinfo_odl_1h_latest.fid-{hour}",
        "geometry": None if place is None else {"type": "Point", "coordinates": place},
        "geometry_name": "geom",
        "properties": properties | changes,
    }


def collection(features: Sequence[Any], **said: Any) -> dict[str, Any]:
    count = len(features)
    counts = {"totalFeatures": count, "numberMatched": count, "numberReturned": count}
    return {
        "type": "FeatureCollection",
        "features": list(features),
        **counts,
        "timeStamp": "2024-05-02T00:00:00Z",
        **said,
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(features: Sequence[Any] | bytes, name: str = "odl.json", **said: Any) -> Source:
        path = tmp_path / name
        path.write_bytes(features if isinstance(features, bytes) else json.dumps(collection(features, **said)).encode())
        return Source(path)

    return _write


def read(*sources: Source, assembly: Assembly | None = None, **options: Any) -> StationLog:
    return odl.read(sources, assembly or Assembly(), **options)


def balance(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


def reasons(log: StationLog) -> list[tuple[int, str, str, str]]:
    return [(q.line, q.column, q.text, q.reason) for q in log.quality.quarantined]


def dose(log: StationLog, tag: str = "055620080 dose") -> list[float]:
    return [round(float(v), 3) for v in log.select([tag]).values[:, 0]]


# --- what a good answer becomes ---


def test_an_answer_becomes_a_tag_a_station_in_nsv_per_hour_at_the_end_of_the_interval(write: Write) -> None:
    other = {"kenn": "010010001", "name": "Flensburg", "place": [9.38, 54.78]}
    log = read(write([feature(1, 0.073), feature(1, 0.08, **other), feature(2, 0.075), feature(2, 0.081, **other)]))
    assert log.names == ("055620080 dose", "010010001 dose")
    assert log.stations == ("055620080", "010010001")
    tag = log.tags[0]
    assert (tag.unit, tag.quantity, tag.role) == ("nSv/h", "dose_rate", "target")
    assert [t.coordinates for t in log.tags] == [(51.67, 7.36), (54.78, 9.38)]
    assert list(log.time) == [pd.Timestamp("2024-05-01T01:00Z"), pd.Timestamp("2024-05-01T02:00Z")]
    np.testing.assert_allclose(log.values, [[73, 80], [75, 81]], rtol=1e-6)
    assert (log.sampling.stamp, log.sampling.interval) == ("end", 3600)
    assert balance(log) == (4, 4, 0, 0)
    assert not log.quality.masked
    assert not log.flags.any()


def test_daily_means_are_read_too(write: Write) -> None:
    log = read(write([feature(24 * day, 0.09 + day / 1000, length=24) for day in range(3)]))
    assert log.step == pd.Timedelta("1D")
    assert log.sampling.interval == 86_400
    assert dose(log) == [90, 91, 92]


def test_series_state_no_status_and_are_in_operation(write: Write) -> None:
    features = [feature(1), feature(2, 0.08)]
    for one in features:
        for key in ("site_status", "site_status_text", "plz", "kid", "height_above_sea"):
            del one["properties"][key]
    log = read(write(features))
    assert dose(log) == [73, 80]
    assert not log.flags.any()


def test_a_packed_answer_is_read(write: Write) -> None:
    content = json.dumps(collection([feature(1), feature(2)])).encode()
    assert dose(read(write(gzip.compress(content), name="odl.json.gz"))) == [73, 73]


def test_the_name_of_the_station_is_in_the_header_by_which_units_can_be_declared(write: Write) -> None:
    source = write([feature(1, 73, unit=None), feature(2, 74, unit=None)])
    log = read(source, assembly=Assembly(units={"055620080 Datteln value": "nSv/h"}))
    assert dose(log) == [73, 74]


def test_a_station_identifier_stays_text_with_its_zeros(write: Write) -> None:
    log = read(write([feature(1, kenn="010010001"), feature(2, kenn="010010001")]))
    assert log.stations == ("010010001",)


def test_hostile_names_are_kept_verbatim(write: Write) -> None:
    name = '=cmd|"/c calc"!<script>\x00'
    log = read(write([feature(1, kenn=name), feature(2, kenn=name)]))
    assert log.names == (f"{name} dose",)


def test_the_parts_of_a_reading_are_left_out_and_this_is_said(write: Write) -> None:
    log = read(write([feature(1), feature(2)]))
    assert log.names == ("055620080 dose",)
    assert any("parts=True takes them" in d for d in log.quality.decisions)


def test_the_parts_of_a_reading_become_further_tags_if_asked_for(write: Write) -> None:
    log = read(write([feature(1), feature(2, value_cosmic=None)]), parts=True)
    assert log.names == ("055620080 dose", "055620080 dose cosmic", "055620080 dose terrestrial")
    assert {tag.unit for tag in log.tags} == {"nSv/h"}
    np.testing.assert_allclose(log.values, [[73, 43, 30], [73, np.nan, 30]], rtol=1e-6)


def test_another_quantity_of_a_station_is_a_tag_of_its_own(write: Write) -> None:
    net = "Gamma-ODL-Netto"
    log = read(write([feature(1), feature(1, 0.01, nuclide=net), feature(2), feature(2, 0.02, nuclide=net)]))
    assert log.names == ("055620080 dose", "055620080 Gamma-ODL-Netto")
    np.testing.assert_allclose(log.values[:, 1], [10, 20], rtol=1e-6)


def test_stations_can_be_chosen(write: Write) -> None:
    source = write([feature(h, kenn=k) for h in (1, 2) for k in ("A", "B")])
    log = read(source, assembly=Assembly(stations=["b"]))
    assert log.stations == ("B",)
    assert balance(log) == (2, 2, 0, 0)


# --- missing values, status, validation ---


def test_a_null_is_missing_and_nothing_else(write: Write) -> None:
    log = read(write([feature(1), feature(2, None), feature(3)]))
    assert np.isnan(log.values[1, 0])
    assert log.flags[1, 0] == 0
    assert balance(log) == (3, 3, 0, 0)
    assert not log.quality.masked


def test_an_exact_zero_is_masked(write: Write) -> None:
    log = read(write([feature(1), feature(2, 0), feature(3)]))
    assert np.isnan(log.values[1, 0])
    assert log.flags[1, 0] == Flag.ZERO
    assert log.quality.masked == {"dose rate exactly 0": 1}


@pytest.mark.parametrize(
    ("value", "flag"), [("<0.05", Flag.CENSORED), (-9999, Flag.SENTINEL), (1e300, Flag.NOT_FINITE)]
)
def test_what_is_no_good_value_is_masked_with_its_flag(write: Write, value: Any, flag: Flag) -> None:
    log = read(write([feature(1), feature(2, value), feature(3)]))
    assert np.isnan(log.values[1, 0])
    assert log.flags[1, 0] == flag
    assert sum(log.quality.masked.values()) == 1


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000])
def test_numbers_that_json_does_not_know_are_not_finite(write: Write, literal: str) -> None:
    text = json.dumps(collection([feature(1), feature(2, 77777), feature(3)])).replace("77777", literal)
    log = read(write(text.encode()))
    assert np.isnan(log.values[1, 0])
    assert log.flags[1, 0] == Flag.NOT_FINITE
    assert log.quality.masked == {"not finite": 1}


def test_a_defective_station_has_no_value(write: Write) -> None:
    log = read(write([feature(1), feature(2, 0.9, site_status=2, site_status_text="defekt"), feature(3)]))
    assert np.isnan(log.values[1, 0])
    assert log.flags[1, 0] == Flag.STATE
    assert log.quality.masked == {"station is defective (site_status 2, defekt)": 1}


def test_a_station_on_trial_keeps_its_value_and_is_doubtful(write: Write) -> None:
    log = read(write([feature(1), feature(2, 0.09, site_status=3), feature(3, None, site_status=3)]))
    assert dose(log)[:2] == [73, 90]
    assert log.flags[:, 0].tolist() == [0, Flag.DOUBTFUL, 0]
    assert any("2 reading(s) are of stations on trial" in d for d in log.quality.decisions)


@pytest.mark.parametrize("status", [4, "offline", -1, [1]])
def test_a_status_that_is_not_documented_leaves_no_value(write: Write, status: Any) -> None:
    log = read(write([feature(1), feature(2, site_status=status), feature(3)]))
    assert log.flags[:, 0].tolist() == [0, Flag.STATE, 0]
    assert log.quality.masked == {"site_status is none of 1, 2, 3": 1}


def test_a_station_without_any_reading_is_quarantined_with_its_status(write: Write) -> None:
    nothing = {"start_measure": None, "end_measure": None, "unit": None, "validated": None}
    features = [
        feature(1),
        feature(2),
        feature(2, None, kenn="091", site_status=2, **nothing),
        feature(2, None, kenn="092", site_status=3, **nothing),
        feature(2, None, kenn="093", **nothing),
    ]
    log = read(write(features))
    assert log.stations == ("055620080",)
    assert balance(log) == (5, 2, 3, 0)
    assert [r[-1] for r in reasons(log)] == [
        "the station has no reading (site_status 2, defekt)",
        "the station has no reading (site_status 3, Testbetrieb)",
        "the station has no reading",
    ]


@pytest.mark.parametrize("validated", [2, False, "2", 0, None, "maybe"])
def test_readings_not_checked_are_kept_and_flagged_doubtful(write: Write, validated: Any) -> None:
    log = read(write([feature(1, validated=True), feature(2, 0.09, validated=validated), feature(3, validated="1")]))
    assert dose(log) == [73, 90, 73]
    assert log.flags[:, 0].tolist() == [0, Flag.DOUBTFUL, 0]
    assert any(d.startswith("1 reading(s) are not checked") for d in log.quality.decisions)


def test_readings_not_checked_can_be_left_out(write: Write) -> None:
    features = [feature(1), feature(2, 0.9, validated=2), feature(3)]
    log = read(write(features), validated_only=True)
    assert np.isnan(log.values[1, 0])
    assert balance(log) == (3, 2, 1, 0)
    assert reasons(log) == [(2, "validated", "2", "not checked (validated is not 1)")]


# --- readings delivered again ---


def test_a_reading_delivered_again_is_merged(write: Write) -> None:
    first = write([feature(1), feature(2)])
    second = write([feature(2), feature(3)], name="later.json")
    log = read(first, second)
    assert dose(log) == [73, 73, 73]
    assert balance(log) == (4, 3, 0, 1)


def test_a_checked_reading_replaces_one_not_checked_whatever_their_order(write: Write) -> None:
    raw = write([feature(1, 0.5, validated=2), feature(2, 0.08), feature(3, 0.6, validated=2)])
    checked = write([feature(1, 0.07), feature(2, 0.4, validated=2)], name="checked.json")
    log = read(raw, checked)
    assert dose(log) == [70, 80, 600]
    assert log.flags[:, 0].tolist() == [0, 0, Flag.DOUBTFUL]
    assert balance(log) == (5, 3, 0, 2)
    assert any("2 reading(s) not checked came checked as well" in d for d in log.quality.decisions)


def test_readings_that_disagree_are_refused_until_a_policy_is_chosen(write: Write) -> None:
    first = write([feature(1), feature(2, 0.08)])
    second = write([feature(2, 0.09)], name="later.json")
    with pytest.raises(LogError, match=r"other values.*later\.json line 1 \(2024-05-01T02:00:00Z\)"):
        read(first, second)
    log = read(first, second, assembly=Assembly(duplicates="last"))
    assert dose(log) == [73, 90]
    assert balance(log) == (3, 2, 0, 1)


# --- times ---


def test_offsets_are_honoured(write: Write) -> None:
    summer = {"start_measure": "2024-05-01T03:00:00+02:00", "end_measure": "2024-05-01T04:00:00+02:00"}
    log = read(write([feature(1), feature(**summer)]))
    assert log.time[1] == pd.Timestamp("2024-05-01T02:00Z")


@pytest.mark.parametrize(
    "end", ["2024-05-01T02:00:00", "0000-00-00T00:00:00Z", "99999-01-01T00:00:00Z", "soon", 5, "\ud800", None]
)
def test_a_time_that_is_none_or_has_no_offset_is_quarantined(write: Write, end: Any) -> None:
    log = read(write([feature(1), feature(2, end_measure=end), feature(3)]))
    assert balance(log) == (3, 2, 1, 0)
    (line, column, _, reason) = reasons(log)[0]
    assert (line, column, reason) == (2, "end_measure", "not a time with an offset")


def test_times_of_clocks_never_set_and_ahead_are_quarantined(write: Write) -> None:
    unset = {"start_measure": "1970-01-01T00:00:00Z", "end_measure": "1970-01-01T01:00:00Z"}
    ahead = {"start_measure": "2199-01-01T00:00:00Z", "end_measure": "2199-01-01T01:00:00Z"}
    log = read(write([feature(1), feature(**unset), feature(**ahead), feature(2)]))
    assert balance(log) == (4, 2, 2, 0)
    assert [r[2] for r in reasons(log)] == ["1970-01-01T01:00:00Z", "2199-01-01T01:00:00Z"]


def test_an_interval_that_ends_before_it_begins_is_quarantined(write: Write) -> None:
    log = read(write([feature(1), feature(2, start_measure="2024-05-01T02:00:00Z"), feature(3)]))
    assert [r[-1] for r in reasons(log)] == ["the interval ends before it begins"]


def test_a_start_that_is_no_time_is_quarantined_and_one_that_is_missing_is_not(write: Write) -> None:
    log = read(write([feature(1), feature(2, start_measure="?"), feature(3, start_measure=None)]))
    assert balance(log) == (3, 2, 1, 0)
    assert reasons(log) == [(2, "start_measure", "?", "not a time with an offset")]


def test_readings_of_another_interval_are_quarantined(write: Write) -> None:
    log = read(write([feature(h) for h in range(1, 30)] + [feature(24, 0.09, length=24)]))
    assert balance(log) == (30, 29, 1, 0)
    assert reasons(log)[0][-1] == "averaged over another interval than the usual 1 h; read those by themselves"
    assert log.sampling.interval == 3600


def test_the_period_can_be_chosen(write: Write) -> None:
    log = read(
        write([feature(h) for h in range(1, 6)]), assembly=Assembly(start="2024-05-01T02:00Z", end="2024-05-01T04:00Z")
    )
    assert list(log.time.hour) == [2, 3]
    assert balance(log) == (5, 2, 3, 0)


def test_the_step_is_the_interval_however_many_readings_are_missing(write: Write) -> None:
    log = read(write([feature(1), feature(3), feature(7)]))
    assert log.step == pd.Timedelta("1h")
    assert len(log) == 7
    assert [(gap.station, gap.steps) for gap in log.quality.gaps] == [("*", 1), ("*", 3)]


# --- records that cannot be read ---


@pytest.mark.parametrize(
    ("changes", "column", "reason"),
    [
        ({"kenn": 55620080}, "kenn", "an id that is a number has lost its leading zeros"),
        ({"kenn": None}, "kenn", "no id of a station"),
        ({"kenn": " "}, "kenn", "no id of a station"),
        ({"kenn": "\ud800"}, "kenn", "an id that no encoding can write (half of a surrogate pair)"),
        ({"value": "high"}, "value", "not a number"),
        ({"value": [0.07]}, "value", "not a number"),
        ({"value": True}, "value", "not a number"),
        ({"nuclide": 7}, "nuclide", "no name of a quantity"),
    ],
)
def test_a_record_that_cannot_be_read_is_quarantined(
    write: Write, changes: dict[str, Any], column: str, reason: str
) -> None:
    log = read(write([feature(1), feature(2, **changes), feature(3)]))
    assert balance(log) == (3, 2, 1, 0)
    (line, found, text, why) = reasons(log)[0]
    assert (line, found, why) == (2, column, reason)
    assert text.encode()


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, {"properties": None}, {"properties": [1]}])
def test_what_is_no_feature_is_quarantined(write: Write, odd: Any) -> None:
    log = read(write([feature(1), odd, feature(2)]))
    assert balance(log) == (3, 2, 1, 0)
    assert reasons(log)[0][-1] == "no feature with properties"


def test_a_record_that_gives_a_key_twice_is_quarantined(write: Write) -> None:
    text = json.dumps(collection([feature(1), feature(2), feature(3)]))
    at = text.index('"value": 0.073', text.index("T02:00:00Z"))
    log = read(write((text[:at] + '"value": 0.9, ' + text[at:]).encode()))
    assert balance(log) == (3, 2, 1, 0)
    assert reasons(log)[0][-1] == "a key is given twice"


def test_positions_that_are_none_are_said(write: Write) -> None:
    log = read(write([feature(1, place=None), feature(2, place=[200, 95]), feature(3, place="x")]))
    assert log.tags[0].coordinates is None
    assert "1 station(s) state no position: 055620080" in log.quality.warnings


def test_a_station_that_moves_keeps_its_first_position_and_this_is_said(write: Write) -> None:
    log = read(write([feature(1, place=None), feature(2, place=[7, 51, 40]), feature(3, place=[8, 51])]))
    assert log.tags[0].coordinates == (51, 7)
    assert any("came with several positions" in w for w in log.quality.warnings)


def test_a_unit_that_is_unknown_is_refused_by_name(write: Write) -> None:
    with pytest.raises(LogError, match="unit 'ÂµSv/h' is unknown"):
        read(write([feature(1, unit="ÂµSv/h"), feature(2, unit="ÂµSv/h")]))


def test_a_station_in_several_units_is_refused(write: Write) -> None:
    with pytest.raises(LogError, match=r"'055620080' comes in several units \('nSv/h', 'µSv/h'\)"):
        read(write([feature(1), feature(2, 73, unit="nSv/h")]))


def test_values_without_any_unit_are_refused(write: Write) -> None:
    with pytest.raises(LogError, match="without a unit"):
        read(write([feature(1, unit=None), feature(2, unit=None)]))


def test_a_station_without_values_needs_no_unit(write: Write) -> None:
    log = read(write([feature(1), feature(2), feature(2, None, kenn="091", unit=None)]))
    assert log.stations == ("055620080",)
    assert balance(log) == (3, 3, 0, 0)
    assert any("hold no value" in w for w in log.quality.warnings)


# --- whole answers ---


def test_a_part_of_an_answer_is_said_to_be_one(write: Write) -> None:
    log = read(write([feature(1), feature(2)], numberMatched=168, totalFeatures=168))
    assert any("2 of 168 record(s)" in w for w in log.quality.warnings)


def test_pages_that_are_whole_together_are_not(write: Write) -> None:
    pages = [write([feature(h)], name=f"{h}.json", numberMatched=2, totalFeatures=2) for h in (1, 2)]
    assert not read(*pages).quality.warnings


def test_a_count_that_is_unknown_is_no_count(write: Write) -> None:
    assert not read(write([feature(1), feature(2)], numberMatched="unknown", totalFeatures="unknown")).quality.warnings


def test_an_answer_that_lost_records_is_said_to_have(write: Write) -> None:
    log = read(write([feature(1), feature(2)], numberReturned=3))
    assert any("says that it holds 3 record(s), but holds 2" in w for w in log.quality.warnings)


def test_an_empty_answer_is_no_error_page(write: Write) -> None:
    with pytest.raises(LogError, match=r"odl\.json holds no reading.*not an error page"):
        read(write([]))


def test_one_empty_answer_among_others_is_nothing_to_refuse(write: Write) -> None:
    assert balance(read(write([]), write([feature(1), feature(2)], name="b.json"))) == (2, 2, 0, 0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"version":"1.1.0","exceptions":[{"code":"a","locator":"b","text":"Layer unknown"}]}', "'Layer unknown'"),
        (b"<ows:ExceptionReport><ows:ExceptionText>Layer unknown</ows:ExceptionText>", "'Layer unknown'"),
        (b"<html><title>Wartung</title></html>", "'Wartung'"),
        (b'{"type": "Feature"}', "no collection of features"),
        (b"[1, 2]", "no collection of features"),
        (b"7", "no collection of features"),
        (b'{"features": [], "features": []}', "a key twice"),
        (b'{"features": {"a": 1}}', "no collection of features"),
    ],
)
def test_what_is_no_answer_is_refused(write: Write, content: bytes, said: str) -> None:
    with pytest.raises(LogError, match=said):
        read(write(content))


def test_a_log_without_a_single_reading_left_is_refused_with_the_reasons(write: Write) -> None:
    with pytest.raises(LogError, match="2 row\\(s\\) quarantined: no id of a station"):
        read(write([feature(1, kenn=None), feature(2, kenn=None)]))


# --- recognising an answer ---


@pytest.mark.parametrize("indent", [None, 2])
def test_answers_of_the_service_are_recognised(indent: int | None) -> None:
    assert odl.sniff(json.dumps(collection([feature(1)] * 500), indent=indent).encode()[:65536])
    assert odl.sniff(json.dumps(collection([]), indent=indent).encode())
    assert odl.sniff(b"\xef\xbb\xbf" + json.dumps(collection([feature(1)])).encode())
    assert odl.sniff(b'{"version":"1.1.0","exceptions":[{"code":"a","locator":"b","text":"c"}]}')
    assert odl.sniff(b'<?xml version="1.0"?><ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows"/>')


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"kenn,end_measure,value\n1,2024-05-01T00:00Z,0.1\n",
        b'"features";"kenn";"end_measure"\n',
        b"<html>features kenn end_measure</html>",
        b'{"type": "FeatureCollection", "features": [{"properties": {"station": "a", "value": 1}}]}',
        b'[{"kenn": "1", "end_measure": "x"}]',
        b'{"data": [], "count": 0}',
        b"\xff\xfe\x00\x01",
    ],
)
def test_other_content_is_not(head: bytes) -> None:
    assert not odl.sniff(head)


# --- any answer, and any damage ---

STATIONS = ["055620080", "010010001", "091811461"]
READING = st.tuples(
    st.sampled_from(STATIONS),
    st.integers(0, 40),
    st.one_of(st.none(), st.integers(1, 9999).map(lambda n: n / 1000)),
    st.sampled_from([1, 2]),
)


@settings(deadline=None, derandomize=True)
@given(st.lists(READING, min_size=2, max_size=40, unique_by=lambda r: r[:2]))
def test_any_answer_is_read_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, readings: list[tuple[str, int, float | None, int]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.json"
    features = [feature(h, v, kenn=k, validated=c) for k, h, v, c in readings]
    path.write_text(json.dumps(collection(features)))
    hours = {h for _, h, _, _ in readings}
    if len(hours) < 2 or all(v is None for _, _, v, _ in readings):
        with pytest.raises(LogError):
            read(Source(path))
        return
    log = read(Source(path))
    assert balance(log) == (len(readings), len(readings), 0, 0)
    frame = log.to_frame()
    assert frame.index[0] == FIRST.tz_localize("UTC") + pd.Timedelta(hours=min(hours))
    for kenn, hour, value, checked in readings:
        if f"{kenn} dose" not in frame:
            assert all(v is None for k, _, v, _ in readings if k == kenn)
            continue
        at = frame.index.get_loc(FIRST.tz_localize("UTC") + pd.Timedelta(hours=hour))
        found = frame[f"{kenn} dose"].iloc[at]
        if value is None:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(value * 1000, rel=1e-6)
            flag = log.flags[at, log.names.index(f"{kenn} dose")]
            assert flag == (0 if checked == 1 else Flag.DOUBTFUL)
    told = sum(v is not None for _, _, v, _ in readings)
    assert int((~np.isnan(log.values)).sum()) == told


def test_any_damage_ends_in_a_balanced_log_or_a_log_error(tmp_path: Path) -> None:
    rng = random.Random(20240501)
    whole = json.dumps(
        collection([feature(h, 0.07 + h / 1000, kenn=k) for h in range(1, 4) for k in STATIONS])
    ).encode()
    path = tmp_path / "damaged.json"
    read_well = 0
    for _ in range(400):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(content))
            kind = rng.randrange(4)
            if kind == 0:
                content[at] = rng.randrange(256)
            elif kind == 1:
                del content[at : at + rng.randint(1, 30)]
            elif kind == 2:
                content[at:at] = rng.choice([b"9" * 400, b'"', b"null", b"-", b"\\ud800", b"1e999", rng.randbytes(3)])
            else:
                content[at : at + 1] = rng.choice([b"0", b"7", b"a", b":"])
        path.write_bytes(bytes(content))
        try:
            log = odl.read([Source(path)], parts=True)
        except LogError as error:
            assert str(error).encode()
            continue
        q = log.quality
        assert q.rows_in == q.rows_kept + q.rows_quarantined + q.rows_merged
        assert not np.isinf(log.values).any()
        assert all(f"{item.text}{item.column}".encode() for item in q.quarantined)
        read_well += 1
    assert 20 < read_well < 380
