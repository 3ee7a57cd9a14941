"""A linear path across variates, along the same routes as the messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from torch_geometric.utils import scatter

from .normalization import MaskedInstanceNorm
from .ridge import Shrinkage, StreamingRidge, cross_validated, in_blocks

#: Most inputs of its regression: normal equations grow with their square.
MAX_INPUTS = 2048
#: Most coefficients, which grow with the square of the variates.
MAX_COEFFICIENTS = 8_000_000
#: Most variates on whose errors the ridge strength is chosen.
MAX_SHOWN = 64


class CrossVariateLinear(nn.Module):
    """Vector-autoregressive correction from the last p steps and the level of all variates, and what is known ahead.

    c_i(h) = Σ_j z_ij Σ_l Σ_r A[i, j, l, r] B[r, h] x_j(l) + Σ_c z_ic Σ_t Σ_r K[i, c, t, r] B[r, h] k_c(t), with z the
    route gates (1 without gates), A and K starting at zero and B horizon profiles, orthonormal at the start. After the
    p steps of x_j comes its level, the mean of the window: without it no forecast could lean back to a tag's long-term
    mean. `strength` says what flows on each route, so nothing bypasses the maps.

    Parameters
    ----------
    variates: N. lags: p, steps used. horizon: H. rank: number of horizon profiles, at most H.
    known: C, channels known ahead, of which the last p + H steps are used.

    Shapes: x [B, L, N], level [B, 1, N], known [B, L + H, C] → correction [B, N, H]; A [N, N, p + 1, r];
        K [N, C, p + H, r]; B [r, H].
    """

    def __init__(self, variates: int, lags: int, horizon: int, rank: int = 4, known: int = 0) -> None:
        super().__init__()
        profiles = min(rank, horizon)
        self.coefficient = nn.Parameter(torch.zeros(variates, variates, lags + 1, profiles))
        self.response = nn.Parameter(torch.zeros(variates, known, lags + horizon, profiles)) if known else None
        self.profile = nn.Parameter(torch.eye(profiles, horizon))

    @property
    def lags(self) -> int:
        """p, the steps used."""
        return self.coefficient.shape[2] - 1

    @property
    def inputs(self) -> int:
        """Numbers that a window gives it."""
        known = 0 if self.response is None else self.response.shape[1] * self.response.shape[2]
        return self.coefficient.shape[0] * self.coefficient.shape[2] + known

    def forward(
        self,
        x_bln: Tensor,
        level: Tensor,
        gate: Tensor | None = None,
        known: Tensor | None = None,
        edges: Tensor | None = None,
    ) -> Tensor:
        """Correction [B, N, H] from the normalised window, L ≥ p, its level, gates [N, N + C] and what is known.

        ``edges`` [2, E] (source, target) are the only routes whose gates are open, or ``None``: the same sum over fewer
        terms.
        """
        recent = self._recent(x_bln, level)
        if edges is None or gate is None:
            correction = torch.einsum("bjl,ijlr->bir", recent, self._gated(gate))
        else:
            source, target = edges[:, edges[0] < len(self.coefficient)]
            weight = self.coefficient[target, source] * gate[target, source, None, None]
            along = torch.einsum("bel,elr->ber", recent[:, source], weight)
            correction = scatter(along, target, dim=1, dim_size=len(self.coefficient), reduce="sum")
        if self.response is not None and known is not None:
            correction = correction + torch.einsum("bct,ictr->bir", self._ahead(known), self._gated_response(gate))
        return correction @ self.profile

    def features(self, x_bln: Tensor, level: Tensor, known: Tensor | None) -> Tensor:
        """All that it sees of a window, [B, `inputs`]: variates by lag and level, then known channels by step."""
        recent = self._recent(x_bln, level).flatten(1)
        if self.response is None or known is None:
            return recent
        return torch.cat([recent, self._ahead(known).flatten(1)], dim=1)

    @torch.no_grad()
    def set_full(self, coefficient: Tensor) -> None:
        """Set A, K and B from full-rank coefficients [`inputs`, to, H] by the best approximation of the given rank."""
        flat = coefficient.flatten(0, 1)
        # the right singular vectors are the eigenvectors of an H × H matrix: cheap for any number of routes
        _, vectors = torch.linalg.eigh(flat.T @ flat)
        profile = vectors.T.flip(0)[: self.profile.shape[0]]
        self.profile.copy_(profile)
        shape = self.coefficient.shape[1:3]
        own = (coefficient[: shape.numel()] @ profile.T).unflatten(0, shape)
        self.coefficient.copy_(own.permute(2, 0, 1, 3))
        if self.response is not None:
            known = (coefficient[shape.numel() :] @ profile.T).unflatten(0, self.response.shape[1:3])
            self.response.copy_(known.permute(2, 0, 1, 3))

    def strength(self, gate: Tensor | None = None) -> Tensor:
        """[to, from] root mean square, over lags and horizon, of what a unit of each source adds to the target.

        Known channels are the last columns: [N, N + C].
        """
        responses = [self._gated(gate)] + ([] if self.response is None else [self._gated_response(gate)])
        return torch.cat([(part @ self.profile).square().mean(dim=(2, 3)).sqrt() for part in responses], dim=1)

    def _recent(self, x_bln: Tensor, level: Tensor) -> Tensor:
        return torch.cat([x_bln[:, -self.lags :], level], dim=1).transpose(1, 2)

    def _ahead(self, known: Tensor) -> Tensor:
        assert self.response is not None
        return known[:, -self.response.shape[2] :].transpose(1, 2)

    def _gated(self, gate: Tensor | None) -> Tensor:
        if gate is None:
            return self.coefficient
        return self.coefficient * gate[:, : len(self.coefficient), None, None]

    def _gated_response(self, gate: Tensor | None) -> Tensor:
        assert self.response is not None
        return self.response if gate is None else self.response * gate[:, len(self.coefficient) :, None, None]


def crossing_size(variates: int, lags: int, rank: int) -> tuple[int, int]:
    """Steps and horizon profiles that a network of so many variates can afford: (lags, rank), both at least 1."""
    lags = max(1, min(lags, MAX_INPUTS // variates - 1))
    return lags, max(1, min(rank, MAX_COEFFICIENTS // (variates * variates * lags)))


@torch.no_grad()
def fit_crossing(
    crossing: CrossVariateLinear,
    direct: nn.Linear,
    norm: MaskedInstanceNorm,
    batches: Callable[[], Iterable[tuple[Tensor, ...]]],
    later: Callable[[], Iterable[tuple[Tensor, ...]]] | None = None,
    blocks: int = 4,
) -> Shrinkage | None:
    """Ridge VAR on what the direct path leaves over; returns the shrinkage used, or ``None`` where none surely helps.

    Fitted with and without the levels, each with the α that `cross_validated` finds over ``blocks`` of the training
    windows and on ``later`` ones; the form that gains more is taken. Levels help where a plant returns to its mean and
    harm where it drifts away. Where neither helps, or the network is too large for normal equations, the path stays at
    zero. ``batches`` gives passes over (x, x_mask, y, y_mask) and, where there are known channels, ``known``.
    """
    variates, horizon = crossing.coefficient.shape[0], crossing.profile.shape[1]
    if crossing.inputs > MAX_INPUTS:
        return None
    # α is one number: some of the targets say enough about it, and parts in double precision are large
    shown = torch.linspace(0, variates - 1, min(variates, MAX_SHOWN)).round().long().unique()
    device = direct.weight.device
    parts = [StreamingRidge(crossing.inputs, len(shown) * horizon, device) for _ in range(blocks)]
    after = StreamingRidge(crossing.inputs, len(shown) * horizon, device) if later is not None else None
    whole = StreamingRidge(crossing.inputs, variates * horizon, device)
    for block, (x, x_mask, y, y_mask, *known) in in_blocks(batches, blocks):
        inputs, rest = _left_over(crossing, direct, norm, x, x_mask, y, y_mask, known[0] if known else None)
        parts[block].add(inputs, rest[:, shown].flatten(1))
        whole.add(inputs, rest.flatten(1))
    if later is not None and after is not None:
        for x, x_mask, y, y_mask, *known in later():
            inputs, rest = _left_over(crossing, direct, norm, x, x_mask, y, y_mask, known[0] if known else None)
            after.add(inputs, rest[:, shown].flatten(1))
    everything = torch.arange(crossing.inputs, device=device)
    is_level = (everything < crossing.coefficient[0].shape[:2].numel()) & (
        everything % (crossing.lags + 1) == crossing.lags
    )
    best: Shrinkage | None = None
    for used in (everything[~is_level], everything):
        found = cross_validated([part.only(used) for part in parts], None if after is None else after.only(used))
        if found is not None and (best is None or found.gain > best.gain):
            best = found
            coefficient = torch.zeros(crossing.inputs, variates * horizon, device=device)
            coefficient[used] = whole.only(used).solve(found.alpha)
            crossing.set_full(coefficient.unflatten(1, (variates, horizon)))
    return best


def _left_over(
    crossing: CrossVariateLinear,
    direct: nn.Linear,
    norm: MaskedInstanceNorm,
    x: Tensor,
    x_mask: Tensor,
    y: Tensor,
    y_mask: Tensor,
    known: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """What the path sees of some windows, [B, `inputs`], and what the direct path leaves for it, [B, N, H]."""
    z, statistics = norm(x, x_mask)
    target = ((y - statistics.mean) / statistics.scale).transpose(1, 2)
    rest = torch.where(y_mask.transpose(1, 2), target - direct(z.transpose(1, 2)), 0.0)
    return crossing.features(z, statistics.mean, known), rest
