"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attentionmixer.data.datamodule import WindowConfig
from attentionmixer.data.log import StationLog
from attentionmixer.data.simulate import simulate_ring
from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.train import main as train_main
from attentionmixer.training.fit import FitConfig, TrainerConfig

#: Command line of the smallest sensible training.
TINY = (
    "--data.simulation.posts=3",
    "--data.simulation.days=4",
    "--data.lookback=24",
    "--data.horizon=4",
    "--model.width=8",
    "--model.heads=2",
    "--trainer.max_epochs=2",
    "--trainer.progress=false",
    "--trainer.accelerator=cpu",
)
REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the real logs; a test that needs it skips where it is absent."""
    folder = Path(os.environ.get("ATTENTIONMIXER_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real logs are not at {folder}; set ATTENTIONMIXER_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def headers() -> dict[str, str]:
    """Tag of the small simulated network → header with its unit, as a file of dose rates must state it."""
    return {tag.name: f"{tag.name} [{tag.unit}]" for tag in simulate_ring(posts=3, days=4).log.tags if tag.unit}


@pytest.fixture(scope="session")
def tiny_arguments() -> tuple[str, ...]:
    """Command line of the smallest sensible training."""
    return TINY


@pytest.fixture(scope="session")
def tiny() -> tuple[Forecaster, StationLog]:
    """A small forecaster trained on a small simulated network, and that network's log."""
    log = simulate_ring(posts=3, days=4).log
    config = ForecasterConfig(
        model_config={"width": 8, "heads": 2},
        window=WindowConfig(lookback=24, horizon=4),
        training=FitConfig(trainer=TrainerConfig(max_epochs=2, progress=False, accelerator="cpu")),
    )
    return Forecaster(config).fit(log), log


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run directory, trained through the front door on the same network."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    assert train_main([*TINY, "--run_dir", str(folder)]) == 0
    return folder
