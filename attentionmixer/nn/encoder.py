"""A plain transformer encoder, for the architectures that others are compared with."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class EncoderConfig:
    """Shape of a transformer encoder.

    Attributes
    ----------
    width: d, channels of a token. heads: must divide the width. layers: how many.
    expansion: width of the feed-forward step, as a multiple of ``width``. dropout: as in the source.
    norm_epsilon: variance added in the window normalisation.
    """

    width: int = 64
    heads: int = 4
    layers: int = 2
    expansion: int = 2
    dropout: float = 0.1
    norm_epsilon: float = 0.1

    def __post_init__(self) -> None:
        if min(self.width, self.heads, self.layers, self.expansion) < 1 or self.width % self.heads:
            raise ValueError(
                f"width, heads, layers and expansion must be at least 1 and heads must divide width, not "
                f"{self.width}, {self.heads}, {self.layers} and {self.expansion}"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout}")

    def encoder(self) -> nn.TransformerEncoder:
        """Layers with the normalisation first, and one at the end. [B, tokens, d] → [B, tokens, d].

        Source: Vaswani et al., "Attention is all you need", NeurIPS 2017; Xiong et al., ICML 2020 (order).
        """
        layer = nn.TransformerEncoderLayer(
            self.width,
            self.heads,
            self.expansion * self.width,
            self.dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        return nn.TransformerEncoder(layer, self.layers, norm=nn.LayerNorm(self.width), enable_nested_tensor=False)
