"""Process monitoring with sparse spatial and temporal message passing.

The names below are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Forecast": "forecast",
    "Forecaster": "forecaster",
    "ForecasterConfig": "forecaster",
    "RadiationDataModule": "data.datamodule",
    "RouteMap": "routemap",
    "StationLog": "data.log",
    "Tag": "data.log",
    "WindowConfig": "data.datamodule",
    "read_log": "data.readers",
    "simulate_ring": "data.simulate",
}

__all__ = [
    "Forecast",
    "Forecaster",
    "ForecasterConfig",
    "RadiationDataModule",
    "RouteMap",
    "StationLog",
    "Tag",
    "WindowConfig",
    "read_log",
    "simulate_ring",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'attentionmixer' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
