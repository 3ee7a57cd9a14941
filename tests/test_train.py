"""The training front door: what a run leaves, exit codes, resuming, hostile configurations."""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

from attentionmixer import train
from attentionmixer.config import config_path, parse
from attentionmixer.data.simulate import simulate_ring
from attentionmixer.errors import RunError
from attentionmixer.files import verify_manifest
from attentionmixer.forecaster import Forecaster
from attentionmixer.training.module import ForecastModule

REPOSITORY = Path(__file__).resolve().parents[1]
LINES_ON_A_SCREEN = 24


def weights(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def test_a_run_directory_holds_all_that_was_promised(tiny_run: Path) -> None:
    names = {path.name for path in tiny_run.iterdir()}
    assert names >= {
        "config.yaml",
        "model.safetensors",
        "forecaster.json",
        "metrics.json",
        "forecasts.parquet",
        "routes",
        "report.html",
        "log.txt",
        "environment.json",
        "checkpoints",
        "manifest.json",
    }
    assert not [path for path in tiny_run.rglob("*.part")]
    assert not [path for path in tiny_run.rglob("*") if path.suffix in (".pt", ".pth", ".pkl", ".ckpt")]


def test_metrics_have_every_figure_and_agree_with_a_recomputation(tiny_run: Path) -> None:
    metrics = json.loads((tiny_run / "metrics.json").read_text(encoding="utf-8"))
    for part in ("test", "validation"):
        assert metrics[part].keys() >= {"mse", "mae", "windows", "observed_values", "per_tag", "per_horizon"}
    for name in ("persistence", "linear"):
        assert metrics["baselines"][name]["mse"] == metrics["baselines"][name]["test"]["mse"]
        assert metrics["baselines"][name]["validation"]["mae"] > 0
    assert set(metrics["coverage"]) == {"0.5", "0.8", "0.9"}
    assert metrics["train"].keys() >= {"seconds", "windows_per_second", "peak_rss_mb"}
    assert metrics["parameters"] > 0
    assert metrics["routes"]["effective"].keys() == {"spatial", "temporal"}

    log = simulate_ring(posts=3, days=4).log
    forecaster = Forecaster.load(tiny_run)
    split = json.loads((tiny_run / "forecaster.json").read_text(encoding="utf-8"))["provenance"]
    first = int(log.time.get_loc(split["test_start"]))
    forecast = forecaster.forecasts(log, first, len(log))
    train_end = int(log.time.get_loc(split["train_end"])) + 1
    deviation = np.nanstd(log.values[:train_end].astype(np.float64), axis=0)
    mean = np.nanmean(log.values[:train_end].astype(np.float64), axis=0)
    targets = [i for i, tag in enumerate(log.tags) if tag.role == "target"]
    errors = []
    for k, origin in enumerate(forecast.origin):
        row = int(log.time.get_loc(origin)) + 1
        truth = np.clip((log.values[row : row + 4].astype(np.float64) - mean) / deviation, -20, 20)
        guess = np.clip((forecast.point[k].astype(np.float64) - mean) / deviation, -20, 20)
        errors.append((truth - guess)[:, targets])
    assert len(forecast.origin) == metrics["test"]["windows"]
    assert float(np.nanmean(np.square(errors))) == pytest.approx(metrics["test"]["mse"], rel=1e-4)


def test_the_manifest_notices_one_flipped_byte(tiny_run: Path, tmp_path: Path) -> None:
    import shutil

    verify_manifest(tiny_run)
    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    content = bytearray((copy / "forecasts.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (copy / "forecasts.parquet").write_bytes(content)
    with pytest.raises(RunError, match=r"forecasts\.parquet was changed"):
        Forecaster.load(copy)


def test_the_kept_configuration_repeats_the_run(tiny_run: Path, tmp_path: Path) -> None:
    assert train.main(["--config", str(tiny_run / "config.yaml"), "--run_dir", str(tmp_path / "again")]) == 0
    assert weights(tmp_path / "again") == weights(tiny_run)


def test_a_directory_with_something_in_it_is_not_written_to(
    tiny_run: Path, tiny_arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    before = weights(tiny_run)
    assert train.main([*tiny_arguments, "--run_dir", str(tiny_run)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert weights(tiny_run) == before


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "attentionmixer.train", *arguments, "--run_dir", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


@pytest.mark.skipif(sys.platform == "win32", reason="a signal can not be sent to one process there")
def test_an_interrupted_run_is_valid_and_resumes_to_the_same_weights(
    tiny_arguments: tuple[str, ...], tmp_path: Path
) -> None:
    arguments = [*tiny_arguments, "--trainer.max_epochs=6", "--trainer.patience=6", "--data.batch_size=16"]
    # slow enough to get better up to the end: otherwise both would keep the weights of an epoch before the interrupt
    arguments.append("--optimizer.learning_rate=3e-4")
    whole = start(arguments, tmp_path / "whole")
    output, _ = whole.communicate(timeout=300)
    assert whole.returncode == 0, output
    broken = start(arguments, tmp_path / "broken")
    checkpoint = tmp_path / "broken" / "checkpoints" / "last.safetensors"
    while not checkpoint.is_file() and broken.poll() is None:
        time.sleep(0.02)
    broken.send_signal(signal.SIGINT)
    output, _ = broken.communicate(timeout=300)
    assert broken.returncode == 0, output
    metrics = json.loads((tmp_path / "broken" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["train"]["interrupted"] is True
    assert metrics["train"]["epochs"] < 6
    assert (tmp_path / "broken" / "report.html").is_file()
    Forecaster.load(tmp_path / "broken")
    assert weights(tmp_path / "broken") != weights(tmp_path / "whole")
    resumed = start([*arguments, "--resume"], tmp_path / "broken")
    output, _ = resumed.communicate(timeout=300)
    assert resumed.returncode == 0, output
    assert weights(tmp_path / "broken") == weights(tmp_path / "whole")
    assert json.loads((tmp_path / "whole" / "metrics.json").read_text(encoding="utf-8"))["train"]["best_epoch"] == 6
    assert checkpoint.read_bytes() == (tmp_path / "whole" / "checkpoints" / "last.safetensors").read_bytes()


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Standard error of a command line that must end with 2, on one screen and without a traceback."""
    assert train.main(arguments) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert len(error.splitlines()) <= LINES_ON_A_SCREEN, error
    return error


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("--data.lokback=3", "data.lookback"),
        ("--modle.width=3", "model.width"),
        ("--model.name=transfomer", "attentionmixer, attentionmixer-paper, persistence"),
        ("--data.lookback=many", "lookback"),
        ("--config=no-such-configuration", "quickstart"),
        ("--data.path=/no/such/file.csv", "no/such/file"),
        ("--data.horizon=5000", "longest horizon"),
        ("--levels=[0.5,2]", "between 0 and 1"),
        ("--trainer.accelerator=abacus", "accelerator"),
        ("--trainer.devices=9999", "trainer.devices"),
        ("--trainer.devices=0", "devices"),
        ("--model.width=0", "width must be at least 1"),
        ("--model.dropout=2", "dropout"),
        ("--resume", "nothing to resume"),
    ],
)
def test_bad_input_ends_with_two_and_says_what_to_do(
    argument: str, says: str, tiny_arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in refused([*tiny_arguments, f"--run_dir={tmp_path / 'r'}", argument], capsys)


def test_an_unknown_key_in_a_file_names_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.yaml").write_text("data:\n  lokback: 3\n", encoding="utf-8")
    assert "data.lookback" in refused(["--config", str(tmp_path / "c.yaml")], capsys)


HOSTILE = "trainer:\n  callbacks:\n    - class_path: sideeffect.Thing\n"


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        "data:\n  simulation:\n    class_path: sideeffect.Thing\n",
        "model:\n  class_path: sideeffect.Thing\n",
        "model: sideeffect.Thing\n",
        "data:\n  split: sideeffect.Thing\n",
        "a: &a [1]\nb: *a\n",
        "data: !!python/object/apply:os.system ['true']\n",
        "x: " + "a" * 1_100_000,
        "data: [unclosed\n",
    ],
)
def test_a_hostile_configuration_is_refused_before_anything_is_imported(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "imported"
    (tmp_path / "sideeffect.py").write_text(
        f"import pathlib; pathlib.Path({str(marker)!r}).touch()\nclass Thing: pass\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    refused(["--config", str(tmp_path / "c.yaml"), "--run_dir", str(tmp_path / "r")], capsys)
    assert not marker.exists()


def test_a_hostile_command_line_is_refused_before_anything_is_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "imported"
    (tmp_path / "sideeffect.py").write_text(
        f"import pathlib; pathlib.Path({str(marker)!r}).touch()\nclass Thing: pass\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for argument in (
        '--trainer.callbacks=[{"class_path": "sideeffect.Thing"}]',
        "--model=sideeffect.Thing",
        "--model.class_path=sideeffect.Thing",
        "--data.simulation=sideeffect.Thing",
        "--data={simulation: sideeffect.Thing}",
        "--trainer=sideeffect.Thing",
        "--mode=sideeffect.Thing",
        "--conf=sideeffect.Thing",
    ):
        refused([argument, f"--run_dir={tmp_path / 'r'}"], capsys)
    assert not marker.exists()


def test_a_loss_that_is_no_number_is_a_failure_and_never_the_best(
    tiny_arguments: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = ForecastModule.forward

    def broken(self: ForecastModule, *inputs: object) -> object:
        return original(self, *inputs) * math.nan  # type: ignore[arg-type]

    monkeypatch.setattr(ForecastModule, "forward", broken)
    error = refused([*tiny_arguments, f"--run_dir={tmp_path / 'r'}"], capsys)
    assert "nan" in error
    assert not (tmp_path / "r" / "model.safetensors").exists()


def test_a_fault_of_ours_ends_with_one_and_a_traceback(
    tiny_arguments: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fault(*_: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(train, "train_run", fault)
    assert train.main([*tiny_arguments, f"--run_dir={tmp_path / 'r'}"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(path.stem for path in (REPOSITORY / "configs").glob("*.yaml")))
def test_every_configuration_parses_and_says_what_it_is_for(name: str, tmp_path: Path) -> None:
    assert config_path(name).read_text(encoding="utf-8").startswith("# ")
    config = parse([f"--config={name}"], "test")
    (tmp_path / "again.yaml").write_text(config.text, encoding="utf-8")
    assert parse(["--config", str(tmp_path / "again.yaml")], "test").text == config.text


def test_print_config_prints_what_can_be_read_back(
    tiny_arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        train.main([*tiny_arguments, "--print_config"])
    assert stop.value.code == 0
    tree = yaml.safe_load(capsys.readouterr().out)
    assert tree["data"]["lookback"] == 24
    assert tree["model"]["name"] == "attentionmixer"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--regularizer.name=none"],
        ["--regularizer.name=entropy"],
        ["--regularizer.name=tsallis", "--regularizer.temporal=0.5"],
        ["--regularizer.name=l1"],
        ["--regularizer.name=prior"],
        ["--regularizer.name=entmax", "--model.normalizer=entmax"],
        ["--trainer.precision=bf16-mixed"],
        ["--trainer.logger=tensorboard"],
        ['--trainer.callbacks=[{"class_path": "lightning.pytorch.callbacks.LearningRateMonitor"}]'],
        ["--data.simulation.weather_role=known", "--data.calendar=[hour]"],
        ["--data.scaling.kind=robust", "--data.scaling.counts=anscombe"],
        ["--model.warm_start=true"],
        ["--model.spatial=false"],
    ],
)
def test_every_option_trains(arguments: list[str], tiny_arguments: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "r"
    assert train.main([*tiny_arguments, "--trainer.max_epochs=1", f"--run_dir={folder}", *arguments]) == 0
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert math.isfinite(metrics["test"]["mse"])
