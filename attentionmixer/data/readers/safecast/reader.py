"""Safecast bGeigie logs: NMEA-like sentences of a Geiger counter with a GPS receiver, one every five seconds.

Rules, each counted in the log's quality record:

- the checksum is verified, and says only that the line is whole; whether a count is valid is what its flag says;
- a count that is void (``V``) becomes missing; a position that is void is not used, and the count is kept;
- a device has coordinates only where all its valid positions lie within 100 m: a survey on wheels has none;
- a clock without a GPS fix is not a time: what is before the first bGeigie, or stands still, is quarantined;
- counts are never turned into dose, unless ``convert={"cpm": "LND-7317"}`` says by which tube.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ....errors import LogError
from ...log import Sampling, StationLog
from ...quality import Flag, Quarantined
from ..account import LISTED, Account
from ..assemble import Assembly, assemble
from ..clock import MISSING
from ..columns import Column
from ..grid import Bools, Ints
from ..series import Series
from ..source import Source
from ..table.dialect import refuse_other_formats
from .lines import Sentence, parse, sniff, times_of

__all__ = ["read", "sniff"]

#: A counter's rate is the sum of its last twelve bins of 5 s.
MINUTE = 60.0
#: How far apart the valid positions of a device that stands still may lie, in metres.
STANDS = 100.0
_METRES_PER_DEGREE = 111_195.0
_FIRST_DEVICE = pd.Timestamp("2011-01-01", tz="UTC").as_unit("ns").value
_VOID = "radiation count is void (V): less than a minute of counting, or none"


def read(sources: Sequence[Source], assembly: Assembly | None = None, *, counts: bool = False) -> StationLog:
    """One log from any number of bGeigie logs; devices and days may be mixed.

    Parameters
    ----------
    sources: the files. assembly: the options all readers share.
    counts: also keep the pulses of each 5 s as a tag ``"<device> counts"``, summed over a step.

    Returns
    -------
    A log with a tag ``"<device> cpm"`` a device: pulses of the minute before the time. Devices are its stations.

    Raises
    ------
    LogError: a file is none of a bGeigie, holds no sentence that can be read, or rows contradict each other.
    """
    found: list[Sentence] = []
    refused: list[Quarantined] = []
    account = Account([source.name for source in sources], 0)
    for file, source in enumerate(sources):
        raw = source.read()
        sentences, faults, comments, others = parse(raw, source.name, file)
        if not sentences:
            refuse_other_formats(raw[:4096], source.name)
        if not sentences and not faults:
            raise LogError(
                f"{source.name} holds no reading: no line starts with $BNRDD or the header of another bGeigie"
                + (f", only {len(comments)} line(s) of comment; it is a log, but an empty one" if comments else "")
            )
        for sentence in comments:
            account.decide(f"the log says of itself: {sentence}")
        if others:
            account.decide(f"{source.name}: {others:,} sentence(s) of other kinds hold no count and were passed over")
        found += sentences
        refused += faults
    account.rows_in = len(found) + len(refused)
    for reason in dict.fromkeys(fault.reason for fault in refused):
        rows = [fault for fault in refused if fault.reason == reason]
        account.quarantine(rows[:LISTED], len(rows), reason)
    if not found:
        first = refused[0]
        raise LogError(
            f"{first.file}: none of {len(refused)} sentence(s) can be read; line {first.line}: {first.reason}: "
            f"{first.text[:80]!r}"
        )
    time = times_of(found)
    names = [source.name for source in sources]
    runs = np.flatnonzero(_clock_runs(found, time, names, account))
    series = _series([found[i] for i in runs.tolist()], time[runs], names, account, counts=counts)
    return assemble(series, account, assembly or Assembly())


def _clock_runs(found: Sequence[Sentence], time: Ints, files: Sequence[str], account: Account) -> Bools:
    """[sentences] true where the clock ran. The others are accounted for here."""
    unset = (time != MISSING) & (time < _FIRST_DEVICE)
    frozen = np.zeros(len(found), dtype=bool)
    before: dict[str, int] = {}
    for i, sentence in enumerate(found):
        last = before.get(sentence.device)
        before[sentence.device] = i
        # the same line twice is a copy, which is merged later
        frozen[i] = (
            last is not None and not sentence.fixed and time[i] == time[last] and sentence.text != found[last].text
        )
    frozen &= ~unset & (time != MISSING)
    for rows, reason in (
        (unset, "before 2011, the year of the first bGeigie: the clock was not set, or rolled over"),
        (frozen, "without a GPS fix, and the time of day stood still: when it was measured is not known"),
    ):
        listed = [found[i] for i in np.flatnonzero(rows)[:LISTED].tolist()]
        account.quarantine(
            [Quarantined(files[s.file], s.line, "time", s.when, reason) for s in listed], int(rows.sum()), reason
        )
    if (unset | frozen).all():
        raise LogError(f"{', '.join(files[:5])}: no sentence has a time; {'; '.join(account.decisions)}")
    return ~(unset | frozen)


def _series(found: Sequence[Sentence], time: Ints, files: Sequence[str], account: Account, *, counts: bool) -> Series:
    """Rows of all devices; a device is a group and a station."""
    devices = list(dict.fromkeys(sentence.device for sentence in found))
    number = {device: i for i, device in enumerate(devices)}
    group = np.array([number[sentence.device] for sentence in found], dtype=np.int64)
    place = np.array([[s.latitude, s.longitude] if s.fixed else [np.nan, np.nan] for s in found])
    void = np.array([not sentence.valid for sentence in found])
    values = np.array([[s.cpm, s.counts] for s in found], dtype=np.float32)[:, : 1 + counts]
    values[void] = np.nan
    why = np.where(void, 0, -1)
    unfixed = sum(not s.fixed for s in found)
    if unfixed:
        account.decide(f"{unfixed:,} position(s) are void (V) and were not used; their counts were kept")
    unreadable = sum(s.fixed and math.isnan(s.latitude) for s in found)
    if unreadable:
        account.decide(f"{unreadable:,} position(s) marked valid are none and were not used; their counts were kept")
    columns: list[Column] = []
    for i, device in enumerate(devices):
        at = _stands_at(place[group == i], device, account)
        columns.append(Column("cpm", f"{device} cpm", "cpm", device, at))
        if counts:
            columns.append(Column("counts", f"{device} counts", "counts", device, at, resample="sum"))
    names = ("cpm", "counts")[: 1 + counts]
    return Series(
        time=time,
        group=group,
        values=values,
        columns=tuple(columns),
        value_names=names,
        time_name="time",
        station_of_group=tuple(devices),
        file=np.array([sentence.file for sentence in found], dtype=np.int64),
        line=np.array([sentence.line for sentence in found], dtype=np.int64),
        files=tuple(files),
        reasons={i: why for i in range(len(names))} if void.any() else {},
        reason_names=(_VOID,),
        reason_flags=(Flag.STATE,),
        sampling=Sampling("end", MINUTE),
        time_texts=pa.chunked_array([pa.array([sentence.when for sentence in found], pa.string())]),
        row=np.arange(len(found)),
    )


def _stands_at(place: NDArray[np.float64], device: str, account: Account) -> tuple[float, float] | None:
    """Where a device stands, from its valid positions [n, 2] in degrees; ``None`` where it moved or had no fix."""
    valid = place[~np.isnan(place).any(axis=1)]
    if not len(valid):
        account.decide(f"device {device} has no valid position, so its tags have no coordinates")
        return None
    # counted from the first one, so that the date line is no gap
    east = (valid[:, 1] - valid[0, 1] + 180.0) % 360.0 - 180.0
    north = valid[:, 0]
    width = np.ptp(east) * float(np.cos(np.deg2rad(np.abs(north).min())))
    apart = float(np.hypot(np.ptp(north), width)) * _METRES_PER_DEGREE
    if apart > STANDS:
        account.decide(
            f"the instrument moved: valid positions of device {device} span {apart:,.0f} m, so its tags have no "
            "coordinates"
        )
        return None
    longitude = (float(np.median(east)) + valid[0, 1] + 180.0) % 360.0 - 180.0
    return round(float(np.median(north)), 6), round(float(longitude), 6)
