"""The command that runs a suite: what is skipped, what is kept, and the page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.files import read_json, write_json
from attentionmixer.run import environment
from experiments.forecasting import __main__ as command
from experiments.forecasting import cell as cells
from experiments.forecasting import page
from experiments.forecasting.cell import Cell
from experiments.forecasting.contenders import CONTENDERS
from experiments.forecasting.problems import PROBLEMS
from experiments.forecasting.suites import SUITES

LEVELS = {"attentionmixer": 0.5, "gru": 0.55, "ridge_var": 0.6, "linear": 0.7, "persistence": 1.0}


def result(cell: Cell, mse: float) -> dict[str, Any]:
    groups = [[mse * 10.0] * 50, [mse * 5.0] * 50, [10.0] * 50]
    test = {"mse": mse, "mae": mse / 2, "r2": 0.1, "coverage": {"0.9": 0.9}, "windows": 50, "observed_values": 500}
    return {
        "problem": cell.problem.name,
        "contender": cell.contender.name,
        "seed": cell.seed,
        "settings_hash": cell.settings_hash(),
        "commit": "abc",
        "environment": {**environment([]), "device": "cpu"},
        "validation": test,
        "test": {**test, "groups": groups},
        "train": {"seconds": 9.6, "epochs": 3, "peak_rss_mb": 500.0},
        "parameters": 12345,
    }


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    monkeypatch.setattr(cells, "RESULTS", tmp_path / "forecasting")
    monkeypatch.setattr(page, "RESULTS", tmp_path / "forecasting")
    monkeypatch.setattr(page, "DOCS", tmp_path)
    calls: list[Cell] = []

    def measure(cell: Cell, suite: str, data: Path | None) -> str | None:
        calls.append(cell)
        if cell.contender.name == "gru" and len(calls) < 6:
            return "Boom: out of [memory]"
        cell.path(suite).parent.mkdir(parents=True, exist_ok=True)
        write_json(cell.path(suite), result(cell, LEVELS[cell.contender.name]))
        return None

    monkeypatch.setattr(command, "measure", measure)
    monkeypatch.setattr(type(PROBLEMS["radnet-2019"]), "is_there", lambda self, data: True)
    return calls


def test_a_suite_goes_on_where_it_failed_and_its_page_ranks_the_models(
    measured: list[Cell], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert command.main(["--suite", "quick"]) == 1
    assert "radnet-2019, gru, seed 0; run again" in capsys.readouterr().err
    page_file = tmp_path / "forecasting-quick.md"
    assert "**Not run to its end: 1 of 5 cells are missing**" in page_file.read_text(encoding="utf-8")
    assert command.main(["--suite", "quick"]) == 0
    assert [cell.contender.name for cell in measured] == [*SUITES["quick"].contenders, "gru"]
    assert command.main(["--suite", "quick"]) == 0 and len(measured) == 6
    text = page_file.read_text(encoding="utf-8")
    assert "Not run to its end" not in text
    assert "| radnet-2019 | 0.5000 | gru | 0.5500 | -9.1% (-9.1% to -9.1%) | better |" in text
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.count("|") > 8][2:]
    assert rows == sorted(LEVELS, key=LEVELS.__getitem__)
    assert "| persistence | 1.0000 | 0.5000 | +100.0% (+100.0% to +100.0%) | 90 % | 1.0000 | 1 | 10 | 500 |" in text
    tidy = list(csv.DictReader(io.StringIO((tmp_path / "forecasting-quick.csv").read_text(encoding="utf-8"))))
    assert [row["contender"] for row in tidy] == [name for name in CONTENDERS if name in LEVELS]
    assert {row["mse"] for row in tidy} == {f"{level:g}" for level in LEVELS.values()}


def test_a_cell_is_current_until_its_settings_change(measured: list[Cell], monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell(PROBLEMS["radnet-2019"], CONTENDERS["linear"], 0, 20.0)
    assert not cell.is_current("quick")
    command.measure(cell, "quick", None)
    assert cell.is_current("quick")
    assert read_json(cell.path("quick"))["settings_hash"] == cell.settings_hash()
    assert not Cell(cell.problem, cell.contender, 0, 30.0).is_current("quick")
    assert not Cell(cell.problem, cell.contender, 1, 20.0).is_current("quick")
    monkeypatch.setattr(cells, "VERSION", 99)
    assert not cell.is_current("quick")


def test_logs_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(["--suite", "quick", "--data", str(tmp_path)])
    assert "the files of radnet-2019 are not in" in capsys.readouterr().err
    assert PROBLEMS["ring"].is_there(None) and not PROBLEMS["sru"].is_there(None)


def test_a_cell_runs_as_a_command_and_measures_both_parts(tmp_path: Path) -> None:
    cell = Cell(PROBLEMS["ring"], CONTENDERS["persistence"], 0, 5.0)
    assert cells.main(cell.command(None, tmp_path / "x.json")[3:]) == 0
    found = read_json(tmp_path / "x.json")
    assert found["settings_hash"] == cell.settings_hash() and found["parameters"] == 0
    assert 0 < found["test"]["mse"] < 2 and 0 < found["validation"]["mse"] < 2
    assert "groups" in found["test"] and "groups" not in found["validation"]
    assert str(tmp_path) not in str(found)


def test_the_documents_show_what_means_something(measured: list[Cell], tmp_path: Path) -> None:
    names = ["--models", "ridge_var", "persistence", "--problems", "sru", "--seeds", "1"]
    assert command.main(["--suite", "quick", *names]) == 0
    assert not (tmp_path / "benchmarks.md").exists()
    assert command.main(["--suite", "core", *names]) == 0
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "# Forecasting benchmark: core" in text and "quick" not in text and "## sru" in text
