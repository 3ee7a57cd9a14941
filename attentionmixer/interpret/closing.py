"""Closing routes of a trained model for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from ..errors import RunError
from ..models.base import ForecastModel
from ..nn.gates import RouteGates

#: Logit at which a gate is exactly 0.
_SHUT = -1e4


@contextmanager
def closed(model: ForecastModel, routes: Tensor) -> Iterator[None]:
    """Within the block the chosen routes are closed in every round, head and linear path.

    A closed route weighs exactly 0 and the other weights of its row share what it had. What its source says can still
    reach the target through a third tag, if the model has more than one round.

    Parameters
    ----------
    model: with route gates. routes: bool [N, N + C], True = closed; rows are targets, the last C columns known
        channels. A tag's route to itself stays open.

    Raises `RunError` where the model has no gates and ``ValueError`` where the shape is another.
    """
    gates = gates_of(model)
    _check(routes, gates)
    before = gates.logit.detach().clone()
    try:
        close(model, routes)
        yield
    finally:
        with torch.no_grad():
            gates.logit.copy_(before)


@torch.no_grad()
def close(model: ForecastModel, routes: Tensor) -> None:
    """Close routes for good: bool [N, N + C], True = closed. Saving keeps them at 0 and no training opens them.

    Raises what `closed` raises.
    """
    gates = gates_of(model)
    _check(routes, gates)
    gates.logit.masked_fill_(routes.to(gates.logit.device), _SHUT)


@torch.no_grad()
def open_routes(model: ForecastModel) -> Tensor:
    """bool [N, N + C]: routes between different ends that the model's gates leave open.

    Raises `RunError` where the model has no gates.
    """
    gates = gates_of(model)
    was_training = gates.training
    gates.eval()
    result: Tensor = (gates() > 0) & ~gates.own
    gates.train(was_training)
    return result


def mask_of(opened: Tensor, routes: Tensor) -> Tensor:
    """bool of the shape of ``opened``, True at ``routes`` [E, 2] (target, source)."""
    mask = torch.zeros_like(opened)
    mask[routes[:, 0], routes[:, 1]] = True
    return mask


def gates_of(model: ForecastModel) -> RouteGates:
    """The gates of the routes between tags. Raises `RunError` where there are none."""
    if not model.route_gates:
        raise RunError(
            "this model has no gates on its routes, so none can be closed; train one with model.gates=true and "
            "model.spatial=true"
        )
    return model.route_gates[0]


def _check(routes: Tensor, gates: RouteGates) -> None:
    if routes.shape != gates.logit.shape:
        raise ValueError(f"routes must be {list(gates.logit.shape)} [targets, sources], not {list(routes.shape)}")
