"""From a window to tokens: each token covers a stretch of one variate."""

from __future__ import annotations

from itertools import groupby

import torch
from torch import Tensor, nn


def patch_sizes(lookback: int, patch: int, growing: bool) -> tuple[int, ...]:
    """Lengths of the patches that cover a window, oldest first.

    Equal patches of ``patch`` steps, or *growing* ones: p, p, 2p, 4p, … going back in time, so that the recent past is
    seen in detail and the distant past in outline. The oldest patch is cut to what is left, so the lengths always add
    up to ``lookback``. Raises ``ValueError`` for a patch or a look-back below 1.
    """
    if patch < 1 or lookback < 1:
        raise ValueError(f"patch and lookback must be at least 1 step, not {patch} and {lookback}")
    sizes: list[int] = []
    size = patch
    while sum(sizes) < lookback:
        sizes.append(min(size, lookback - sum(sizes)))
        if growing and len(sizes) > 1:
            size *= 2
    return tuple(reversed(sizes))


class PatchEmbedding(nn.Module):
    """Values and masks of each patch → one token, by a linear map for each run of equal patches.

    Parameters
    ----------
    lookback: L. patch: length of the most recent patch. width: d. growing: see `patch_sizes`.

    Shapes: z and mask [B, L, N] → tokens [B, N, P, d].

    Source: Nie et al., "A time series is worth 64 words", ICLR 2023 (equal patches); growing ones are ours.
    """

    def __init__(self, lookback: int, patch: int, width: int, growing: bool) -> None:
        super().__init__()
        self.sizes = patch_sizes(lookback, patch, growing)
        # neighbours of one length share their map; lengths differ only where patches grow
        self.groups = [(size, len(list(run))) for size, run in groupby(self.sizes)]
        self.maps = nn.ModuleList(nn.Linear(2 * size, width) for size, _ in self.groups)

    def forward(self, z_bln: Tensor, mask_bln: Tensor) -> Tensor:
        """Tokens [B, N, P, d], oldest first."""
        pairs = torch.stack([z_bln, mask_bln.to(z_bln.dtype)], dim=-1).transpose(1, 2)
        tokens, first = [], 0
        for (size, count), embed in zip(self.groups, self.maps, strict=True):
            stretch = pairs[:, :, first : first + size * count]
            tokens.append(embed(stretch.unflatten(2, (count, size)).flatten(3)))
            first += size * count
        return torch.cat(tokens, dim=2)

    def ages(self) -> tuple[tuple[int, int], ...]:
        """(oldest, newest) age in steps of each patch before the first forecast step, oldest patch first."""
        result, end = [], sum(self.sizes)
        for size in self.sizes:
            result.append((end, end - size + 1))
            end -= size
        return tuple(result)
