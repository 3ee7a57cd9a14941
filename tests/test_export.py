"""``python -m attentionmixer.export``: every format, hostile names, errors."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.datamodule import WindowConfig
from attentionmixer.data.log import StationLog
from attentionmixer.export import main
from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.training.fit import FitConfig, TrainerConfig

NAMES = ("=cmd|' /C calc'!A0", "<b>P&2</b>\x02", "P3")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run directory of hostile names, and its log as a file."""
    folder = tmp_path_factory.mktemp("export")
    generator = np.random.default_rng(0)
    values = generator.normal(size=(300, 3)).astype(np.float32)
    time = pd.date_range("2024-01-01", periods=300, freq="h", tz="UTC", name="time")
    log = StationLog.from_frame(pd.DataFrame(values, time, list(NAMES)))
    config = ForecasterConfig(
        model_config={"width": 8, "heads": 2},
        window=WindowConfig(lookback=12, horizon=2),
        training=FitConfig(trainer=TrainerConfig(max_epochs=1, logger="none", progress=False, accelerator="cpu")),
    )
    Forecaster(config).fit(log).save(folder / "run")
    (folder / "run" / "config.yaml").write_text("data: {lookback: 12, horizon: 2}\n")
    log.to_frame().to_parquet(folder / "log.parquet")
    return folder / "run", folder / "log.parquet"


def export(run: tuple[Path, Path], to: Path) -> int:
    return main([str(run[0]), str(run[1]), f"--to={to}"])


def test_csv_is_guarded_and_says_what_json_says(
    run: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(run, tmp_path / "r.csv") == 0
    said = capsys.readouterr().out
    assert "routes: " in said and ("The map" in said or "too few" in said)
    frame = pd.read_csv(tmp_path / "r.csv")
    assert set(frame["source"]) <= {"'" + NAMES[0], *NAMES[1:]} and "'" + NAMES[0] in set(frame["source"])
    assert export(run, tmp_path / "r.json") == 0
    data = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert len(data["routes"]) == len(frame) == data["open_routes"] and data["verdict"] in said
    assert {row["source"] for row in data["routes"]} == set(NAMES)
    assert data["routes"][0]["response"] == pytest.approx(frame["response"][0], rel=1e-6)


def test_graphml_is_well_formed_whatever_the_names(run: tuple[Path, Path], tmp_path: Path) -> None:
    assert export(run, tmp_path / "r.graphml") == 0
    graph = nx.read_graphml(tmp_path / "r.graphml")
    labels = {data["label"] for _, data in graph.nodes(data=True)}
    assert labels == {NAMES[0], "<b>P&2</b>\ufffd", "P3"} and graph.number_of_edges() == 6
    assert all("response" in edge for _, _, edge in graph.edges(data=True))


def test_parquet_keeps_names_and_verdict(run: tuple[Path, Path], tmp_path: Path) -> None:
    assert export(run, tmp_path / "r.parquet") == 0
    frame = pd.read_parquet(tmp_path / "r.parquet")
    assert set(frame["source"]) == set(NAMES) and "verdict" in frame.attrs


def test_another_ending_and_a_place_that_is_none_are_refused(
    run: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(run, tmp_path / "r.pickle") == 2
    assert "must end in .csv, .parquet, .json, .graphml" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert export(run, tmp_path / "file" / "r.csv") == 2
    assert "cannot be written" in capsys.readouterr().err
