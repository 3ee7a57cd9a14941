"""The one evaluator: every model, whoever wrote it, is measured by this on the same windows and masks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attentionmixer.data.datamodule import RadiationDataModule
from attentionmixer.data.windows import WindowBatch
from attentionmixer.models import ForecastModel
from attentionmixer.training.metrics import ForecastErrors


@dataclass
class Scores:
    """Errors of one model on one part of a log.

    Squared and absolute errors are masked, in units of the training standard deviation. ``groups`` holds, for each run
    of so many windows that begin one after the other, [Σ squared error, Σ absolute error, count]: what a comparison
    over time needs.
    """

    errors: ForecastErrors
    data: RadiationDataModule
    per_group: int
    groups: dict[int, Tensor] = field(default_factory=dict)
    moments: Tensor | None = None

    @torch.no_grad()
    def update(self, output: Tensor, batch: WindowBatch) -> None:
        """Add a batch; ``output`` [B, H, N, 1 + K]."""
        self.errors.update(output, batch.observed, batch.y_mask)
        scaler, weight = self.data.scaler, batch.y_mask.double()
        point = scaler.to_deviations(scaler.inverse(output[..., 0].double()))
        reading = torch.nan_to_num(scaler.to_deviations(torch.nan_to_num(batch.observed.double())))
        error = (point - reading) * weight
        sums = torch.stack([error.square().sum((1, 2)), error.abs().sum((1, 2)), weight.sum((1, 2))], dim=1)
        for group, row in zip((batch.start // self.per_group).tolist(), sums, strict=True):
            self.groups[group] = self.groups.get(group, 0) + row
        moments = torch.stack([weight, reading * weight, reading.square() * weight, error.square()]).sum((1, 2))
        self.moments = moments if self.moments is None else self.moments + moments

    def compute(self) -> dict[str, Any]:
        """All figures, plain types."""
        result = self.errors.compute()
        result["r2"] = self.r2()
        if int(self.data.scored.sum()) == 1:
            (own,) = self.errors.per_tag(self.data.log.tags).values()
            result["rmse"], result["mae_unit"] = own["rmse"], own["mae"]
        groups = torch.stack([self.groups[number] for number in sorted(self.groups)])
        result["groups"] = [[float(f"{value:.6g}") for value in row] for row in groups.T.tolist()]
        return result

    def r2(self) -> float | None:
        """Mean over scored tags of 1 − Σ e² / Σ (y − ȳ)²; ``None`` where a tag does not vary."""
        assert self.moments is not None
        count, first, second, wrong = self.moments[:, self.data.scored]
        spread = second - first.square() / count.clamp(min=1)
        shares = 1 - wrong / spread
        mean = float(shares.mean())
        return mean if math.isfinite(mean) else None


@torch.no_grad()
def score(model: ForecastModel, data: RadiationDataModule, part: str) -> dict[str, Any]:
    """Errors of a trained model on ``validation`` or ``test``."""
    loader = data.loader(part)  # type: ignore[arg-type]
    levels = model.task.levels
    scores = Scores(ForecastErrors(data.scaler, model.task.horizon, levels), data, per_group(data, len(loader.windows)))
    for batch in loader:
        scores.update(model(batch.x, batch.x_mask, batch.known), batch)
    return scores.compute()


def per_group(data: RadiationDataModule, windows: int) -> int:
    """Windows in a group: an eighth of what hangs together in time, but at least 40 groups where windows allow."""
    together = data.windows_config.lookback // 2 + data.windows_config.horizon
    return max(1, min(together // 8, windows // 40))
