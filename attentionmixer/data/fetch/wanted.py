"""What is asked of a provider: one file, from where, under what name, and what its content must be."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

_LONGEST = 60


@dataclass(frozen=True)
class Finding:
    """What an answer that is data holds: ``rows`` readings (0: nothing for this station and period), and a remark."""

    rows: int
    note: str = ""


@dataclass(frozen=True)
class Wanted:
    """One file to fetch.

    Parameters
    ----------
    url: where it is.
    name: the file's name on disk, made by `file_name`.
    what: station and period, for people.
    media: media types to ask for, as in an ``Accept`` header.
    check: takes the content, gives what it holds; raises `LogError` for what is no data and `trouble.CutOff` where the
        end is missing.
    settled: a copy fetched at this time (UTC) or later is final; an earlier one may still be added to by the provider.
    missing: what the answer "not found" means, and what to do.
    """

    url: str
    name: str
    what: str
    media: str
    check: Callable[[bytes], Finding]
    settled: dt.datetime
    missing: str


def file_name(provider: str, station: str, period: str, suffix: str) -> str:
    """A name for a file that is safe on every system: ``radnet_AZ_PHOENIX_2021.csv``.

    Letters and digits of the station are kept, all else becomes ``_``. Where that loses something by which two stations
    can differ, eight digits of the station's SHA-256 are added.
    """
    plain = re.sub(r"[^A-Za-z0-9]+", "_", station).strip("_")[:_LONGEST]
    if not re.fullmatch(r"(?:[A-Z]{2}: )?[A-Z0-9]+(?: [A-Z0-9]+)*", station) or len(station) > _LONGEST:
        plain += "_" + hashlib.sha256(station.encode()).hexdigest()[:8]
    return f"{provider}_{plain}_{period}{suffix}"
