"""A transformer over the steps of the window."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..nn.context import KnownContext, window_features
from ..nn.encoder import EncoderConfig
from ..nn.normalization import MaskedInstanceNorm
from .base import PointModel, Task


class Transformer(PointModel):
    """A token is a step: all its values, masks and known channels. Last and mean token → linear → [H, N].

    Source: Vaswani et al., "Attention is all you need", NeurIPS 2017 (encoder).
    """

    def __init__(self, task: Task, config: EncoderConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or EncoderConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        self.lift = nn.Linear(2 * task.variates + task.known, c.width)
        self.position = nn.Parameter(torch.randn(task.lookback, c.width) * 0.02)
        self.encoder = c.encoder()
        self.context = KnownContext(task.lookback + task.horizon, task.known, c.width)
        self.output = nn.Linear(2 * c.width, task.horizon * task.variates)

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        context = self.context(known)
        z, statistics = self.norm(x, x_mask)
        steps = self.encoder(self.lift(window_features(z, x_mask, known)) + self.position)
        whole = torch.cat([steps[:, -1] + context, steps.mean(dim=1)], dim=-1)
        y = self.output(whole).unflatten(1, (self.task.horizon, self.task.variates))
        return self.norm.inverse(y.unsqueeze(-1), statistics).squeeze(-1)
