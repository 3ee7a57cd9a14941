"""Ridge regression in closed form from a stream of batches."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class StreamingRidge:
    """Solve min_W Σ ‖y − W x‖² + α n ‖W‖² from batches, keeping only x xᵀ and x yᵀ.

    The penalty grows with the number n of samples, so α is in units of the (normalised) inputs' variance and the same
    for short and long logs.

    Parameters
    ----------
    features: F. targets: number of outputs.

    ``power`` is Σ ‖y‖² of what was added.

    Source: Hoerl and Kennard, "Ridge regression: biased estimation for nonorthogonal problems", Technometrics 1970.
    """

    def __init__(self, features: int, targets: int, device: torch.device | str = "cpu") -> None:
        self.gram = torch.zeros(features, features, dtype=torch.float64, device=device)
        self.moment = torch.zeros(features, targets, dtype=torch.float64, device=device)
        self.power = 0.0
        self.samples = 0

    def add(self, x_sf: Tensor, y_st: Tensor) -> None:
        """Add samples: inputs [S, F], outputs [S, targets]."""
        self.gram += (x_sf.T @ x_sf).double()
        self.moment += (x_sf.T @ y_st).double()
        self.power += float(y_st.double().square().sum())
        self.samples += len(x_sf)

    def solve(self, alpha: float) -> Tensor:
        """Coefficients [F, targets] as float32. Without samples: zeros."""
        if self.samples == 0:
            return torch.zeros_like(self.moment, dtype=torch.float32)
        eye = torch.eye(len(self.gram), dtype=torch.float64, device=self.gram.device)
        return torch.linalg.solve(self.gram + alpha * self.samples * eye, self.moment).float()

    def only(self, features: Tensor) -> StreamingRidge:
        """The same samples with some of the inputs, by index [F']."""
        part = StreamingRidge(len(features), self.moment.shape[1], self.gram.device)
        part.gram, part.moment = self.gram[features][:, features], self.moment[features]
        part.power, part.samples = self.power, self.samples
        return part

    def gain(self, weight_ft: Tensor) -> float:
        """By how much W lowers Σ ‖y‖² on these samples: 2 tr(Wᵀ X Y) − tr(Wᵀ X Xᵀ W). Negative: worse than nothing."""
        w = weight_ft.double()
        return float(2 * (w * self.moment).sum() - (w * (self.gram @ w)).sum())

    def merge(self, other: StreamingRidge) -> StreamingRidge:
        """Both sets of samples together."""
        both = StreamingRidge(len(self.gram), self.moment.shape[1], self.gram.device)
        both.gram, both.moment = self.gram + other.gram, self.moment + other.moment
        both.power, both.samples = self.power + other.power, self.samples + other.samples
        return both


#: α tried, per sample and in units of the inputs' variance.
ALPHAS = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0)


def choose_alpha(early: StreamingRidge, late: StreamingRidge, keep: float = 0.98) -> float | None:
    """The strongest ridge that keeps ``keep`` of the best gain on later samples; ``None`` where no α gains anything.

    Fitted on ``early``, judged on ``late``: a coefficient that only described the past is shrunk away.
    """
    gains = {alpha: late.gain(early.solve(alpha)) for alpha in ALPHAS}
    best = max(gains.values())
    if best <= 0:
        return None
    return max(alpha for alpha, gain in gains.items() if gain >= keep * best)


class Shrinkage(NamedTuple):
    """A ridge α, and the share of Σ ‖y‖² that it is sure to explain."""

    alpha: float
    gain: float


def cross_validated(
    blocks: Sequence[StreamingRidge], later: StreamingRidge | None = None, keep: float = 0.98
) -> Shrinkage | None:
    """The strongest ridge that keeps ``keep`` of the best gain over blocks of time; ``None`` where none surely gains.

    Each block is foretold from all others, and ``later`` windows, which no coefficient is fitted to, from all blocks.
    The gain is the share of Σ ‖y‖² explained there: its mean less its standard error, so that what helped in one season
    and harmed in others is not taken up. Neither is what gains nothing on the later windows.
    """
    parts = [(block, [other for other in blocks if other is not block]) for block in blocks]
    if later is not None:
        parts.append((later, list(blocks)))
    seen = [
        (part, functools.reduce(StreamingRidge.merge, others)) for part, others in parts if others and part.power > 0
    ]
    if len(seen) < 2:
        return None
    found = []
    for alpha in ALPHAS:
        share = torch.tensor([part.gain(rest.solve(alpha)) / part.power for part, rest in seen], dtype=torch.float64)
        sure = float(share.mean() - share.std() / math.sqrt(len(share)))
        misleads = seen[-1][0] is later and share[-1] <= 0
        found.append(Shrinkage(alpha, min(sure, 0.0) if misleads else sure))
    best = max(one.gain for one in found)
    return max(one for one in found if one.gain >= keep * best) if best > 0 else None


def in_blocks(
    batches: Callable[[], Iterable[tuple[Tensor, ...]]], blocks: int
) -> Iterator[tuple[int, tuple[Tensor, ...]]]:
    """Batches, each with the number of the block of time it belongs to: ``blocks`` equal shares of all windows."""
    borders = [round(sum(len(batch[0]) for batch in batches()) * (b + 1) / blocks) for b in range(blocks)]
    seen = block = 0
    for batch in batches():
        start = 0
        while start < len(batch[0]):
            while borders[block] <= seen:
                block += 1
            stop = min(len(batch[0]), start + borders[block] - seen)
            yield block, tuple(part[start:stop] for part in batch)
            seen, start = seen + stop - start, stop


def early_and_late(
    batches: Callable[[], Iterable[tuple[Tensor, ...]]], held_out: float
) -> Iterator[tuple[bool, tuple[Tensor, ...]]]:
    """Batches, each with whether it belongs to the last ``held_out`` share of all windows.

    The border is a window, not a batch: a short log, of one batch only, has a later share as well.
    """
    total = sum(len(batch[0]) for batch in batches())
    left = total - round(held_out * total)
    for batch in batches():
        cut = min(left, len(batch[0]))
        left -= cut
        if cut:
            yield False, tuple(part[:cut] for part in batch)
        if cut < len(batch[0]):
            yield True, tuple(part[cut:] for part in batch)
