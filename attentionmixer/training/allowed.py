"""The only classes a configuration may name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import Callback

from ..errors import ConfigError

#: Class paths a configuration may name under ``trainer.callbacks``. Nothing else is ever imported on its behalf.
ALLOWED_CALLBACKS = (
    "lightning.pytorch.callbacks.DeviceStatsMonitor",
    "lightning.pytorch.callbacks.GradientAccumulationScheduler",
    "lightning.pytorch.callbacks.LearningRateMonitor",
    "lightning.pytorch.callbacks.Timer",
)


def instantiate_callback(spec: Mapping[str, Any]) -> Callback:
    """A callback from ``{class_path, init_args}``.

    Raises `ConfigError` for a class that is not on the list, further keys, or arguments the class does not take.
    """
    path = spec.get("class_path")
    if path not in ALLOWED_CALLBACKS:
        raise ConfigError(
            f"trainer.callbacks names {path!r}, which is not allowed; allowed: {', '.join(ALLOWED_CALLBACKS)}"
        )
    unknown = set(spec) - {"class_path", "init_args"}
    if unknown:
        raise ConfigError(f"trainer.callbacks: {path} has unknown keys {sorted(unknown)}")
    module, _, name = str(path).rpartition(".")
    try:
        callback: Callback = getattr(importlib.import_module(module), name)(**(spec.get("init_args") or {}))
    except (TypeError, ValueError, MisconfigurationException) as error:
        raise ConfigError(f"trainer.callbacks: {path}: {error}") from error
    return callback
