"""predict, evaluate and the console script."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from attentionmixer import cli, evaluate, predict
from attentionmixer.data.export import guard_text
from attentionmixer.data.simulate import simulate_ring


def test_predict_writes_a_table_with_times_after_the_log(tiny_run: Path, tmp_path: Path) -> None:
    assert predict.main([str(tiny_run), "--output", str(tmp_path / "f.csv")]) == 0
    frame = pd.read_csv(tmp_path / "f.csv")
    log = simulate_ring(posts=3, days=4).log
    assert pd.Timestamp(frame["time"].min()) == log.time[-1] + log.step
    assert len(frame) == 4 * len(log.tags)
    assert frame["point"].dtype.kind == "f"


def test_predict_reads_a_users_file(tiny_run: Path, tmp_path: Path, headers: dict[str, str]) -> None:
    log = simulate_ring(posts=3, days=4).log
    log.to_frame().iloc[:300].rename(columns=headers).to_csv(tmp_path / "log.csv", index_label="time")
    output = tmp_path / "f.parquet"
    assert predict.main([str(tiny_run), str(tmp_path / "log.csv"), "--output", str(output)]) == 0
    assert pd.read_parquet(output)["time"].min() == log.time[299] + log.step


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_text_that_a_spreadsheet_would_run_is_guarded(text: str, tmp_path: Path) -> None:
    assert guard_text(text) == "'" + text
    assert guard_text("P01 dose rate") == "P01 dose rate"
    frame = pd.DataFrame(
        {
            "origin": pd.to_datetime(["2024-01-01"], utc=True),
            "time": pd.to_datetime(["2024-01-02"], utc=True),
            "tag": [text],
            "unit": ["nSv/h"],
            "point": [-0.5],
        }
    )
    predict._write(frame, tmp_path / "f.csv", ".csv")
    with (tmp_path / "f.csv").open(encoding="utf-8-sig", newline="") as file:
        row = next(csv.DictReader(file))
    assert row["tag"] == "'" + text
    assert row["point"] == "-0.5"


def test_evaluate_measures_every_window_of_the_log(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate.main([str(tiny_run), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["windows"] == 4 * 144 - 24 - 4 + 1
    assert result["persistence"]["mse"] > 0
    assert set(result["per_tag"]) == {"P01 dose rate", "P02 dose rate", "P03 dose rate"}


def test_evaluate_prints_a_table(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate.main([str(tiny_run)]) == 0
    printed = capsys.readouterr().out
    assert "90% interval covers" in printed
    assert "P02 dose rate" in printed


@pytest.mark.parametrize("door", [predict.main, evaluate.main])
def test_mistakes_end_with_two_and_the_nearest_option(
    door: object, tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, says in (
        ([str(tmp_path)], "finished run"),
        ([str(tiny_run), "/no/such.csv"], "no/such"),
        ([str(tiny_run), "--formt", "table"], "--format"),
        ([str(tiny_run), "--start", "soon"], "soon"),
    ):
        assert door(arguments) == 2  # type: ignore[operator]
        error = capsys.readouterr().err
        assert says in error
        assert "Traceback" not in error


def test_the_console_script_names_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("train", "predict", "evaluate", "report"))
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("attentionmixer ")
    assert cli.main(["trian"]) == 2
    assert "did you mean 'train'?" in capsys.readouterr().err
    assert cli.main(["xyz"]) == 2
    assert "train, tune, predict, evaluate, export, report" in capsys.readouterr().err


def test_the_console_script_hands_over(tiny_run: Path, tmp_path: Path) -> None:
    assert cli.main(["predict", str(tiny_run), "--output", str(tmp_path / "f.csv")]) == 0
    assert cli.main(["report", str(tiny_run), "--output", str(tmp_path / "r.html")]) == 0
