"""ODL-Info of the German Federal Office for Radiation Protection (BfS): GeoJSON as its WFS serves it.

Rules, each counted in the log's quality record:

- the time of a reading is the end of the interval it was averaged over (``end_measure``);
- a reading not yet checked (``validated`` is not 1) is kept and flagged doubtful, or left out if asked for;
- a reading delivered again becomes one row; where one of them is checked, it is the one that holds;
- a defective station (``site_status`` 2) has no value; one on trial (3) keeps it, flagged doubtful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....errors import LogError
from ...log import Sampling, StationLog
from ...quality import Flag
from ..account import Account
from ..assemble import Assembly, assemble
from ..clock import MISSING
from ..grid import Bools, Ints, span
from ..json_cells import read_instants
from ..json_file import RECORD_NUMBERS, Refused
from ..source import Source
from .file import CHECKED, PARTS, TIME, UNCHECKED, Features, load_answer, occurs, sniff, warn_of_parts

__all__ = ["read", "sniff"]

_START = "start_measure"


def read(
    sources: Sequence[Source],
    assembly: Assembly | None = None,
    *,
    validated_only: bool = False,
    parts: bool = False,
) -> StationLog:
    """One log from answers of the ODL service: the latest hour of all stations, or series of 1 h or 24 h means.

    Parameters
    ----------
    sources: the files; pages, stations and moments may be mixed, averaging intervals may not.
    assembly: the options all readers share; ``duplicates="last"`` lets a later delivery replace an earlier one.
    validated_only: leave out readings that the BfS has not checked; else they are flagged `Flag.DOUBTFUL`.
    parts: take the cosmic and the terrestrial part of each reading as further tags.

    Returns
    -------
    A log with tags ``"<kenn> dose"``, nSv/h, by station identifier (nine digits, text), with the stations' positions.

    Raises
    ------
    LogError: a file is no such answer or is damaged, holds an error of the service, or nothing is left to read.
    """
    answers = [load_answer(source) for source in sources]
    account = Account([answer.name for answer in answers], sum(len(answer.features) for answer in answers))
    account.decide(RECORD_NUMBERS)
    account.decide(f"ODL-Info: the time of a reading is the end of its interval ({TIME}), in UTC")
    if not account.rows_in:
        raise LogError(
            f"{', '.join(account.sources[:5])} holds no reading: the answer is whole and empty, not an error page; "
            "check the station (kenn) and the period of the query"
        )
    warn_of_parts(answers, account)
    there = [part for part in PARTS if occurs(part, answers)]
    taken = ("value", *there) if parts else ("value",)
    if there and not parts:
        account.decide("the cosmic and the terrestrial part of readings were not taken; parts=True takes them")
    refused = Refused()
    rows = Features(tuple(account.sources))
    for file, answer in enumerate(answers):
        for number, feature in enumerate(answer.features, 1):
            rows.add(file, number, feature, taken, refused)
    time, length, keep = _times(rows, refused)
    doubtful = np.array(rows.checked, dtype=np.int64) != CHECKED
    if validated_only:
        texts = [str(code) for code in rows.checked]
        keep = rows.leave_out(keep, doubtful, texts, "validated", "not checked (validated is not 1)", refused)
    keep, usual = _of_one_interval(rows, length, keep, refused)
    keep = _prefer_checked(rows, time, keep, doubtful, account)
    refused.settle(account)
    _mark(rows, np.flatnonzero(keep & doubtful), account)
    _report(rows, keep, account)
    series = rows.series(
        keep,
        time,
        rows.columns(taken),
        ["dose", *(PARTS[part] for part in taken[1:])],
        [kenn for kenn, _ in rows.stations],
        time_name=TIME,
        sampling=Sampling("end", None if usual is None else usual / 1e9),
    )
    assembly = assembly or Assembly()
    if usual is not None and assembly.step is None:
        # means of an hour stay an hour apart, however many are missing
        assembly = replace(assembly, step=f"{usual}ns")
    return assemble(series, account, assembly)


def _times(rows: Features, refused: Refused) -> tuple[Ints, Ints, Bools]:
    """(end of each row, its interval in nanoseconds or 0 where no start is stated, which rows are kept)."""
    end, start = read_instants(rows.time).aware(), read_instants(rows.start).aware()
    stated = np.array([text is not None for text in rows.start], dtype=bool)
    keep = np.ones(len(rows), dtype=bool)
    keep = rows.leave_out(keep, end == MISSING, rows.time, TIME, "not a time with an offset", refused)
    lost = stated & (start == MISSING)
    keep = rows.leave_out(keep, lost, rows.start, _START, "not a time with an offset", refused)
    backward = stated & (end <= start)
    keep = rows.leave_out(keep, backward, rows.start, _START, "the interval ends before it begins", refused)
    return end, np.where(stated & keep, end - start, 0), keep


def _of_one_interval(rows: Features, length: Ints, keep: Bools, refused: Refused) -> tuple[Bools, int | None]:
    """``keep`` without rows averaged over another interval than most, and that interval."""
    lengths = Counter(length[keep & (length > 0)].tolist())
    if not lengths:
        return keep, None
    usual = min(lengths, key=lambda one: (-lengths[one], one))
    reason = f"averaged over another interval than the usual {span(usual)}; read those by themselves"
    other = (length > 0) & (length != usual)
    return rows.leave_out(keep, other, rows.start, _START, reason, refused), usual


def _prefer_checked(rows: Features, time: Ints, keep: Bools, doubtful: Bools, account: Account) -> Bools:
    """``keep`` without readings not checked that came checked as well."""
    at = np.flatnonzero(keep)
    moments, moment = np.unique(time[at], return_inverse=True)
    cell = np.array(rows.group, dtype=np.int64)[at] * max(1, len(moments)) + moment
    double = at[doubtful[at] & np.isin(cell, cell[~doubtful[at]])]
    if not len(double):
        return keep
    account.rows_merged += len(double)
    account.decide(f"{len(double):,} reading(s) not checked came checked as well: the checked ones were kept")
    keep = keep.copy()
    keep[double] = False
    return keep


def _mark(rows: Features, doubtful: Ints, account: Account) -> None:
    """Flag the values that were not checked."""
    if not len(doubtful):
        return
    for row in doubtful.tolist():
        rows.cells[row] = tuple(cell.noted(Flag.DOUBTFUL) for cell in rows.cells[row])
    unstated = sum(rows.checked[row] != UNCHECKED for row in doubtful.tolist())
    said = f", {unstated:,} of them do not say (validated is neither 1 nor 2)" if unstated else ""
    account.decide(f"{len(doubtful):,} reading(s) are not checked{said}: they were kept and flagged doubtful")


def _report(rows: Features, keep: Bools, account: Account) -> None:
    """Say what is odd about the stations."""
    trial = int((np.array(rows.trial, dtype=bool) & keep).sum())
    if trial:
        account.decide(f"{trial:,} reading(s) are of stations on trial (site_status 3): kept and flagged doubtful")
    nowhere = [kenn for (kenn, _), group in rows.stations.items() if rows.described[group][1] is None]
    if nowhere:
        account.warn(f"{len(nowhere):,} station(s) state no position: {', '.join(nowhere[:10])}")
    if rows.moved:
        moved = ", ".join(sorted(rows.moved)[:10])
        account.warn(f"{len(rows.moved):,} station(s) came with several positions; the first was taken: {moved}")
