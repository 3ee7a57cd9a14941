"""``evaluate``: errors of a run on a log."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attentionmixer import evaluate
from attentionmixer.data.log import StationLog
from attentionmixer.forecaster import Forecaster


def test_errors_agree_with_a_recomputation_and_persistence_repeats_the_last_reading(
    tiny: tuple[Forecaster, StationLog],
) -> None:
    forecaster, log = tiny
    assert forecaster.data is not None
    result = evaluate.evaluate(forecaster, log)
    train = log.values[: forecaster.data.split.train_end].astype(np.float64)
    mean, deviation = np.nanmean(train, axis=0), np.nanstd(train, axis=0)
    targets = [i for i, tag in enumerate(log.tags) if tag.role == "target"]
    point = forecaster.forecasts(log).point.astype(np.float64)
    last = pd.DataFrame(log.values.astype(np.float64)).ffill().to_numpy()
    own, repeated = [], []
    for k in range(len(point)):
        row = 24 + k
        truth = np.clip((log.values[row : row + 4] - mean) / deviation, -20, 20)
        own.append((np.clip((point[k] - mean) / deviation, -20, 20) - truth)[:, targets])
        repeated.append((np.clip((last[row - 1] - mean) / deviation, -20, 20) - truth)[:, targets])
    assert result["windows"] == len(point)
    assert result["observed_values"] == int(np.isfinite(own).sum())
    assert result["mse"] == pytest.approx(float(np.nanmean(np.square(own))), rel=1e-4)
    assert result["mae"] == pytest.approx(float(np.nanmean(np.abs(own))), rel=1e-4)
    assert result["persistence"]["mse"] == pytest.approx(float(np.nanmean(np.square(repeated))), rel=1e-3)


def test_a_log_without_any_target_reading_is_no_data_and_still_json(
    tiny_run: Path,
    tiny: tuple[Forecaster, StationLog],
    tmp_path: Path,
    headers: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = tiny[1].to_frame()
    frame.iloc[24:, :3] = np.nan
    frame.rename(columns=headers).to_csv(tmp_path / "log.csv", index_label="time")
    assert evaluate.main([str(tiny_run), str(tmp_path / "log.csv"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["mse"] is None
    assert result["observed_values"] == 0


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("model.config.width", "wide"),
        ("schema.lookback", 10),
        ("schema.lookback", -3),
        ("schema.horizon", 2),
        ("schema.levels", [0.5]),
        ("schema.tags", []),
        ("schema.step_seconds", "x"),
        ("scaler", {}),
        ("scaler.location", [1.0]),
        ("provenance", None),
    ],
)
def test_a_run_that_was_tampered_with_is_refused(
    path: str, value: object, tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    (copy / "manifest.json").unlink()
    data = json.loads((copy / "forecaster.json").read_text(encoding="utf-8"))
    *parents, key = path.split(".")
    section = data
    for name in parents:
        section = section[name]
    section[key] = value
    (copy / "forecaster.json").write_text(json.dumps(data), encoding="utf-8")
    assert evaluate.main([str(copy)]) == 2
    error = capsys.readouterr().err
    assert "forecaster.json is damaged" in error
    assert "Traceback" not in error


@pytest.mark.parametrize("from_file", [False, True])
def test_from_the_start_of_the_test_part_it_finds_what_the_run_found(
    from_file: bool,
    tiny_run: Path,
    tiny: tuple[Forecaster, StationLog],
    tmp_path: Path,
    headers: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = json.loads((tiny_run / "metrics.json").read_text(encoding="utf-8"))
    start = json.loads((tiny_run / "forecaster.json").read_text(encoding="utf-8"))["provenance"]["test_start"]
    source = []
    if from_file:
        tiny[1].to_frame().rename(columns=headers).to_csv(tmp_path / "log.csv", index_label="time")
        source = [str(tmp_path / "log.csv")]
    assert evaluate.main([str(tiny_run), *source, "--start", start, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    for key in ("mse", "mae", "windows", "observed_values", "per_horizon"):
        assert result[key] == metrics["test"][key], key
    assert result["coverage"] == metrics["coverage"]
    assert result["persistence"]["mse"] == metrics["baselines"]["persistence"]["mse"]
    for name, values in metrics["test"]["per_tag"].items():
        assert result["per_tag"][name]["mae"] == values["mae"]
        assert result["per_tag"][name]["persistence_mae"] > 0


def test_a_start_too_near_the_end_of_the_log_is_refused(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate.main([str(tiny_run), "--start", "2023-01-04T23:30Z"]) == 2
    error = capsys.readouterr().err
    assert "24 steps of look-back and 4 of horizon" in error
    assert "has 3 steps, up to 2023-01-04 23:50" in error
