"""Averaging the routes of many windows into maps with names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..data.windows import WindowLoader
from ..models.base import ForecastModel
from ..nn.routes import Axis
from ..routemap import RouteMap

NOTE_WEIGHT = "Mean weight of messages. A weight says what was listened to, not what it changed."
NOTE_CROSSING = (
    "Linear path across tags: root mean square change of the target, in window standard deviations, "
    "for one window standard deviation at the source. On a scale of its own."
)


@torch.no_grad()
def collect_routes(
    model: ForecastModel, loader: WindowLoader, tags: Sequence[str], known: Sequence[str], step: pd.Timedelta
) -> list[RouteMap]:
    """One `RouteMap` per axis and round, averaged over the loader's windows, and one for a linear path across tags."""
    total: dict[tuple[Axis, int], Tensor] = {}
    perplexity: dict[tuple[Axis, int], float] = {}
    windows = 0
    for batch in loader:
        _, routes = model.forward_with_routes(batch.x, batch.x_mask, batch.known)
        windows += len(batch.x)
        for part in routes:
            key = (part.axis, part.round)
            mean = part.weight.double().mean(dim=1).sum(dim=0)
            total[key] = total[key] + mean if key in total else mean
            entropy = -torch.special.xlogy(part.rows, part.rows.clamp(min=1e-30)).sum(dim=-1)
            perplexity[key] = perplexity.get(key, 0.0) + float(entropy.exp().mean()) * len(batch.x)
    ages = model.temporal_ages()
    names = _age_names(ages, step)
    minutes = np.array([(old + new) / 2 for old, new in ages], dtype=np.float32) * np.float32(step.total_seconds() / 60)
    maps = []
    for (axis, number), weight in sorted(total.items()):
        strength = (weight / max(1, windows)).float().numpy()
        if axis == "spatial":
            targets, sources = tuple(tags), (*tags, *known)[: strength.shape[1]]
            lags = None
        else:
            further = strength.shape[1] - len(names)
            targets, sources = names, names + ("place of the tag",) * further
            lags = np.concatenate([minutes, np.full(further, np.nan, np.float32)])
        effective = perplexity[(axis, number)] / max(1, windows)
        maps.append(RouteMap(axis, number, targets, sources, strength, lags, windows, NOTE_WEIGHT, effective))
    crossing = model.crossing_strength()
    if crossing is not None:
        matrix = crossing.float().numpy()
        sources = (*tags, *known)[: matrix.shape[1]]
        maps.append(RouteMap("spatial", 0, tuple(tags), sources, matrix, None, windows, NOTE_CROSSING))
    return maps


def _age_names(ages: Sequence[tuple[int, int]], step: pd.Timedelta) -> tuple[str, ...]:
    """Names such as ``3–6 h ago`` for each temporal node."""
    minutes = step.total_seconds() / 60
    unit, size = ("min", 1.0) if minutes < 60 else ("h", 60.0) if minutes < 1440 else ("d", 1440.0)
    names = []
    for oldest, newest in ages:
        # age 1 is the last reading: it lies one step before the first forecast
        old, new = ((age * minutes / size) for age in (oldest, newest))
        names.append(f"{new:g} {unit} before" if oldest == newest else f"{new:g}–{old:g} {unit} before")
    return tuple(names)
