"""Every name and word that Japanese records are known to use, one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attentionmixer.data.log import StationLog
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers import nra
from attentionmixer.data.readers.assemble import Assembly
from attentionmixer.data.readers.nra.fields import Layout, plain_name, unit_text
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

Read = Callable[..., StationLog]
Record = dict[str, Any]
TIMES = ("2024-05-01T09:00:00+09:00", "2024-05-01T09:10:00+09:00", "2024-05-01T09:20:00+09:00")


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def _read(content: Any, **options: Any) -> StationLog:
        path = tmp_path / "posts.json"
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return nra.read([Source(path)], options.pop("assembly", Assembly()), **options)

    return _read


def posts(**changes: Any) -> list[Record]:
    """Three records with the fields a reading needs; a change to None takes a field away."""
    made = []
    for time in TIMES:
        record = {"station_code": "07", "time": time, "value": "0.05", "unit": "µSv/h", **changes}
        made.append({key: value for key, value in record.items() if value is not None})
    return made


def renamed(old: str, new: str, **changes: Any) -> list[Record]:
    """The same with one field under another name."""
    return [{new if key == old else key: value for key, value in record.items()} for record in posts(**changes)]


def values(log: StationLog, name: str = "07 dose") -> list[float]:
    return [round(float(v), 4) for v in log.select([name]).values[:, 0]]


@pytest.mark.parametrize(
    "name",
    "obs_station_unique_code station_code station_id code 測定局コード 測定局番号 局コード 局番号 id".split(),
)
def test_the_station_is_found_under_each_of_its_names(read: Read, name: str) -> None:
    assert read(renamed("station_code", name)).stations == ("07",)


@pytest.mark.parametrize("name", "display_name station_name name 測定局 測定局名 局名 測定地点 測定地点名".split())
def test_a_name_stands_in_for_the_station_under_each_of_its_names(read: Read, name: str) -> None:
    assert read(renamed("station_code", name)).stations == ("07",)


@pytest.mark.parametrize("place", "prefecture pref 都道府県 都道府県名".split())
def test_the_prefecture_stands_before_the_name_of_a_post(read: Read, place: str) -> None:
    with pytest.raises(LogError, match="07 福島県 大熊 dose"):
        read(posts(station_name="大熊", unit="", **{place: "福島県"}))


@pytest.mark.parametrize("latitude", ["latitude", "lat", "緯度"])
@pytest.mark.parametrize("longitude", ["longitude", "lng", "lon", "経度"])
def test_positions_are_found_under_each_of_their_names(read: Read, latitude: str, longitude: str) -> None:
    log = read(posts(**{latitude: 37.4, longitude: 141.0}))
    assert log.tags[0].coordinates == (37.4, 141.0)


@pytest.mark.parametrize(
    "name", "meas_datetime time datetime timestamp measured_at 測定日時 測定時刻 観測日時 日時".split()
)
def test_the_time_is_found_under_each_of_its_names(read: Read, name: str) -> None:
    assert len(read(renamed("time", name))) == 3


@pytest.mark.parametrize("name", ["meas_time", "averaging_s"])
def test_the_averaging_time_is_found_under_each_of_its_names(read: Read, name: str) -> None:
    assert read(posts(**{name: 600})).sampling.interval == 600


@pytest.mark.parametrize(
    "name", "air_dose_rate dose_rate 空間線量率 空間放射線量率 線量率 value 測定値 空間線量率（nSv/h）".split()
)
def test_the_dose_rate_is_found_under_each_of_its_names(read: Read, name: str) -> None:
    assert values(read(renamed("value", name))) == [50, 50, 50]


@pytest.mark.parametrize("name", ["unit", "units", "単位"])
def test_the_unit_is_found_under_each_of_its_names(read: Read, name: str) -> None:
    assert values(read(renamed("unit", name))) == [50, 50, 50]


@pytest.mark.parametrize(
    ("name", "limit", "reason"),
    [
        *((n, 0.1, "below the measuring range (<0.1)") for n in "meas_range_low_limit range_lower 測定下限".split()),
        ("測定範囲下限", 0.1, "below the measuring range (<0.1)"),
        *((n, 0.01, "above the measuring range (>0.01)") for n in "meas_range_high_limit range_upper".split()),
        *((n, 0.01, "above the measuring range (>0.01)") for n in ("測定上限", "測定範囲上限")),
    ],
)
def test_measuring_ranges_are_found_under_each_of_their_names(read: Read, name: str, limit: float, reason: str) -> None:
    records = posts()
    records[1][name] = limit
    assert read(records).quality.masked == {reason: 1}


@pytest.mark.parametrize("limit", [0.05, "0.05"])
def test_a_value_at_either_end_of_the_measuring_range_is_one(read: Read, limit: Any) -> None:
    log = read(posts(meas_range_low_limit=limit, meas_range_high_limit=limit))
    assert values(log) == [50, 50, 50]
    assert not log.quality.masked


@pytest.mark.parametrize("name", "missing_status status quality flag 状態 測定状態 測定状況".split())
def test_a_status_is_found_under_each_of_its_names(read: Read, name: str) -> None:
    records = posts()
    records[1][name] = "点検中"
    assert read(records).quality.masked == {"status '点検中'": 1}


@pytest.mark.parametrize("word", ["", "0", "ok", "Good", "NORMAL", "valid", "正常", "測定中", "有効", " ok "])
def test_a_measurement_in_order_has_one_of_these_words(read: Read, word: str) -> None:
    log = read(posts(status=word))
    assert values(log) == [50, 50, 50]
    assert not log.quality.masked


@pytest.mark.parametrize(
    "word",
    [
        *"欠測 調整中 点検中 保守中 停止中 休止中 準備中 移設中 停電 通信異常 故障 異常".split(),
        *"- -- --- ― — – ー * ** *** × /".split(),
    ],
)
def test_each_word_in_the_place_of_a_value_is_a_state(read: Read, word: str) -> None:
    records = posts()
    records[1]["value"] = word
    log = read(records)
    assert log.quality.masked == {f"state {word!r}": 1}
    assert log.flags[:, 0].tolist() == [0, int(Flag.STATE), 0]
    assert log.quality.rows_kept == 3


@pytest.mark.parametrize(
    ("name", "unit_name"),
    [("counting_rate", "count_unit"), ("count_rate", "計数率単位"), ("計数率", "count_unit")],
)
def test_counts_and_their_unit_are_found_under_each_of_their_names(read: Read, name: str, unit_name: str) -> None:
    log = read(posts(**{name: 12, unit_name: "cpm"}))
    assert values(log, "07 counts") == [12, 12, 12]
    assert log.tags[1].unit == "cpm"


@pytest.mark.parametrize(
    ("name", "tag", "unit"),
    [
        ("rain", "07 rain", "mm/h"),
        *((name, "07 rain", "mm") for name in ("rainfall", "precipitation", "降水量", "雨量")),
        *((name, "07 snow", "cm") for name in ("snow", "snow_depth", "snow_cover", "積雪", "積雪深")),
    ],
)
def test_weather_without_a_unit_is_in_the_usual_one_and_that_is_said(
    read: Read, name: str, tag: str, unit: str
) -> None:
    log = read(posts(**{name: 4}))
    assert values(log, tag) == [4, 4, 4]
    assert log.tags[1].unit == unit
    assert (
        f"3 value(s) of {name} state no unit and were taken as {unit}; units= states another" in log.quality.decisions
    )


@pytest.mark.parametrize(
    ("name", "unit_name", "unit"),
    [
        *(("rain", name, "mm") for name in ("rain_unit", "降水量単位", "雨量単位")),
        *(("snow", name, "mm") for name in ("snow_unit", "積雪単位")),
    ],
)
def test_weather_with_a_unit_keeps_it(read: Read, name: str, unit_name: str, unit: str) -> None:
    log = read(posts(**{name: 4, unit_name: unit}))
    assert log.tags[1].unit == unit
    assert not any("state no unit" in decision for decision in log.quality.decisions)


def test_of_several_names_for_one_field_the_better_known_holds(read: Read) -> None:
    log = read(posts(air_dose_rate="0.07", dose_rate="0.06", code="99"))
    assert log.stations == ("07",)
    assert values(log) == [70, 70, 70]


def test_a_better_known_name_without_a_value_leaves_the_word_to_the_next(read: Read) -> None:
    records = posts()
    records[1] |= {"air_dose_rate": None}
    records[2] |= {"air_dose_rate": "0.08"}
    assert values(read(records)) == [50, 50, 80]


@pytest.mark.parametrize("key", ["data", "items", "records", "stations", "results"])
def test_records_are_found_under_each_key_of_a_list(read: Read, key: str) -> None:
    assert len(read({key: posts(), "date": "x"})) == 3


@pytest.mark.parametrize("key", ["obs_station_unique_code", "air_dose_rate", "meas_datetime"])
def test_one_key_of_the_authority_is_enough_to_recognise_its_records(key: str) -> None:
    old = {"obs_station_unique_code": "station_code", "air_dose_rate": "value", "meas_datetime": "time"}[key]
    assert nra.sniff(json.dumps(renamed(old, key, unit=None)).encode())
    assert not nra.sniff(json.dumps(posts(unit=None)).encode())


@pytest.mark.parametrize("without", ["station_code", "time", "value"])
def test_records_that_lack_a_station_a_time_or_a_value_are_not_recognised(without: str) -> None:
    assert nra.sniff(json.dumps(posts()).encode())
    assert not nra.sniff(json.dumps(posts(**{without: None})).encode())


def test_a_layout_says_which_key_holds_what_and_its_unit() -> None:
    layout = Layout.of(("測定局", "空間線量率(nGy/h)", "time", "value", "memo"))
    assert layout.keys == {"name": ("測定局",), "dose": ("空間線量率(nGy/h)", "value"), "time": ("time",)}
    assert layout.units == {"空間線量率(nGy/h)": "nGy/h"}
    assert layout.readable
    assert layout.telling


def test_a_unit_in_a_key_may_stand_in_any_brackets_and_width() -> None:
    assert unit_text("μSv／ｈ") == "µSv/h"
    for key in ("Dose_Rate [μSv/h]", "dose_rate(µSv/h)", "dose_rate （μＳｖ/ｈ）"):
        assert plain_name(key) == "dose_rate"
        assert Layout.of((key,)).units == {key: "µSv/h"}


def test_a_key_longer_than_any_known_name_is_not_looked_at() -> None:
    unit = "µSv/h"
    fits = f"value{' ' * (80 - len('value()') - len(unit))}({unit})"
    assert len(fits) == 80
    assert Layout.of((fits,)).keys == {"dose": (fits,)}
    assert Layout.of((fits.replace("(", " ("),)).keys == {}


# --- what a reader of the log is told ---


def test_a_status_of_any_length_is_told_in_its_first_40_characters(read: Read) -> None:
    records = posts()
    records[1]["status"] = "x" * 60
    assert read(records).quality.masked == {f"status {'x' * 40!r}": 1}


def test_a_post_that_moved_keeps_its_first_position_and_is_named(read: Read) -> None:
    records = posts(latitude=37.0, longitude=141.0)
    records[1]["latitude"] = 38.0
    log = read(records)
    assert log.tags[0].coordinates == (37.0, 141.0)
    assert "1 station(s) came with several positions; the first was taken: 07" in log.quality.warnings


def test_a_post_whose_position_comes_later_has_it_and_has_not_moved(read: Read) -> None:
    records = posts(latitude=37.0, longitude=141.0)
    del records[0]["latitude"]
    log = read(records)
    assert log.tags[0].coordinates == (37.0, 141.0)
    assert not log.quality.warnings


@pytest.mark.parametrize("total", ["count", "total"])
def test_an_answer_is_a_part_where_its_total_is_larger(read: Read, total: str) -> None:
    def said(**about: Any) -> list[str]:
        return [w for w in read({"data": posts(), **about}).quality.warnings if "a part" in w]

    assert said(**{total: 4}) == ["posts.json holds 3 of 4 record(s): a part; fetch the rest"]
    assert said(**{total: 5, "offset": 1}) == ["posts.json holds 3 of 5 record(s): a part; fetch the rest"]
    assert said(**{total: 3}) == said(**{total: 4, "offset": 1}) == []


def test_a_file_without_records_is_named_with_every_place_they_were_looked_for(read: Read) -> None:
    with pytest.raises(LogError) as refused:
        read({"rows": []})
    assert "posts.json holds no list of records, neither by itself nor under 'data' or 'items'" in str(refused.value)
    with pytest.raises(LogError, match=r"posts\.json holds no list of records.*under 'readings'; name its key"):
        read({"rows": []}, records="readings")


def test_records_without_known_names_are_refused_with_theirs_and_ours(read: Read) -> None:
    with pytest.raises(LogError) as refused:
        read([{"post": "07", "when": TIMES[0], "much": 1}])
    for part in ("posts.json", "station_code", "meas_datetime, time", "air_dose_rate", "keys are much, post, when"):
        assert part in str(refused.value)


def test_several_units_of_a_post_are_named(read: Read) -> None:
    records = posts()
    records[1]["unit"] = "nGy/h"
    with pytest.raises(LogError, match=r"station '07' comes in several units \('nGy/h', 'µSv/h'\)"):
        read(records)


def test_readings_of_unknown_averaging_have_a_tag_of_their_own(read: Read) -> None:
    records = posts(meas_time=600)
    other = {key: value for key, value in records[1].items() if key != "meas_time"} | {"value": "0.06"}
    log = read([*records, other | {"time": TIMES[0]}])
    assert log.names == ("07 dose", "07 dose of unknown averaging")
    assert values(log) == [50, 50, 50]


@pytest.mark.parametrize("seconds", [0, -600, "600", None, True])
def test_an_averaging_time_that_is_no_positive_number_is_unknown(read: Read, seconds: Any) -> None:
    assert read(posts(meas_time=seconds)).sampling.interval is None


def test_a_missing_dose_without_a_status_keeps_the_counts(read: Read) -> None:
    records = posts(count_rate=7, count_unit="cps")
    records[1]["value"] = None
    log = read(records)
    assert values(log, "07 counts") == [7, 7, 7]
    assert np.isnan(log.select(["07 dose"]).values[1, 0])


def test_a_bad_status_takes_the_counts_along_but_not_the_rain(read: Read) -> None:
    records = posts(count_rate=7, count_unit="cps", rain=2)
    records[1]["status"] = "点検中"
    log = read(records)
    assert log.quality.masked == {"status '点検中'": 2}
    assert values(log, "07 rain") == [2, 2, 2]
    assert np.isnan(log.select(["07 counts"]).values[1, 0])


def test_a_range_of_one_value_is_a_range_and_its_middle_that_value(read: Read) -> None:
    records = posts()
    records[1]["value"] = "0.06-0.06"
    assert read(records).quality.masked == {"a range is given, not a value": 1}
    assert values(read(records, ranges="middle")) == [50, 60, 50]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0.04未満", "below the measuring range (<0.04)"),
        ("0.04以下", "below the measuring range (<0.04)"),
        ("20以上", "above the measuring range (>20)"),
        ("20超", "above the measuring range (>20)"),
    ],
)
def test_limits_in_words_are_censored_values(read: Read, text: str, reason: str) -> None:
    records = posts()
    records[1]["value"] = text
    log = read(records)
    assert log.flags[1, 0] & Flag.CENSORED
    assert sum(log.quality.masked.values()) == 1, reason
