"""`Routes`: the weights one message passing step used, as tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

Axis = Literal["spatial", "temporal"]


@dataclass(frozen=True)
class Routes:
    """Weights of one message passing step, before dropout.

    Attributes
    ----------
    rows: [B, M, h, to, from]; M runs over the axis along which no message passes (patches for spatial routes, variates
        for temporal ones). Every row sums to 1 over *from*; a removed route is exactly 0. *from* can be longer than
        *to*: the extra sources are known-ahead or static tokens.
    axis: ``spatial`` (nodes are variates) or ``temporal`` (nodes are patches of one variate).
    round: 1 for the first round.
    """

    rows: Tensor
    axis: Axis
    round: int

    @property
    def weight(self) -> Tensor:
        """[B, h, to, from], averaged over M."""
        return self.rows.mean(dim=1)
