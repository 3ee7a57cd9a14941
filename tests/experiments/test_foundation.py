"""The script behind the first table: skipping what is current, and the page."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.run import environment
from experiments.foundation import cells, table
from experiments.foundation.__main__ import main


def baseline(coverage: float) -> dict[str, Any]:
    part = {"mse": 1.0, "mae": 0.5, "coverage": {"0.9": coverage}}
    return {"mse": 1.0, "mae": 0.5, "test": part, "validation": part}


def result(mse: float, **keys: str) -> dict[str, Any]:
    part = {"mse": mse, "mae": mse / 2, "coverage": {"0.9": 0.9}}
    base = baseline(0.9)
    return {
        **keys,
        "environment": {
            "cpu": "a cpu",
            "cores": 2,
            "python": "3.11",
            "packages": {"attentionmixer": environment([])["packages"]["attentionmixer"], "torch": "2"},
            "date": "2026-01-01T",
        },
        "metrics": {
            "test": part,
            "validation": part,
            "baselines": {"persistence": base, "linear": base},
            "coverage": {"0.9": 0.9},
            "train": {"seconds": 10.0, "peak_rss_mb": 500.0},
            "parameters": 1000,
            "routes": {"open": 0.2},
        },
    }


def put(cell: cells.Cell, content: dict[str, Any]) -> None:
    cell.path.parent.mkdir(parents=True, exist_ok=True)
    cell.path.write_text(json.dumps(content), encoding="utf-8")


def put_seeds(errors: dict[str, tuple[float, ...]]) -> None:
    for variant, values in errors.items():
        for seed, mse in enumerate(values):
            put(cells.Cell("radnet", variant, seed), result(mse))


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cells, "RESULTS", tmp_path / "foundation")
    monkeypatch.setattr(table, "RESULTS", tmp_path / "foundation")
    return tmp_path / "foundation"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[cells.Cell]:
    """Cells that were measured, without a training."""
    done: list[cells.Cell] = []

    def measure(cell: cells.Cell, data: Path) -> dict[str, Any]:
        done.append(cell)
        content = result(0.5, resolved_hash=cell.resolved_hash())
        put(cell, content)
        return content

    monkeypatch.setattr(cells.Cell, "measure", measure)
    return done


def test_a_cell_is_current_only_with_its_own_settings(results: Path) -> None:
    cell = cells.Cell("radnet", "attentionmixer", 0)
    assert not cell.is_current()
    put(cell, result(0.5, resolved_hash="of other settings"))
    assert not cell.is_current()
    put(cell, result(0.5, resolved_hash=cell.resolved_hash()))
    assert cell.is_current()


def test_variants_and_seeds_have_hashes_of_their_own_but_the_data_folder_has_none(results: Path) -> None:
    own = cells.Cell("radnet", "attentionmixer", 0).resolved_hash()
    assert cells.Cell("radnet", "temporal only", 0).resolved_hash() != own
    assert cells.Cell("radnet", "attentionmixer", 1).resolved_hash() != own
    here, there = ("data: {path: a, rows: 5}\nseed: 0\n", "seed: 0\ndata: {rows: 5, path: b}  # moved\n")
    assert cells.hash_settings(here) == cells.hash_settings(there)
    assert cells.hash_settings(here) != cells.hash_settings(here.replace("rows: 5", "rows: 6"))


def test_a_cell_of_another_version_of_the_package_is_not_current(results: Path) -> None:
    cell = cells.Cell("radnet", "attentionmixer", 0)
    content = result(0.5, resolved_hash=cell.resolved_hash())
    content["environment"]["packages"]["attentionmixer"] = "0.0.0"
    put(cell, content)
    assert not cell.is_current()


def test_an_old_cell_without_resolved_settings_is_judged_by_its_file(results: Path) -> None:
    cell = cells.Cell("radnet", "attentionmixer", 0)
    put(cell, result(0.5, settings_hash=cell.settings_hash()))
    assert cell.is_current()
    put(cell, result(0.5, settings_hash="of another file"))
    assert not cell.is_current()
    put(cell, result(0.5))
    assert not cell.is_current()


def test_a_second_run_measures_only_what_is_missing(results: Path, measured: list[cells.Cell]) -> None:
    command = ["--data", "DATA", "--only", "etth1", "--seeds"]
    assert main([*command, "1"]) == 0
    assert [(cell.variant, cell.seed) for cell in measured] == [("attentionmixer", 0), ("temporal only", 0)]
    measured.clear()
    assert main([*command, "2"]) == 0
    assert {cell.seed for cell in measured} == {1}
    measured.clear()
    assert main([*command, "1", "--variants", "temporal only", "--force"]) == 0
    assert measured == [cells.Cell("etth1", "temporal only", 0)]


def test_a_cell_that_fails_is_reported_and_does_not_stop_the_others(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(cell: cells.Cell, data: Path) -> dict[str, Any]:
        if cell.variant == "attentionmixer":
            raise subprocess.CalledProcessError(-9, "training")
        content = result(0.5, resolved_hash=cell.resolved_hash())
        put(cell, content)
        return content

    monkeypatch.setattr(cells.Cell, "measure", measure)
    assert main(["--data", "DATA", "--only", "etth1", "--seeds", "2"]) == 1
    assert sorted(path.name for path in (results / "etth1").iterdir()) == [
        "temporal-only-seed0.json",
        "temporal-only-seed1.json",
    ]
    error = capsys.readouterr().err
    assert "exit status -9" in error
    assert "2 of 4 cells failed" in error


def test_the_published_form_is_run_only_where_it_is_asked_for(results: Path, measured: list[cells.Cell]) -> None:
    assert main(["--data", "DATA", "--seeds", "1"]) == 0
    assert {cell.config for cell in measured} == {"radnet", "radnet-1h", "radnet-2011", "etth1"}
    measured.clear()
    assert main(["--data", "DATA", "--seeds", "1", "--only", "paper"]) == 0
    assert measured == [cells.Cell("paper", "published form", 0)]
    assert "## paper" in results.with_suffix(".md").read_text(encoding="utf-8")


def test_running_cells_needs_the_data_and_the_page_does_not(
    results: Path, measured: list[cells.Cell], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "--data is needed" in capsys.readouterr().err
    assert main(["--table"]) == 0
    assert not measured
    assert "No cell has been run yet." in results.with_suffix(".md").read_text(encoding="utf-8")


def test_the_page_has_the_baselines_the_mean_and_the_paired_difference(results: Path) -> None:
    put_seeds({"attentionmixer": (0.4, 0.5, 0.6), "temporal only": (0.44, 0.55, 0.66)})
    page = table.write().read_text(encoding="utf-8")
    assert "| persistence | 1.0000 | 1.0000 |" in page
    assert "| linear | " in page
    assert "| attentionmixer | 0.5000 ± 0.1000 | 0.5000 ± 0.1000 |" in page
    assert "paired over 3 seeds: -9.1%" in page
    assert "code: not recorded (6 cells)" in page


def test_the_interval_of_the_paired_difference_is_students(results: Path) -> None:
    put_seeds({"attentionmixer": (0.9, 0.8), "temporal only": (1.0, 1.0)})
    # mean -15 %, standard deviation 7.07 %, 97.5 % point of t with one degree of freedom 12.706: half width 63.5 %
    assert "test MSE, paired over 2 seeds: -15.0% (95 % interval -78.5% to +48.5%)" in table.page()


def test_a_variant_with_fewer_seeds_says_so_and_only_common_seeds_are_paired(results: Path) -> None:
    put_seeds({"attentionmixer": (0.4, 0.5, 0.6), "temporal only": (0.44, 0.55)})
    page = table.page()
    assert "| temporal only (only seeds 0, 1) |" in page
    assert "paired over 2 seeds" in page


def test_cells_of_different_code_are_told_apart(results: Path) -> None:
    put_seeds({"attentionmixer": (0.4,), "temporal only": (0.5,)})
    assert "Not one and the same code" not in table.page()
    odd = result(0.5, commit="abc")
    odd["metrics"]["baselines"]["persistence"] = baseline(0.8)
    odd["environment"]["packages"]["torch"] = "3"
    put(cells.Cell("radnet", "temporal only", 1), odd)
    page = table.page()
    assert "persistence differs in 1 of 3 cells" in page
    assert "abc (1 cells), not recorded (2 cells)" in page
    assert "torch 2 / Python 3.11" in page


def test_a_command_names_no_folder_of_one_machine() -> None:
    command = cells.Cell("etth1", "temporal only", 2).command(Path("DATA"), Path("RUN"))
    assert "--data.path=DATA/ett/ETTh1.csv" in [part.replace("\\", "/") for part in command]
    assert "--model.spatial=false" in command


def test_a_measured_cell_is_current_and_keeps_what_made_it(
    results: Path, tiny_arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cells.DATA, "quickstart", None)
    monkeypatch.setitem(cells.VARIANTS, "attentionmixer", tiny_arguments)
    cell = cells.Cell("quickstart", "attentionmixer", 3)
    kept = cell.measure(Path("nowhere"))
    assert json.loads(cell.path.read_text(encoding="utf-8")) == kept
    assert cell.is_current()
    assert not cells.Cell("quickstart", "temporal only", 3).is_current()
    assert list(cell.path.parent.iterdir()) == [cell.path]
    assert kept["environment"]["command"].endswith("--run_dir=RUN")
    assert kept["commit"] == cells.commit()
    metrics = kept["metrics"]
    assert metrics["train"]["peak_rss_mb"] > 50
    assert metrics["routes"]["effective"]["spatial"] >= 1
    assert all("per_tag" not in metrics["baselines"][name]["test"] for name in ("persistence", "linear"))
    assert "## quickstart" in table.page()
