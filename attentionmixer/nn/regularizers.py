"""Sparse message passing regularizers: what makes spurious routes disappear.

Each takes the weights of a step (rows sum to 1, taken before dropout) and returns a scalar in [0, 1]: 0 for rows that
use one source, 1 for rows that use all alike; mean over batch, heads and rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor

from ..errors import ConfigError
from .gates import RouteGates
from .routes import Routes

RegularizerName = Literal["none", "entropy", "tsallis", "prior", "gates", "entmax", "l1"]


def entropy(rows: Tensor) -> Tensor:
    """−Σ a log a / log n, Shannon entropy of a row of n weights; equals 1 − KL(a ‖ uniform) / log n."""
    n = rows.shape[-1]
    if n < 2:
        return rows.new_zeros(())
    return -torch.special.xlogy(rows, rows.clamp(min=torch.finfo(rows.dtype).tiny)).sum(dim=-1).mean() / math.log(n)


def tsallis(rows: Tensor) -> Tensor:
    """(1 − Σ a²) n / (n − 1), Tsallis entropy of order 2; its gradient is bounded."""
    n = rows.shape[-1]
    if n < 2:
        return rows.new_zeros(())
    return (1.0 - rows.square().sum(dim=-1)).mean() * n / (n - 1)


def prior_divergence(rows: Tensor, prior: Tensor) -> Tensor:
    """KL(a ‖ p) / max(log n, −log min p), with p [to, from] a prior whose rows sum to 1 (near stations first).

    0 on the prior itself; 1 where all weight lies on the least likely source. On a uniform prior it is
    1 − Shannon entropy / log n. The divisor is the largest value KL can take, so the gradient never vanishes.
    """
    n = rows.shape[-1]
    if n < 2:
        return rows.new_zeros(())
    tiny = torch.finfo(rows.dtype).tiny
    log_prior = torch.log(prior.clamp(min=1e-8))
    divergence = (rows * (torch.log(rows.clamp(min=tiny)) - log_prior)).sum(dim=-1).mean()
    return divergence / max(math.log(n), -float(log_prior.min()))


def l1(rows: Tensor) -> Tensor:
    """Literal Σ |a| of a row: constant 1 on weights that sum to 1, so it does nothing. Kept as a negative control."""
    return rows.abs().sum(dim=-1).mean()


def distance_prior(latitude_longitude: Tensor, length_km: float) -> Tensor:
    """Rows p_ij ∝ exp(−distance_ij / ℓ) from coordinates [N, 2] in degrees (great circle). Returns [N, N]."""
    lat, lon = torch.deg2rad(latitude_longitude.double()).unbind(dim=1)
    half = (
        torch.sin((lat[:, None] - lat[None]) / 2).square()
        + torch.cos(lat[:, None]) * torch.cos(lat[None]) * torch.sin((lon[:, None] - lon[None]) / 2).square()
    )
    km = 2 * 6371.0 * torch.asin(half.clamp(0, 1).sqrt())
    return torch.softmax(-km / length_km, dim=1).float()


_ON_ROWS: dict[str, Callable[[Tensor], Tensor]] = {"entropy": entropy, "tsallis": tsallis, "l1": l1}


class SparseRegularizer:
    """Penalty of one forward pass: Σ_rounds (w_S R(S) + w_T R(T)), divided by the number of terms.

    Parameters
    ----------
    name: ``entropy``, ``tsallis``, ``prior``, ``l1`` (on rows), ``gates`` (expected share of open gates), ``entmax`` or
        ``none`` (no penalty; ``entmax`` makes zeros by its normaliser).
    spatial, temporal: w_S and w_T.
    prior: [to, from], needed by ``prior``.

    Raises `ConfigError` for an unknown name, or ``prior`` without a prior.
    """

    def __init__(
        self, name: RegularizerName, spatial: float = 1.0, temporal: float = 0.0, prior: Tensor | None = None
    ) -> None:
        if name not in {"none", "prior", "gates", "entmax", *_ON_ROWS}:
            raise ConfigError(f"unknown regularizer {name!r}")
        if name == "prior" and prior is None:
            raise ConfigError("the regularizer 'prior' needs coordinates of every tag; the log has none")
        self.name, self.prior = name, prior
        self.weights = {"spatial": spatial, "temporal": temporal}

    @property
    def needs_routes(self) -> bool:
        """Whether the forward pass must return its routes."""
        return self.name == "prior" or self.name in _ON_ROWS

    def __call__(self, routes: Sequence[Routes], gates: Sequence[RouteGates]) -> Tensor:
        """Scalar penalty in [0, 1] × max(w_S, w_T)."""
        if self.name == "gates":
            terms = [self.weights["spatial"] * gate.expected_open() for gate in gates]
        elif self.needs_routes:
            terms = [self._rows(step) for step in routes if self.weights[step.axis] > 0]
        else:
            terms = []
        return torch.stack(terms).mean() if terms else torch.zeros(())

    def _rows(self, step: Routes) -> Tensor:
        if self.name == "prior":
            if step.axis != "spatial" or self.prior is None:
                return step.rows.new_zeros(())
            prior = self.prior.to(step.rows)
            if prior.shape[-1] < step.rows.shape[-1]:  # known-ahead sources have no place: share what is left evenly
                more = prior.new_full((len(prior), step.rows.shape[-1] - prior.shape[-1]), 1.0 / step.rows.shape[-1])
                prior = torch.cat([prior, more], dim=1)
                prior = prior / prior.sum(dim=1, keepdim=True)
            return self.weights["spatial"] * prior_divergence(step.rows, prior)
        return self.weights[step.axis] * _ON_ROWS[self.name](step.rows)
