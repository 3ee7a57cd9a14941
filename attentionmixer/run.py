"""A run: train on a log, measure beside the baselines, and leave everything about it in one directory."""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil

from .config import RunConfig, load_log
from .configcheck import check_config_text
from .data.datamodule import RadiationDataModule
from .data.log import StationLog
from .errors import ConfigError
from .files import drop_manifest, write_atomically, write_json, write_manifest, write_text
from .forecaster import Forecaster, ForecasterConfig
from .report import write_report
from .routemap import RouteMap
from .training.fit import FitResult

logger = logging.getLogger(__name__)
_PACKAGES = ("attentionmixer", "torch", "torch-geometric", "lightning", "numpy", "pandas", "pyarrow", "scikit-learn")


def train_run(config: RunConfig, folder: Path, command: Sequence[str]) -> Path:
    """Train, measure and report. Returns the path of the report.

    Parameters
    ----------
    config: the experiment. folder: the run directory; it must be new, empty, or hold a run to resume.
    command: the command line, for the page "how to reproduce".

    Raises `ConfigError` where the folder holds something else, and what reading and training raise.
    """
    _prepare(folder, config)
    log = load_log(config.data)
    logger.info("%r", log)
    write_atomically(folder / "config.yaml", lambda part: write_text(part, config.text))
    write_json(folder / "environment.json", environment(command))
    forecaster = _fit(config, log, folder)
    assert forecaster.data is not None and forecaster.result is not None
    logger.info("trained in %.0f s; measuring", forecaster.result.seconds)
    forecaster.save(folder)
    baselines = {
        "persistence": Forecaster(replace(config.linear(), model="persistence")).fit(log),
        "linear": Forecaster(config.linear()).fit(log),
    }
    routes = forecaster.routes(log, *forecaster.data.split.parts()["test"])
    write_json(folder / "metrics.json", measure(forecaster, baselines, log, routes))
    _write_forecasts(forecaster, baselines["persistence"], log, folder / "forecasts.parquet")
    for number, route_map in enumerate(routes):
        path = folder / "routes" / f"{number:02d}-{route_map.axis}-round{route_map.round}.json"
        write_atomically(path, route_map.save)
    report = write_report(folder)
    write_manifest(folder)
    return report


def help_train(config: RunConfig) -> None:
    """Compute a share of each training step, for the process that leads and writes the run (`training.ranks`)."""
    logging.getLogger("attentionmixer").setLevel(logging.ERROR)
    # nothing is written there; a training that is resumed is read from there
    folder = Path(config.run_dir or "unused")
    Forecaster(config.forecaster()).fit(load_log(config.data), folder, resume=config.resume)


def measure(
    forecaster: Forecaster, baselines: Mapping[str, Forecaster], log: StationLog, routes: Sequence[RouteMap]
) -> dict[str, Any]:
    """The content of ``metrics.json``: errors on validation and test, coverage, baselines, cost, sparsity."""
    data, result = forecaster.data, forecaster.result
    assert data is not None and result is not None
    own = _errors(forecaster, data, log)
    coverage = own["test"].pop("coverage")
    beside: dict[str, Any] = {}
    for name, baseline in baselines.items():
        parts = _errors(baseline, data, log)
        beside[name] = {"mse": parts["test"]["mse"], "mae": parts["test"]["mae"], **parts}
    return {
        **own,
        "coverage": coverage,
        "baselines": beside,
        "skill": {name: _skill(own["test"]["mse"], parts["mse"]) for name, parts in beside.items()},
        "train": _cost(result),
        "parameters": forecaster.model.parameter_count,
        "routes": {"effective": _effective(routes), "open": _open_share(forecaster)},
    }


def environment(command: Sequence[str]) -> dict[str, Any]:
    """Where and with what a run was made."""
    packages = {}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "not installed"
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(command),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "packages": packages,
    }


def peak_memory_mb() -> float:
    """Largest resident memory of this process so far, in MB."""
    if sys.platform == "win32":
        return float(psutil.Process().memory_info().peak_wset / 1e6)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def _prepare(folder: Path, config: RunConfig) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"--run_dir {folder} is a file; name a directory")
    own = {"log.txt"}
    if folder.is_dir() and not config.resume and any(entry.name not in own for entry in folder.iterdir()):
        raise ConfigError(f"--run_dir {folder} is not empty; name a new one, or add --resume to continue the run there")
    if config.resume and (folder / "config.yaml").is_file():
        _check_same_settings(folder / "config.yaml", config.text)
    folder.mkdir(parents=True, exist_ok=True)
    # its hashes are those of the run before: left there, a crash from here on would make the run look tampered with
    drop_manifest(folder)


def _check_same_settings(path: Path, text: str) -> None:
    """A checkpoint fits the settings it was made with, but for how long and on what the training goes on."""
    before, now = (_leaves(check_config_text(content, str(path))) for content in (path.read_text("utf-8"), text))
    for key in sorted(before.keys() | now.keys()):
        # data.path: a log may have been moved
        if key.split(".")[0] in ("trainer", "baselines") or key == "data.path" or before.get(key) == now.get(key):
            continue
        raise ConfigError(
            f"--resume goes on with the settings of the run, but {key} is {before.get(key)} there and {now.get(key)} "
            f"now; give the same, for example with --config={path}, or train in a new directory"
        )


def _leaves(tree: Any, name: str = "") -> dict[str, Any]:
    """Dotted names of all settings."""
    if not isinstance(tree, Mapping) or not tree:
        return {name: tree}
    return {
        key: leaf
        for part, branch in tree.items()
        for key, leaf in _leaves(branch, f"{name}.{part}" if name else part).items()
    }


def _fit(config: RunConfig, log: StationLog, folder: Path) -> Forecaster:
    try:
        return Forecaster(config.forecaster()).fit(log, folder, resume=config.resume)
    except RuntimeError as error:
        if config.resume and "loading state_dict" in str(error):
            raise ConfigError(
                f"the checkpoint in {folder} was made on a log of other tags; resume on that log, or train anew"
            ) from error
        raise


def _errors(forecaster: Forecaster, data: RadiationDataModule, log: StationLog) -> dict[str, dict[str, Any]]:
    result = {}
    for part in ("validation", "test"):
        first, last = data.split.parts()[part]
        errors = forecaster.evaluate(log, first, last)
        result[part] = {**errors.compute(), "per_tag": errors.per_tag(log.tags)}
    return result


def _skill(mse: float | None, reference: float | None) -> float | None:
    return None if mse is None or not reference else 1.0 - mse / reference


def _cost(result: FitResult) -> dict[str, Any]:
    return {
        "seconds": result.seconds,
        "windows_per_second": result.windows_per_second,
        "peak_rss_mb": peak_memory_mb(),
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "interrupted": result.interrupted,
    }


def _effective(routes: Sequence[RouteMap]) -> dict[str, float | None]:
    result: dict[str, float | None] = {}
    for axis in ("spatial", "temporal"):
        values = [route_map.effective for route_map in routes if route_map.axis == axis and route_map.round > 0]
        result[axis] = float(np.mean(values)) if values else None
    return result


def _open_share(forecaster: Forecaster) -> float | None:
    gates = forecaster.model.route_gates
    return float(np.mean([float(gate.open_share()) for gate in gates])) if gates else None


def _write_forecasts(forecaster: Forecaster, persistence: Forecaster, log: StationLog, path: Path) -> None:
    """Back-to-back forecasts of the test part, with the readings and the persistence forecast beside them."""
    assert forecaster.data is not None
    first, last = forecaster.data.split.parts()["test"]
    horizon = forecaster.schema.horizon
    frame = forecaster.forecasts(log, first, last, stride=horizon).to_frame()
    readings = log.to_frame()
    rows = readings.index.get_indexer(pd.DatetimeIndex(frame["time"]))
    columns = pd.Index(readings.columns).get_indexer(pd.Index(frame["tag"]))
    frame["observed"] = readings.to_numpy()[rows, columns]
    frame["persistence"] = persistence.forecasts(log, first, last, stride=horizon).point.reshape(-1)
    targets = {tag.name for tag in log.tags if tag.scored}
    frame = frame[frame["tag"].isin(targets)]
    write_atomically(path, lambda part: frame.to_parquet(part, index=False))


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


__all__ = ["ForecasterConfig", "environment", "measure", "peak_memory_mb", "train_run"]
