"""US EPA RadNet fixed monitors: one CSV a station and year, as published by the agency."""

from __future__ import annotations

from .reader import read, sniff

__all__ = ["read", "sniff"]
