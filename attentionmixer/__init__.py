"""Process monitoring with sparse spatial and temporal message passing.

The names below are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data.datamodule import RadiationDataModule, WindowConfig
    from .data.log import StationLog, Tag
    from .data.readers import read_log
    from .data.simulate import simulate_ring
    from .forecast import Forecast
    from .forecaster import Forecaster, ForecasterConfig
    from .routemap import RouteMap

    __version__: str

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
    if name == "__version__":
        from .version import package_version

        return package_version()
    if name not in _HOMES:
        raise AttributeError(f"module 'attentionmixer' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "__version__"})
