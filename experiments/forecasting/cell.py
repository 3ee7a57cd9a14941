"""One cell of the tables: one problem, one contender, one seed, trained and measured in a process of its own.

python -m experiments.forecasting.cell --problem radnet-2019 --contender gru --seed 0 --seconds 300 --data DIR --to FILE
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from attentionmixer.config import load_log
from attentionmixer.data.datamodule import RadiationDataModule
from attentionmixer.files import read_json, write_json
from attentionmixer.forecaster import LEVELS
from attentionmixer.models.base import ForecastModel, PointModel
from attentionmixer.run import environment, peak_memory_mb
from attentionmixer.training.fit import FitConfig, FitResult, TrainerConfig, fit
from attentionmixer.training.module import OptimizerConfig, RegularizerConfig
from attentionmixer.training.task import make_task
from experiments.foundation.cells import commit

from .contenders import CONTENDERS, Contender
from .problems import PROBLEMS, Problem
from .scoring import score

RESULTS = Path(__file__).resolve().parents[1] / "results" / "forecasting"
#: Raised where results of before can no longer stand beside new ones.
VERSION = 2


@dataclass(frozen=True)
class Cell:
    """What is trained; ``seconds`` is the most that training may take, or ``None``."""

    problem: Problem
    contender: Contender
    seed: int
    seconds: float | None

    def path(self, suite: str) -> Path:
        """Where its result is kept."""
        name = self.contender.name.replace(", ", "-").replace(" ", "-")
        return RESULTS / suite / self.problem.name / f"{name}-seed{self.seed}.json"

    def settings(self) -> dict[str, Any]:
        """All that decides its outcome but the data and the code."""
        return {
            "version": VERSION,
            "problem": [self.problem.config, self.problem.horizon, list(self.problem.calendar)],
            "architecture": self.contender.architecture,
            "recipe": self.contender.recipe(),
            "seed": self.seed if self.contender.random else 0,
            "seconds": self.seconds,
        }

    def settings_hash(self) -> str:
        """Short hash of the settings."""
        return hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()[:16]

    def is_current(self, suite: str) -> bool:
        """Whether a result of these settings is there."""
        path = self.path(suite)
        return path.is_file() and read_json(path).get("settings_hash") == self.settings_hash()

    def command(self, data: Path | None, to: Path) -> list[str]:
        """The command that measures it."""
        return [
            sys.executable,
            "-m",
            "experiments.forecasting.cell",
            f"--problem={self.problem.name}",
            f"--contender={self.contender.name}",
            f"--seed={self.seed}",
            *([] if self.seconds is None else [f"--seconds={self.seconds:g}"]),
            *([] if data is None else [f"--data={data}"]),
            f"--to={to}",
        ]


def one_core() -> dict[str, str]:
    """Environment of a process that computes in one thread, so that others can stand beside it."""
    return {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")}


def prepare(problem: Problem, recipe: Mapping[str, Any], data: Path) -> RadiationDataModule:
    """The log's windows, with the calendar where the recipe wants it."""
    config = problem.data_config(data)
    if recipe["calendar"]:
        config = replace(config, calendar=problem.calendar)
    return RadiationDataModule(load_log(config), config)


def train(
    cell: Cell, recipe: Mapping[str, Any], data: RadiationDataModule, *, intervals: bool = True
) -> tuple[ForecastModel, FitResult]:
    """A trained model and what training did.

    Without ``intervals`` no errors are gathered after training for the quantiles of models that learn none: that
    changes no point forecast.
    """
    window = data.windows_config
    data.seed = cell.seed
    settings = dict(recipe["model"])
    if cell.contender.name == "seasonal_naive":
        settings["season"] = cell.problem.season
    if cell.contender.origin == "lightgbm":
        settings["seconds"] = 0.95 * cell.seconds if cell.seconds else math.inf
    torch.manual_seed(cell.seed)
    model = cell.contender.build(make_task(data, LEVELS), settings)
    if not intervals and isinstance(model, PointModel):
        torch.manual_seed(cell.seed)
        model = cell.contender.build(make_task(data, ()), settings)
    per_epoch = math.ceil(len(data.windows("train")) / window.batch_size)
    epochs = max(1, round(recipe["steps"] / per_epoch))
    trainer = TrainerConfig(
        max_epochs=epochs,
        patience=max(3, epochs // 3),
        max_seconds=cell.seconds,
        logger="none",
        progress=False,
        accelerator="auto",
    )
    config = FitConfig(
        OptimizerConfig(**recipe["optimizer"]), RegularizerConfig(**recipe["regularizer"]), trainer, cell.seed
    )
    return model, fit(model, data, config)


def measure(cell: Cell, data: Path) -> dict[str, Any]:
    """Train, score on validation and test, and say with what."""
    code, recipe = commit(), cell.contender.recipe()
    module = prepare(cell.problem, recipe, data)
    model, result = train(cell, recipe, module)
    parts = {part: score(model, module, part) for part in ("validation", "test")}
    parts["validation"].pop("groups")
    about = environment([])
    about["command"] = " ".join(["python", *cell.command(Path("DIR"), Path("FILE"))[1:]])
    about["threads"] = torch.get_num_threads()
    about["device"] = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    return {
        "problem": cell.problem.name,
        "contender": cell.contender.name,
        "seed": cell.seed,
        "settings_hash": cell.settings_hash(),
        "settings": cell.settings(),
        "commit": code,
        "environment": about,
        **parts,
        "train": {
            "seconds": result.seconds,
            "epochs": result.epochs,
            "best_epoch": result.best_epoch,
            "windows_per_second": result.windows_per_second,
            "peak_rss_mb": peak_memory_mb(),
        },
        "parameters": model.parameter_count,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one cell and write it."""
    parser = argparse.ArgumentParser(prog="python -m experiments.forecasting.cell", description=__doc__)
    parser.add_argument("--problem", choices=list(PROBLEMS), required=True)
    parser.add_argument("--contender", choices=list(CONTENDERS), required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args(arguments)
    cell = Cell(PROBLEMS[options.problem], CONTENDERS[options.contender], options.seed, options.seconds)
    write_json(options.to, measure(cell, options.data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
