"""Routes taken out for good: few are left, the true ones among them, and nothing brings the others back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from attentionmixer.data.log import StationLog
from attentionmixer.forecaster import GENTLE, Forecaster
from attentionmixer.interpret import closed, open_routes, prune, route_effects

from .conftest import TRUE

QUICK = replace(GENTLE, trainer=replace(GENTLE.trainer, max_epochs=1, progress=False, accelerator="cpu"))


@pytest.fixture(scope="module")
def pruned(seer: Forecaster, chain: StationLog) -> Forecaster:
    return prune(seer, chain, tolerance=0.05, training=None)


def error(forecaster: Forecaster, log: StationLog) -> float:
    assert forecaster.schema
    first, last = 1050, 1275
    mse = forecaster.evaluate(log, first, last).compute()["mse"]
    assert mse is not None
    return float(mse)


def test_only_true_routes_are_left_and_the_error_is_within_the_tolerance(
    seer: Forecaster, chain: StationLog, pruned: Forecaster
) -> None:
    left = {tuple(route) for route in open_routes(pruned.model).nonzero().tolist()}
    assert set(TRUE) <= left and len(left) <= 6
    assert error(pruned, chain) <= 1.05 * error(seer, chain) * 1.001
    facts = pruned.provenance["pruned"]
    assert facts["closed"] + facts["open"] == 20 and facts["open"] == len(left)
    assert facts["validation_mse_closed"] <= 1.05 * facts["validation_mse_whole"]


def test_the_whole_forecaster_is_left_as_it_was(seer: Forecaster, pruned: Forecaster) -> None:
    assert int(open_routes(seer.model).sum()) == 20 and "pruned" not in seer.provenance
    assert seer.model.config.sparse is False and pruned.model.config.sparse is True  # type: ignore[attr-defined]


def test_it_forecasts_as_the_whole_model_with_the_same_routes_closed(
    seer: Forecaster, chain: StationLog, pruned: Forecaster
) -> None:
    routes = ~open_routes(pruned.model)
    with closed(seer.model, routes):
        expected = seer.forecasts(chain, 1275)
    np.testing.assert_allclose(pruned.forecasts(chain, 1275).point, expected.point, atol=1e-4)


def test_saving_and_training_keep_exact_zeros(chain: StationLog, pruned: Forecaster, tmp_path: Path) -> None:
    pruned.save(tmp_path)
    loaded = Forecaster.load(tmp_path)
    assert torch.equal(open_routes(loaded.model), open_routes(pruned.model))
    np.testing.assert_array_equal(loaded.predict(chain).point, pruned.predict(chain).point)
    tuned = pruned.finetune(chain, QUICK)
    opened = open_routes(tuned.model)
    assert not bool((opened & ~open_routes(pruned.model)).any())
    assert any(
        not torch.equal(value, tuned.model.state_dict()[name]) for name, value in pruned.model.state_dict().items()
    )


def test_training_is_kept_only_where_it_betters(seer: Forecaster, chain: StationLog, pruned: Forecaster) -> None:
    trained = prune(seer, chain, tolerance=0.05, training=QUICK)
    facts, plain = trained.provenance["pruned"], pruned.provenance["pruned"]
    assert facts["closed"] == plain["closed"] and facts["validation_mse"] <= plain["validation_mse"]


def test_more_tolerance_closes_more(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    effects = route_effects(seer, chain, None, 1050, windows=200)
    counts = [
        prune(seer, chain, tolerance, training=None, effects=effects).provenance["pruned"]["closed"]
        for tolerance in (0.0, 0.05, 0.5, 100.0)
    ]
    assert counts == sorted(counts) and counts[-1] == 20 and counts[0] < 20


def test_what_cannot_be_meant_is_refused(seer: Forecaster, chain: StationLog) -> None:
    with pytest.raises(ValueError, match="tolerance must be at least 0"):
        prune(seer, chain, -0.1)
    effects = route_effects(seer, chain, None, 1050, windows=20)
    with pytest.raises(ValueError, match=r"effects are of \(4, 5\) routes, the model has \(5, 5\)"):
        prune(seer, chain, effects=replace(effects, response=effects.response[:4]))
