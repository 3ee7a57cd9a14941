"""Deletion curves: a true map bites, a random one does not, an upside-down one is found out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attentionmixer.data.log import StationLog
from attentionmixer.forecaster import Forecaster
from attentionmixer.interpret import closed, deletion_curve

from .conftest import TRUE

SHARES = (0.15, 0.5, 1.0)


def truth(sign: float = 1.0) -> np.ndarray:
    strength = np.zeros((5, 5))
    for route, coefficient in TRUE.items():
        strength[route] = sign * abs(coefficient)
    return strength


def test_a_true_map_costs_more_than_random_routes(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    curve = deletion_curve(seer, chain, truth(), test_part, shares=SHARES, orders=20)
    assert curve.routes.tolist() == [3, 10, 20]
    assert curve.advantage[0] > 3 and curve.low[0] > 2 and curve.low[0] <= curve.advantage[0] <= curve.high[0]
    assert curve.weakest[0] < 0.1 * curve.strongest[0] and curve.area > 0
    # with all routes closed every order says the same
    assert curve.strongest[2] == pytest.approx(curve.weakest[2])
    assert curve.advantage[2] == pytest.approx(1.0) and curve.low[2] == pytest.approx(1.0)
    frame = curve.to_frame()
    assert list(frame.columns) == "share routes strongest weakest random advantage low high".split()
    assert frame["strongest"].iloc[2] == pytest.approx(frame["random"].iloc[2])


def test_an_upside_down_map_is_found_out(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    curve = deletion_curve(seer, chain, truth(-1.0), test_part, shares=SHARES, orders=20)
    assert curve.advantage[0] < 0.5 and curve.area < 0 and curve.weakest[0] > curve.strongest[0]


def test_the_rises_are_those_of_closing_by_hand(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    curve = deletion_curve(seer, chain, truth(), test_part, shares=(0.15,), orders=1, windows=10_000)
    routes = torch.zeros(5, 5, dtype=torch.bool)
    for route in TRUE:
        routes[route] = True
    whole = seer.evaluate(chain, test_part).compute()["mse"]
    with closed(seer.model, routes):
        without = seer.evaluate(chain, test_part).compute()["mse"]
    assert curve.error == pytest.approx(whole, rel=1e-3)  # type: ignore[arg-type]
    assert curve.strongest[0] == pytest.approx(without - whole, rel=1e-2)  # type: ignore[operator]


def test_the_same_seed_draws_the_same(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    one, same, other = (
        deletion_curve(seer, chain, truth(), test_part, shares=(0.3,), orders=4, windows=40, seed=seed)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one.random, same.random) and np.array_equal(one.low, same.low)
    assert not np.array_equal(one.random, other.random)


def test_where_no_route_is_open_nothing_rises(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    with closed(seer.model, torch.ones(5, 5, dtype=torch.bool)):
        curve = deletion_curve(seer, chain, truth(), test_part, shares=SHARES, orders=2, windows=20)
    assert (curve.strongest == 0).all() and (curve.advantage == 1).all() and (curve.routes == 0).all()


def test_a_strength_of_another_shape_is_refused(seer: Forecaster, chain: StationLog) -> None:
    with pytest.raises(ValueError, match=r"strength must be \[5, 5\] \[targets, sources\], not \[4, 5\]"):
        deletion_curve(seer, chain, np.zeros((4, 5)))


def test_progress_counts_every_pass(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    told: list[tuple[int, int]] = []
    deletion_curve(
        seer, chain, truth(), test_part, shares=(0.5,), orders=2, windows=20, progress=lambda *n: told.append(n)
    )
    assert [done for done, _ in told] == [1, 2, 3, 4] and {total for _, total in told} == {4}
