"""Windows of a log: views of one tensor on the training device, gathered by index a batch at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from .scaling import TagScaler


class WindowBatch(NamedTuple):
    """One batch. B windows, L steps of look-back, H steps of horizon, N tags, C known-ahead channels.

    Attributes
    ----------
    x: [B, L, N] scaled, 0 where missing. x_mask: [B, L, N] True = observed.
    y: [B, H, N] scaled, 0 where missing. y_mask: [B, H, N] True = observed and to be scored.
    start: [B] row of the log at which each window begins.
    observed: [B, H, N] the readings behind ``y`` in engineering units, NaN where missing.
    known: [B, L + H, C] known-ahead channels, or ``None``.
    """

    x: Tensor
    x_mask: Tensor
    y: Tensor
    y_mask: Tensor
    start: Tensor
    observed: Tensor
    known: Tensor | None = None


class Windows:
    """All windows of a part of a log. Nothing is copied: the log's tensor is read through a strided view.

    Scaling and masks are computed per batch, so the windows of a log of any size add next to no memory to it.

    Parameters
    ----------
    values: [T, N] engineering units, NaN = missing; shared, never written.
    scaler: fitted `TagScaler`, on the same device.
    lookback, horizon: L and H.
    first, last: the windows' *targets* lie in rows ``first <= i < last``; their look-back may reach before ``first``.
    scored: [N] True for the tags that are forecast and scored.
    seen: [N] True for the tags whose look-back is given to a model; all if not given.
    known: [T, C] known-ahead channels without NaN, or ``None``.
    """

    def __init__(
        self,
        values: Tensor,
        scaler: TagScaler,
        lookback: int,
        horizon: int,
        first: int,
        last: int,
        scored: Tensor,
        known: Tensor | None = None,
        seen: Tensor | None = None,
    ) -> None:
        self.values, self.scaler, self.scored, self.known = values, scaler, scored, known
        self.seen = None if seen is None or bool(seen.all()) else seen.to(values.device)
        self.lookback, self.horizon = lookback, horizon
        # two numbers, not a list of all starts: that would be larger than a log of one tag
        self.first_start = max(0, first - lookback)
        self.count = max(0, last - lookback - horizon + 1 - self.first_start)
        self._view = values.unfold(0, lookback + horizon, 1)
        self._known = None if known is None else known.unfold(0, lookback + horizon, 1)

    def __len__(self) -> int:
        return self.count

    def gather(self, index: Tensor) -> WindowBatch:
        """The windows with these numbers (0 … len − 1)."""
        start = index + self.first_start
        where = start.to(self.values.device)
        raw = self._view[where].transpose(1, 2)
        mask = ~torch.isnan(raw)
        scaled = torch.nan_to_num(self.scaler(raw))
        known = None if self._known is None else self._known[where].transpose(1, 2)
        cut = self.lookback
        x, x_mask = scaled[:, :cut], mask[:, :cut]
        if self.seen is not None:
            x, x_mask = x * self.seen, x_mask & self.seen
        return WindowBatch(
            x=x,
            x_mask=x_mask,
            y=scaled[:, cut:],
            y_mask=mask[:, cut:] & self.scored,
            start=start,
            observed=raw[:, cut:],
            known=known,
        )


class EpochOrder:
    """The order of windows in one epoch: a function of seed and epoch alone, so a resumed run sees the same."""

    def __init__(self, count: int, seed: int, shuffle: bool) -> None:
        self.count, self.seed, self.shuffle = count, seed, shuffle
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Called by the trainer before each epoch."""
        self.epoch = epoch

    def indices(self) -> Tensor:
        """Window numbers [count]."""
        if not self.shuffle:
            return torch.arange(self.count)
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
        return torch.randperm(self.count, generator=generator)


class WindowLoader:
    """Iterates over batches of `Windows`. No sample-by-sample Python, no worker processes, no batch dropped.

    Parameters
    ----------
    windows: what to iterate over. batch_size: B; the last batch may be smaller.
    shuffle, seed: draw a new order for every epoch (`EpochOrder`).
    rank, world: this process's share when several train together (every ``world``-th window). All get the same number
        of batches, since they wait for each other after each.
    stride: take every ``stride``-th window (for back-to-back forecasts).
    """

    def __init__(
        self,
        windows: Windows,
        batch_size: int,
        *,
        shuffle: bool = False,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        stride: int = 1,
    ) -> None:
        self.windows, self.batch_size = windows, batch_size
        # the two names through which a Lightning trainer tells a loader the epoch
        self.sampler = EpochOrder(math.ceil(len(windows) / stride), seed, shuffle)
        self.batch_sampler = None
        self.rank, self.world, self.stride = rank, world, stride

    @property
    def count(self) -> int:
        """Number of windows this process sees in one epoch."""
        return len(range(self.rank, self.sampler.count, self.world))

    def __len__(self) -> int:
        return math.ceil(math.ceil(self.sampler.count / self.world) / self.batch_size)

    def __iter__(self) -> Iterator[WindowBatch]:
        order = self.sampler.indices()[self.rank :: self.world] * self.stride
        if len(order) == 0:
            return
        parts = order.split(self.batch_size)
        for index in parts if len(parts) == len(self) else order.tensor_split(len(self)):
            yield self.windows.gather(index)
