"""What can be wrong with one cell of a log, as bits of a mask."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import ConfigError

Flags = NDArray[np.uint16]


class Flag(IntFlag):
    """Reason codes of a cell. The first group comes from readers and leaves no value; the second keeps the value."""

    STATE = 1
    """the source says that the value is not good (historian state, status column); no value"""
    SENTINEL = 2
    """a number that stands for "none", such as -9999; no value"""
    ZERO = 4
    """an ambient dose rate of exactly 0, which is a placeholder; no value"""
    CENSORED = 8
    """below or above the measuring range; no value"""
    NOT_FINITE = 16
    """infinite, overflowing or not a number; no value"""
    RANGE = 32
    """outside the range the instrument can measure"""
    STUCK = 64
    """the same value for longer than the instrument's noise allows"""
    SPIKE = 128
    """one reading far from both its neighbours in time"""
    SWAP = 256
    """level and variance step at once: a detector was changed here"""
    STARTUP = 512
    """transient after power-up or a gap"""
    WRAP = 1024
    """a counter fault: wrap or overflow"""
    SATURATED = 2048
    """at the top of the instrument's range"""
    NEIGHBOUR = 4096
    """no neighbour agrees: instrument fault likely"""
    UNIT = 8192
    """level differs from the site's baseline by a factor of 10, 100 or 1000: check the unit"""
    DOUBTFUL = 16384
    """the source marks the value (substituted, questionable, not validated), and it was asked to be kept"""
    STALE = 32768
    """a held value that is older than allowed"""


#: Flags that leave a value in place and do not, by themselves, speak against using it.
NOTES = Flag.SWAP | Flag.UNIT | Flag.DOUBTFUL
#: Cells with one of these are ignored in training and scaling, unless a configuration says otherwise.
IGNORED = Flag(0xFFFF) & ~NOTES


def parse_flags(names: Sequence[str]) -> Flag:
    """A mask from names in any case. Raises `ConfigError` where one is unknown."""
    unknown = [name for name in names if name.upper() not in Flag.__members__]
    if unknown:
        known = ", ".join(name.lower() for name in Flag.__members__)
        raise ConfigError(f"there is no quality flag {', '.join(unknown)}; known: {known}")
    return Flag(sum(Flag[name] for name in {name.upper() for name in names}))


def no_flags(shape: tuple[int, ...]) -> Flags:
    """A mask without any flag that takes no memory; read only."""
    return np.broadcast_to(np.uint16(0), shape)


def count_flags(flags: Flags) -> dict[str, int]:
    """Cells per flag, those that occur, by lower-case name."""
    if flags.strides == (0, 0):
        return {}
    seen = int(np.bitwise_or.reduce(flags, axis=None))
    return {str(flag.name).lower(): int(((flags & np.uint16(flag)) != 0).sum()) for flag in Flag if seen & flag}


def count_days(flags: Flags, time: pd.DatetimeIndex) -> dict[str, dict[str, int]]:
    """Cells per flag and day (UTC), days without any left out: ``{"stuck": {"2021-05-01": 12}}``."""
    if flags.strides == (0, 0):
        return {}
    rows = np.flatnonzero(flags.any(axis=1))
    hit = flags[rows]
    days = time[rows].strftime("%Y-%m-%d")
    found: dict[str, dict[str, int]] = {}
    for flag in Flag:
        cells = ((hit & np.uint16(flag)) != 0).sum(axis=1)
        if cells.any():
            counts = pd.Series(cells[cells > 0]).groupby(days[cells > 0]).sum()
            found[str(flag.name).lower()] = {str(day): int(count) for day, count in counts.items()}
    return found
