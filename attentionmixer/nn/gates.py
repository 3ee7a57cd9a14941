"""One learned gate per route, which can close exactly."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class RouteGates(nn.Module):
    """Hard-concrete gates z in [0, 1], one for each route from a source node to a target node.

    With u ~ U(0, 1):  s = σ((log u − log(1 − u) + a) / β),  z = clamp(s (ζ − γ) + γ, 0, 1).
    In evaluation s = σ(a), so a gate is exactly 0 where σ(a) ≤ −γ / (ζ − γ). The expected share of open gates,
    mean σ(a − β log(−γ / ζ)), is the L0 penalty. A node's route to itself is always open, so no row can become empty.

    Parameters
    ----------
    targets, sources: number of nodes; the first ``targets`` sources are the targets themselves.
    initial: value of a at the start; 2 means nearly open.

    Source: Louizos, Welling and Kingma, "Learning sparse neural networks through L0 regularization", ICLR 2018.
    """

    own: Tensor
    beta, gamma, zeta = 2.0 / 3.0, -0.1, 1.1

    def __init__(self, targets: int, sources: int, initial: float = 2.0) -> None:
        super().__init__()
        self.logit = nn.Parameter(torch.full((targets, sources), initial))
        self.register_buffer("own", torch.eye(targets, sources, dtype=torch.bool), persistent=False)

    def forward(self) -> Tensor:
        """Gates [to, from]; sampled in training, fixed in evaluation."""
        if self.training:
            u = torch.rand_like(self.logit).clamp_(1e-6, 1 - 1e-6)
            s = torch.sigmoid((torch.logit(u) + self.logit) / self.beta)
        else:
            s = torch.sigmoid(self.logit)
        z = (s * (self.zeta - self.gamma) + self.gamma).clamp(0.0, 1.0)
        return torch.where(self.own, torch.ones_like(z), z)

    def expected_open(self) -> Tensor:
        """Expected share of open gates in [0, 1]; a node's own route is not counted."""
        share = torch.sigmoid(self.logit - self.beta * math.log(-self.gamma / self.zeta))
        other = ~self.own
        return share[other].mean() if bool(other.any()) else share.new_zeros(())

    @torch.no_grad()
    def open_share(self) -> Tensor:
        """Share of gates that evaluation leaves open; a node's own route is not counted."""
        open_ = torch.sigmoid(self.logit) > -self.gamma / (self.zeta - self.gamma)
        other = ~self.own
        return open_[other].float().mean() if bool(other.any()) else self.logit.new_ones(())
