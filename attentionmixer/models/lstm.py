"""A long short-term memory network over the steps of the window."""

from __future__ import annotations

from torch import nn

from .gru import GRU


class LSTM(GRU):
    """As `GRU`, with another cell.

    Source: Hochreiter and Schmidhuber, "Long short-term memory", Neural Computation 1997.
    """

    cell = nn.LSTM
