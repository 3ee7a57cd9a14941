"""Taking routes out of a model for good, the least missed first."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..data.log import StationLog
from ..data.split import SplitConfig, split_rows
from ..errors import RunError
from ..forecaster import GENTLE, Forecaster
from ..schema import align
from ..training.fit import FitConfig
from .ablation import Budget, Progress, RouteEffects, route_effects
from .closing import close, closed, mask_of, open_routes
from .scoring import spread, window_errors

logger = logging.getLogger(__name__)


def prune(
    forecaster: Forecaster,
    log: StationLog,
    tolerance: float = 0.01,
    *,
    split: SplitConfig | None = None,
    training: FitConfig | None = GENTLE,
    effects: RouteEffects | None = None,
    budget: Budget = "fast",
    windows: int = 512,
    progress: Progress | None = None,
) -> Forecaster:
    """Close as many routes between tags as the validation error allows, train what is left a little, run it sparsely.

    Routes go in order of their response (`route_effects`), the smallest first: the largest number is closed for which
    the error on the validation part is at most (1 + ``tolerance``) times that of the whole model; it is found by
    halving, so the error is taken to grow with the number. Then the closed routes stay closed for good: saving keeps
    them exactly 0, and no training opens them. What training does not better is not kept.

    Parameters
    ----------
    forecaster: with gates; it is left as it is. log: the one it was trained on, or one like it.
    tolerance: share by which the validation error may rise. split: of the log, that of training if not the usual one.
    training: how to train what is left, or ``None`` for not at all. effects: measured before; measured here, on the
        training part, if not given. budget, progress: of that. windows: at most so many in each look at an error.

    Returns a new forecaster whose provenance says what was closed (``pruned``). Raises `RunError` where the model has
    no gates, ``ValueError`` for a tolerance below 0 or effects of other routes.
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be at least 0, not {tolerance}")
    log = align(log, forecaster.schema)
    part = split_rows(log, split or SplitConfig())
    opened = open_routes(forecaster.model)
    if effects is None:
        effects = route_effects(
            forecaster, log, None, part.train_end, windows=windows, budget=budget, progress=progress
        )
    if effects.response.shape != tuple(opened.shape):
        raise ValueError(f"effects are of {effects.response.shape} routes, the model has {tuple(opened.shape)}")
    loader = spread(forecaster, log, part.train_end, part.validation_end, windows)
    order = _least_first(effects, opened)
    model = forecaster.model

    def error(count: int) -> float:
        with closed(model, mask_of(opened, order[:count])):
            return window_errors(model, loader).mse

    before = error(0)
    if not np.isfinite(before):
        raise RunError("the validation part has no observed target value; give another split")
    count, after = _most(error, len(order), before, (1 + tolerance) * before)
    pruned = forecaster.reconfigured(sparse=True)
    close(pruned.model, mask_of(opened, order[:count]))
    final = after
    if training is not None and count:
        trained = pruned.finetune(log, training, split)
        final = window_errors(trained.model, loader).mse
        if final < after:
            pruned = trained
        else:
            final = after
    facts: dict[str, Any] = {
        "closed": count,
        "open": len(order) - count,
        "tolerance": tolerance,
        "validation_mse_whole": before,
        "validation_mse_closed": after,
        "validation_mse": final,
        "budget": effects.budget,
    }
    pruned.provenance["pruned"] = facts
    logger.info("%d of %d open routes closed; validation error %.4f → %.4f", count, len(order), before, final)
    return pruned


def _least_first(effects: RouteEffects, opened: Tensor) -> Tensor:
    """[E, 2] (target, source) of open routes by rising response."""
    where = opened.nonzero()
    size = torch.as_tensor(effects.response, device=where.device)[where[:, 0], where[:, 1]]
    return where[size.argsort(stable=True)]


def _most(error: Callable[[int], float], most: int, before: float, allowed: float) -> tuple[int, float]:
    """Largest count whose error is allowed, and that error."""
    low, at_low, high = 0, before, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        value = error(middle)
        if value <= allowed:
            low, at_low = middle, value
        else:
            high = middle
    return low, at_low
