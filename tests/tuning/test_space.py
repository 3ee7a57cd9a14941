"""What a search may try."""

from __future__ import annotations

from pathlib import Path

import optuna
import pytest

from attentionmixer import models
from attentionmixer.config import parse
from attentionmixer.errors import ConfigError
from attentionmixer.tuning.space import Space, as_arguments


def draws(space: Space, trials: int = 20) -> list[dict[str, object]]:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    return [space.draw(study.ask()) for _ in range(trials)]


def test_a_file_names_settings_and_what_they_may_be(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(
        "model.width: [8, 16]\noptimizer.learning_rate: {low: 0.001, high: 0.1, log: true}\n"
        "trainer.max_epochs: {low: 2, high: 6, step: 2}\nmodel.dropout: {low: 0, high: 0.5, step: 0.25}\n"
    )
    found = draws(Space.load(path))
    assert {d["model.width"] for d in found} == {8, 16}
    assert {d["trainer.max_epochs"] for d in found} == {2, 4, 6}
    assert {d["model.dropout"] for d in found} == {0.0, 0.25, 0.5}
    assert all(0.001 <= d["optimizer.learning_rate"] <= 0.1 for d in found)  # type: ignore[operator]
    assert sum(d["optimizer.learning_rate"] < 0.01 for d in found) > 5  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must name settings"),
        ("[1, 2]", "must name settings"),
        ("model.width: 8", "the space of 'model.width' must be a list of values or {low, high, log, step}, not 8"),
        ("model.width: []", "must be a list of values"),
        ("model.width: [[8]]", "must be a list of values"),
        ("model.width: {low: 8}", "must be a list of values"),
        ("model.width: {low: 8, high: 4}", "the space of 'model.width' makes no sense"),
        ("optimizer.learning_rate: {low: 0.0, high: 0.1, log: true}", "makes no sense"),
        ("model.width: !!python/object:os.system [8]", ""),
    ],
)
def test_a_file_that_describes_no_space_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        Space.load(path)
    assert says in str(error.value)
    with pytest.raises(ConfigError, match="cannot be read"):
        Space.load(tmp_path / "other.yaml")


def test_a_space_is_widened_to_hold_the_start() -> None:
    text = parse(["--model.width=16", "--optimizer.learning_rate=0.5"], "test").text
    space = Space.of(
        {
            "model.width": [8, 16],
            "model.rounds": [3, 4],
            "model.warm_start": [False, True],
            "optimizer.learning_rate": {"low": 0.001, "high": 0.1},
            "trainer.max_epochs": {"low": 1, "high": 9},
        }
    )
    wide = space.holding(text)
    assert wide.start(text) == {
        "model.width": 16,
        "model.rounds": 2,
        "model.warm_start": False,
        "optimizer.learning_rate": 0.5,
        "trainer.max_epochs": 4,
    }
    assert wide.edges()[2:5] == [{"model.rounds": 3}, {"model.rounds": 4}, {"model.rounds": 2}]
    assert wide.edges()[-3:] == [{"optimizer.learning_rate": 0.5}, {"trainer.max_epochs": 1}, {"trainer.max_epochs": 9}]
    # what lies inside stays as it is
    assert {key: wide.to_dict()[key] for key in ("model.width", "model.warm_start", "trainer.max_epochs")} == {
        key: space.to_dict()[key] for key in ("model.width", "model.warm_start", "trainer.max_epochs")
    }


@pytest.mark.parametrize(
    "key", ["data.horizon", "data.split.train", "data.path", "seed", "model.name", "levels", "data.scaling.kind"]
)
def test_what_would_change_the_question_cannot_be_searched(key: str) -> None:
    with pytest.raises(ConfigError, match=f"'{key}' cannot be searched: trials would not answer the same question"):
        Space.of({key: [1, 2]})


def test_a_number_that_yaml_takes_for_text_is_a_number() -> None:
    assert {d["optimizer.learning_rate"] for d in draws(Space.of({"optimizer.learning_rate": ["1e-3", 0.01]}))} == {
        0.001,
        0.01,
    }


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"'model\.widht', which is no setting; the nearest is 'model\.width'"):
        Space.of({"model.widht": [8]}).holding(parse([], "test").text)


@pytest.mark.parametrize("name", [name for name in models.names() if name != "persistence"])
def test_every_architecture_has_a_space_whose_draws_are_configurations(name: str) -> None:
    space = Space.default(name)
    space = space.holding(parse([f"--model.name={name}"], "test").text)
    for drawn in [*draws(space, 2), *(space.edges() if name in ("attentionmixer", "ridge_var") else [])]:
        parse([f"--model.name={name}", *as_arguments(drawn)], "test")


def test_where_nothing_can_be_searched_that_is_said() -> None:
    with pytest.raises(ConfigError, match="model 'persistence' has nothing to search; name settings with --space FILE"):
        Space.default("persistence")
