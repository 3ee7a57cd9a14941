"""What is written in any supported dialect is read back: the same values, times, tags and rows, and nothing besides."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import itertools
import math
import re
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyarrow import feather

from attentionmixer.data import StationLog, read_log
from attentionmixer.data.quality import Gap
from attentionmixer.data.readers.grid import NICE, as_text
from attentionmixer.data.readers.table.parts import ID_NAMES, TIME_NAMES
from attentionmixer.errors import LogError

NAN = float("nan")
SECOND = 1_000_000_000
UTC = dt.UTC
SENTINELS = (-999.0, -9999.0, -99999.0)


def examples(count: int) -> settings:
    return settings(max_examples=count, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# --- what a log is before it is written -------------------------------------------------------------------------------


class Measure(NamedTuple):
    """A unit as written, as the log carries it, the factor between them, and what rules its values are under."""

    text: str | None
    unit: str | None
    factor: float = 1.0
    dose: bool = False
    rate: bool = False


MEASURES = (
    Measure("nSv/h", "nSv/h", 1.0, True, True),
    Measure("uSv/h", "nSv/h", 1e3, True, True),
    Measure("\u00b5Sv/h", "nSv/h", 1e3, True, True),
    Measure("\u03bcSv/h", "nSv/h", 1e3, True, True),
    Measure("mSv/h", "nSv/h", 1e6, True, True),
    Measure("cpm", "cpm", rate=True),
    Measure("degC", "degC"),
    Measure("m3/h", "m3/h"),
    Measure("uR/h", "\u00b5R/h"),
    Measure("%", "%"),
)
NO_UNIT = Measure(None, None)


class Cell(NamedTuple):
    """A cell as written with a decimal point, the number it stands for, and why it is missing if there is a reason."""

    text: str
    value: float = NAN
    reason: str | None = None

    def settled(self, measure: Measure) -> tuple[float, str | None]:
        """What the log owes for it, before units are converted."""
        if measure.rate and self.value in SENTINELS:
            return NAN, "sentinel such as -9999"
        if math.isinf(self.value):
            return NAN, "not finite"
        if measure.dose and self.value == 0:
            return NAN, "dose rate exactly 0"
        return self.value, self.reason


PLAIN = st.builds(
    lambda number, places, form: Cell(text := format(number / 10**places, form), float(text)),
    st.integers(-(10**6), 10**6),
    st.integers(0, 4),
    st.sampled_from([".4f", ".1f", ".0f", "+.2f", ".3e", ".6G"]),
)
ODD = st.sampled_from(
    [
        *(Cell(text) for text in ("", "NaN", "NA", "null", "None", "n/a")),
        *(Cell(text, float(text)) for text in ("0", "-0.0", "-9999", "-999.0", "inf", "-Infinity", "1e400")),
        *(Cell(text, reason=f"state {text!r}") for text in ("Bad", "I/O Timeout", "#N/A")),
        Cell("[-11059] No Good Data For Calculation", reason="state 'No Good Data For Calculation'"),
        Cell("<20", reason="below the measuring range (<20)"),
        Cell("> 5", reason="above the measuring range (> 5)"),
    ]
)
CELLS = st.one_of(PLAIN, PLAIN, ODD)
#: Cells that a table separated by white space can hold.
WORDS = CELLS.filter(lambda cell: cell.text != "" and " " not in cell.text)


class Row(NamedTuple):
    """Cells that came in together: the step they belong to, the station and tag of a long table, one cell a value."""

    position: int
    ids: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Made:
    """A log before it is written: steps from ``start`` (ns UTC), and ``rows``; ``measures`` by name of tag."""

    start: int
    step: int
    rows: tuple[Row, ...]
    measures: Mapping[str, Measure]
    long: bool = False
    stations: Mapping[str, str] = field(default_factory=dict)

    def time(self, position: int) -> int:
        return self.start + position * self.step

    @property
    def steps(self) -> int:
        return max(row.position for row in self.rows) + 1

    def names(self, row: Row) -> tuple[str, ...]:
        return (" ".join(row.ids),) if self.long else tuple(self.measures)

    def check(self, log: StationLog, *, repeated: int = 0, quarantined: int = 0, others: int = 0) -> None:
        """The log read holds what was written, at its time, and accounts for every row and every masked cell."""
        wanted = {name: np.full(self.steps, NAN) for name in self.measures}
        masked: Counter[str] = Counter()
        for row in self.rows:
            for name, cell in zip(self.names(row), row.cells, strict=True):
                wanted[name][row.position], reason = cell.settled(self.measures[name])
                masked.update([reason] if reason else [])
        assert sorted(log.names) == sorted(wanted)
        assert log.time.as_unit("ns").asi8.tolist() == [self.time(i) for i in range(self.steps)]
        for tag, got in zip(log.tags, log.values.T, strict=True):
            measure = self.measures[tag.name]
            assert (tag.unit, tag.station) == (measure.unit, self.stations.get(tag.name))
            assert (tag.quantity == "dose_rate") == measure.dose
            written = wanted[tag.name].astype(np.float32)
            # the conversion of a unit may cost the last bit, nothing else may
            converted = (written.astype(np.float64) * measure.factor).astype(np.float32)
            np.testing.assert_array_equal(got, converted if measure.factor != 1 else written, err_msg=tag.name)
        quality = log.quality
        count = len(self.rows)
        assert quality.rows_in == count + repeated + quarantined + others
        assert (quality.rows_kept, quality.rows_merged) == (count, repeated)
        assert quality.rows_quarantined == quarantined + others
        assert dict(quality.masked) == masked
        assert sum(quality.flags.values()) == sum(masked.values()) == int((log.flags != 0).sum())
        assert Counter(quality.gaps) == Counter(self.gaps())

    def gaps(self) -> list[Gap]:
        """Runs of steps without a row, and those in which only a station has none; found one by one."""
        there = {row.position for row in self.rows}
        found = self._runs("*", [i not in there for i in range(self.steps)])
        for station in dict.fromkeys(self.stations.values()):
            own = {row.position for row in self.rows if self.stations[" ".join(row.ids)] == station}
            found += self._runs(station, [i in there and i not in own for i in range(self.steps)])
        return found

    def _runs(self, station: str, missing: Sequence[bool]) -> list[Gap]:
        runs: list[list[int]] = []
        for i, gone in enumerate(missing):
            if gone and i and missing[i - 1]:
                runs[-1].append(i)
            elif gone:
                runs.append([i])
        return [Gap(station, as_text(self.time(r[0])), as_text(self.time(r[-1])), len(r)) for r in runs]


# --- times as text ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clock:
    """A way to write times: ``texts(ns, zone)``, the finest part it can show (ns), and whether it states no zone."""

    texts: Callable[[Sequence[int], dt.tzinfo], list[str]]
    finest: int = SECOND
    local: bool = True
    order: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def wall(ns: int, zone: dt.tzinfo = UTC) -> dt.datetime:
    """The clock on the wall of a zone, to full seconds."""
    return dt.datetime.fromtimestamp(ns // SECOND, UTC).astimezone(zone)


def fraction(ns: int, digits: int, mark: str = ".") -> str:
    return f"{mark}{ns % SECOND:09d}"[: digits + 1] if digits else ""


def strftime(form: str) -> Callable[[Sequence[int], dt.tzinfo], list[str]]:
    return lambda times, zone: [wall(ns, zone).strftime(form) for ns in times]


def with_offsets(times: Sequence[int], zone: dt.tzinfo) -> list[str]:
    """ISO 8601, each row with another offset."""
    offsets = (0, 60, -210, 345, -720)
    rows = []
    for i, ns in enumerate(times):
        minutes = offsets[i % len(offsets)]
        moment = wall(ns, dt.timezone(dt.timedelta(minutes=minutes)))
        shown = f"{moment:%z}" if i % 2 else f"{moment:%z}"[:3] + ":" + f"{moment:%z}"[3:]
        rows.append(f"{moment:%Y-%m-%dT%H:%M:%S}{shown}")
    return rows


def short(mark: str, order: str) -> Callable[[Sequence[int], dt.tzinfo], list[str]]:
    """Dates of numbers without leading zeros."""

    def texts(times: Sequence[int], zone: dt.tzinfo) -> list[str]:
        walls = [wall(ns, zone) for ns in times]
        days = [(w.day, w.month) if order == "dmy" else (w.month, w.day) for w in walls]
        return [f"{a}{mark}{b}{mark}{w.year} {w.hour}:{w:%M:%S}" for (a, b), w in zip(days, walls, strict=True)]

    return texts


def since_1970(unit: int) -> Callable[[Sequence[int], dt.tzinfo], list[str]]:
    return lambda times, zone: [str(ns // unit) for ns in times]


MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
CLOCKS = {
    "iso Z": Clock(strftime("%Y-%m-%dT%H:%M:%SZ"), local=False),
    "iso UTC": Clock(strftime("%Y-%m-%d %H:%M:%S UTC"), local=False),
    "iso ns": Clock(lambda t, z: [f"{wall(ns):%Y-%m-%dT%H:%M:%S}{fraction(ns, 9)}Z" for ns in t], 1, False),
    "iso ms": Clock(lambda t, z: [f"{wall(ns):%Y/%m/%d %H:%M:%S}{fraction(ns, 3)}Z" for ns in t], 10**6, False),
    "iso offsets": Clock(with_offsets, local=False),
    "iso local": Clock(strftime("%Y-%m-%d %H:%M:%S")),
    "iso minutes": Clock(strftime("%Y-%m-%dT%H:%M"), 60 * SECOND),
    "german": Clock(strftime("%d.%m.%Y %H:%M:%S"), order="dmy"),
    "german short": Clock(short(".", "dmy"), order="dmy"),
    "british": Clock(strftime("%d/%m/%Y %H:%M"), 60 * SECOND, order="dmy"),
    "dutch": Clock(short("-", "dmy"), order="dmy"),
    "american": Clock(strftime("%m/%d/%Y %I:%M:%S %p"), order="mdy"),
    "american short": Clock(short("/", "mdy"), order="mdy"),
    "month": Clock(lambda t, z: [f"{(w := wall(ns, z)).day:02d}-{MONTHS[w.month - 1]}-{w:%Y %H:%M:%S}" for ns in t]),
    "month short": Clock(
        lambda t, z: [f"{(w := wall(ns, z)).day} {MONTHS[w.month - 1]} {w:%y %I:%M:%S%p}" for ns in t]
    ),
    "epoch s": Clock(since_1970(SECOND), local=False),
    "epoch ms": Clock(since_1970(10**6), 10**6, False),
    "epoch us": Clock(since_1970(10**3), 10**3, False),
    "epoch ns": Clock(since_1970(1), 1, False),
    "declared": Clock(strftime("%Hh%M:%S on %Y%m%d"), options={"time_format": "%Hh%M:%S on %Y%m%d"}),
}
ZONES = (
    *("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "Asia/Kathmandu"),
    *("America/St_Johns", "Pacific/Apia"),
)


def times_of(made: Made, clock: Clock, zone: str, positions: Iterable[int]) -> tuple[list[str], dict[str, Any]]:
    """Texts of the times, and the options that reading them needs."""
    times = [made.time(position) for position in positions]
    options = dict(clock.options)
    if not clock.local:
        return clock.texts(times, UTC), options
    walls = pd.DatetimeIndex(np.array([wall(ns, ZoneInfo(zone)).replace(tzinfo=None) for ns in times], dtype="M8[ns]"))
    if walls.tz_localize(zone, ambiguous="NaT").isna().any():
        zone = "UTC"  # clocks are changed here: there is a test for that
    texts = clock.texts(times, ZoneInfo(zone))
    if clock.order and all(wall(ns, ZoneInfo(zone)).day <= 12 for ns in times):
        options["date_order"] = clock.order
    return texts, {**options, "tz": zone}


# --- names ------------------------------------------------------------------------------------------------------------

HOSTILE = (
    *("</script><script>alert(1)</script>", '=HYPERLINK("http://x","y")', "../../etc/passwd", "XMEAS(1)", "NA", "null"),
    *("25", "-9999", "1e9", "2024-05-01", "a;b", "a,b,c", "a|b", "it's", '"', '""', "'; DROP TABLE log; --", "a\\"),
    *("\u202egnp", "a\u2028b", "a\x0bb", "a\x1cb", "a\u00a0b", "線量率", "🙂", "%s", "{0}", "$A$1", "@SUM(A1)", "+1"),
    *("a # b", "//a", "%a", "#a", "pump status", "valid", "055620080"),
)
WESTERN = ("Débit", "Zürich Süd", "Øresund", "garçon", "Málaga", "naïve", "Köln", "20 °C", "±5", "Weiß")
JAPANESE = ("線量率", "福島県庁", "ポスト", "東京", "表示", "南相馬市 原町", "ソーラー", "空間線量 1")
ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters='"'), min_size=1, max_size=8)
UNICODE = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"]), min_size=1, max_size=10).map(str.strip)
RESERVED = {*TIME_NAMES, *ID_NAMES}
#: A name that calls itself a dose rate may not go without a unit, or without saying that it has none.
DOSE = re.compile(r"dose|dosis|odl|線量|h\*\(10\)", re.IGNORECASE)


def can_be_a_name(name: str) -> bool:
    """Whether a text is a name in every layout: not blank, and no column of another kind."""
    return bool(name.strip()) and name == name.strip() and name.lower() not in RESERVED


def is_plain_name(name: str) -> bool:
    """Whether nothing in it reads as a unit in brackets."""
    return not name.endswith(("]", ")"))


ENCODINGS = {
    "utf-8": (UNICODE, HOSTILE, MEASURES),
    "utf-8-sig": (UNICODE, HOSTILE, MEASURES),
    "utf-16": (UNICODE, HOSTILE, MEASURES),
    "utf-16-be mark": (UNICODE, HOSTILE, MEASURES),
    "utf-16-le": (ASCII, ("Débit", "a;b", "=1+2"), MEASURES[:3]),
    "utf-16-be": (ASCII, ("Débit", "a;b", "=1+2"), MEASURES[:3]),
    "cp1252": (ASCII, WESTERN, [m for m in MEASURES if "\u03bc" not in str(m.text)]),
    "cp932": (ASCII, JAPANESE, [m for m in MEASURES if str(m.text).isascii()]),
}


def encoded(text: str, encoding: str) -> bytes:
    if encoding == "utf-16-be mark":
        return b"\xfe\xff" + text.encode("utf-16-be")
    return text.encode(encoding)


# --- logs of all kinds ------------------------------------------------------------------------------------------------


@st.composite
def grids(draw: st.DrawFn, finest: int = SECOND) -> tuple[int, int, list[int]]:
    """Start (ns), step (ns), and the steps that hold something: the first two and the last of them do."""
    step = draw(st.sampled_from([nice for nice in NICE if nice % finest == 0 or finest < SECOND]))
    day = draw(st.integers(0, 7300))
    start = pd.Timestamp("2003-01-01", tz="UTC").value + day * 86400 * SECOND
    start += draw(st.integers(0, step // finest - 1)) * finest
    count = draw(st.integers(3, 16))
    inner = draw(st.lists(st.booleans(), min_size=count - 3, max_size=count - 3))
    return start, step, [0, 1, *(i for i, there in enumerate(inner, 2) if there), count - 1]


def column_of(draw: st.DrawFn, rows: int, cells: st.SearchStrategy[Cell] = CELLS) -> list[Cell]:
    """A tag's cells; the first is a plain number, so that the tag is not empty."""
    return [Cell("71.5", 71.5), *draw(st.lists(cells, min_size=rows - 1, max_size=rows - 1))]


def names_of(draw: st.DrawFn, encoding: str, fits: Callable[[str], bool], most: int = 4) -> list[str]:
    alphabet, known, _ = ENCODINGS[encoding]
    name = st.one_of(st.sampled_from(known), alphabet).filter(lambda name: can_be_a_name(name) and fits(name))
    return draw(st.lists(name, min_size=1, max_size=most, unique_by=str.casefold))


@dataclass(frozen=True)
class Text:
    """How a text table is written, beside its columns."""

    separator: str
    decimal: str
    encoding: str
    end: str
    quoting: int
    blank: bool
    comment: str
    last_end: bool
    pack: str
    declare: bool

    @property
    def one_word(self) -> bool:
        return self.separator == " "

    def options(self, header: Sequence[str]) -> dict[str, Any]:
        """What has to be declared: a decimal comma among separating commas, and white space beside other separators."""
        if self.separator == "," == self.decimal:
            return {"decimal": ","}
        if not self.declare and not (self.one_word and any(sign in name for name in header for sign in ";|,")):
            return {}
        return {"separator": "whitespace" if self.one_word else self.separator, "decimal": self.decimal}

    def cell(self, cell: Cell) -> str:
        """A value as this text writes it."""
        return cell.text.replace(".", self.decimal)

    def line(self, cells: Sequence[str], number: int) -> str:
        if self.one_word:
            return "  " * (number % 3) + (" " * (1 + number % 2)).join(cells)
        out = io.StringIO()
        first = cells[0].startswith(("#", "//", "%", ";"))
        quoting = csv.QUOTE_ALL if first else self.quoting
        csv.writer(out, delimiter=self.separator, quoting=quoting, lineterminator="").writerow(cells)  # type: ignore[arg-type]
        return out.getvalue()

    def lines(self, header: Sequence[str], units: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> list[str]:
        """All lines, with comments before the header (and between rows where ``#`` marks them) and blank lines."""
        lines = [f"{self.comment} made by a logger, in 2024", self.comment] if self.comment else []
        lines += [self.line(header, 0), *([self.line(units, 0)] if units else [])]
        for i, row in enumerate(rows):
            if self.blank and i % 3 == 1:
                lines.append("")
            if self.comment == "#" and i % 4 == 2:
                lines.append("# 12;13,14")
            lines.append(self.line(row, i))
        return lines

    def save(self, lines: Sequence[str], folder: Path) -> Path:
        raw = encoded(self.end.join(lines) + (self.end if self.last_end else ""), self.encoding)
        path = folder / "log.csv"
        if self.pack == "gzip":
            raw = gzip.compress(raw)
        elif self.pack == "zstd":
            packed = pa.BufferOutputStream()
            with pa.CompressedOutputStream(packed, "zstd") as stream:
                stream.write(raw)
            raw = packed.getvalue().to_pybytes()
        elif self.pack == "zip":
            path = folder / "log.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("log.csv", raw)
            return path
        path.write_bytes(raw)
        return path


@st.composite
def texts(draw: st.DrawFn) -> Text:
    separator = draw(st.sampled_from([",", ";", "\t", "|", " "]))
    return Text(
        separator=separator,
        decimal=draw(st.sampled_from([".", ","])),
        encoding=draw(st.sampled_from(list(ENCODINGS))),
        end=draw(st.sampled_from(["\n", "\r\n", "\r"])),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        blank=draw(st.booleans()),
        comment=draw(st.sampled_from(["", "#", "//", "%"])),
        last_end=draw(st.booleans()),
        pack=draw(st.sampled_from(["", "", "gzip", "zip", "zstd"])),
        declare=draw(st.booleans()),
    )


def clock_of(draw: st.DrawFn, one_word: bool) -> Clock:
    names = [name for name in CLOCKS if not one_word or name in ("iso Z", "iso ns", "iso offsets", "iso minutes")]
    return CLOCKS[draw(st.sampled_from([*names, *(["epoch s", "epoch ms", "epoch us", "epoch ns"] * one_word)]))]


TIME_COLUMNS = ("time", "Timestamp", "Zeit", "DATE/TIME", " date ", "Datum")
UNITS = ("square", "round", "row", "none")


class Written(NamedTuple):
    """A log, the table it was written to as lines, and the options that reading it needs."""

    made: Made
    text: Text
    lines: list[str]
    options: dict[str, Any]
    repeated: int = 0


@st.composite
def wide(draw: st.DrawFn) -> Written:
    """A wide table: a column a tag, rows in any order, some of them repeated."""
    text, style = draw(texts()), draw(st.sampled_from(UNITS))
    clock = clock_of(draw, text.one_word)
    start, step, positions = draw(grids(clock.finest))

    def fits(name: str) -> bool:
        return (style in ("square", "round") or is_plain_name(name)) and not (text.one_word and not is_word(name))

    names = names_of(draw, text.encoding, fits)
    known = [m for m in ENCODINGS[text.encoding][2] if not (text.one_word and " " in str(m.text))]
    unit = st.just(NO_UNIT) if style == "none" else st.sampled_from(known)
    measures = {name: draw(unit) for name in names}
    columns = [column_of(draw, len(positions), WORDS if text.one_word else CELLS) for _ in names]
    rows = [Row(at, (), cells) for at, cells in zip(positions, zip(*columns, strict=True), strict=True)]
    made = Made(start, step, tuple(rows), measures)
    again = draw(st.lists(st.sampled_from(rows), max_size=4))
    order = draw(st.permutations([*rows, *again]))
    times, options = times_of(made, clock, draw(st.sampled_from(ZONES)), [row.position for row in order])
    form = {"square": "{} [{}]", "round": "{} ({})"}.get(style, "{}")
    form = form.replace(" ", "") if text.one_word and style == "square" else form
    if text.one_word and style == "round":
        form = "{}[{}]"
    header = [form.format(name, measure.text) for name, measure in measures.items()]
    place = 0 if style == "row" or text.one_word else draw(st.integers(0, len(names)))
    table = [[text.cell(cell) for cell in row.cells] for row in order]
    for row, time in zip([header, *table], [draw(st.sampled_from(TIME_COLUMNS)), *times], strict=True):
        row.insert(place, time)
    units = ["", *(str(m.text) for m in measures.values())] if style == "row" and not text.one_word else None
    if style == "none":
        options["units"] = {name: None for name in names if DOSE.search(name)}
    if style == "row" and units is None:
        options["units"] = {name: measure.text for name, measure in measures.items()}
    return Written(made, text, text.lines(header, units, table), {**options, **text.options(header)}, len(again))


def is_word(name: str) -> bool:
    """Whether a table separated by white space can hold a name."""
    return len(name.split()) == 1 and '"' not in name


def is_no_number(name: str) -> bool:
    """Whether a name beside numbers leaves no doubt about their decimal mark."""
    return not re.search(r"[.,]\d", name)


@st.composite
def long(draw: st.DrawFn) -> Written:
    """A long table: a row a value, of tags or stations or both, each with steps of its own; rows in any order."""
    text, style = draw(texts()), draw(st.sampled_from(["square", "column", "none"]))
    clock = clock_of(draw, text.one_word)
    start, step, positions = draw(grids(clock.finest))
    of = draw(st.sampled_from([("station",), ("tag",), ("station", "tag")]))

    def fits(name: str) -> bool:
        return is_no_number(name) and not (text.one_word and not is_word(name))

    parts = [names_of(draw, text.encoding, fits, most=3) for _ in of]
    ids = [tuple(pair) for pair in itertools.product(*parts)]
    assume(len({" ".join(pair) for pair in ids}) == len(ids))
    known = [m for m in ENCODINGS[text.encoding][2] if not (text.one_word and " " in str(m.text))]
    one = draw(st.sampled_from(known)) if style != "none" else NO_UNIT
    measures = {pair: draw(st.sampled_from(known)) if style == "column" else one for pair in ids}
    rows = []
    for i, pair in enumerate(ids):
        # the first tag reports at every step of the log, so that its ends are known
        mine = positions if i == 0 else [positions[0], *(p for p in positions[1:] if draw(st.booleans()))]
        cells = column_of(draw, len(mine), WORDS if text.one_word else CELLS)
        rows += [Row(at, pair, (cell,)) for at, cell in zip(mine, cells, strict=True)]
    stations = {" ".join(pair): pair[0] for pair in ids} if of[0] == "station" else {}
    made = Made(start, step, tuple(rows), {" ".join(p): m for p, m in measures.items()}, True, stations)
    again = draw(st.lists(st.sampled_from(rows), max_size=4))
    order = draw(st.permutations([*rows, *again]))
    times, options = times_of(made, clock, draw(st.sampled_from(ZONES)), [row.position for row in order])
    value = f"value{'' if text.one_word else ' '}[{one.text}]" if style == "square" else "Value"
    header = [draw(st.sampled_from(TIME_COLUMNS[:4])), *of, value, *(["unit"] if style == "column" else [])]
    table = [
        [time, *row.ids, text.cell(row.cells[0]), *([str(measures[row.ids].text)] if style == "column" else [])]
        for time, row in zip(times, order, strict=True)
    ]
    if style == "none":
        options["units"] = {name: None for name in made.measures if DOSE.search(name)}
    if not text.one_word:
        shuffled = draw(st.permutations(range(len(header))))
        header, *table = [[row[i] for i in shuffled] for row in (header, *table)]
    return Written(
        made, text, text.lines(header, None, table), {**options, **text.options(sum(table, header))}, len(again)
    )


# --- local times when clocks are changed ------------------------------------------------------------------------------

#: Zones with the local date of a change and its direction; Lord Howe Island moves its clocks by half an hour.
CHANGES = (
    ("Europe/Berlin", "2021-10-31"),
    ("Europe/Berlin", "2024-03-31"),
    ("America/New_York", "2024-11-03"),
    ("America/New_York", "2024-03-10"),
    ("America/St_Johns", "2024-11-03"),
    ("Australia/Lord_Howe", "2024-04-07"),
    ("Australia/Lord_Howe", "2024-10-06"),
    ("Atlantic/Azores", "2023-10-29"),
)


@st.composite
def changing(draw: st.DrawFn) -> Written:
    """A table in local time over the night in which clocks are changed, from its first row or from its last."""
    zone, date = draw(st.sampled_from(CHANGES))
    minutes = draw(st.sampled_from([1, 5, 10, 15]))
    start = pd.Timestamp(date).tz_localize(zone, ambiguous=True).value - draw(st.integers(0, 90)) * 60 * SECOND
    count = 6 * 60 // minutes
    clock = CLOCKS[draw(st.sampled_from(["iso local", "german", "american", "month", "declared"]))]
    stations = draw(st.sampled_from([(), ("north",), ("north", "south")]))
    rows = [
        Row(i, (station,) if station else (), (Cell(str(draw(st.integers(1, 99))), NAN),))
        for i in range(count)
        for station in (stations or ("",))
    ]
    rows = [row._replace(cells=(Cell(row.cells[0].text, float(row.cells[0].text)),)) for row in rows]
    name = {station: station for station in stations}
    order = tuple(rows[::-1] if draw(st.booleans()) else rows)
    made = Made(start, minutes * 60 * SECOND, order, dict.fromkeys(stations or ("A",), NO_UNIT), bool(stations), name)
    times = clock.texts([made.time(row.position) for row in order], ZoneInfo(zone))
    options = {**clock.options, "tz": zone}
    if clock.order:
        options["date_order"] = clock.order
    text = Text(";", ".", "utf-8", "\n", csv.QUOTE_MINIMAL, False, "", True, "", False)
    header = ["time", "station", "value"] if stations else ["time", "A"]
    table = [[time, *row.ids, row.cells[0].text] for time, row in zip(times, order, strict=True)]
    return Written(made, text, text.lines(header, None, table), options)


@st.composite
def thinned(draw: st.DrawFn) -> Written:
    """The same with rows left out at random, so that the sequence may not tell which hour is meant."""
    whole = draw(changing())
    gone = draw(st.sets(st.integers(2, whole.made.steps - 2)))
    kept = [i for i, row in enumerate(whole.made.rows) if row.position not in gone]
    lines = [whole.lines[0], *(whole.lines[1 + i] for i in kept)]
    return whole._replace(made=replace(whole.made, rows=tuple(whole.made.rows[i] for i in kept)), lines=lines)


# --- rows that are no rows --------------------------------------------------------------------------------------------


class Fault(NamedTuple):
    """A line that cannot be a row, and what is said of it."""

    line: int
    column: str
    text: str
    reason: str


class Faulty(NamedTuple):
    """A table with faults, and what is to be quarantined for each."""

    written: Written
    faults: list[Fault]

    @property
    def lines(self) -> list[str]:
        return self.written.lines


@st.composite
def faulty(draw: st.DrawFn) -> Faulty:
    """A table of many rows, among which are lines with too few or too many fields, text for numbers, or no times."""
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    comment, blank = draw(st.sampled_from(["", "#", "//"])), draw(st.booleans())
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = Text(separator, ".", "utf-8", end, csv.QUOTE_MINIMAL, blank, comment, draw(st.booleans()), "", False)
    is_long = draw(st.booleans())
    start, step = pd.Timestamp("2024-05-01", tz="UTC").value, draw(st.sampled_from([60, 600, 3600])) * SECOND
    names = ["north", "south"]
    rows = []
    for i in range(20):
        cells = [Cell(value := str(draw(st.integers(1, 999))), float(value)) for _ in names]
        if is_long:
            rows += [Row(i, (name,), (cell,)) for name, cell in zip(names, cells, strict=True)]
        else:
            rows.append(Row(i, (), tuple(cells)))
    stations = dict(zip(names, names, strict=True)) if is_long else {}
    made = Made(start, step, tuple(rows), dict.fromkeys(names, MEASURES[5]), is_long, stations)
    clock = CLOCKS["iso Z"]
    times = clock.texts([made.time(row.position) for row in rows], UTC)
    table = [[time, *row.ids, *(cell.text for cell in row.cells)] for time, row in zip(times, rows, strict=True)]
    header = ["time", "station", "value [cpm]"] if is_long else ["time", *(f"{name} [cpm]" for name in names)]
    lines = text.lines(header, None, table)
    first = lines.index(text.line(header, 0)) + 1
    found: list[Fault] = []
    kinds = draw(st.lists(st.integers(0, 7), max_size=8))
    places = sorted(draw(st.lists(st.integers(first + 1, len(lines)), min_size=len(kinds), max_size=len(kinds))))
    for i, (kind, place) in enumerate(zip(kinds, places, strict=True)):
        at = place + i
        good = ["2024-05-01T00:00:30Z", *(["north"] if is_long else ["1"]), "5"]
        fault = _fault(kind, good, header, separator)
        lines.insert(at, separator.join(good))
        found.append(Fault(at + 1, fault[0], fault[1], fault[2]))
    return Faulty(Written(made, text, lines, {}), found)


def _fault(kind: int, cells: list[str], header: Sequence[str], separator: str) -> tuple[str, str, str]:
    """Spoil a row of three cells; (column, text, reason)."""
    times = {0: ("never", "not a time"), 1: ("2024-13-01T00:00Z", "not a time"), 2: ("", "not a time")}
    times |= {
        3: ("1970-01-01T00:00:05Z", "before 1971: the clock was not set"),
        4: ("2184-03-01T00:00Z", "in the future"),
    }
    if kind in times:
        cells[0], reason = times[kind]
        return header[0], cells[0], reason
    if kind == 5:
        cells[2] = "windy"
        return header[2], "windy", "not a number"
    if kind == 6:
        del cells[2]
        return "*", separator.join(cells), "2 field(s) instead of 3"
    cells += ["7", "x"]
    return "*", separator.join(cells), "5 field(s) instead of 3"


# --- tables that are no text ------------------------------------------------------------------------------------------


class Typed(NamedTuple):
    """A wide log, and its table as columns of Python values; ``kind`` is what it is saved as."""

    made: Made
    kind: str
    columns: dict[str, list[Any]]
    options: dict[str, Any]
    repeated: int


@st.composite
def typed(draw: st.DrawFn) -> Typed:
    """A wide table with typed cells, as Parquet, Arrow, a workbook or a table of a database."""
    kind = draw(st.sampled_from(["parquet", "feather", "stream", "xlsx", "sqlite"]))
    start, step, positions = draw(grids(1 if kind in ("parquet", "feather", "stream") else SECOND))
    names = names_of(draw, "utf-8", lambda name: kind != "xlsx" or name.isprintable())
    number = st.one_of(PLAIN, PLAIN, st.sampled_from([Cell("", NAN), Cell("", -9999.0), Cell("", 0.0)]))
    measures = {name: draw(st.sampled_from(MEASURES)) for name in names}
    cells = [column_of(draw, len(positions), number) for _ in names]
    made = Made(start, step, tuple(map(Row, positions, [()] * len(positions), zip(*cells, strict=True))), measures)
    order = [*made.rows, *draw(st.lists(st.sampled_from(made.rows), max_size=2))]
    times = [made.time(row.position) for row in order]
    form, options = draw(st.sampled_from(["aware", "naive", "text", "whole"])), {}
    stamps: list[Any]
    if form == "text" or (form in ("aware", "naive") and kind == "sqlite"):
        stamps = [f"{wall(ns):%Y-%m-%dT%H:%M:%S}{fraction(ns, 9)}Z" for ns in times]
    elif form == "whole":
        stamps = times
    elif kind == "xlsx":
        stamps, options = [wall(ns).replace(tzinfo=None) for ns in times], {"tz": "UTC"}
    elif form == "naive":
        zone = draw(st.sampled_from(["UTC", "Asia/Tokyo", "-03:30"]))
        local = pd.DatetimeIndex(np.array(times, dtype="M8[ns]"), tz="UTC").tz_convert(zone).tz_localize(None)
        stamps, options = list(local), {"tz": zone}
    else:
        stamps = list(pd.DatetimeIndex(np.array(times, dtype="M8[ns]"), tz="UTC").tz_convert("Europe/Berlin"))
    columns = {"time": stamps}
    for i, (name, measure) in enumerate(measures.items()):
        values = [row.cells[i].value for row in order]
        columns[f"{name} [{measure.text}]"] = [None if math.isnan(value) else value for value in values]
    return Typed(made, kind, columns, options, len(order) - len(made.rows))


def save_typed(columns: Mapping[str, list[Any]], kind: str, folder: Path) -> str | Path:
    """Save columns; the path, or the address of the database's table."""
    path = folder / f"log.{kind}"
    path.unlink(missing_ok=True)
    if kind == "xlsx":
        book = openpyxl.Workbook()
        for place, (name, cells) in enumerate(columns.items(), 1):
            for line, value in enumerate([name, *cells], 1):
                cell = book.active.cell(line, place, str(value) if isinstance(value, int) else value)
                if isinstance(value, str):
                    cell.data_type = "s"  # a name that begins with = is no formula
        book.save(path)
        return path
    if kind == "sqlite":
        with sqlite3.connect(path) as base:
            names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
            base.execute(f"CREATE TABLE log ({names})")
            base.executemany(
                f"INSERT INTO log VALUES ({', '.join('?' * len(columns))})", zip(*columns.values(), strict=True)
            )
        base.close()
        return f"sqlite:///{path}?table=log"
    table = pa.Table.from_pandas(pd.DataFrame(columns), preserve_index=False)
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=5)
    elif kind == "feather":
        feather.write_feather(table, path, chunksize=5)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


def check_written(folder: Path, written: Written) -> None:
    log = read_log(written.text.save(written.lines, folder), **written.options)
    written.made.check(log, repeated=written.repeated)


def check_faulty(folder: Path, faulty: Faulty) -> None:
    made, text, lines, options, _ = faulty.written
    log = read_log(text.save(lines, folder), **options)
    made.check(log, quarantined=len(faulty.faults))
    assert sorted((q.line, q.column, q.text, q.reason) for q in log.quality.quarantined) == sorted(faulty.faults)
    assert {q.file for q in log.quality.quarantined} <= {"log.csv"}


def check_thinned(folder: Path, written: Written) -> None:
    try:
        log = read_log(written.text.save(written.lines, folder), **written.options)
    except LogError as error:
        assert "occurs twice" in str(error)
    else:
        written.made.check(log)


def check_typed(folder: Path, table: Typed) -> None:
    log = read_log(save_typed(table.columns, table.kind, folder), **table.options)
    table.made.check(log, repeated=table.repeated)


@examples(150)
@given(written=wide())
def test_a_wide_table_in_any_dialect_is_read_as_it_was_written(folder: Path, written: Written) -> None:
    check_written(folder, written)


@examples(150)
@given(written=long())
def test_a_long_table_in_any_dialect_is_read_as_it_was_written(folder: Path, written: Written) -> None:
    check_written(folder, written)


@examples(40)
@given(written=changing())
def test_local_times_over_a_change_of_clocks_are_the_moments_that_were_written(folder: Path, written: Written) -> None:
    check_written(folder, written)


@examples(40)
@given(written=thinned())
def test_local_times_with_gaps_at_a_change_of_clocks_are_right_or_refused(folder: Path, written: Written) -> None:
    check_thinned(folder, written)


@examples(80)
@given(faulty=faulty())
def test_the_rows_quarantined_are_those_that_were_spoilt_with_their_lines(folder: Path, faulty: Faulty) -> None:
    check_faulty(folder, faulty)


@examples(80)
@given(table=typed())
def test_a_typed_table_is_read_as_it_was_written(folder: Path, table: Typed) -> None:
    check_typed(folder, table)
