"""What the columns of a historian's export are, from their names alone: long, wide, or a pair of columns a tag."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ....errors import LogError
from ..columns import split_header
from .quality import Kind

Qualities = tuple[tuple[Kind, str], ...]

_TIMES = "time|timestamp|datetime|date|ts|tstamp|iptrendtime|zeit|zeitstempel|zeitpunkt|datum"
_TIME = re.compile(rf"(?:{_TIMES})?(?:utc|gmt)|{_TIMES}")
_ROLES: dict[str, tuple[str, ...]] = {
    "tag": ("tag", "tagname", "tagid", "name", "point", "pointname", "item", "itemid", "itemname", "nodeid", "variable",
            "sensor", "tagpath"),
    "station": ("station", "stationid", "site"),
    "value": ("value", "values", "val", "reading", "iptrendvalue"),
    "unit": ("unit", "units", "uom", "unitsabbreviation", "engunits", "engineeringunits", "eu"),
    "step": ("step", "stepped", "isstepped"),
    # said to be passed over: they change no value
    "remark": ("annotated", "isannotated", "annotation", "annotations", "comment", "comments", "description",
               "datatype", "type", "wwtagkey", "vvalue", "server", "percentgood", "pctgood", "numericid"),
}  # fmt: skip
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(
        ("quality", "status", "q", "statuscode", "qualitycode", "dataquality", "qualitystatus", "valuestatus",
         "opcquality", "qualitydetail", "dataintegrity", "iptrendqstatus"), "status"),
    **dict.fromkeys(("good", "isgood"), "good"),
    **dict.fromkeys(("bad", "isbad"), "bad"),
    **dict.fromkeys(("questionable", "isquestionable", "uncertain"), "questionable"),
    **dict.fromkeys(("substituted", "issubstituted"), "substituted"),
}  # fmt: skip
#: Of several columns of quality the first of these is taken: a historian's own 0 is good, where OPC's is bad.
_PREFERRED = ("opcquality", "qualitydetail")
_SUFFIX = re.compile(
    r"(.+?)[\s._\-/:|]*[\[(]?\s*(?<![^\W_])(value|val|time|time ?stamp|date ?time|opc ?quality|data ?quality|"
    r"quality ?code|quality|status ?code|status|q|good|bad|questionable|substituted|annotated)\s*[\])]?",
    re.IGNORECASE | re.DOTALL,
)
#: No tag's name is longer; looking for its parts would take long.
LONGEST = 500
_NUMBERED = re.compile(r"(.*?)\d*")


@dataclass(frozen=True)
class Signal:
    """One tag of a wide export: name, unit, and the columns of its values, of its own times if any, of its quality."""

    name: str
    unit: str | None
    value: str
    time: str | None
    quality: Qualities


@dataclass(frozen=True)
class Plan:
    """What the columns are.

    ``signals`` are the tags of a wide export; without any it is long, and ``tag`` and/or ``station`` name the series,
    ``value`` and ``quality`` its columns, ``unit`` and ``step`` those that say more about a tag. ``remarks`` are passed
    over.
    """

    time: str | None
    signals: tuple[Signal, ...] = ()
    tag: str | None = None
    station: str | None = None
    value: str = ""
    quality: Qualities = ()
    unit: str | None = None
    step: str | None = None
    remarks: tuple[str, ...] = ()

    @property
    def pairs(self) -> bool:
        """Whether tags have times of their own."""
        return any(signal.time is not None for signal in self.signals)

    @property
    def has_quality(self) -> bool:
        """Whether anything says how good values are."""
        return bool(self.quality) or any(signal.quality for signal in self.signals)


def number_repeated(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, where those that repeat a column of quality get a number: ``A, Quality, B, Quality 2``."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(f"{name} {seen[name]}" if seen[name] > 1 and _squeezed(name) in _KINDS else name)
    return tuple(out)


def says_utc(name: str) -> bool:
    """Whether a time column's header says that it is in UTC."""
    return _squeezed(name).endswith(("utc", "gmt"))


def find_plan(names: Sequence[str], time: str | None = None) -> Plan:
    """The plan of a header.

    Parameters
    ----------
    names: the columns' names, see `number_repeated`.
    time: the column of times, if it is declared.

    Raises
    ------
    LogError: a column has two readings, or a long export has one that is none of its parts.
    """
    long = next((name for name in names if len(name) > LONGEST), None)
    if long is not None:
        raise LogError(f"a column's name has {len(long):,} characters: {long[:40]!r} …; this is no header")
    if time is not None and time not in names:
        raise LogError(f"there is no column {time!r}; the columns are {', '.join(names[:20])}")
    time = time or next((name for name in names if _TIME.fullmatch(_squeezed(name))), None)
    rest = [name for name in names if name != time]
    roles = {name: _role(name) for name in rest}
    found = {role: name for name, role in reversed(roles.items())}
    if "value" in found and ("tag" in found or "station" in found):
        return _long(time, rest, roles, found)
    return _wide(time, rest)


def _long(time: str | None, rest: Sequence[str], roles: dict[str, str], found: dict[str, str]) -> Plan:
    if time is None:
        raise LogError(f"no column of times among {', '.join(rest[:20])}; name it with time_column=")
    strange = [name for name in rest if roles[name] == ""]
    twice = [name for name in rest if roles[name] not in ("", "quality", "remark") and found[roles[name]] != name]
    if strange or twice:
        raise LogError(
            f"column {(strange or twice)[0]!r} is no part of a list of values ({', '.join(found.values())}); "
            f"leave it out with ignore=[{(strange or twice)[0]!r}]"
        )
    quality, more = _preferred([name for name in rest if roles[name] == "quality"])
    remarks = tuple(name for name in rest if roles[name] == "remark" or name in more)
    return Plan(
        time,
        tag=found.get("tag"),
        station=found.get("station"),
        value=found["value"],
        quality=tuple((_KINDS[_squeezed(name)], name) for name in quality),
        unit=found.get("unit"),
        step=found.get("step"),
        remarks=remarks,
    )


def _wide(time: str | None, rest: Sequence[str]) -> Plan:
    whole = {name: _key(name) for name in rest}
    parts = {name: _split(name) for name in rest}
    plain = {whole[name] for name in rest if parts[name] is None}
    valued = {part[0] for part in parts.values() if part is not None and part[1] == "value"}
    partners = {part[0] for part in parts.values() if part is not None and part[1] != "value"}
    # a suffix means something only beside the columns it belongs to: a tag may be called "Pump Status"
    taken = {
        name: part
        for name, part in parts.items()
        if part is not None and (part[0] in partners if part[1] == "value" else part[0] in plain | valued)
    }
    unnamed = [name for name in rest if name not in taken and _kind_of_numbered(name) is not None]
    loose = set(unnamed)
    values = [name for name in rest if name not in loose and (name not in taken or taken[name][1] == "value")]
    beside = _beside(rest, values, unnamed)
    keys = {name: taken[name][0] if name in taken else whole[name] for name in values}
    shared, partners_of = _by_key(keys), _by_key({o: p[0] for o, p in taken.items() if p[1] != "value"})
    signals: list[Signal] = []
    remarks: list[str] = []
    for name in values:
        mine = partners_of.get(keys[name], [])
        twin = next((other for other in shared[keys[name]] if other != name), None)
        if mine and twin is not None:
            raise LogError(f"columns {name!r} and {twin!r} could both be what {mine[0]!r} belongs to; rename one")
        times = [other for other in mine if taken[other][1] == "time"]
        if len(times) > 1:
            raise LogError(f"columns {times[0]!r} and {times[1]!r} could both be the times of {name!r}; rename one")
        remarks += [other for other in mine if taken[other][1] == "remark"]
        quality = tuple((_KINDS[taken[o][1]], o) for o in mine if taken[o][1] in _KINDS)
        base, unit = (taken[name][2], taken[name][3]) if name in taken else split_header(name)
        # where two names differ only by their unit, both keep the whole header
        tag = base if twin is None else name
        signals.append(Signal(tag, unit, name, times[0] if times else None, quality + beside.get(name, ())))
    if not signals:
        raise LogError(f"there is no column of values among {', '.join(rest[:20]) or 'no columns'}")
    alike = Counter(signal.name for signal in signals)
    signals = [s if alike[s.name] == 1 else replace(s, name=s.value) for s in signals]
    without = [signal.value for signal in signals if signal.time is None]
    if time is None and without:
        raise LogError(f"no column holds the times of {without[0]!r}; name it with time_column=")
    return Plan(time, tuple(signals), remarks=tuple(remarks))


def _by_key(keys: Mapping[str, str]) -> dict[str, list[str]]:
    """Columns by the key of their tag."""
    found: dict[str, list[str]] = {}
    for name, key in keys.items():
        found.setdefault(key, []).append(name)
    return found


def _beside(rest: Sequence[str], values: Sequence[str], unnamed: Sequence[str]) -> dict[str, Qualities]:
    """Columns called just Quality or Status belong to the column left of them, if every column of values has one."""
    beside: dict[str, Qualities] = {}
    left = ""
    loose, valued = set(unnamed), set(values)
    for name in rest:
        if name in loose:
            kind = _kind_of_numbered(name)
            if not left or kind is None:
                raise LogError(f"column {name!r} has no column of values left of it; rename it or ignore=[{name!r}]")
            beside[left] = (*beside.get(left, ()), (kind, name))
        elif name in valued:
            left = name
    if beside and len(beside) < len(values):
        lone = next(value for value in values if value not in beside)
        raise LogError(
            f"column {unnamed[0]!r} could be the quality of {next(iter(beside))!r} or of the whole row, since {lone!r} "
            f"has none; name it '{next(iter(beside))} Quality', or leave it out with ignore=[{unnamed[0]!r}]"
        )
    return beside


def _role(name: str) -> str:
    plain = _squeezed(name)
    if plain in _KINDS:
        return "quality"
    # a unit may follow: "Value [degC]"
    plain = _squeezed(split_header(name)[0])
    if plain.startswith("ww"):
        # how the query was put, in exports of the Wonderware historian
        return "remark"
    return next((role for role, words in _ROLES.items() if plain in words), "")


def _preferred(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """(columns of quality to use, others)."""
    for wanted in _PREFERRED:
        chosen = [name for name in names if _squeezed(name) == wanted]
        if chosen:
            status = [name for name in names if _KINDS[_squeezed(name)] == "status" and name not in chosen]
            return [name for name in names if name not in status], status
    return list(names), []


def _split(name: str) -> tuple[str, str, str, str | None] | None:
    """(key of the tag, role, name of the tag, unit) of a header that ends in the name of a role; else ``None``."""
    text, unit = name, None
    found = _SUFFIX.fullmatch(text)
    if found is None:
        text, unit = split_header(name)
        found = _SUFFIX.fullmatch(text)
    if found is None:
        return None
    word = _squeezed(found[2])
    if word in ("val", "value"):
        role = "value"
    elif word in ("time", "timestamp", "datetime"):
        role = "time"
    else:
        role = "remark" if word == "annotated" else word
    base, inner = split_header(found[1].strip())
    return base.casefold(), role, base, inner or unit


def _key(name: str) -> str:
    return split_header(name.strip())[0].casefold()


def _kind_of_numbered(name: str) -> Kind | None:
    found = _NUMBERED.fullmatch(_squeezed(name))
    # Q alone is a flow
    return _KINDS.get(found[1]) if found and found[1] != "q" else None


def _squeezed(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
