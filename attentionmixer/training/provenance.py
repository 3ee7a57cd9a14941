"""Where a trained model comes from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd

from ..data.datamodule import RadiationDataModule
from ..models.base import ForecastModel
from ..version import package_version
from .fit import FitResult


def provenance(data: RadiationDataModule, result: FitResult, model: ForecastModel, seed: int) -> dict[str, Any]:
    """Dates of the parts, version, seed, epochs, and the tags whose scale says nothing."""
    log, split = data.log, data.split

    def moment(row: int) -> str:
        stamp: pd.Timestamp = log.time[min(row, len(log) - 1)]
        return stamp.isoformat()

    parts: dict[str, str] = {}
    for name, (first, last) in split.parts().items():
        parts |= {f"{name}_start": moment(first), f"{name}_end": moment(last - 1)}
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": package_version(),
        "seed": seed,
        "data_start": moment(0),
        "data_end": moment(len(log) - 1),
        **parts,
        "parameters": model.parameter_count,
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "interrupted": result.interrupted,
        "constant_tags": list(data.scaler.constant),
        "unobserved_tags": list(data.scaler.unobserved),
    }
