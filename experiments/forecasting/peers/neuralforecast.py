"""Networks of neuralforecast (Nixtla), trained by our loop on our windows.

Layers, initialisation and normalisation are theirs; windows, masks, loss, optimiser and early stopping are the ones
every contender gets. They know no masks, so a missing reading is the one before it (the first one after it at the start
of a window). They are given no known-ahead channels; tags that are known ahead are among their variates up to now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attentionmixer.models.base import PointModel, Task

#: Networks of one variate; the others take all at once.
UNIVARIATE = ("NHITS", "PatchTST")


class NeuralForecast(PointModel):
    """One network of theirs, named by its class, as a point model."""

    def __init__(self, name: str, task: Task, settings: Mapping[str, Any]) -> None:
        super().__init__(task)
        from neuralforecast import models

        self.config = dict(settings)
        self.univariate = name in UNIVARIATE
        shape = {"h": task.horizon, "input_size": task.lookback}
        if not self.univariate:
            shape["n_series"] = task.variates
        # theirs seeds everything anew, by default always alike
        seed = torch.initial_seed() % 2**31
        self.network = getattr(models, name)(**shape, random_seed=seed, **fitting(name, task, settings))

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        window = filled(x, x_mask)
        if self.univariate:
            window = window.transpose(1, 2).reshape(-1, x.shape[1], 1)
        batch = {"insample_y": window, "insample_mask": torch.ones_like(window)}
        batch |= dict.fromkeys(("futr_exog", "hist_exog", "stat_exog"))  # type: ignore[arg-type]
        y: Tensor = self.network(batch)
        if self.univariate:
            return y.reshape(len(x), x.shape[2], self.task.horizon).transpose(1, 2)
        return y.reshape(len(x), self.task.horizon, x.shape[2])


def fitting(name: str, task: Task, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with patches that fit the window."""
    found = dict(settings)
    if name in ("PatchTST", "TimeXer"):
        # TimeXer cuts a window into whole patches
        patch = min(int(found.get("patch_len", 16)), task.lookback)
        while name == "TimeXer" and task.lookback % patch:
            patch -= 1
        found["patch_len"] = patch
        if name == "PatchTST":
            found["stride"] = max(1, min(int(found.get("stride", 8)), patch // 2))
    return found


def filled(x_bln: Tensor, mask_bln: Tensor) -> Tensor:
    """Missing readings replaced by the last one before, or the first one after; 0 where a window has none."""
    steps = torch.arange(x_bln.shape[1], device=x_bln.device).view(1, -1, 1)
    last = torch.where(mask_bln, steps, -1).cummax(dim=1).values
    first = torch.where(mask_bln, steps, x_bln.shape[1]).amin(dim=1, keepdim=True).clamp(max=x_bln.shape[1] - 1)
    value = x_bln.gather(1, torch.where(last < 0, first, last))
    return torch.where(mask_bln.any(dim=1, keepdim=True), value, 0.0)


def build(name: str, task: Task, settings: Mapping[str, Any]) -> PointModel:
    """A fresh network."""
    return NeuralForecast(name, task, settings)
