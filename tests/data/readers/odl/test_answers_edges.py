"""What the reader of ODL answers says of records and answers that are odd."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data.log import StationLog
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers import odl
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

Read = Callable[..., StationLog]
Record = dict[str, Any]


def feature(hour: int = 1, value: Any = 0.07, place: Any = (7.36, 51.67), **changes: Any) -> Record:
    """A reading of the hour that ends at this hour."""
    properties = {
        "kenn": "055620080",
        "name": "Datteln",
        "site_status": 1,
        "start_measure": f"2024-05-01T{hour - 1:02d}:00:00Z",
        "end_measure": f"2024-05-01T{hour:02d}:00:00Z",
        "value": value,
        "unit": "µSv/h",
        "validated": 1,
        "nuclide": "Gamma-ODL-Brutto",
        **changes,
    }
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": place}, "properties": properties}


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def _read(*features: Any, said: Record | None = None, **options: Any) -> StationLog:
        path = tmp_path / "odl.json"
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features, **(said or {})}))
        return odl.read([Source(path)], **options)

    return _read


def fault(log: StationLog) -> tuple[int, str, str, str]:
    (one,) = log.quality.quarantined
    return one.line, one.column, one.text, one.reason


@pytest.mark.parametrize(
    ("odd", "column", "text", "reason"),
    [
        (feature(2, kenn=None), "kenn", "null", "no id of a station"),
        (feature(2, None, end_measure=None), "end_measure", "null", "the station has no reading"),
        (
            *(feature(2, None, end_measure=None, site_status=2), "end_measure", "null"),
            "the station has no reading (site_status 2, defekt)",
        ),
        (
            *(feature(2, None, end_measure=None, site_status="3"), "end_measure", "null"),
            "the station has no reading (site_status 3, Testbetrieb)",
        ),
        (feature(2, end_measure=None), "end_measure", "null", "not a time with an offset"),
        (feature(2, end_measure="soon"), "end_measure", "soon", "not a time with an offset"),
        (feature(2, start_measure="soon"), "start_measure", "soon", "not a time with an offset"),
        (
            *(feature(2, start_measure="2024-05-01T02:00:00Z"), "start_measure", "2024-05-01T02:00:00Z"),
            "the interval ends before it begins",
        ),
        (feature(2, nuclide=5), "nuclide", "5", "no name of a quantity"),
        (feature(2, "high"), "value", "high", "not a number"),
    ],
)
def test_a_record_that_cannot_be_read_is_named_with_column_and_reason(
    read: Read, odd: Record, column: str, text: str, reason: str
) -> None:
    log = read(feature(1), odd, feature(3))
    assert fault(log) == (2, column, text, reason)
    assert (log.quality.rows_in, log.quality.rows_kept) == (3, 2)


@pytest.mark.parametrize("odd", [None, 5, {}, {"properties": None}, [1]])
def test_what_is_no_feature_is_named(read: Read, odd: Any) -> None:
    assert fault(read(feature(1), odd, feature(3)))[1::2] == ("*", "no feature with properties")


@pytest.mark.parametrize(
    ("status", "flag", "reason"),
    [
        (1, 0, None),
        ("1", 0, None),
        (1.0, 0, None),
        (None, 0, None),
        (2, Flag.STATE, "station is defective (site_status 2, defekt)"),
        (3, Flag.DOUBTFUL, None),
        (0, Flag.STATE, "site_status is none of 1, 2, 3"),
        (7, Flag.STATE, "site_status is none of 1, 2, 3"),
        ("x", Flag.STATE, "site_status is none of 1, 2, 3"),
    ],
)
def test_a_reading_is_what_the_status_of_its_station_makes_it(
    read: Read, status: Any, flag: int, reason: str | None
) -> None:
    log = read(feature(1), feature(2, site_status=status), feature(3))
    assert log.flags[:, 0].tolist() == [0, int(flag), 0]
    assert log.quality.masked == ({} if reason is None else {reason: 1})
    said = "1 reading(s) are of stations on trial (site_status 3): kept and flagged doubtful"
    assert (said in log.quality.decisions) == (status == 3)


@pytest.mark.parametrize(
    ("mark", "doubtful", "said"),
    [
        (1, False, ""),
        (True, False, ""),
        ("1", False, ""),
        (2, True, ""),
        (False, True, ""),
        (None, True, ", 1 of them do not say (validated is neither 1 nor 2)"),
        (9, True, ", 1 of them do not say (validated is neither 1 nor 2)"),
    ],
)
def test_a_reading_that_is_not_checked_is_doubtful(read: Read, mark: Any, doubtful: bool, said: str) -> None:
    log = read(feature(1), feature(2, validated=mark), feature(3))
    assert bool(log.flags[1, 0] & Flag.DOUBTFUL) is doubtful
    sentence = f"1 reading(s) are not checked{said}: they were kept and flagged doubtful"
    assert (sentence in log.quality.decisions) == doubtful
    if doubtful:
        strict = read(feature(1), feature(2, validated=mark), feature(3), validated_only=True)
        assert fault(strict)[1::2] == ("validated", "not checked (validated is not 1)")


def test_a_checked_reading_goes_before_one_that_is_not(read: Read) -> None:
    log = read(feature(1), feature(2, 0.09, validated=2), feature(2, 0.08), feature(3))
    assert log.values[1, 0] == pytest.approx(80)
    assert log.quality.rows_merged == 1
    assert "1 reading(s) not checked came checked as well: the checked ones were kept" in log.quality.decisions


def test_means_of_another_interval_are_left_out_by_name(read: Read) -> None:
    odd = feature(4, start_measure="2024-05-01T00:00:00Z")
    log = read(feature(1), feature(2), odd, feature(3))
    assert fault(log)[:2] == (3, "start_measure")
    assert fault(log)[3] == "averaged over another interval than the usual 1 h; read those by themselves"
    assert log.sampling.interval == 3600


def test_hours_stay_an_hour_apart_however_many_are_missing(read: Read) -> None:
    assert len(read(feature(1), feature(3), feature(5))) == 5


@pytest.mark.parametrize("total", ["numberMatched", "totalFeatures"])
def test_a_part_of_an_answer_is_said_to_be_one(read: Read, total: str) -> None:
    def warned(**said: Any) -> list[str]:
        return list(read(feature(1), feature(2), said=said).quality.warnings)

    part = (
        "2 of 3 record(s) that the service found are here: this is a part of the answer; fetch the rest, or ask for it "
        "without maxFeatures"
    )
    assert warned(**{total: 3}) == [part]
    assert warned(**{total: 2}) == []
    assert warned(numberReturned=5) == ["odl.json says that it holds 5 record(s), but holds 2"]


def test_a_station_that_moved_or_is_nowhere_is_named(read: Read) -> None:
    log = read(
        feature(1), feature(2, place=[8, 51.67]), feature(1, kenn="9", place=None), feature(2, kenn="9", place=[1])
    )
    assert log.tags[0].coordinates == (51.67, 7.36)
    assert set(log.quality.warnings) >= {
        "1 station(s) state no position: 9",
        "1 station(s) came with several positions; the first was taken: 055620080",
    }
    later = read(feature(1, place=None), feature(2, place=[7, 51, 80]))
    assert later.tags[0].coordinates == (51, 7)
    assert not later.quality.warnings


def test_units_of_a_station_must_be_one(read: Read) -> None:
    with pytest.raises(LogError) as refused:
        read(feature(1), feature(2, unit="nSv/h"))
    assert str(refused.value) == (
        "station '055620080' comes in several units ('nSv/h', 'µSv/h'); read the files one by one"
    )


def test_parts_of_readings_are_tags_where_they_are_asked_for(read: Read) -> None:
    features = [feature(h, value_cosmic=0.04, value_terrestrial=0.03) for h in (1, 2)]
    whole = read(*features)
    assert whole.names == ("055620080 dose",)
    assert (
        "the cosmic and the terrestrial part of readings were not taken; parts=True takes them"
        in whole.quality.decisions
    )
    names = ("055620080 dose", "055620080 dose cosmic", "055620080 dose terrestrial")
    assert read(*features, parts=True).names == names
    assert read(feature(1), feature(2), parts=True).names == names[:1]


def test_an_empty_answer_and_one_without_features_are_refused_by_name(read: Read, tmp_path: Path) -> None:
    with pytest.raises(LogError) as refused:
        read()
    assert str(refused.value) == (
        "odl.json holds no reading: the answer is whole and empty, not an error page; check the station (kenn) and the "
        "period of the query"
    )
    path = tmp_path / "other.json"
    for text, said in (
        ('{"a": 1}', "other.json is JSON, but no collection of features; ask the service for application/json"),
        (
            '{"features": [], "features": []}',
            "other.json gives a key twice, so nobody can say which is meant; fetch it again",
        ),
    ):
        path.write_text(text)
        with pytest.raises(LogError) as refused:
            odl.read([Source(path)])
        assert str(refused.value) == said


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b'{"features": [{"properties": {"kenn": "1", "end_measure": "x"}}]}', True),
        (b'{"features": [{"properties": {"kenn": "1"}}]}', False),
        (b'{"features": [], "totalFeatures": 0}', True),
        (b'{"features": [], "numberReturned": 0}', True),
        (b'{"features": []}', False),
        (b'{"version": "1", "exceptions": [{"locator": "x"}]}', True),
        (b'{"version": "1", "exceptions": []}', False),
        (b'\n <ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows">', True),
        (b"<ExceptionReport>", False),
        (b'<a xmlns="http://www.opengis.net/ows">', False),
    ],
)
def test_answers_are_known_by_their_keys(head: bytes, known: bool) -> None:
    assert odl.sniff(head) is known
