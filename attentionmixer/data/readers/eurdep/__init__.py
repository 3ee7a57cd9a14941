"""EURDEP 2.0 and 2.1: the messages in which European networks exchange dose rates and activities."""

from __future__ import annotations

from .reader import read, sniff

__all__ = ["read", "sniff"]
