"""Two processes train one model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attentionmixer.files import read_json
from attentionmixer.train import main
from attentionmixer.training.ranks import check_strategy, is_helper

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or (os.cpu_count() or 1) < 2, reason="needs gloo and two cores to be of any meaning"
)


def test_two_processes_train_the_model_that_one_would(tiny_arguments: tuple[str, ...], tmp_path: Path) -> None:
    # without dropout, which draws anew for each part of a batch: what differs is the order of sums
    arguments = [*tiny_arguments, "--model.dropout=0"]
    assert main([*arguments, f"--run_dir={tmp_path / 'one'}"]) == 0
    command = [sys.executable, "-m", "attentionmixer.train", *arguments, f"--run_dir={tmp_path / 'two'}"]
    command += ["--trainer.devices=2", "--trainer.strategy=ddp"]
    alone = {key: value for key, value in os.environ.items() if key not in ("RANK", "LOCAL_RANK", "NODE_RANK")}
    done = subprocess.run(command, env=alone, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    # one process speaks, writes and measures
    assert done.stdout.count("report: ") == 1
    one, two = (read_json(tmp_path / name / "metrics.json") for name in ("one", "two"))
    for part in ("validation", "test"):
        assert two[part]["mse"] == pytest.approx(one[part]["mse"], rel=1e-3)
        assert two[part]["windows"] == one[part]["windows"]
        assert two[part]["observed_values"] == one[part]["observed_values"]
    first, second = (pd.read_parquet(tmp_path / name / "forecasts.parquet") for name in ("one", "two"))
    assert first[["origin", "time", "tag"]].equals(second[["origin", "time", "tag"]])
    np.testing.assert_allclose(second["point"], first["point"], rtol=1e-2)
    assert (tmp_path / "two" / "manifest.json").is_file()


@pytest.mark.parametrize("name", ["ddp_spawn", "ddp_fork", "ddp_notebook"])
def test_strategies_that_lose_what_was_learned_are_refused(
    name: str, tiny_arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*tiny_arguments, f"--run_dir={tmp_path / 'run'}", f"--trainer.strategy={name}"]) == 2
    assert "use 'ddp'" in capsys.readouterr().err
    check_strategy("ddp")


@pytest.mark.parametrize(
    ("name", "value", "helps"), [("LOCAL_RANK", "1", True), ("RANK", "3", True), ("RANK", "0", False)]
)
def test_a_process_knows_from_its_environment_that_another_leads(
    name: str, value: str, helps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in ("RANK", "LOCAL_RANK", "NODE_RANK"):
        monkeypatch.delenv(other, raising=False)
    assert not is_helper()
    monkeypatch.setenv(name, value)
    assert is_helper() == helps
