"""Monitoring posts of Japan: JSON records as the Nuclear Regulation Authority (NRA) and prefectures serve them.

Rules, each counted in the log's quality record:

- times state their offset, or their zone has to be declared: Japanese files often leave it out;
- a value below the lower limit of the measuring range, a zero above all, is censored, not low;
- a range such as ``0.04-0.06`` is no value, unless its middle is asked for; then it is flagged doubtful;
- words such as 欠測 (missing) and 調整中 (under adjustment), and a status that is not good, leave no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from ....errors import LogError
from ...log import Sampling, StationLog
from ...units import parse_unit
from ..account import Account
from ..assemble import Assembly, assemble
from ..clock import MISSING, ClockRules
from ..grid import Bools, Ints
from ..json_cells import folded, read_instants
from ..json_file import RECORD_NUMBERS, Refused, shown
from ..source import Source
from .fields import FIELDS, GOOD, VALUES
from .file import Answer, Posts, load_answer, sniff
from .record import Ranges, Rules

__all__ = ["read", "sniff"]


def read(
    sources: Sequence[Source],
    assembly: Assembly | None = None,
    *,
    tz: str | None = None,
    ranges: Ranges = "missing",
    good: Sequence[str] = (),
    count_unit: str | None = None,
    records: str | None = None,
) -> StationLog:
    """One log from files of records; stations, networks and moments may be mixed.

    Parameters
    ----------
    sources: the files: a list of records, or an object with one under ``data``, ``items``, ``records`` or ``stations``.
    assembly: the options all readers share; ``duplicates="last"`` lets a later delivery replace an earlier one.
    tz: zone of times that state no offset, ``"Asia/Tokyo"`` for Japan.
    ranges: what becomes of a range in the place of a value: ``missing``, or its ``middle``, flagged `Flag.DOUBTFUL`.
    good: further words for a status that is good, beside those in `nra_fields.GOOD`.
    count_unit: unit of counting rates whose records state none, ``"cps"`` or ``"cpm"``; without it they are left out.
    records: the key under which the records are, where it is another.

    Returns
    -------
    A log with tags ``"<station> dose"``, and ``counts``, ``rain`` and ``snow`` where there are any. Dose equivalent
    rates are in nSv/h; air kerma (nGy/h) and counts stay what they are.

    Raises
    ------
    LogError: a file holds no such records or is damaged, a time has no zone, or nothing is left to read.
    """
    if ranges not in get_args(Ranges):
        raise LogError(f"ranges={ranges!r} is unknown; choose {' or '.join(get_args(Ranges))}")
    if count_unit is not None and parse_unit(count_unit).quantity != "count_rate":
        raise LogError(f"count_unit={count_unit!r} is no unit of counts; choose 'cps' or 'cpm'")
    ClockRules(tz)
    account = Account([source.name for source in sources], 0)
    answers = [load_answer(source, records, account) for source in sources]
    account.rows_in = sum(len(answer.records) for answer in answers)
    account.decide(RECORD_NUMBERS)
    if not account.rows_in:
        raise LogError(
            f"{', '.join(account.sources[:5])} holds no reading: the answer is whole and empty, not an error page; "
            "check the stations and the period of the query"
        )
    words = GOOD | {folded(word).casefold() for word in ([good] if isinstance(good, str) else good)}
    refused = Refused()
    rows = Posts(tuple(account.sources), rules=Rules(ranges, words, count_unit))
    rows.taken = _values_there(answers, rows)
    for file, answer in enumerate(answers):
        for number, record in enumerate(answer.records, 1):
            rows.add(file, number, record, refused)
    time, keep = _times(rows, tz, account, refused)
    refused.settle(account)
    _report(rows, ranges, account)
    averaging = {seconds for _, seconds in rows.stations}
    series = rows.series(
        keep,
        time,
        rows.columns(),
        rows.taken,
        [station for station, _ in rows.stations],
        time_name="time",
        sampling=Sampling(None, averaging.pop() if len(averaging) == 1 else None),
    )
    return assemble(series, account, assembly or Assembly())


def _values_there(answers: Sequence[Answer], rows: Posts) -> tuple[str, ...]:
    """Which values any record holds. Raises `LogError` where no record can be read at all."""
    there: set[str] = set()
    readable = False
    for answer in answers:
        for record in answer.records:
            layout = rows.layout(record)
            readable = readable or layout.readable
            there |= {what for what in VALUES if any(record[key] is not None for key in layout.keys.get(what, ()))}
    if not readable:
        seen = sorted({shown(key) for keys in rows.layouts for key in keys[:50]})[:20]
        known = ", ".join((*FIELDS["station"][:2], *FIELDS["time"][:2], *FIELDS["dose"][:2]))
        raise LogError(
            f"{answers[0].name} holds no record with a station, a time and a value under a name that is known, such as "
            f"{known}; its keys are {', '.join(seen) or '(none)'}"
        )
    return tuple(what for what in VALUES if what in there) or ("dose",)


def _times(rows: Posts, tz: str | None, account: Account, refused: Refused) -> tuple[Ints, Bools]:
    """(time of each row, which rows are kept)."""
    instants = read_instants(rows.time, tz)
    if instants.naive.any():
        row = int(np.flatnonzero(instants.naive)[0])
        if tz is None:
            raise LogError(
                f"{rows.files[rows.file[row]]} record {rows.line[row]}: the time {shown(rows.time[row])!r} states no "
                "offset; say whose clock it is with tz='Asia/Tokyo'"
            )
        account.decide(f"{int(instants.naive.sum()):,} time(s) without an offset were taken as {tz}")
    keep = np.ones(len(rows), dtype=bool)
    return instants.ns, rows.leave_out(keep, instants.ns == MISSING, rows.time, "time", "not a time", refused)


def _report(rows: Posts, ranges: str, account: Account) -> None:
    """Say what was assumed, left out, and odd."""
    for (key, unit), count in rows.assumed.items():
        account.decide(f"{count:,} value(s) of {key} state no unit and were taken as {unit}; units= states another")
    if ranges == "middle":
        account.decide("where a range stands in the place of a value its middle was taken, and flagged doubtful")
    nowhere = [station for station, (_, place) in rows.described.items() if place is None]
    if nowhere:
        account.warn(f"{len(nowhere):,} station(s) state no position: {', '.join(nowhere[:10])}")
    if rows.moved:
        moved = ", ".join(sorted(rows.moved)[:10])
        account.warn(f"{len(rows.moved):,} station(s) came with several positions; the first was taken: {moved}")
