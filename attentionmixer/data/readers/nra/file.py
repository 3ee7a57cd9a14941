"""One file of Japanese monitoring records: the records in it, checked one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....errors import LogError
from ..account import Account
from ..columns import Column
from ..json_cells import NO_UNIT, Rows, is_number
from ..json_file import Doubled, Refused, keys_in, load, refuse_message, shown
from ..source import Source
from .fields import LISTS, VALUES, Layout
from .record import Fault, Rules, parse, quantity_of

_ENVELOPE = frozenset(("data", "count", "offset", "limit"))


def sniff(head: bytes) -> bool:
    """Records with a station, a time and a dose rate under the names of Japanese networks, or an empty answer."""
    keys = keys_in(head)
    return keys == _ENVELOPE or ("features" not in keys and Layout.of(tuple(keys)).telling)


class Answer(NamedTuple):
    """A file and its records."""

    name: str
    records: list[Any]


def load_answer(source: Source, key: str | None, account: Account) -> Answer:
    """Read one file; ``key`` names the list of records where it is not plain. Raises `LogError` where there is none."""
    data = load(source)
    if isinstance(data, list):
        return Answer(source.name, data)
    if isinstance(data, Doubled):
        raise LogError(f"{source.name} gives a key twice, so nobody can say which is meant; fetch it again")
    names = LISTS if key is None else (key,)
    found = [name for name in names if isinstance(data, dict) and isinstance(data.get(name), list)]
    if len(found) > 1:
        raise LogError(
            f"{source.name} holds several lists ({', '.join(found)}); name that of the readings with records="
        )
    if not found:
        refuse_message(source.name, data)
        raise LogError(
            f"{source.name} holds no list of records, neither by itself nor under {' or '.join(map(repr, names))}; "
            "name its key with records="
        )
    records = data[found[0]]
    offset = int(data["offset"]) if is_number(data.get("offset")) else 0
    for total in (data.get("count"), data.get("total")):
        if is_number(total) and total > len(records) + offset:
            account.warn(f"{source.name} holds {len(records):,} of {shown(total)} record(s): a part; fetch the rest")
    return Answer(source.name, records)


@dataclass
class Posts(Rows):
    """Records that can be read.

    ``taken`` are the values asked for. Groups are pairs of station and averaging time, numbered by ``stations``;
    ``described`` holds the name and position of a station, and ``moved`` those that came with several positions;
    ``units`` holds all units of a (group, value) pair; ``assumed`` counts values by key whose unit is not stated.
    """

    rules: Rules = field(default_factory=Rules)
    taken: tuple[str, ...] = tuple(VALUES)
    stations: dict[tuple[str, float | None], int] = field(default_factory=dict)
    described: dict[str, tuple[str, tuple[float, float] | None]] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)
    units: dict[tuple[int, str], set[str]] = field(default_factory=dict)
    assumed: Counter[tuple[str, str]] = field(default_factory=Counter)
    layouts: dict[tuple[str, ...], Layout] = field(default_factory=dict)

    def layout(self, record: object) -> Layout:
        """Where a record holds what."""
        keys = tuple(record) if isinstance(record, dict) else ()
        if keys not in self.layouts:
            self.layouts[keys] = Layout.of(keys)
        return self.layouts[keys]

    def add(self, file: int, number: int, record: object, refused: Refused) -> None:
        """Enter the record, or refuse it."""
        read = parse(record, self.layout(record), self.taken, self.rules)
        if isinstance(read, Fault):
            refused.add(self.files[file], number, *read)
            return
        group = self.stations.setdefault((read.station, read.averaging), len(self.stations))
        for what, unit, key in zip(self.taken, read.units, read.assumed, strict=True):
            if unit:
                self.units.setdefault((group, what), set()).add(unit)
                if key is not None:
                    self.assumed[shown(key), unit] += 1
        name, known = self.described.setdefault(read.station, (read.name, read.place))
        if known is None:
            self.described[read.station] = (name, read.place)
        elif read.place not in (None, known):
            self.moved.add(read.station)
        self.file.append(file)
        self.line.append(number)
        self.group.append(group)
        self.time.append(read.time)
        self.cells.append(read.cells)

    def columns(self) -> list[Column]:
        """A column for each pair of group and value. Raises `LogError` where a station comes in several units."""
        rows = Counter(self.group)
        usual: dict[str, float | None] = {}
        for station, averaging in sorted(self.stations, key=lambda pair: -rows[self.stations[pair]]):
            usual.setdefault(station, averaging)
        valued = {
            (group, i)
            for group, row in zip(self.group, self.cells, strict=True)
            for i, cell in enumerate(row)
            if cell.is_value
        }
        made = []
        for (station, averaging), group in self.stations.items():
            name, place = self.described[station]
            for i, what in enumerate(self.taken):
                units = sorted(self.units.get((group, what), ()))
                if len(units) > 1:
                    several = ", ".join(map(repr, units[:5]))
                    raise LogError(f"station {station!r} comes in several units ({several}); read the files one by one")
                # without any value there is nothing a unit could be of, and the column will be dropped
                unit = units[0] if units else None if (group, i) in valued else NO_UNIT
                tag = "counts" if what == "dose" and unit is not None and quantity_of(unit) == "count_rate" else what
                if averaging != usual[station]:
                    tag += " of unknown averaging" if averaging is None else f" {averaging:g} s"
                header = " ".join(filter(None, (station, name, what)))
                made.append(Column(header, f"{station} {tag}", unit, station, place, VALUES[what]))
        return made
