"""Routes closed for a while: exact, reversible, refused where there is nothing to close."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.data.log import StationLog
from attentionmixer.errors import RunError
from attentionmixer.forecaster import Forecaster
from attentionmixer.interpret import closed, open_routes
from attentionmixer.models import Task, build


def inputs(forecaster: Forecaster, log: StationLog) -> tuple[torch.Tensor, torch.Tensor]:
    batch = forecaster.windows(log, None, None).gather(torch.arange(4))
    return batch.x, batch.x_mask


@torch.no_grad()
def test_without_a_route_the_target_does_not_hear_the_source(seer: Forecaster, chain: StationLog) -> None:
    x, mask = inputs(seer, chain)
    louder = x.clone()
    louder[:, -1, 0] += 3.0
    heard = (seer.model(louder, mask) - seer.model(x, mask))[..., 1, 0].abs().max()
    routes = torch.zeros(5, 5, dtype=torch.bool)
    routes[1, 0] = True
    with closed(seer.model, routes):
        deaf = (seer.model(louder, mask) - seer.model(x, mask))[..., 1, 0].abs().max()
        own = (seer.model(louder, mask) - seer.model(x, mask))[..., 0, 0].abs().max()
    assert heard > 0.5 and deaf == 0.0 and own > 0.1


@torch.no_grad()
def test_afterwards_all_is_as_before_even_after_an_error(seer: Forecaster, chain: StationLog) -> None:
    x, mask = inputs(seer, chain)
    before = seer.model(x, mask)
    with pytest.raises(KeyError), closed(seer.model, torch.ones(5, 5, dtype=torch.bool)):
        raise KeyError
    assert torch.equal(seer.model(x, mask), before)


@torch.no_grad()
def test_a_closed_route_is_not_open_and_own_routes_never_count(seer: Forecaster) -> None:
    opened = open_routes(seer.model)
    assert not opened.diagonal().any() and int(opened.sum()) == 20
    routes = torch.zeros(5, 5, dtype=torch.bool)
    routes[3, 2] = routes[0, 0] = True
    with closed(seer.model, routes):
        assert int(open_routes(seer.model).sum()) == 19 and not open_routes(seer.model)[3, 2]


def test_asking_for_open_routes_does_not_change_the_mode(seer: Forecaster) -> None:
    gates = seer.model.route_gates[0]
    gates.train()
    assert torch.equal(open_routes(seer.model), open_routes(seer.model)) and gates.training
    gates.eval()


def test_models_without_gates_are_refused() -> None:
    model = build("linear", Task(lookback=8, horizon=1, variates=2, levels=()), {})
    with pytest.raises(RunError, match="no gates on its routes"), closed(model, torch.zeros(2, 2, dtype=torch.bool)):
        pass
    with pytest.raises(RunError, match=r"model\.gates=true"):
        open_routes(model)


def test_a_mask_of_another_shape_is_refused(seer: Forecaster) -> None:
    with (
        pytest.raises(ValueError, match=r"must be \[5, 5\] \[targets, sources\], not \[5, 4\]"),
        closed(seer.model, torch.zeros(5, 4, dtype=torch.bool)),
    ):
        pass
