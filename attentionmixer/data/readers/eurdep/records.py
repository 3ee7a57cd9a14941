"""The readings of EURDEP messages as rows: fields found by their names, defaults filled in, places of localities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ....errors import LogError
from ...quality import Quarantined
from ..account import LISTED
from .codes import parse_place
from .grammar import Item, items, split_fields
from .section import Section, pick

_TRIALS = ("TEST", "EXERCISE")
_PASSED_OVER = {
    "comment": "comment(s) were passed over",
    "note": "line(s) of comment (! or two backslashes) were passed over",
    "remark": "remark(s) behind a semicolon or between records were passed over",
    "skipped": "statement(s) of the unknown section {} were passed over",
    "outside": "line(s) outside of messages were passed over",
}

Row = tuple[str, ...]


class Records:
    """The readings of any number of files.

    Attributes
    ----------
    rows: a cell for each of `FIELDS`, "" where there is none; ``file`` and ``line`` say where each stands, ``trial``
        whether its message calls itself a test.
    refused: records left out, the first of them; ``refused_count`` counts all.
    places: (latitude, longitude) of localities; ``declared`` are all localities listed, with a place or without, and
        ``moved`` those with several, of which the first counts.
    """

    def __init__(self, *, meteo: bool = False) -> None:
        self.rows: list[Row] = []
        self.file: list[int] = []
        self.line: list[int] = []
        self.trial: list[bool] = []
        self.refused: list[Quarantined] = []
        self.refused_count = 0
        self.places: dict[str, tuple[float, float]] = {}
        self.declared: set[str] = set()
        self.moved: dict[str, None] = {}
        self.messages = 0
        self._read = ("RADIOLOGICAL", "METEO") if meteo else ("RADIOLOGICAL",)
        self._seen: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._untaken: set[str] = set()

    def add(self, file: int, name: str, text: str) -> None:
        """Read one file; ``file`` is its number. Raises `LogError` where its sections or lists of fields are broken."""
        section = Section("")
        trial = False
        for item in items(text, name):
            if not item.closed:
                self._count("statement(s) without their semicolon", name, item.line)
            if item.kind == "message":
                trial = False
                self.messages += 1
            elif item.kind == "section":
                section = Section(item.section)
            elif item.kind == "header":
                trial = self._header(item, name) or trial
            elif item.kind == "fields":
                section.declare(item, name)
            elif item.kind == "default":
                section.default(item, name)
            elif item.kind == "record" or (item.kind == "remark" and section.fits(item)):
                self._record(section, item, (file, name), trial)
            else:
                self._count(_PASSED_OVER[item.kind].format(item.section), name, item.line)

    def sentences(self) -> list[str]:
        """What was passed over, for people."""
        said = [f"{count:,} {what} (first: {self._first[what]})" for what, count in self._seen.items()]
        if self._untaken:
            said.append(f"field(s) that were not taken: {', '.join(sorted(self._untaken)[:40])}")
        return said

    def _count(self, what: str, name: str, line: int) -> None:
        self._seen[what] += 1
        self._first.setdefault(what, f"{name} line {line}")

    def _header(self, item: Item, name: str) -> bool:
        """Whether this says that the message is a trial."""
        key, _, value = item.text.partition(" ")
        value = value.strip()
        if key.upper() == "FORMAT_VERSION" and value and not value.startswith("2"):
            raise LogError(f"{name} line {item.line}: the message is of EURDEP version {value!r}; only 2.x can be read")
        return key.upper() == "IMPORTANCE" and value.upper() in _TRIALS

    def _record(self, section: Section, item: Item, source: tuple[int, str], trial: bool) -> None:
        file, name = source
        if section.name == "METEO" and "METEO" not in self._read:
            self._count("weather record(s) were not taken; meteo=True takes them", name, item.line)
            return
        picks = section.picks(item, name)
        cells = split_fields(item.text)
        fault = section.fault(cells)
        if section.name == "LOCALITY":
            if fault is None:
                self._locality(section, cells, (name, item.line))
            else:
                self._count("record(s) of localities that could not be read", name, item.line)
            return
        if item.bare or item.kind == "remark":
            self._count("record(s) without their backslash", name, item.line)
        row = () if fault is not None else tuple([pick(cells, at, default) for at, default in picks])
        if fault is None:
            fault = _nameless(row)
        if fault is not None:
            self.refused_count += 1
            if len(self.refused) < LISTED:
                self.refused.append(Quarantined(name, item.line, *fault))
            return
        self._untaken |= section.untaken
        self.rows.append(row)
        self.file.append(file)
        self.line.append(item.line)
        self.trial.append(trial)

    def _locality(self, section: Section, cells: Sequence[str], where: tuple[str, int]) -> None:
        cell = section.cell
        code = cell(cells, "LOCALITY_CODE")
        if not code:
            self._count("record(s) of localities that could not be read", *where)
            return
        self.declared.add(code)
        texts = cell(cells, "LATITUDE"), cell(cells, "LONGITUDE")
        place = parse_place(*texts)
        if place is None:
            if any(texts):
                self._count("place(s) of localities that are no latitude and longitude", *where)
            return
        if self.places.setdefault(code, place) != place:
            self.moved.setdefault(code)


def _nameless(row: Row) -> tuple[str, str, str] | None:
    if not row[0]:
        return "LOCALITY_CODE", "", "no locality, so it belongs to no series"
    return None if row[1] or row[2] else ("NUCLIDE", "", "neither a nuclide nor a sample")
