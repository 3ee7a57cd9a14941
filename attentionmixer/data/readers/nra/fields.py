"""Names that fields of Japanese monitoring records go by, in English and Japanese, and words for "no value"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...units import normalise_micro
from ..json_cells import folded

#: What a record can say → the names it goes by; where a record has several of them, the first holds.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "station": (
        *("obs_station_unique_code", "station_code", "station_id", "code"),
        *("測定局コード", "測定局番号", "局コード", "局番号", "id"),
    ),
    "name": ("display_name", "station_name", "name", "測定局", "測定局名", "局名", "測定地点", "測定地点名"),
    "prefecture": ("prefecture", "pref", "都道府県", "都道府県名"),
    "latitude": ("latitude", "lat", "緯度"),
    "longitude": ("longitude", "lng", "lon", "経度"),
    "time": (
        *("meas_datetime", "time", "datetime", "timestamp", "measured_at"),
        *("測定日時", "測定時刻", "観測日時", "日時"),
    ),
    "averaging": ("meas_time", "averaging_s"),
    "dose": ("air_dose_rate", "dose_rate", "空間線量率", "空間放射線量率", "線量率", "value", "測定値"),
    "dose unit": ("unit", "units", "単位"),
    "low": ("meas_range_low_limit", "range_lower", "測定下限", "測定範囲下限"),
    "high": ("meas_range_high_limit", "range_upper", "測定上限", "測定範囲上限"),
    "status": ("missing_status", "status", "quality", "flag", "状態", "測定状態", "測定状況"),
    "counts": ("counting_rate", "count_rate", "計数率"),
    "counts unit": ("count_unit", "計数率単位"),
    "rain": ("rain", "rainfall", "precipitation", "降水量", "雨量"),
    "rain unit": ("rain_unit", "降水量単位", "雨量単位"),
    "snow": ("snow", "snow_depth", "snow_cover", "積雪", "積雪深"),
    "snow unit": ("snow_unit", "積雪単位"),
}
#: Values of a record that become tags, in their order, with the quantity of each where its unit does not tell.
VALUES: Mapping[str, str] = {"dose": "dose_rate", "counts": "count_rate", "rain": "rain", "snow": "snow"}
#: Units of fields whose records state none: µSv/h as the authority publishes the first, and what the others are for.
UNSTATED: Mapping[str, str] = {
    "air_dose_rate": "µSv/h",
    **dict.fromkeys(("rainfall", "precipitation", "降水量", "雨量"), "mm"),
    "rain": "mm/h",
    **dict.fromkeys(FIELDS["snow"], "cm"),
}
#: Keys that no other kind of record is likely to have.
TELLING = frozenset(("obs_station_unique_code", "air_dose_rate", "meas_datetime"))
#: Keys under which a list of records is found.
LISTS = ("data", "items", "records", "stations", "results")
#: Words for a measurement that is in order; "0" is ``missing_status`` of one that is not missing.
GOOD = frozenset(("", "0", "ok", "good", "normal", "valid", "正常", "測定中", "有効"))
#: Words in the place of a value, folded: missing, under adjustment, inspection, maintenance, out of use, failed.
NO_VALUE = frozenset(
    (
        *(
            "欠測",
            "調整中",
            "点検中",
            "保守中",
            "停止中",
            "休止中",
            "準備中",
            "移設中",
            "停電",
            "通信異常",
            "故障",
            "異常",
        ),
        *("-", "--", "---", "―", "—", "–", "ー", "*", "**", "***", "×", "/"),
    )
)
_LONGEST = 80
_UNIT_IN_KEY = re.compile(r"(.*?)\s*[(\[]([^()\[\]]+)[)\]]", re.DOTALL)
_CANONICAL = {
    folded(name).casefold(): (what, rank) for what, names in FIELDS.items() for rank, name in enumerate(names)
}


@dataclass(frozen=True)
class Layout:
    """Where records with the same keys hold what: ``keys`` [what] in order of rank, ``units`` a key's own unit."""

    keys: Mapping[str, tuple[str, ...]]
    units: Mapping[str, str]

    @classmethod
    def of(cls, keys: tuple[str, ...]) -> Layout:
        """The layout of records that have these keys."""
        found: dict[str, list[tuple[int, str]]] = {}
        units: dict[str, str] = {}
        for key in keys:
            name, unit = _split(key)
            if name not in _CANONICAL:
                continue
            what, rank = _CANONICAL[name]
            found.setdefault(what, []).append((rank, key))
            if unit:
                units[key] = unit
        return cls({what: tuple(key for _, key in sorted(ranked)) for what, ranked in found.items()}, units)

    @property
    def readable(self) -> bool:
        """Whether there is a station, a time and a value."""
        there = self.keys.keys()
        return "time" in there and bool({"station", "name"} & there) and bool(VALUES.keys() & there)

    @property
    def telling(self) -> bool:
        """Whether the keys speak for monitoring posts, and not for just any list of readings."""
        named = {key for keys in self.keys.values() for key in keys}
        japanese = any(not key.isascii() for key in named)
        return self.readable and (japanese or bool(named & TELLING) or {"station", "dose unit"} <= self.keys.keys())


def unit_text(text: str) -> str:
    """A unit in one spelling: ``μSv／ｈ`` is ``µSv/h``."""
    return normalise_micro(folded(text))


def plain_name(key: str) -> str:
    """A key without the unit it may hold, as it is listed in `FIELDS`."""
    return _split(key)[0]


def _split(key: str) -> tuple[str, str]:
    """Name and unit of a key; names longer than any that is known are not looked at."""
    plain = folded(key) if len(key) <= _LONGEST else ""
    found = _UNIT_IN_KEY.fullmatch(plain)
    return (plain.casefold(), "") if found is None else (found[1].casefold(), unit_text(found[2]))
