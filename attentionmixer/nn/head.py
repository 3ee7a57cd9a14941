"""From tokens to a point forecast with quantiles that cannot cross."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class QuantileHead(nn.Module):
    """Point forecast and quantiles around it.

    The point μ is one linear map of the features, zero at the start. Quantile k is μ + σ_k with σ_1 free and
    σ_{k+1} = σ_k + softplus(·), so the quantiles are ordered whatever the weights. The distances σ are computed from
    features whose gradient is stopped (``detach``): asking for intervals does not change the point forecast.

    Parameters
    ----------
    features: F, the number of inputs per variate.
    horizon: H.
    quantiles: K, the number of quantile levels; may be 0.

    Shapes: features [B, N, F] → point [B, N, H] and distances [B, N, H, K].
    """

    def __init__(self, features: int, horizon: int, quantiles: int) -> None:
        super().__init__()
        self.horizon, self.quantiles = horizon, quantiles
        self.point = nn.Linear(features, horizon)
        nn.init.zeros_(self.point.weight)
        nn.init.zeros_(self.point.bias)
        self.spread = nn.Linear(features, horizon * quantiles) if quantiles else None
        if self.spread is not None:
            nn.init.zeros_(self.spread.weight)
            # at the start: the lowest quantile one scale below the point, the highest about one above
            bias = torch.full((horizon, quantiles), _inverse_softplus(2.0 / max(1, quantiles - 1)))
            bias[:, 0] = -1.0
            with torch.no_grad():
                self.spread.bias.copy_(bias.flatten())

    def forward(self, features_bnf: Tensor) -> tuple[Tensor, Tensor]:
        """Point [B, N, H] and distances [B, N, H, K], ascending over K."""
        point = self.point(features_bnf)
        if self.spread is None:
            return point, point.new_zeros(*point.shape, 0)
        spread = self.spread(features_bnf.detach()).unflatten(-1, (self.horizon, self.quantiles))
        steps = torch.cat([spread[..., :1], F.softplus(spread[..., 1:])], dim=-1)
        return point, steps.cumsum(dim=-1)

    def around(self, features_bnf: Tensor) -> Tensor:
        """Point and quantiles in one, [B, H, N, 1 + K]."""
        return quantiles_around(*self(features_bnf))


def quantiles_around(point_bnh: Tensor, distance_bnhk: Tensor) -> Tensor:
    """[B, H, N, 1 + K]: the point, then the quantiles at their distances.

    Asking for quantiles must not pull on the point, so its gradient is stopped there.
    """
    point = point_bnh.unsqueeze(-1)
    return torch.cat([point, point.detach() + distance_bnhk], dim=-1).transpose(1, 2)


def _inverse_softplus(value: float) -> float:
    """x with softplus(x) = value, value > 0."""
    return float(torch.log(torch.expm1(torch.tensor(value))))
