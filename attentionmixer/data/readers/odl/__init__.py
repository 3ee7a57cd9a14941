"""ODL-Info of the German Federal Office for Radiation Protection (BfS): GeoJSON as its WFS serves it."""

from __future__ import annotations

from .reader import read, sniff

__all__ = ["read", "sniff"]
