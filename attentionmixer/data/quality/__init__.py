"""The account of a log, flags of its cells, and the rules that set them."""

from __future__ import annotations

from .config import QualityConfig
from .counts import calendar_counts, flag_counts
from .flags import IGNORED, NOTES, Flag, Flags, count_days, count_flags, no_flags, parse_flags
from .record import Gap, QualityRecord, Quarantined
from .rules import RULES
from .screen import screen

__all__ = [
    "IGNORED",
    "NOTES",
    "RULES",
    "Flag",
    "Flags",
    "Gap",
    "QualityConfig",
    "QualityRecord",
    "Quarantined",
    "calendar_counts",
    "count_days",
    "count_flags",
    "flag_counts",
    "no_flags",
    "parse_flags",
    "screen",
]
