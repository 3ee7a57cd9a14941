"""Tables: CSV or Parquet, wide (a column a tag) or long (a row a value), one file or many."""

from __future__ import annotations

from .reader import read, sniff

__all__ = ["read", "sniff"]
