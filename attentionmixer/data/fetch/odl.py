"""German ODL network (Federal Office for Radiation Protection): hourly ambient dose rate, as GeoJSON from a WFS."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from ...errors import LogError
from .answer import excerpt
from .period import Days
from .trouble import CutOff
from .wanted import Finding, Wanted, file_name

BASE = "https://www.imis.bfs.de"
TITLE = "German ODL network, hourly ambient dose rate of the last seven days (µSv/h)"
SERIES, LATEST = "opendata:odlinfo_timeseries_odl_1h", "opendata:odlinfo_odl_1h_latest"
#: What the service keeps.
KEPT = dt.timedelta(days=7)
#: Features asked for at most, far above a week of hours or the number of stations.
MOST = 10_000
#: The hours of a day are complete, and the day's file final, this long after it.
SETTLED_AFTER = dt.timedelta(days=1)
MEDIA = "application/json"
_PLACE = "fetch without --station lists all stations with their number ('kenn'); https://odlinfo.bfs.de shows them"
_STATION = re.compile(r"\d{9}", re.ASCII)


def url(station: str | None, base: str = BASE) -> str:
    """Address of the hourly series of a station, or of the last hour of all stations.

    >>> url(None)[:68]
    'https://www.imis.bfs.de/ogc/opendata/ows?service=WFS&version=1.1.0&r'
    """
    query = {
        "service": "WFS",
        "version": "1.1.0",
        "request": "GetFeature",
        "typeName": LATEST if station is None else SERIES,
        "outputFormat": "application/json",
        "maxFeatures": str(MOST),
    }
    if station is not None:
        # sorted by time, so that two answers with the same readings are the same bytes
        query |= {"viewparams": f"kenn:{canonical(station)}", "sortBy": "end_measure"}
    return f"{base}/ogc/opendata/ows?{urlencode(query, safe=':/')}"


def canonical(station: str) -> str:
    """A station's number: nine digits, a leading zero included. Raises `LogError` for anything else."""
    if not _STATION.fullmatch(station.strip()):
        raise LogError(
            f"{excerpt(station)!r} is not the number of an ODL station; it has nine digits, as in 055620080. {_PLACE}"
        )
    return station.strip()


def plan(
    stations: Sequence[str], start: str | None, end: str | None, now: dt.datetime, base: str = BASE
) -> list[Wanted]:
    """One file a station with its series, or one with the last hour of all stations.

    Parameters
    ----------
    stations: numbers of nine digits; none for the last hour of all stations.
    start, end: days, ``end`` included; the last seven days if not given. The service keeps no more.
    now: the time (UTC).

    Raises
    ------
    LogError: a station that cannot be, or a period without stations, or one in the future.
    """
    if not stations:
        if start or end:
            raise LogError("a period needs stations: give --station, or leave out --from and --to for the last hour")
        return [_wanted(None, None, f"{now:%Y-%m-%dT%H}", now + SETTLED_AFTER, base)]
    until = end or f"{now:%Y-%m-%d}"
    last = Days.parse(until, until).last
    days = Days.parse(start or str(min(last, now.date()) - KEPT), until)
    if days.first > now.date():
        raise LogError(f"the period {days} lies in the future")
    settled = dt.datetime.combine(days.last, dt.time(), tzinfo=dt.UTC) + dt.timedelta(days=1) + SETTLED_AFTER
    return [
        _wanted(name, days, f"{days.first}_{days.last}", settled, base)
        for name in dict.fromkeys(map(canonical, stations))
    ]


def _wanted(station: str | None, days: Days | None, period: str, settled: dt.datetime, base: str) -> Wanted:
    return Wanted(
        url=url(station, base),
        name=file_name("odl", station or "LATEST", period, ".json"),
        what="the last hour of all ODL stations" if station is None else f"ODL station {station}, {days}",
        media=MEDIA,
        check=lambda content: check(content, station, days),
        settled=settled,
        missing="the ODL service is not where it was; see https://odlinfo.bfs.de for its data interface",
    )


def check(content: bytes, station: str | None = None, days: Days | None = None) -> Finding:
    """How many readings of the period a collection of features holds; all of it is kept as it came.

    Raises
    ------
    LogError: no collection of features, one of another station, one without times, or one that the service cut off.
    CutOff: the JSON breaks off.
    """
    who = "ODL" if station is None else f"ODL station {station}"
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        if content.lstrip()[:1] == b"{":
            raise CutOff(f"the JSON breaks off or is damaged ({excerpt(str(error))})") from error
        said = excerpt(content[:400].decode("utf-8", errors="replace"))
        raise LogError(f"{who}: the answer is no JSON, it begins {said!r}; try again later") from error
    features = data.get("features") if isinstance(data, dict) else None
    if not isinstance(features, list):
        raise LogError(f"{who}: the answer is no collection of features; see whether the interface has changed")
    total = data.get("totalFeatures", data.get("numberMatched"))
    if len(features) >= MOST or (isinstance(total, int) and total > len(features)):
        raise LogError(
            f"{who}: the service sent {len(features):,} of {total} readings, so "
            "the rest would be lost; see whether the interface has changed"
        )
    if not features:
        return Finding(0, "the service has no readings: it does not know the station, or the station sends none")
    if days is None:
        return Finding(len(features))  # a defective station is listed without a time
    ends = [_end(feature, number, who, station) for number, feature in enumerate(features, start=1)]
    first = dt.datetime.combine(days.first, dt.time(), tzinfo=dt.UTC)
    last = dt.datetime.combine(days.last, dt.time(), tzinfo=dt.UTC) + dt.timedelta(days=1)
    # an hour belongs to the day in which it lies, also the one that ends at midnight
    inside = sum(first < end <= last for end in ends)
    spans = f"the service holds {min(ends):%Y-%m-%d %H:%M} to {max(ends):%Y-%m-%d %H:%M} UTC"
    if not inside:
        return Finding(0, f"no reading in {days}; {spans}")
    others = len(ends) - inside
    return Finding(inside, f"{others:,} reading(s) outside {days} are in the file as well; {spans}" if others else "")


def _end(feature: Any, number: int, who: str, station: str | None) -> dt.datetime:
    """When a feature's hour ended."""
    properties = feature.get("properties") if isinstance(feature, dict) else None
    if not isinstance(properties, dict):
        raise LogError(f"{who}: feature {number:,} has no properties; see whether the interface has changed")
    named = properties.get("kenn")
    if station is not None and named != station:
        raise LogError(f"{who}: feature {number:,} is of station {excerpt(str(named))!r}, which was not asked for")
    text = properties.get("end_measure")
    try:
        moment = dt.datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise LogError(
            f"{who}: feature {number:,} has end_measure {excerpt(str(text))!r}, which is no time with a zone"
        )
    return moment.astimezone(dt.UTC)
