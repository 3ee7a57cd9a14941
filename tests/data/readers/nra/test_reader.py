"""The reader of Japanese monitoring records (JSON)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data.log import StationLog
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers import nra
from attentionmixer.data.readers.assemble import Assembly
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

Write = Callable[..., Source]
Record = dict[str, Any]
JST = "2024-05-01T09:{:02d}:00+09:00"
TAG = "01510511 dose"


def record(minute: int = 0, value: Any = 0.0283, **changes: Any) -> Record:
    """A record as the map of the authority receives it, without the fields that name areas and plans."""
    return {
        "id": "01510511600",
        "pref_code": "01",
        "device_kbn": "13",
        "meas_time": 600,
        "display_name": "函館市　渡島総合振興局",
        "display_name_roman": "Hakodateshioshimasogoshinkokyoku",
        "air_dose_rate": value,
        "counting_rate": None,
        "meas_datetime": JST.format(minute),
        "latitude": 41.82002,
        "longitude": 140.752655,
        "obs_station_unique_code": "01510511",
        "wind_speed": None,
        "precipitation": None,
        "memo": None,
        "missing_status": "0",
        "meas_range_low_limit": 0.001,
        "meas_range_high_limit": 10,
        "update_datetime": JST.format(minute),
        **changes,
    }


def plain(minute: int = 0, value: Any = "0.045", **changes: Any) -> Record:
    """A record of the documented shape, without the names of the authority's map."""
    return {
        "station_code": "0700123",
        "station_name": "福島",
        "prefecture": "福島県",
        "latitude": 37.76,
        "longitude": 140.47,
        "time": JST.format(minute),
        "value": value,
        "unit": "µSv/h",
        "status": "",
        **changes,
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(data: Any, name: str = "nra.json") -> Source:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False).encode())
        return Source(path)

    return _write


def read(*sources: Source, assembly: Assembly | None = None, **options: Any) -> StationLog:
    return nra.read(sources, assembly or Assembly(), **options)


def balance(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


def column(log: StationLog, tag: str = TAG) -> list[float]:
    return [round(float(v), 3) for v in log.select([tag]).values[:, 0]]


def flags(log: StationLog, tag: str = TAG) -> list[int]:
    return [int(v) for v in log.flags[:, log.names.index(tag)]]


def reasons(log: StationLog) -> list[tuple[int, str, str, str]]:
    return [(q.line, q.column, q.text, q.reason) for q in log.quality.quarantined]


# --- what good records become ---


def test_records_of_the_map_become_a_tag_a_station_in_nsv_per_hour(write: Write) -> None:
    records = [record(0), record(10, 0.03), record(0, 0.05, obs_station_unique_code="08110092", latitude=None)]
    log = read(write({"data": records, "count": 3, "offset": 0, "limit": 0}))
    assert log.names == ("01510511 dose", "08110092 dose")
    tag = log.tags[0]
    assert (tag.unit, tag.quantity, tag.station, tag.coordinates) == (
        *("nSv/h", "dose_rate", "01510511"),
        (41.82002, 140.752655),
    )
    assert list(log.time) == [pd.Timestamp("2024-05-01T00:00Z"), pd.Timestamp("2024-05-01T00:10Z")]
    assert column(log) == [28.3, 30]
    assert balance(log) == (3, 3, 0, 0)
    assert not log.quality.masked
    assert (log.sampling.stamp, log.sampling.interval) == (None, 600)
    assert any("3 value(s) of air_dose_rate state no unit and were taken as µSv/h" in d for d in log.quality.decisions)
    assert "1 station(s) state no position: 08110092" in log.quality.warnings


@pytest.mark.parametrize("shape", [lambda r: r, lambda r: {"items": r}, lambda r: {"stations": r, "date": "x"}])
def test_records_are_found_in_a_list_or_under_its_key(write: Write, shape: Callable[[list[Record]], Any]) -> None:
    log = read(write(shape([plain(0), plain(10, 0.05)])))
    assert column(log, "0700123 dose") == [45, 50]
    assert log.tags[0].coordinates == (37.76, 140.47)


def test_records_under_another_key_are_read_if_it_is_named(write: Write) -> None:
    source = write({"readings": [plain(0), plain(10)]})
    with pytest.raises(LogError, match="name its key with records="):
        read(source)
    assert len(read(source, records="readings")) == 2


def test_several_lists_are_refused_until_one_is_named(write: Write) -> None:
    source = write({"stations": [{"a": 1}], "data": [plain(0), plain(10)]})
    with pytest.raises(LogError, match=r"several lists \(data, stations\)"):
        read(source)
    assert len(read(source, records="data")) == 2


@pytest.mark.parametrize("escaped", [True, False])
def test_japanese_names_of_fields_and_units_in_them_are_known(write: Write, escaped: bool) -> None:
    records = [
        {"測定局": "福島", "測定日時": "2024/05/01 09:00+09:00", "空間線量率（μSv/h）": "０．０４５", "状態": "正常"},
        {"測定局": "福島", "測定日時": "2024/05/01 10:00+09:00", "空間線量率（μSv/h）": "0.05", "状態": "測定中"},
    ]
    content = json.dumps(records, ensure_ascii=escaped).encode()
    assert nra.sniff(content)
    log = read(write(content))
    assert log.names == ("福島 dose",)
    assert column(log, "福島 dose") == [45, 50]


@pytest.mark.parametrize(
    ("unit", "tag", "expected", "quantity"),
    [
        ("μSv／h", "0700123 dose", 45, "dose_rate"),
        ("nSv/h", "0700123 dose", 0.045, "dose_rate"),
        ("nGy/h", "0700123 dose", 0.045, "kerma_rate"),
        ("cpm", "0700123 counts", 0.045, "count_rate"),
    ],
)
def test_units_are_read_and_only_dose_equivalent_is_converted(
    write: Write, unit: str, tag: str, expected: float, quantity: str
) -> None:
    log = read(write([plain(0, unit=unit), plain(10, unit=unit)]))
    assert column(log, tag) == [expected, expected]
    assert log.tags[0].quantity == quantity


def test_counts_rain_and_snow_are_further_tags(write: Write) -> None:
    more = {"count_rate": 12, "count_unit": "cps", "rain": 1.5, "snow_depth": "30"}
    log = read(write([plain(0, **more), plain(10, **more | {"rain": None})]))
    assert log.names == ("0700123 dose", "0700123 counts", "0700123 rain", "0700123 snow")
    assert [tag.unit for tag in log.tags] == ["nSv/h", "cps", "mm/h", "cm"]
    assert log.tags[3].quantity == "snow"
    np.testing.assert_array_equal(log.select(["0700123 rain"]).values[:, 0], np.array([1.5, np.nan], np.float32))


def test_counting_rates_without_a_unit_are_masked_until_it_is_declared(write: Write) -> None:
    source = write([record(0, counting_rate=7), record(10, counting_rate=8)])
    log = read(source)
    assert log.names == (TAG,)
    assert log.quality.masked == {"counting rate without a unit (count_unit= states it)": 2}
    counted = read(source, count_unit="cps")
    assert column(counted, "01510511 counts") == [7, 8]
    assert not counted.quality.masked


def test_a_station_with_two_averaging_times_has_a_tag_for_each(write: Write) -> None:
    records = [record(0), record(10), record(20), record(0, 0.04, meas_time=120), record(10, 0.05, meas_time=120)]
    log = read(write(records))
    assert log.names == ("01510511 dose", "01510511 dose 120 s")
    assert column(log, "01510511 dose 120 s")[:2] == [40, 50]
    assert log.sampling.interval is None


def test_the_same_snapshot_again_is_merged(write: Write) -> None:
    first, second = write([record(0), record(10)]), write([record(10), record(20)], name="later.json")
    log = read(first, second)
    assert balance(log) == (4, 3, 0, 1)
    with pytest.raises(LogError, match=r"later\.json line 1"):
        read(first, write([record(10, 0.9)], name="later.json"))


def test_hostile_names_are_kept_verbatim(write: Write) -> None:
    name = '../=1+1"<b>\x00'
    assert read(write([plain(0, station_code=name), plain(10, station_code=name)])).stations == (name,)


def test_the_name_stands_in_for_a_code_that_lost_its_zeros(write: Write) -> None:
    log = read(write([plain(0, station_code=700123), plain(10, station_code=700123)]))
    assert log.stations == ("福島",)


# --- what leaves no value ---


@pytest.mark.parametrize("word", ["欠測", "調整中", "点検中", "-", "－", "―", "***"])
def test_words_in_the_place_of_a_value_are_states(write: Write, word: str) -> None:
    log = read(write([plain(0), plain(10, word), plain(20)]))
    assert flags(log, "0700123 dose") == [0, Flag.STATE, 0]
    assert sum(log.quality.masked.values()) == 1
    assert balance(log) == (3, 3, 0, 0)


@pytest.mark.parametrize("word", ["欠測", "調整中", "1", 1, "unheard of"])
@pytest.mark.parametrize("value", [0.9, None])
def test_a_status_that_is_not_good_leaves_no_value(write: Write, word: Any, value: float | None) -> None:
    log = read(write([record(0), record(10, value, missing_status=word), record(20)]))
    assert flags(log) == [0, Flag.STATE, 0]
    assert np.isnan(log.values[1, 0])
    assert log.quality.masked == {f"status {str(word)!r}": 1}


@pytest.mark.parametrize("word", [None, "", "0", 0, "正常", "OK"])
def test_a_good_status_keeps_the_value(write: Write, word: Any) -> None:
    log = read(write([record(0), record(10, 0.9, missing_status=word)]))
    assert column(log) == [28.3, 900]


def test_further_words_can_be_declared_good(write: Write) -> None:
    source = write([plain(0), plain(10, status="降雨"), plain(20)])
    assert read(source).quality.masked == {"status '降雨'": 1}
    assert not read(source, good=["降雨"]).quality.masked


def test_a_null_with_a_good_status_is_missing_and_nothing_else(write: Write) -> None:
    log = read(write([record(0), record(10, None), record(20)]))
    assert np.isnan(log.values[1, 0])
    assert flags(log) == [0, 0, 0]
    assert not log.quality.masked


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (0, "below the measuring range (<0.2)"),
        (0.15, "below the measuring range (<0.2)"),
        ("<0.2", "below the measuring range (<0.2)"),
        ("0.2未満", "below the measuring range (<0.2)"),
        (10001, "above the measuring range (>10000)"),
        (">10000", "above the measuring range (>10000)"),
    ],
)
def test_what_lies_outside_the_measuring_range_is_censored(write: Write, value: Any, reason: str) -> None:
    limits = {"meas_range_low_limit": 0.2, "meas_range_high_limit": "10000"}
    log = read(write([record(0, 0.3, **limits), record(10, value, **limits), record(20, 0.2, **limits)]))
    assert flags(log) == [0, Flag.CENSORED, 0]
    assert log.quality.masked == {reason: 1}
    assert column(log)[0] == 300


@pytest.mark.parametrize("unit", ["µSv/h", "nGy/h"])
def test_a_zero_without_a_lower_limit_is_the_placeholder(write: Write, unit: str) -> None:
    log = read(write([plain(0, 50, unit=unit), plain(10, 0, unit=unit), plain(20, 51, unit=unit)]))
    assert flags(log, "0700123 dose") == [0, Flag.ZERO, 0]
    assert log.quality.masked == {"dose rate exactly 0": 1}


def test_zero_counts_are_a_value(write: Write) -> None:
    log = read(write([plain(0, 5, unit="cpm"), plain(10, 0, unit="cpm")]))
    assert column(log, "0700123 counts") == [5, 0]


def test_a_sentinel_is_told_from_a_value_below_the_range(write: Write) -> None:
    log = read(write([record(0), record(10, -9999), record(20)]))
    assert flags(log) == [0, Flag.SENTINEL, 0]


@pytest.mark.parametrize("text", ["0.04-0.06", "0.04～0.06", "0.04〜0.06", "0.04 ~ 0.06"])
def test_a_range_is_no_value_unless_its_middle_is_asked_for(write: Write, text: str) -> None:
    source = write([plain(0), plain(10, text), plain(20)])
    log = read(source)
    assert flags(log, "0700123 dose") == [0, Flag.CENSORED, 0]
    assert log.quality.masked == {"a range is given, not a value": 1}
    middle = read(source, ranges="middle")
    assert column(middle, "0700123 dose") == [45, 50, 45]
    assert flags(middle, "0700123 dose") == [0, Flag.DOUBTFUL, 0]
    assert any("its middle was taken" in d for d in middle.quality.decisions)


@pytest.mark.parametrize("literal", ["NaN", "-Infinity", "1e999", "9" * 5000])
def test_numbers_that_json_does_not_know_are_not_finite(write: Write, literal: str) -> None:
    records = [record(m, v, meas_range_high_limit=None) for m, v in ((0, 0.05), (10, 77777), (20, 0.05))]
    log = read(write(json.dumps(records).replace("77777", literal).encode()))
    assert flags(log) == [0, Flag.NOT_FINITE, 0]


# --- times ---


def test_a_time_without_an_offset_is_refused_until_its_zone_is_declared(write: Write) -> None:
    source = write([plain(0, time="2024-05-01 09:00:00"), plain(time="2024/05/01 24:00"), plain(10)])
    with pytest.raises(LogError, match=r"nra\.json record 1: the time '2024-05-01 09:00:00' states no offset.*tz="):
        read(source)
    log = read(source, tz="Asia/Tokyo", assembly=Assembly(step="10min"))
    assert log.time[0] == pd.Timestamp("2024-05-01T00:00Z")
    assert log.time[-1] == pd.Timestamp("2024-05-01T15:00Z")
    assert "2 time(s) without an offset were taken as Asia/Tokyo" in log.quality.decisions


def test_an_unknown_zone_is_refused(write: Write) -> None:
    with pytest.raises(LogError, match="time zone 'Asia/Tokio' is unknown"):
        read(write([plain(0)]), tz="Asia/Tokio")


@pytest.mark.parametrize("time", ["0000-00-00T00:00+09:00", "99999-01-01T00:00Z", "soon", 20240501, "\ud800", None])
def test_what_is_no_time_is_quarantined(write: Write, time: Any) -> None:
    log = read(write(json.dumps([plain(0), plain(time=time), plain(20)]).encode()))
    assert balance(log) == (3, 2, 1, 0)
    assert reasons(log)[0][:2] == (2, "time")


def test_a_station_without_a_time_is_quarantined_with_its_status(write: Write) -> None:
    log = read(write([record(0), record(10), record(20, None, meas_datetime=None, missing_status="1")]))
    assert reasons(log) == [(3, "meas_datetime", "null", "no time (status '1')")]


# --- records and files that cannot be read ---


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (None, "no record"),
        (5, "no record"),
        ([plain(10)], "no record"),
        ({}, "no station, time or value under a known name"),
        ({"station_code": "1", "value": 1}, "no station, time or value under a known name"),
        (plain(10, "about 5"), "not a number"),
        (plain(10, " " * 199 + "12345"), "not a number"),
        (plain(10, "0.06-0.04"), "not a number"),
        (plain(10, True), "not a number"),
        (plain(10, {"a": 1}), "not a number"),
        (plain(10, station_code=None, station_name=" "), "no id of a station"),
        (plain(10, station_code=17, station_name=None), "an id that is a number has lost its leading zeros"),
        (
            plain(10, station_code="\ud800", station_name=None),
            "an id that no encoding can write (half of a surrogate pair)",
        ),
    ],
)
def test_a_record_that_cannot_be_read_is_quarantined(write: Write, odd: Any, reason: str) -> None:
    log = read(write(json.dumps([plain(0), odd, plain(20)]).encode()))
    assert balance(log) == (3, 2, 1, 0)
    assert reasons(log)[0][0] == 2
    assert reasons(log)[0][-1] == reason


def test_a_record_that_gives_a_key_twice_is_quarantined(write: Write) -> None:
    text = json.dumps([plain(0), plain(10, 77), plain(20)]).replace('"value": 77', '"value": 77, "value": 78')
    assert reasons(read(write(text.encode())))[0][-1] == "a key is given twice"


def test_keys_that_no_encoding_can_write_do_no_harm(write: Write) -> None:
    odd = {"station_code": "1", "time": JST.format(10), "空間線量率(\ud800)": "high"}
    log = read(write(json.dumps([plain(0), odd, plain(20)]).encode()))
    assert reasons(log)[0][1].encode()


def test_a_station_in_several_units_is_refused(write: Write) -> None:
    with pytest.raises(LogError, match="'0700123' comes in several units"):
        read(write([plain(0), plain(10, 45, unit="nSv/h")]))


def test_a_value_without_any_unit_is_refused_until_it_is_declared(write: Write) -> None:
    source = write([plain(0, unit=None), plain(10, unit=None)])
    with pytest.raises(LogError, match="without a unit"):
        read(source)
    assert column(read(source, assembly=Assembly(units="µSv/h")), "0700123 dose") == [45, 45]


def test_a_station_without_values_needs_no_unit(write: Write) -> None:
    log = read(write([plain(0), plain(10), plain(0, None, unit=None, station_code="0700999")]))
    assert log.names == ("0700123 dose",)
    assert balance(log) == (3, 3, 0, 0)


def test_a_part_of_an_answer_is_said_to_be_one(write: Write) -> None:
    log = read(write({"data": [record(0), record(10)], "count": 2551, "offset": 0, "limit": 2}))
    assert any("holds 2 of 2551 record(s)" in w for w in log.quality.warnings)


@pytest.mark.parametrize("data", [[], {"data": [], "count": 0, "offset": 0, "limit": 0}])
def test_an_empty_answer_is_no_error_page(write: Write, data: Any) -> None:
    with pytest.raises(LogError, match=r"holds no reading.*not an error page"):
        read(write(data))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"message": "リクエストが不正です。"}, "リクエストが不正です。"),
        ({"value": 1}, "holds no list of records"),
        (5, "holds no list of records"),
        ([{"a": 1, "b": 2}], "its keys are a, b"),
        (b"<html><title>502 Bad Gateway</title>", "502 Bad Gateway"),
        (b'{"data": [], "data": []}', "a key twice"),
        (b'{"data": [{"a": 1', "cut off on its way"),
    ],
)
def test_what_holds_no_records_is_refused(write: Write, data: Any, said: str) -> None:
    with pytest.raises(LogError, match=said):
        read(write(data))


@pytest.mark.parametrize(
    ("options", "said"),
    [({"ranges": "mean"}, "choose missing or middle"), ({"count_unit": "nSv/h"}, "choose 'cps' or 'cpm'")],
)
def test_options_that_cannot_be_meant_are_refused(write: Write, options: dict[str, Any], said: str) -> None:
    with pytest.raises(LogError, match=said):
        read(write([plain(0)]), **options)


# --- recognising records ---


@pytest.mark.parametrize(
    "data",
    [
        {"data": [record(0)] * 200, "count": 200},
        [plain(0)],
        {"data": [], "count": 0, "offset": 0, "limit": 0},
        [{"station_name": "福島", "測定日時": "x", "線量率": 1}],
    ],
)
def test_records_of_japanese_networks_are_recognised(data: Any) -> None:
    assert nra.sniff(json.dumps(data).encode()[:65536])
    assert nra.sniff(json.dumps(data, ensure_ascii=False, indent=1).encode()[:65536])


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"station_code,time,value,unit\n1,2024-05-01T00:00Z,0.1,nSv/h\n",
        "測定局,測定日時,空間線量率\n".encode(),
        b'[{"name": "pump 1", "time": "2024-05-01T00:00Z", "value": 3}]',
        b'{"type": "FeatureCollection", "features": [{"properties": {"kenn": "1", "end_measure": "x", "value": 1}}]}',
        b'{"data": [{"a": 1}], "count": 1, "offset": 0, "limit": 0}',
        b"<html>obs_station_unique_code</html>",
    ],
)
def test_other_content_is_not(head: bytes) -> None:
    assert not nra.sniff(head)


# --- any records, and any damage ---

POSTS = ["0700123", "=1+1", "測定局 一"]
READING = st.tuples(
    st.sampled_from(POSTS),
    st.integers(0, 5),
    st.one_of(st.none(), st.integers(1, 9999).map(lambda n: n / 1000)),
    st.sampled_from(["", "欠測"]),
)


@settings(deadline=None, derandomize=True)
@given(st.lists(READING, min_size=2, max_size=15, unique_by=lambda r: r[:2]), st.booleans())
def test_any_records_are_read_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, readings: list[tuple[str, int, float | None, str]], as_text: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.json"
    made = [
        plain(m * 10, str(v) if as_text and v is not None else v, station_code=k, status=s) for k, m, v, s in readings
    ]
    path.write_text(json.dumps(made, ensure_ascii=as_text), encoding="utf-8")
    minutes = {m for _, m, _, _ in readings}
    good = [r for r in readings if r[2] is not None and r[3] == ""]
    if len(minutes) < 2 or not good:
        with pytest.raises(LogError):
            read(Source(path))
        return
    log = read(Source(path), assembly=Assembly(step="10min"))
    assert balance(log) == (len(readings), len(readings), 0, 0)
    assert log.quality.masked.get("status '欠測'", 0) == sum(s != "" for _, _, _, s in readings)
    frame = log.to_frame()
    for code, minute, value, _ in good:
        assert value is not None
        found = frame.at[pd.Timestamp(JST.format(minute * 10)).tz_convert("UTC"), f"{code} dose"]
        assert found == pytest.approx(value * 1000, rel=1e-6)
    assert int((~np.isnan(log.values)).sum()) == len(good)


def test_any_damage_ends_in_a_balanced_log_or_a_log_error(tmp_path: Path) -> None:
    rng = random.Random(20240501)
    records = [
        record(m, 0.03 + m / 1000, obs_station_unique_code=k, precipitation=1) for m in (0, 10, 20) for k in POSTS
    ]
    whole = json.dumps({"data": records, "count": 9}, ensure_ascii=False).encode()
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
            log = nra.read([Source(path)], tz="Asia/Tokyo", count_unit="cps", ranges="middle")
        except LogError as error:
            assert str(error).encode()
            continue
        q = log.quality
        assert q.rows_in == q.rows_kept + q.rows_quarantined + q.rows_merged
        assert not np.isinf(log.values).any()
        assert all(f"{item.text}{item.column}".encode() for item in q.quarantined)
        read_well += 1
    assert 20 < read_well < 380
