"""Trials until there are enough, alone or with others."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ProgrammingError

from attentionmixer.config import load_log, parse
from attentionmixer.data.log import StationLog
from attentionmixer.errors import ConfigError, LogError, TrainingError
from attentionmixer.tuning.space import Space
from attentionmixer.tuning.study import Pruning, Search
from attentionmixer.tuning.table import trial_table

SPACE = {"optimizer.learning_rate": {"low": 0.001, "high": 0.01, "log": True}, "model.patch": [4, 6]}


@pytest.fixture
def search(tiny_arguments: tuple[str, ...]) -> Search:
    arguments = [*tiny_arguments, "--trainer.logger=none", "--trainer.max_epochs=1"]
    config = parse(arguments, "test")
    return Search(arguments, "test", config, load_log(config.data), Space.of(SPACE).holding(config.text))


def state(study: optuna.Study) -> list[str]:
    return [trial.state.name for trial in study.trials]


def quick(search: Search, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Replace training by a formula; returns what was drawn."""
    drawn: list[dict[str, object]] = []

    def measure(values: dict[str, object], callbacks: object = ()) -> float:
        drawn.append(values)
        return float(values["optimizer.learning_rate"])  # type: ignore[arg-type]

    monkeypatch.setattr(search, "measure", measure)
    return drawn


def test_the_first_trial_is_the_start_and_the_best_becomes_a_configuration(search: Search) -> None:
    study = search.open(None, "s")
    search.run(study, 2)
    assert state(study) == ["COMPLETE", "COMPLETE"]
    assert study.trials[0].params == {"optimizer.learning_rate": 0.003, "model.patch": 6}
    best = search.best(study)
    assert f"patch: {study.best_params['model.patch']}" in best.text
    assert best.optimizer.learning_rate == study.best_params["optimizer.learning_rate"]
    # the error is the one that the training command would report for that configuration
    assert study.best_value == pytest.approx(search.measure(study.best_params), rel=1e-6)


def test_a_search_goes_on_to_its_number_and_not_beyond(
    search: Search, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn = quick(search, monkeypatch)
    storage = f"sqlite:///{tmp_path / 's.db'}"
    search.run(search.open(storage, "s"), 3)
    search.run(search.open(storage, "s"), 5)
    search.run(search.open(storage, "s"), 5)
    assert len(drawn) == 5 and len({str(values) for values in drawn}) == 5


def test_a_study_is_gone_on_with_only_for_the_same_question(
    search: Search, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quick(search, monkeypatch)
    storage = f"sqlite:///{tmp_path / 's.db'}"
    search.open(storage, "s")
    other_log = StationLog(search.log.values * 3, search.log.time, search.log.tags)
    changes: list[tuple[dict[str, object], str]] = [
        ({"space": Space.of({**SPACE, "model.patch": [4, 6, 8]})}, "space of model.patch"),
        ({"config": parse([*search.arguments, "--model.rounds=1"], "test")}, "model.rounds"),
        ({"config": parse([*search.arguments, "--model.patch=4"], "test")}, "start of model.patch"),
        ({"log": other_log}, "log"),
    ]
    for change, says in changes:
        other = replace(search, **change)  # type: ignore[arg-type]
        with pytest.raises(
            ConfigError, match=f"study 's' was begun with another {says}; give the same, or another --study"
        ):
            other.open(storage, "s")
    with pytest.raises(ConfigError, match="the storage given cannot be used"):
        search.open("nothing", "s")
    with pytest.raises(ConfigError) as error:
        search.open("postgresql+nodriver://me:secret@localhost/x", "s")
    assert "secret" not in str(error.value) and "me:***@localhost" in str(error.value)


@pytest.mark.parametrize("error", [IntegrityError, OperationalError, ProgrammingError])
def test_a_storage_that_others_are_making_is_tried_again(
    error: type[DBAPIError], search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Storage(optuna.storages.RDBStorage):
        failures, tried = 2, 0

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            Storage.tried += 1
            if Storage.tried <= Storage.failures:
                raise error("INSERT INTO version_info", {}, Exception("already there"))
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(optuna.storages, "RDBStorage", Storage)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    assert search.open(f"sqlite:///{tmp_path / 's.db'}", "s").study_name == "s"
    assert Storage.tried == 3
    Storage.failures = 1000
    with pytest.raises(ConfigError, match="cannot be used: already there"):
        search.open(f"sqlite:///{tmp_path / 't.db'}", "s")


def test_a_search_that_can_only_fail_ends(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(values: dict[str, object], callbacks: object = ()) -> float:
        raise LogError("the log is too short for this look-back")

    monkeypatch.setattr(search, "measure", measure)
    with pytest.raises(ConfigError, match="5 trials failed one after the other, the last with: the log is too short"):
        search.run(search.open(None, "s"), 3)
    wrong = replace(search, space=Space.of({"optimizer.learning_rate": [-1.0, 0.001]}))
    with pytest.raises(ConfigError, match=r"optimizer\.learning_rate must be"):
        wrong.open(None, "s")


def test_an_interrupted_trial_is_tried_again(search: Search, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 's.db'}"

    def stopped(values: dict[str, object], callbacks: object = ()) -> float:
        search.interrupted = True
        raise TrainingError("interrupted")

    monkeypatch.setattr(search, "measure", stopped)
    search.run(search.open(storage, "s"), 2)
    search.interrupted = False
    drawn = quick(search, monkeypatch)
    search.run(search.open(storage, "s"), 1)
    assert drawn == [{"optimizer.learning_rate": 0.003, "model.patch": 6}]


def test_a_trial_that_fails_is_noted_and_does_not_count(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def measure(values: dict[str, object], callbacks: object = ()) -> float:
        calls.append(1)
        if len(calls) in (1, 3):
            raise TrainingError("the training loss became nan at step 3")
        return 1.0

    monkeypatch.setattr(search, "measure", measure)
    study = search.open(None, "s")
    search.run(study, 2)
    assert state(study) == ["FAIL", "COMPLETE", "FAIL", "COMPLETE"]
    rows = list(csv.DictReader(trial_table(study).splitlines()))
    assert [row["state"] for row in rows] == ["fail", "complete", "fail", "complete"]
    assert rows[0]["failed"] == "the training loss became nan at step 3" and rows[1]["failed"] == ""


def test_without_any_result_the_last_failure_is_told(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(values: dict[str, object], callbacks: object = ()) -> float:
        search.interrupted = True
        raise TrainingError("interrupted")

    monkeypatch.setattr(search, "measure", measure)
    study = search.open(None, "s")
    search.run(study, 3)
    assert state(study) == ["FAIL", "WAITING"]
    with pytest.raises(ConfigError, match="no trial was completed: interrupted"):
        search.best(study)


def test_a_training_that_lags_behind_is_pruned() -> None:
    class Trial:
        reported: list[tuple[float, int]] = []  # noqa: RUF012

        def report(self, value: float, step: int) -> None:
            self.reported.append((value, step))

        def should_prune(self) -> bool:
            return len(self.reported) == 2

    class Trainer:
        callback_metrics = {"validation_mse": 0.5}  # noqa: RUF012
        current_epoch = 0

    trial, trainer = Trial(), Trainer()
    pruning = Pruning(trial)  # type: ignore[arg-type]
    pruning.on_validation_end(trainer, None)  # type: ignore[arg-type]
    trainer.current_epoch = 1
    with pytest.raises(optuna.TrialPruned, match="after epoch 2"):
        pruning.on_validation_end(trainer, None)  # type: ignore[arg-type]
    assert trial.reported == [(0.5, 0), (0.5, 1)]


def test_a_model_without_training_is_measured_on_the_validation_part(tiny_arguments: tuple[str, ...]) -> None:
    arguments = [a for a in tiny_arguments if not a.startswith("--model.")] + ["--model.name=ridge_var"]
    config = parse(arguments, "test")
    search = Search(arguments, "test", config, load_log(config.data), Space.of({"model.lags": [1, 24]}))
    study = search.open(None, "s")
    search.run(study, 2)
    assert state(study) == ["COMPLETE", "COMPLETE"] and all(0 < trial.value < 5 for trial in study.trials)


def test_two_processes_share_a_study_and_end_with_its_number(tiny_arguments: tuple[str, ...], tmp_path: Path) -> None:
    space = tmp_path / "space.yaml"
    space.write_text("optimizer.learning_rate: {low: 0.001, high: 0.01, log: true}\n")
    command = [sys.executable, "-m", "attentionmixer.tune", *tiny_arguments, "--trainer.max_epochs=1", "--trials=4"]
    command += [f"--storage=sqlite:///{tmp_path / 's.db'}", f"--space={space}"]
    both = [
        subprocess.Popen(
            [*command, f"--run_dir={tmp_path / name}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    said = [process.communicate(timeout=240) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    rows = list(csv.DictReader((tmp_path / "one" / "trials.csv").read_text().splitlines()))
    assert [row["state"] for row in rows if row["state"] in ("complete", "pruned")] == ["complete"] * 4
    tried = [row["optimizer.learning_rate"] for row in rows if row["state"] == "complete"]
    assert len(set(tried)) == 4 and "0.003" in tried
    assert (tmp_path / "one" / "best.yaml").read_bytes() == (tmp_path / "two" / "best.yaml").read_bytes()
