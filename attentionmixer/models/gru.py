"""A gated recurrent network over the steps of the window."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from ..nn.context import KnownContext, window_features
from ..nn.normalization import MaskedInstanceNorm
from .base import PointModel, Task


@dataclass(frozen=True)
class RecurrentConfig:
    """Shape of a recurrent network.

    Attributes
    ----------
    hidden: units. layers: how many, one on the other. dropout: between layers and before the last map.
    norm_epsilon: variance added in the window normalisation.
    """

    hidden: int = 128
    layers: int = 1
    dropout: float = 0.1
    norm_epsilon: float = 0.1

    def __post_init__(self) -> None:
        if min(self.hidden, self.layers) < 1:
            raise ValueError(f"hidden and layers must be at least 1, not {self.hidden} and {self.layers}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout}")


class GRU(PointModel):
    """Normalised values, masks and known channels of each step → GRU → last state → linear → [H, N] → denormalised.

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014.
    """

    cell: type[nn.GRU] | type[nn.LSTM] = nn.GRU

    def __init__(self, task: Task, config: RecurrentConfig | None = None) -> None:
        super().__init__(task)
        c = self.config = config or RecurrentConfig()
        self.norm = MaskedInstanceNorm(c.norm_epsilon)
        between = c.dropout if c.layers > 1 else 0.0
        self.recurrent = self.cell(
            2 * task.variates + task.known, c.hidden, num_layers=c.layers, dropout=between, batch_first=True
        )
        self.context = KnownContext(task.lookback + task.horizon, task.known, c.hidden)
        self.dropout = nn.Dropout(c.dropout)
        self.output = nn.Linear(c.hidden, task.horizon * task.variates)

    def point(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """Point forecast [B, H, N]."""
        context = self.context(known)
        z, statistics = self.norm(x, x_mask)
        states, _ = self.recurrent(window_features(z, x_mask, known))
        y = self.output(self.dropout(states[:, -1] + context)).unflatten(1, (self.task.horizon, self.task.variates))
        return self.norm.inverse(y.unsqueeze(-1), statistics).squeeze(-1)
