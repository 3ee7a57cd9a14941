"""The script behind the first table: skipping what is current, and the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.foundation import cells, table


def result(mse: float, settings_hash: str) -> dict[str, Any]:
    part = {"mse": mse, "mae": mse / 2, "coverage": {"0.9": 0.9}}
    base = {"mse": 1.0, "mae": 0.5, "test": part | {"mse": 1.0}, "validation": part}
    return {
        "settings_hash": settings_hash,
        "environment": {
            "cpu": "a cpu",
            "cores": 2,
            "python": "3.11",
            "packages": {"torch": "2"},
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


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cells, "RESULTS", tmp_path / "foundation")
    monkeypatch.setattr(table, "RESULTS", tmp_path / "foundation")
    return tmp_path / "foundation"


def test_a_cell_is_current_only_with_its_own_settings(results: Path) -> None:
    cell = cells.Cell("radnet", "attentionmixer", 0)
    assert not cell.is_current()
    cell.path.parent.mkdir(parents=True)
    cell.path.write_text(json.dumps(result(0.5, "of other settings")), encoding="utf-8")
    assert not cell.is_current()
    cell.path.write_text(json.dumps(result(0.5, cell.settings_hash())), encoding="utf-8")
    assert cell.is_current()
    assert cells.Cell("radnet", "temporal only", 0).settings_hash() != cell.settings_hash()


def test_the_page_has_the_baselines_the_mean_and_the_paired_difference(results: Path) -> None:
    for variant, shift in (("attentionmixer", 0.0), ("temporal only", 0.1)):
        for seed, mse in enumerate((0.4, 0.5, 0.6)):
            cell = cells.Cell("radnet", variant, seed)
            cell.path.parent.mkdir(parents=True, exist_ok=True)
            cell.path.write_text(json.dumps(result(mse * (1 + shift), "x")), encoding="utf-8")
    page = table.write().read_text(encoding="utf-8")
    assert "| persistence | " in page
    assert "| linear | " in page
    assert "| attentionmixer | 0.5000 ± 0.1000 | 0.5000 ± 0.1000 |" in page
    assert "paired over 3 seeds: -9.1%" in page


def test_a_command_names_no_folder_of_one_machine() -> None:
    command = cells.Cell("etth1", "temporal only", 2).command(Path("DATA"), Path("RUN"))
    assert "--data.path=DATA/ett/ETTh1.csv" in [part.replace("\\", "/") for part in command]
    assert "--model.spatial=false" in command
