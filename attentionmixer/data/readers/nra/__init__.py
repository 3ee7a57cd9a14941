"""Monitoring posts of Japan: JSON records as the Nuclear Regulation Authority (NRA) and prefectures serve them."""

from __future__ import annotations

from .reader import read, sniff

__all__ = ["read", "sniff"]
