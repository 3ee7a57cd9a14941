"""What is known ahead, for models that have no tokens of its own for it."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class KnownContext(nn.Module):
    """Known-ahead channels of the whole window and horizon, as one vector: linear, GELU, linear.

    Parameters
    ----------
    steps: L + H. channels: C; with none the result is the number 0. width: d.

    Shapes: known [B, L + H, C] → [B, d]. Raises ``ValueError`` where channels are expected and ``known`` is ``None``.
    """

    def __init__(self, steps: int, channels: int, width: int) -> None:
        super().__init__()
        self.channels, self.width = channels, width
        self.map = (
            nn.Sequential(nn.Linear(steps * channels, width), nn.GELU(), nn.Linear(width, width)) if channels else None
        )

    def forward(self, known_bsc: Tensor | None) -> Tensor | float:
        """[B, d], or 0 where nothing is known ahead."""
        if self.map is None:
            return 0.0
        if known_bsc is None:
            raise ValueError(f"this model knows {self.channels} channels ahead; give them as `known` [B, L + H, C]")
        context: Tensor = self.map(known_bsc.flatten(1))
        return context


def window_features(z_bln: Tensor, mask_bln: Tensor, known_bsc: Tensor | None) -> Tensor:
    """What a model that goes along the steps sees at each of them: values, masks and known channels [B, L, 2 N + C]."""
    parts = [z_bln, mask_bln.to(z_bln.dtype)]
    if known_bsc is not None:
        parts.append(known_bsc[:, : z_bln.shape[1]])
    return torch.cat(parts, dim=-1)
