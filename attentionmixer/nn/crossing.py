"""A linear path across variates, along the same routes as the messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from .normalization import MaskedInstanceNorm
from .ridge import StreamingRidge, choose_alpha, early_and_late


class CrossVariateLinear(nn.Module):
    """Vector-autoregressive correction from the last p steps of all variates.

    c_i(h) = Σ_j z_ij Σ_l Σ_r A[i, j, l, r] B[r, h] x_j(l), with z the route gates (1 without gates), A starting at
    zero and B horizon profiles, orthonormal at the start. `strength` says what flows on each route, so nothing bypasses
    the maps.

    Parameters
    ----------
    variates: N. lags: p, steps used. horizon: H. rank: number of horizon profiles, at most H.

    Shapes: x [B, L, N] → correction [B, N, H]; A [N, N, p, r]; B [r, H].
    """

    def __init__(self, variates: int, lags: int, horizon: int, rank: int = 4) -> None:
        super().__init__()
        profiles = min(rank, horizon)
        self.coefficient = nn.Parameter(torch.zeros(variates, variates, lags, profiles))
        self.profile = nn.Parameter(torch.eye(profiles, horizon))

    @property
    def lags(self) -> int:
        """p, the steps used."""
        return self.coefficient.shape[2]

    def forward(self, x_bln: Tensor, gate: Tensor | None = None) -> Tensor:
        """Correction [B, N, H] from the normalised window [B, L, N], L ≥ p, and gates [N, N or more]."""
        recent = x_bln[:, -self.lags :].transpose(1, 2)
        return torch.einsum("bjl,ijlr->bir", recent, self._gated(gate)) @ self.profile

    @torch.no_grad()
    def set_full(self, coefficient: Tensor) -> None:
        """Set A and B from full-rank coefficients [to, from, p, H] by the best approximation of the given rank."""
        flat = coefficient.flatten(0, 2)
        # the right singular vectors are the eigenvectors of an H × H matrix: cheap for any number of routes
        _, vectors = torch.linalg.eigh(flat.T @ flat)
        profile = vectors.T.flip(0)[: self.profile.shape[0]]
        self.profile.copy_(profile)
        self.coefficient.copy_((flat @ profile.T).unflatten(0, coefficient.shape[:3]))

    def strength(self, gate: Tensor | None = None) -> Tensor:
        """[to, from] root mean square, over lags and horizon, of what a unit of each source adds to the target."""
        response = self._gated(gate) @ self.profile
        return response.square().mean(dim=(2, 3)).sqrt()

    def _gated(self, gate: Tensor | None) -> Tensor:
        if gate is None:
            return self.coefficient
        return self.coefficient * gate[:, : len(self.coefficient), None, None]


@torch.no_grad()
def fit_crossing(
    crossing: CrossVariateLinear,
    direct: nn.Linear,
    norm: MaskedInstanceNorm,
    batches: Callable[[], Iterable[tuple[Tensor, ...]]],
    held_out: float = 0.2,
) -> float | None:
    """Ridge VAR on what the direct path leaves over; returns the α used, or ``None`` where no α helps.

    α is chosen on the last ``held_out`` share of the training windows (`choose_alpha`); where nothing helps there, the
    path stays at zero. Then all training windows are used. ``batches`` gives passes over (x, x_mask, y, y_mask).
    """
    variates, lags, horizon = crossing.coefficient.shape[0], crossing.lags, crossing.profile.shape[1]
    early, late = (StreamingRidge(variates * lags, variates * horizon, direct.weight.device) for _ in range(2))
    for is_late, (x, x_mask, y, y_mask, *_) in early_and_late(batches, held_out):
        z, statistics = norm(x, x_mask)
        target = ((y - statistics.mean) / statistics.scale).transpose(1, 2)
        rest = torch.where(y_mask.transpose(1, 2), target - direct(z.transpose(1, 2)), 0.0)
        part = late if is_late else early
        part.add(z[:, -lags:].transpose(1, 2).flatten(1), rest.flatten(1))
    alpha = choose_alpha(early, late)
    if alpha is not None:
        coefficient = early.merge(late).solve(alpha).view(variates, lags, variates, horizon)
        crossing.set_full(coefficient.permute(2, 0, 1, 3))
    return alpha
