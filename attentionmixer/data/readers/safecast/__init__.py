"""Safecast bGeigie logs: NMEA-like sentences of a Geiger counter with a GPS receiver, one every five seconds."""

from __future__ import annotations

from .reader import read, sniff

__all__ = ["read", "sniff"]
