"""Patches of one variate as tokens; no variate sees another."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..nn.context import KnownContext
from ..nn.encoder import EncoderConfig
from ..nn.head import QuantileHead
from ..nn.normalization import MaskedInstanceNorm
from ..nn.patching import PatchEmbedding
from .base import ForecastModel, Task


@dataclass(frozen=True)
class PatchTSTConfig(EncoderConfig):
    """Shape of the encoder (`EncoderConfig`) and of its patches.

    Attributes
    ----------
    patch: steps in a patch; the oldest is shorter where the window does not divide.
    """

    patch: int = 12


class PatchTST(ForecastModel):
    """Patches of a variate's window → tokens → encoder → all tokens → point and quantiles; the same for all variates.

    Patches do not overlap. Known-ahead channels are added to every token.

    Source: Nie et al., "A time series is worth 64 words: long-term forecasting with transformers", ICLR 2023.
    """

    def __init__(self, task: Task, config: PatchTSTConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or PatchTSTConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        self.embed = PatchEmbedding(task.lookback, c.patch, c.width, growing=False)
        patches = len(self.embed.sizes)
        self.position = nn.Parameter(torch.randn(patches, c.width) * 0.02)
        self.context = KnownContext(task.lookback + task.horizon, task.known, c.width)
        self.encoder = c.encoder()
        self.head = QuantileHead(patches * c.width, task.horizon, len(task.levels))

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Forecast [B, H, N, 1 + K]."""
        context = self.context(known)
        if isinstance(context, Tensor):
            context = context[:, None, None]
        z, statistics = self.norm(x, x_mask)
        tokens = self.embed(z, x_mask) + self.position + context
        tokens = self.encoder(tokens.flatten(0, 1)).unflatten(0, tokens.shape[:2])
        return self.norm.inverse(self.head.around(tokens.flatten(2)), statistics)
