"""Deletion curves: does the forecast lose more without the routes that a map calls strong than without others?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.log import StationLog
from ..forecaster import Forecaster
from ..schema import align
from .ablation import Progress
from .bootstrap import block_draws
from .closing import closed, mask_of, open_routes
from .scoring import spread, window_errors

DRAWS = 1000


@dataclass(frozen=True)
class DeletionCurve:
    """Error after closing the strongest share of routes, beside as many at random.

    Attributes
    ----------
    shares: of the open routes that were closed, ascending. routes: as a number.
    error: mean squared error with all routes, in scaled units.
    strongest: [S] its rise where the strongest were closed. weakest: [S] where the weakest were (the insertion curve
        read from its end: what the strong ones do alone). random: [R, S] for each random order.
    advantage: [S] rise for the strongest over the mean rise for random ones. low, high: its 95 % interval over windows
        and random orders; infinite where random routes cost nothing.
    """

    shares: NDArray[np.float64]
    routes: NDArray[np.int64]
    error: float
    strongest: NDArray[np.float64]
    weakest: NDArray[np.float64]
    random: NDArray[np.float64]
    advantage: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def area(self) -> float:
        """Mean over shares of the rise for the strongest less that for random routes, as a share of the error."""
        return float((self.strongest - self.random.mean(axis=0)).mean() / self.error)

    def to_frame(self) -> pd.DataFrame:
        """One row per share: ``share, routes, strongest, weakest, random, advantage, low, high``."""
        return pd.DataFrame(
            {
                "share": self.shares,
                "routes": self.routes,
                "strongest": self.strongest,
                "weakest": self.weakest,
                "random": self.random.mean(axis=0),
                "advantage": self.advantage,
                "low": self.low,
                "high": self.high,
            }
        )


def deletion_curve(
    forecaster: Forecaster,
    log: StationLog,
    strength: NDArray[np.floating],
    first: int | None = None,
    last: int | None = None,
    *,
    shares: Sequence[float] = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
    orders: int = 10,
    windows: int = 256,
    block: int = 8,
    seed: int = 0,
    progress: Progress | None = None,
) -> DeletionCurve:
    """Close more and more routes, by strength and at random, on the same windows.

    Parameters
    ----------
    forecaster: with gates. log: to forecast, at rows ``first <= i < last`` that ``strength`` was not made from.
    strength: [N, N + C] of each route (rows are targets); only open routes between different ends take part.
    shares: of them to close. orders: random orders to compare with. windows: at most so many, evenly spread.
    block: windows that hang together, for the interval. seed: of the random orders and of the bootstrap.

    Where all are closed nothing rises. Raises `RunError` where the model has no gates, ``ValueError`` for a strength of
    another shape.
    Source: deletion and insertion, Petsiuk, Das and Saenko, "RISE", BMVC 2018; the interval is ours.
    """
    opened = open_routes(forecaster.model)
    loader = spread(forecaster, align(log, forecaster.schema), first, last, windows)
    where = opened.nonzero()
    if strength.shape != tuple(opened.shape):
        raise ValueError(f"strength must be {list(opened.shape)} [targets, sources], not {list(strength.shape)}")
    counts = np.array([round(share * len(where)) for share in shares], dtype=np.int64)
    order = np.argsort(-np.asarray(strength, dtype=np.float64)[tuple(where.cpu().numpy().T)], kind="stable")
    generator = np.random.default_rng(seed)
    drawn = [generator.permutation(len(where)) for _ in range(orders)]
    total, done = len(counts) * (2 + orders), 0

    def measured(rows: NDArray[np.int64]) -> Tensor:
        nonlocal done
        chosen = where[torch.as_tensor(rows.copy(), device=where.device)]
        with closed(forecaster.model, mask_of(opened, chosen)):
            errors = window_errors(forecaster.model, loader)
        done += 1
        if progress is not None:
            progress(done, total)
        return errors.square.sum(dim=1)

    whole = window_errors(forecaster.model, loader)
    base = whole.square.sum(dim=1)
    rises = [
        torch.stack([measured(rows[len(rows) - count :] if back else rows[:count]) - base for count in counts])
        for rows, back in [(order, False), (order, True), *((rows, False) for rows in drawn)]
    ]
    strong, weak, random = rises[0], rises[1], torch.stack(rises[2:])
    advantage, low, high = _advantage(strong, random, block, seed)
    scale = float(whole.count.sum())
    return DeletionCurve(
        np.asarray(shares, dtype=np.float64),
        counts,
        whole.mse,
        (strong.sum(dim=1) / scale).cpu().numpy(),
        (weak.sum(dim=1) / scale).cpu().numpy(),
        (random.sum(dim=2) / scale).cpu().numpy(),
        advantage,
        low,
        high,
    )


def _advantage(
    strong_sw: Tensor, random_rsw: Tensor, block: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Ratio of both rises with its interval: windows are drawn in blocks, random orders one by one."""
    strong, random = strong_sw.cpu().numpy(), random_rsw.cpu().numpy()
    generator = np.random.default_rng(seed)
    ratios = []
    for rows in block_draws(strong.shape[1], block, DRAWS, seed):
        orders = generator.integers(0, len(random), len(random))
        ratios.append(_ratio(strong[:, rows].sum(axis=1), random[orders][:, :, rows].sum(axis=2).mean(axis=0)))
    low, high = np.quantile(np.array(ratios), (0.025, 0.975), axis=0, method="nearest")
    return _ratio(strong.sum(axis=1), random.sum(axis=2).mean(axis=0)), low, high


def _ratio(strong: NDArray[np.float64], random: NDArray[np.float64]) -> NDArray[np.float64]:
    """Strong over random; infinite where random routes cost nothing and strong ones do, 1 where neither does."""
    free = random <= 0
    ratio = np.divide(strong, np.where(free, 1.0, random))
    return np.where(free, np.where(strong > 0, np.inf, 1.0), ratio)
