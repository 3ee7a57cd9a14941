"""Inverted transformer: a token is the whole window of one variate."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..nn.encoder import EncoderConfig
from ..nn.head import QuantileHead
from ..nn.normalization import MaskedInstanceNorm
from .base import ForecastModel, Task


class ITransformer(ForecastModel):
    """Values and masks of a variate's window → token; attention between variates; token → point and quantiles.

    Known-ahead channels are further tokens.

    Source: Liu et al., "iTransformer: inverted transformers are effective for time series forecasting", ICLR 2024.
    """

    def __init__(self, task: Task, config: EncoderConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or EncoderConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        self.embed = nn.Linear(2 * task.lookback, c.width)
        self.known_embed = nn.Linear(task.lookback + task.horizon, c.width) if task.known else None
        self.encoder = c.encoder()
        self.head = QuantileHead(c.width, task.horizon, len(task.levels))

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Forecast [B, H, N, 1 + K]."""
        if self.known_embed is not None and known is None:
            raise ValueError(f"this model knows {self.task.known} channels ahead; give them as `known` [B, L + H, C]")
        z, statistics = self.norm(x, x_mask)
        tokens = self.embed(torch.cat([z, x_mask.to(z.dtype)], dim=1).transpose(1, 2))
        if self.known_embed is not None and known is not None:
            tokens = torch.cat([tokens, self.known_embed(known.transpose(1, 2))], dim=1)
        output = self.head.around(self.encoder(tokens)[:, : self.task.variates])
        return self.norm.inverse(output, statistics)
