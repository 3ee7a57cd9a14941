"""What a run leaves behind beside its weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from attentionmixer import run, train
from attentionmixer.config import parse
from attentionmixer.data.log import StationLog
from attentionmixer.errors import ConfigError
from attentionmixer.forecaster import Forecaster


def test_forecasts_lie_beside_the_readings_of_the_same_time(
    tiny_run: Path, tiny: tuple[Forecaster, StationLog]
) -> None:
    frame = pd.read_parquet(tiny_run / "forecasts.parquet")
    log = tiny[1].to_frame()
    assert set(frame["tag"]) == {"P01 dose rate", "P02 dose rate", "P03 dose rate"}
    expected = [log.loc[time, tag] for time, tag in zip(frame["time"], frame["tag"], strict=True)]
    assert frame["observed"].to_numpy() == pytest.approx(expected, nan_ok=True)
    assert bool((frame["time"] > frame["origin"]).all())


def test_the_environment_names_packages_and_the_command(tiny_run: Path) -> None:
    data = json.loads((tiny_run / "environment.json").read_text(encoding="utf-8"))
    assert data["packages"].keys() >= {"torch", "lightning", "numpy", "pandas"}
    assert "--data.lookback=24" in data["command"]


def test_the_test_part_is_not_looked_at_by_a_whole_run(
    tiny_run: Path, tiny: tuple[Forecaster, StationLog], tiny_arguments: tuple[str, ...], tmp_path: Path
) -> None:
    forecaster, log = tiny
    assert forecaster.data is not None
    values = log.values.copy()
    values[forecaster.data.split.validation_end :] *= 3
    other = StationLog(values, log.time, log.tags, log.quality)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "load_log", lambda _: other)
        assert train.main([*tiny_arguments, f"--run_dir={tmp_path / 'r'}"]) == 0
    ours, theirs = (json.loads((path / "metrics.json").read_text()) for path in (tiny_run, tmp_path / "r"))
    assert (tmp_path / "r" / "model.safetensors").read_bytes() == (tiny_run / "model.safetensors").read_bytes()
    assert ours["validation"] == theirs["validation"]
    assert ours["test"] != theirs["test"]


def test_a_resumed_run_does_not_keep_the_hashes_of_the_run_before(
    tiny_run: Path, tiny_arguments: tuple[str, ...], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    shutil.rmtree(copy / "checkpoints")
    config = parse([*tiny_arguments, "--resume"], "test")
    with pytest.raises(ConfigError, match="nothing to resume"):
        run.train_run(config, copy, [])
    # environment.json is new by now; with the old manifest there, the run would pass for tampered with
    Forecaster.load(copy)


@pytest.fixture
def finished(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of the tiny run."""
    shutil.copytree(tiny_run, tmp_path / "copy")
    return tmp_path / "copy"


def test_resuming_a_finished_run_changes_nothing_but_measures_no_training(
    finished: Path, tiny_run: Path, tiny_arguments: tuple[str, ...]
) -> None:
    assert train.main([*tiny_arguments, f"--run_dir={finished}", "--resume"]) == 0
    assert (finished / "model.safetensors").read_bytes() == (tiny_run / "model.safetensors").read_bytes()
    before, after = (json.loads((path / "metrics.json").read_text("utf-8")) for path in (tiny_run, finished))
    assert after["test"] == before["test"]
    assert after["train"]["epochs"] == before["train"]["epochs"]
    assert before["train"]["windows_per_second"] > 0
    assert after["train"]["windows_per_second"] == 0


def test_a_finished_run_can_be_trained_for_longer(finished: Path, tiny_arguments: tuple[str, ...]) -> None:
    assert train.main([*tiny_arguments, "--trainer.max_epochs=3", f"--run_dir={finished}", "--resume"]) == 0
    assert json.loads((finished / "metrics.json").read_text("utf-8"))["train"]["epochs"] == 3


@pytest.mark.parametrize(
    ("argument", "key"),
    [
        ("--model.width=16", "model.width is 8 there and 16 now"),
        ("--model.gates=false", "model.gates is True there and False now"),
        ("--seed=5", "seed is 0 there and 5 now"),
        ("--data.lookback=30", "data.lookback is 24 there and 30 now"),
        ("--data.simulation.posts=4", "data.simulation.posts is 3 there and 4 now"),
        ("--regularizer.strength=0", "regularizer.strength"),
        ("--data.calendar=[hour]", "data.calendar"),
    ],
)
def test_a_run_is_not_resumed_with_other_settings(
    argument: str, key: str, finished: Path, tiny_arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    before = (finished / "config.yaml").read_bytes()
    assert train.main([*tiny_arguments, f"--run_dir={finished}", "--resume", argument]) == 2
    assert key in capsys.readouterr().err
    assert (finished / "config.yaml").read_bytes() == before
    Forecaster.load(finished)


def test_a_run_is_not_resumed_on_a_log_of_other_tags(
    finished: Path,
    tiny: tuple[Forecaster, StationLog],
    tiny_arguments: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = tiny[1].select(tiny[1].names[:-1])
    monkeypatch.setattr(run, "load_log", lambda _: other)
    assert train.main([*tiny_arguments, f"--run_dir={finished}", "--resume"]) == 2
    error = capsys.readouterr().err
    assert "a log of other tags" in error
    assert "Traceback" not in error
