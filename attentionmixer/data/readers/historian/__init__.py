"""Exports of process historians: tables in which each value has its quality beside it."""

from __future__ import annotations

from .reader import read, sniff

__all__ = ["read", "sniff"]
