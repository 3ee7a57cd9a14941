"""Who takes part, with what settings."""

from __future__ import annotations

import optuna
import pytest
import torch

from attentionmixer.models import Task
from experiments.forecasting.contenders import CONTENDERS, DEFAULTS, merged
from experiments.forecasting.problems import PROBLEMS
from experiments.forecasting.spaces import SPACES, STARTS, draw, nested
from experiments.forecasting.suites import SUITES
from experiments.forecasting.tuning import describe

TASK = Task(3, 24, 4, (0.05, 0.95))
LIBRARY = {"neuralforecast": "neuralforecast", "lightgbm": "lightgbm"}


@pytest.mark.parametrize("name", CONTENDERS)
def test_a_contender_with_its_recipe_is_a_model(name: str) -> None:
    contender = CONTENDERS[name]
    if contender.origin in LIBRARY:
        pytest.importorskip(LIBRARY[contender.origin])
    model = contender.build(TASK, contender.recipe()["model"]).eval()
    if contender.origin == "lightgbm":
        return
    x, mask = torch.randn(2, 24, 3), torch.rand(2, 24, 3) > 0.2
    with torch.no_grad():
        output = model(x * mask, mask)
    assert output.shape == (2, 4, 3, 3) and torch.isfinite(output).all()


def test_every_contender_that_can_be_tuned_is_and_by_its_own_recipe_or_that_of_its_whole() -> None:
    for name, contender in CONTENDERS.items():
        if name not in ("persistence", "seasonal_naive"):
            assert (contender.tuned_as or name) in SPACES


@pytest.mark.parametrize("name", SPACES)
def test_a_search_starts_within_its_space_and_draws_recipes_that_can_be_built(name: str) -> None:
    assert STARTS[name].keys() == SPACES[name].keys()
    for key, value in STARTS[name].items():
        of = SPACES[name][key]
        assert of[0] <= value <= of[1] if isinstance(of, tuple) else value in of
    contender = CONTENDERS[name]
    if contender.origin in LIBRARY:
        pytest.importorskip(LIBRARY[contender.origin])
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(4):
        recipe = merged(DEFAULTS, draw(study.ask(), name))
        assert set(recipe) == set(DEFAULTS)
        contender.build(TASK, recipe["model"])
    assert describe(name).keys() == SPACES[name].keys()


def test_learned_contenders_have_the_same_freedom_in_how_they_learn() -> None:
    learned = [name for name in SPACES if "steps" in SPACES[name]]
    assert len(learned) >= 15
    for key in ("steps", "optimizer.learning_rate", "optimizer.huber_delta"):
        assert len({repr(SPACES[name][key]) for name in learned}) == 1


def test_settings_are_merged_key_by_key() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 4}}, {"d": {"e": 5}}) == {
        "a": {"b": 4, "c": 2},
        "d": {"e": 5},
    }
    assert nested({"a.b": 1, "a.c": 2, "d": 3}) == {"a": {"b": 1, "c": 2}, "d": 3}


def test_suites_name_what_there_is_and_have_the_plain_baselines() -> None:
    for suite in SUITES.values():
        assert set(suite.problems) <= set(PROBLEMS)
        for problem in suite.problems:
            assert set(suite.contenders_of(problem)) <= set(CONTENDERS)
            assert {"persistence", "linear", "attentionmixer"} <= set(suite.contenders_of(problem))
    core = list(SUITES["core"].cells((), ()))
    assert len({(c.problem.name, c.contender.name, c.seed) for c in core}) == len(core)
    # what no seed changes is measured once, and the first seed of all comes before the second of any
    assert sum(c.contender.name == "persistence" for c in core) == 9
    assert [c.seed for c in core] == sorted(c.seed for c in core)


def test_the_windows_a_peer_sees_have_no_gaps() -> None:
    from experiments.forecasting.peers.neuralforecast import filled

    x = torch.tensor([[0.0, 1.0, 0.0, 3.0, 0.0]]).unsqueeze(-1)
    mask = torch.tensor([[False, True, False, True, False]]).unsqueeze(-1)
    assert filled(x, mask).flatten().tolist() == [1.0, 1.0, 1.0, 3.0, 3.0]
    assert filled(x, torch.zeros_like(mask)).flatten().tolist() == [0.0] * 5
