"""US EPA RadNet: the fixed monitors' CSV file of one station and year."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Sequence
from urllib.parse import quote

from ...errors import LogError
from ..readers.radnet.file import COLUMNS, sniff
from .answer import excerpt
from .period import Days
from .trouble import CutOff
from .wanted import Finding, Wanted, file_name

BASE = "https://radnet.epa.gov"
TITLE = "US EPA RadNet fixed monitors, one CSV a station and year (nSv/h, counts per minute)"
FIRST_YEAR = 2005
#: Readings are reviewed and added to for a while after a year has ended.
SETTLED_AFTER = dt.timedelta(days=90)
MEDIA = "text/csv, text/plain;q=0.9"
_PLACE = "https://www.epa.gov/radnet/radnet-csv-file-downloads lists the stations and their first years"
_STATION = re.compile(r"\s*([A-Za-z]{2})\s*:\s*(\S.*?)\s*", re.DOTALL)
_LONGEST = 80


def url(station: str, year: int, base: str = BASE) -> str:
    """Address of a station's file of one year.

    >>> url("LA: BATON ROUGE", 2021)
    'https://radnet.epa.gov/cdx-radnet-rest/api/rest/csv/2021/fixed/LA/BATON%20ROUGE'
    """
    state, city = canonical(station).split(": ", 1)
    return f"{base}/cdx-radnet-rest/api/rest/csv/{year:d}/fixed/{state}/{quote(city, safe='')}"


def canonical(station: str) -> str:
    """A station's name as the agency writes it, ``"AZ: PHOENIX"``, from any case and spacing.

    Raises `LogError` for what cannot be one: no state, or signs that no place's name has.
    """
    found = _STATION.fullmatch(unicodedata.normalize("NFC", station))
    city = re.sub(r" +", " ", found[2]).upper() if found else ""
    if (
        found is None
        or len(city) > _LONGEST
        or not any(sign.isalpha() for sign in city)
        or not all(sign.isalnum() or sign in " .'-()&," for sign in city)
    ):
        raise LogError(
            f"{excerpt(station)!r} is not the name of a RadNet station; write state and place, "
            f"as in 'AZ: PHOENIX'. {_PLACE}"
        )
    return f"{found[1].upper()}: {city}"


def plan(
    stations: Sequence[str], start: str | None, end: str | None, now: dt.datetime, base: str = BASE
) -> list[Wanted]:
    """The files that hold these stations and this period: whole years, station by station.

    Parameters
    ----------
    stations: names such as ``"AZ: PHOENIX"``, at least one.
    start, end: ``2019``, ``2019-05`` or ``2019-05-31``, ``end`` included; this year if neither is given, ``start`` up
        to now if only that is, one year if only ``end`` is.
    now: the time (UTC).

    Raises
    ------
    LogError: no station, one that cannot be, or a period outside 2005 to this year.
    """
    if not stations:
        raise LogError("name at least one station, e.g. --station 'AZ: PHOENIX'")
    until = end or f"{now:%Y}"
    days = Days.parse(start or until[:4], until)
    if days.first.year < FIRST_YEAR or days.last.year > now.year:
        raise LogError(f"RadNet has readings from {FIRST_YEAR} to {now.year}; {days} is not all among them")
    names = dict.fromkeys(canonical(station) for station in stations)
    return [_wanted(name, year, base) for name in names for year in range(days.first.year, days.last.year + 1)]


def _wanted(station: str, year: int, base: str) -> Wanted:
    return Wanted(
        url=url(station, year, base),
        name=file_name("radnet", station, f"{year:d}", ".csv"),
        what=f"{station} {year}",
        media=MEDIA,
        check=lambda content: check(content, station),
        settled=dt.datetime(year + 1, 1, 1, tzinfo=dt.UTC) + SETTLED_AFTER,
        missing=f"RadNet knows no station {station!r}, or has no file of it for {year}; {_PLACE}",
    )


def check(content: bytes, station: str) -> Finding:
    """What a file holds. Whether its rows can be read is for the reader to say; here only whether it is all there.

    Raises
    ------
    LogError: the first line is not that of a RadNet export.
    CutOff: the last line breaks off.
    """
    if not sniff(content[:4096]):
        said = excerpt(content[:400].decode("utf-8", errors="replace"))
        raise LogError(
            f"{station}: the answer is no RadNet export, it begins {said!r}; see whether the provider has changed its "
            "format"
        )
    lines = [line for line in content.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()]
    whole = content.endswith((b"\n", b"\r"))
    header = [name.strip(' "') for name in lines[0].decode("utf-8", errors="replace").split(",")]
    missing = [name for name in COLUMNS if name not in header]
    if missing and (whole or len(lines) > 1):
        raise LogError(
            f"{station}: the answer lacks column(s) {', '.join(missing)}; see whether the provider has changed its "
            "format"
        )
    # a last line without its end may yet be all there: then it ends as others do
    endings = {line.rpartition(b",")[2] for line in lines[:-1]}
    if missing or (len(lines) > 1 and not whole and lines[-1].rpartition(b",")[2] not in endings):
        raise CutOff(f"the file breaks off within line {len(lines):,}")
    if len(lines) == 1:
        return Finding(0, "the service has no readings of this station and year (a header only)")
    named = lines[1].partition(b",")[0].strip(b' "').decode("utf-8", errors="replace")
    note = "" if named.casefold() == station.casefold() else f"the file names its station {excerpt(named)!r}"
    return Finding(len(lines) - 1, note)
