"""Gradient boosted trees on lags: one forest for each step ahead."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attentionmixer.models.base import BatchSource, PointModel, Task

Floats = NDArray[np.float32]
#: Most rows a forest learns from: a log of many tags has millions.
ROWS = 200_000
#: Up to so many tags, each sees the lags of all others; beyond, the mean of the network.
TOGETHER = 10


@dataclass(frozen=True)
class LightGBMConfig:
    """Inputs and forests.

    Attributes
    ----------
    lags: latest steps among the inputs; older ones enter as means over 4 of them. leaves: of a tree.
    rounds: trees. learning_rate: shrinkage. smallest: fewest rows in a leaf. seconds: for all forests together.
    """

    lags: int = 24
    leaves: int = 31
    rounds: int = 150
    learning_rate: float = 0.05
    smallest: int = 40
    seconds: float = 170.0


class LightGBM(PointModel):
    """ŷ(h) − last = forest_h(lags − last, last, mean and spread of the window, other tags, tag, what is known at h).

    Where a window's last reading is missing the latest one stands in; missing lags stay missing, which the trees know.
    A forest is shared by all tags, with the tag as a category. Its rows are a sample, evenly spread in time.

    Source: Ke et al., "LightGBM: a highly efficient gradient boosting decision tree", NeurIPS 2017.
    """

    def __init__(self, task: Task, config: LightGBMConfig | None = None) -> None:
        super().__init__(task)
        self.config = config or LightGBMConfig()
        self.forests: list[object] = []

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        inputs, last = self._inputs(x, x_mask)
        ahead = [
            forest.predict(np.concatenate([inputs, self._known(known, h, x)], axis=1))  # type: ignore[attr-defined]
            for h, forest in enumerate(self.forests)
        ]
        y = torch.from_numpy(np.stack(ahead, axis=1)).to(x).unflatten(0, (len(x), x.shape[2])).transpose(1, 2)
        return y + last

    def finish(self, batches: BatchSource) -> None:
        """Grow the forests, then measure the spread of the errors."""
        import lightgbm

        c, began = self.config, time.monotonic()
        total = sum(len(batch[0]) for batch in batches()) * self.task.variates
        every = max(1, -(-total // ROWS))
        while math.gcd(every, self.task.variates) > 1:  # or some tags would never be drawn
            every += 1
        tables, targets, seen, knowns = [], [], [], []
        offset = 0
        for x, x_mask, y, y_mask, *known in batches():
            inputs, last = self._inputs(x, x_mask)
            keep = np.arange(-offset % every, len(inputs), every)
            offset += len(inputs)
            tables.append(inputs[keep])
            rows = (y - last).transpose(1, 2).flatten(0, 1), y_mask.transpose(1, 2).flatten(0, 1)
            targets.append(rows[0].numpy()[keep])
            seen.append(rows[1].numpy()[keep])
            if known:
                knowns.append(known[0].numpy()[keep // self.task.variates])
        table, target, there = np.concatenate(tables), np.concatenate(targets), np.concatenate(seen)
        ahead = np.concatenate(knowns) if knowns else None
        category = [table.shape[1] - 1]
        self.forests = []
        for h in range(self.task.horizon):
            left = (c.seconds - (time.monotonic() - began)) / (self.task.horizon - h)
            ends = time.monotonic() + left
            extra = np.empty((len(table), 0), np.float32) if ahead is None else ahead[:, self.task.lookback + h]
            rows = there[:, h]
            data = lightgbm.Dataset(
                np.concatenate([table, extra], axis=1)[rows], target[rows, h], categorical_feature=category
            )
            self.forests.append(
                lightgbm.train(
                    {
                        "objective": "regression",
                        "num_leaves": c.leaves,
                        "learning_rate": c.learning_rate,
                        "min_data_in_leaf": min(c.smallest, max(1, int(rows.sum()) // 20)),
                        "feature_fraction": 0.8,
                        "verbosity": -1,
                        "seed": 0,
                        "deterministic": True,
                        "max_cat_threshold": 64,
                    },
                    data,
                    num_boost_round=c.rounds,
                    callbacks=[_until(ends)],
                )
            )
        super().finish(batches)

    def _inputs(self, x: Tensor, x_mask: Tensor) -> tuple[Floats, Tensor]:
        """Rows for each window and tag [B · N, F], the tag last; and the latest reading of each [B, 1, N]."""
        from attentionmixer.models.persistence import last_observed

        last = last_observed(x, x_mask)
        value = torch.where(x_mask, x - last, torch.nan)
        recent = value[:, -self.config.lags :]
        older = value[:, : -self.config.lags]
        older = older[:, older.shape[1] % 4 :].unflatten(1, (-1, 4)).nanmean(dim=2)
        own = torch.cat([recent, older, last, value.nanmean(dim=1, keepdim=True)], dim=1).transpose(1, 2)
        spread = torch.where(x_mask, value, 0.0).std(dim=1).unsqueeze(-1)
        tag = torch.arange(x.shape[2], dtype=x.dtype).expand(len(x), -1).unsqueeze(-1)
        if x.shape[2] <= TOGETHER:
            near = torch.where(x_mask, x, torch.nan)[:, -self.config.lags :].flatten(1)
            others = near.unsqueeze(1).expand(-1, x.shape[2], -1)
        else:
            others = recent.nanmean(dim=2).unsqueeze(1).expand(-1, x.shape[2], -1)
        rows = torch.cat([own, spread, others, tag], dim=-1)
        return rows.flatten(0, 1).numpy().astype(np.float32), last

    def _known(self, known: Tensor | None, h: int, x: Tensor) -> Floats:
        if known is None:
            return np.empty((len(x) * x.shape[2], 0), np.float32)
        return known[:, self.task.lookback + h].repeat_interleave(x.shape[2], dim=0).numpy()


def _until(ends: float) -> object:
    """Stop growing at that moment."""
    import lightgbm

    def stop(state: object) -> None:
        if time.monotonic() > ends:
            raise lightgbm.callback.EarlyStopException(state.iteration, [])  # type: ignore[attr-defined]

    return stop
