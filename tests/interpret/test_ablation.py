"""Effects of single routes, against a loop and against the truth."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attentionmixer.data.log import StationLog
from attentionmixer.forecaster import Forecaster
from attentionmixer.interpret import closed, route_effects

from .conftest import TRUE


@pytest.mark.parametrize("budget", ["fast", "full"])
def test_the_true_routes_come_first(seer: Forecaster, chain: StationLog, test_part: int, budget: str) -> None:
    effects = route_effects(seer, chain, test_part, budget=budget)  # type: ignore[arg-type]
    first = effects.to_frame().head(3)
    found = {(effects.targets.index(t), effects.sources.index(s)) for t, s in zip(first.target, first.source)}  # noqa: B905
    assert found == set(TRUE)
    assert (first.effect > 0.1).all() and len(effects.to_frame()) == 20
    others = effects.to_frame().iloc[3:]
    assert others.response.max() < 0.5 * first.response.min()


@torch.no_grad()
def test_an_effect_is_that_of_a_loop(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    effects = route_effects(seer, chain, test_part, windows=40, budget="full")
    windows = seer.windows(chain, test_part, None)
    stride = -(-len(windows) // 40)
    batch = windows.gather(torch.arange(0, len(windows), stride))
    assert effects.windows == len(batch.x) <= 40
    for target, source in [(1, 0), (4, 1)]:
        routes = torch.zeros(5, 5, dtype=torch.bool)
        routes[target, source] = True
        whole = seer.model(batch.x, batch.x_mask)[:, 0, target, 0]
        with closed(seer.model, routes):
            without = seer.model(batch.x, batch.x_mask)[:, 0, target, 0]
        truth = batch.y[:, 0, target]
        rise = (without - truth).square().mean() / (whole - truth).square().mean() - 1
        assert effects.effect[target, source] == pytest.approx(float(rise), rel=1e-3, abs=1e-5)
        moved = (without - whole).square().mean().sqrt()
        assert effects.response[target, source] == pytest.approx(float(moved), rel=1e-3, abs=1e-6)


def test_with_one_round_both_budgets_say_the_same(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    fast, full = (route_effects(seer, chain, test_part, windows=50, budget=b) for b in ("fast", "full"))  # type: ignore[arg-type]
    np.testing.assert_allclose(fast.effect, full.effect, atol=1e-6)
    np.testing.assert_allclose(fast.response, full.response, atol=1e-6)
    assert fast.passes == 1 + 4 and full.passes == 1 + 20


def test_progress_is_told_and_closed_routes_are_left_out(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    told: list[tuple[int, int]] = []
    routes = torch.zeros(5, 5, dtype=torch.bool)
    routes[:, 4] = True
    with closed(seer.model, routes):
        effects = route_effects(
            seer, chain, test_part, windows=20, progress=lambda done, total: told.append((done, total))
        )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert len(effects.to_frame()) == 16 and (effects.effect[:, 4] == 0).all()
    assert repr(effects) == f"RouteEffects(16 open routes of 5 sources and 5 targets, {effects.windows} windows, fast)"


def test_where_all_is_closed_there_are_no_effects(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    with closed(seer.model, torch.ones(5, 5, dtype=torch.bool)):
        effects = route_effects(seer, chain, test_part, windows=20)
    assert effects.to_frame().empty and effects.passes == 1


def test_another_budget_is_refused(seer: Forecaster, chain: StationLog) -> None:
    with pytest.raises(ValueError, match="budget must be fast or full, not 'free'"):
        route_effects(seer, chain, budget="free")  # type: ignore[arg-type]
