"""From files to window batches: readers → log → quality → windows → data module, and a simulator with known truth."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .log import StationLog, Tag
from .quality import QualityRecord
from .readers import read_log

if TYPE_CHECKING:
    from .datamodule import RadiationDataModule, WindowConfig
    from .quality.config import QualityConfig
    from .quality.screen import screen
    from .simulate import simulate_ring

#: Loaded when first used: who only reads a log does not wait for the training framework.
_HOMES = {
    "QualityConfig": "quality.config",
    "RadiationDataModule": "datamodule",
    "WindowConfig": "datamodule",
    "screen": "quality.screen",
    "simulate_ring": "simulate",
}

__all__ = [
    "QualityConfig",
    "QualityRecord",
    "RadiationDataModule",
    "StationLog",
    "Tag",
    "WindowConfig",
    "read_log",
    "screen",
    "simulate_ring",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'attentionmixer.data' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
