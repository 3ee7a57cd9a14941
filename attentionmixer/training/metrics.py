"""Errors and coverage as sums and counts, so that they do not depend on how windows were batched."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric

from ..data.log import Tag
from ..data.scaling import TagScaler

#: Central intervals whose coverage is measured, and the quantile levels that bound them.
INTERVALS = {"0.5": (0.25, 0.75), "0.8": (0.1, 0.9), "0.9": (0.05, 0.95)}


class ForecastErrors(Metric):
    """Accumulates masked errors of point forecasts and the coverage of intervals.

    All sums are float64 and kept per step ahead and tag, [H, N]: squared and absolute error in units of the training
    standard deviation (both sides clipped at ± ``clip`` of them), the same in engineering units, and counts. Processes
    that evaluate together add their sums.

    Parameters
    ----------
    scaler: of the model; knows the training mean and standard deviation.
    horizon, levels: H and the quantile levels of the model.
    """

    full_state_update = False
    scaled_square: Tensor
    scaled_absolute: Tensor
    square: Tensor
    absolute: Tensor
    count: Tensor
    inside: Tensor
    windows: Tensor

    def __init__(self, scaler: TagScaler, horizon: int, levels: tuple[float, ...]) -> None:
        super().__init__()
        self.scaler, self.levels = scaler, levels
        shape = (horizon, len(scaler.mean))
        for name in ("scaled_square", "scaled_absolute", "square", "absolute", "count"):
            self.add_state(name, torch.zeros(shape, dtype=torch.float64), dist_reduce_fx="sum")
        self.intervals = {name: pair for name, pair in INTERVALS.items() if set(pair) <= set(levels)}
        inside = torch.zeros(len(self.intervals), *shape, dtype=torch.float64)
        self.add_state("inside", inside, dist_reduce_fx="sum")
        self.add_state("windows", torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")

    @torch.no_grad()
    def update(self, output: Tensor, observed: Tensor, mask: Tensor) -> None:
        """Add a batch: model output [B, H, N, 1 + K] (scaled), readings [B, H, N] in engineering units, mask."""
        point = self.scaler.inverse(output[..., 0].double())
        reading = torch.nan_to_num(observed.double())
        weight = mask.double()
        scaled = (self.scaler.to_deviations(point) - self.scaler.to_deviations(reading)) * weight
        error = (point - reading) * weight
        self.scaled_square += scaled.square().sum(dim=0)
        self.scaled_absolute += scaled.abs().sum(dim=0)
        self.square += error.square().sum(dim=0)
        self.absolute += error.abs().sum(dim=0)
        self.count += weight.sum(dim=0)
        self.windows += len(output)
        for number, (low, high) in enumerate(self.intervals.values()):
            bounds = (output[..., 1 + self.levels.index(level)].double() for level in (low, high))
            lower, upper = (self.scaler.inverse(bound) for bound in bounds)
            self.inside[number] += ((reading >= lower) & (reading <= upper) & mask).sum(dim=0)

    def compute(self) -> dict[str, Any]:
        """``mse, mae, windows, observed_values, per_horizon, coverage``; ``None`` where nothing was observed."""
        total = self.count.sum()
        return {
            "mse": _ratio(self.scaled_square.sum(), total),
            "mae": _ratio(self.scaled_absolute.sum(), total),
            "windows": int(self.windows),
            "observed_values": int(total),
            "per_horizon": {
                "mse": [_ratio(s, n) for s, n in zip(self.scaled_square.sum(1), self.count.sum(1), strict=True)],
                "mae": [_ratio(s, n) for s, n in zip(self.scaled_absolute.sum(1), self.count.sum(1), strict=True)],
            },
            "coverage": {name: _ratio(self.inside[k].sum(), total) for k, name in enumerate(self.intervals)},
        }

    def per_tag(self, tags: tuple[Tag, ...]) -> dict[str, dict[str, Any]]:
        """Errors of each target tag in its own unit, and over the horizon."""
        result = {}
        for i, tag in enumerate(tags):
            if not tag.scored:
                continue
            count = self.count[:, i]
            square = _ratio(self.square[:, i].sum(), count.sum())
            result[tag.name] = {
                "unit": tag.unit,
                "mae": _ratio(self.absolute[:, i].sum(), count.sum()),
                "rmse": None if square is None else math.sqrt(square),
                "mse_scaled": _ratio(self.scaled_square[:, i].sum(), count.sum()),
                "observed_values": int(count.sum()),
                "mae_by_horizon": [_ratio(s, n) for s, n in zip(self.absolute[:, i], count, strict=True)],
                "rmse_by_horizon": [
                    None if (r := _ratio(s, n)) is None else math.sqrt(r)
                    for s, n in zip(self.square[:, i], count, strict=True)
                ],
            }
        return result


def _ratio(total: Tensor, count: Tensor) -> float | None:
    return float(total / count) if float(count) > 0 else None
