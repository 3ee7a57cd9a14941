"""Intervals for models that only give a point: quantiles of their own training errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn


class EmpiricalSpread(nn.Module):
    """Adds quantiles of past errors, one set for each variate and step ahead.

    q_τ(h, i) = point(h, i) + the τ-quantile of y(h, i) − point(h, i) over a sample of training windows.

    Parameters
    ----------
    horizon, variates: H and N. levels: K quantile levels, ascending.

    Shapes: point [B, H, N] → [B, H, N, 1 + K]. The offsets [H, N, K] are 0 until `fit`, and stay 0 where a variate was
    never observed at that step ahead.
    """

    offset: Tensor
    levels: Tensor

    def __init__(self, horizon: int, variates: int, levels: tuple[float, ...]) -> None:
        super().__init__()
        self.register_buffer("offset", torch.zeros(horizon, variates, len(levels)))
        self.register_buffer("levels", torch.tensor(levels), persistent=False)

    def forward(self, point_bhn: Tensor) -> Tensor:
        """[B, H, N, 1 + K]: the point, then its quantiles."""
        point = point_bhn.unsqueeze(-1)
        return torch.cat([point, point.detach() + self.offset], dim=-1)

    @torch.no_grad()
    def fit(
        self,
        batches: Iterable[tuple[Tensor, ...]],
        predict: Callable[..., Tensor],
        sample: int = 2_000_000,
    ) -> None:
        """Measure the errors of ``predict`` on batches (x, x_mask, y, y_mask), or with known channels as a fifth part.

        Batches come in order of time.

        Parameters
        ----------
        predict: (x, x_mask) or (x, x_mask, known) → point [B, H, N].
        sample: most errors to keep; of a longer log every second, fourth, … window is kept, evenly spread in time.
        """
        if not len(self.levels):
            return
        kept: list[Tensor] = []
        most = max(1, sample // max(1, self.offset.shape[0] * self.offset.shape[1]))
        every, seen = 1, 0
        for x, x_mask, y, y_mask, *known in batches:
            error = (y - predict(x, x_mask, *known)).masked_fill(~y_mask, torch.nan)
            kept.append(error[-seen % every :: every])
            seen += len(x)
            while sum(len(part) for part in kept) > most:
                kept = [torch.cat(kept)[::2]]
                every *= 2
        if kept:
            # one step ahead at a time: the sort behind a quantile needs a copy
            errors = torch.cat(kept)
            for h in range(errors.shape[1]):
                quantiles = torch.nanquantile(errors[:, h], self.levels.to(errors), dim=0)
                self.offset[h] = torch.nan_to_num(quantiles).T
