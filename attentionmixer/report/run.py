"""`Run`: what a run directory holds, read and checked. Nothing else is read for a report."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..data.log import Tag
from ..data.quality import QualityRecord
from ..errors import LogError, RunError
from ..routemap import RouteMap
from .metrics import Metrics

logger = logging.getLogger(__name__)

FORMAT = 1
_AGAIN = "train again, or copy the whole run directory again"


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    name: name of the directory.
    tags: the schema's tags, in order.
    step, lookback, horizon: time step, window length and horizon (both in steps).
    model: ``name`` and ``config`` of the model.
    provenance: dates, versions, seed, parameters.
    quality: the account of the log.
    metrics: the measured errors.
    config: text of ``config.yaml``, or ``None``.
    environment: ``environment.json``, empty if there is none.
    forecasts: path of ``forecasts.parquet``, or ``None``.
    routes: all route maps, spatial before temporal, by round.
    weights_sha256: hash of ``model.safetensors`` as it lies there, or ``None``.
    promised_sha256: its hash by ``manifest.json``, or ``None``.
    """

    name: str
    tags: tuple[Tag, ...]
    step: pd.Timedelta
    lookback: int
    horizon: int
    model: Mapping[str, Any]
    provenance: Mapping[str, Any]
    quality: QualityRecord
    metrics: Metrics
    config: str | None
    environment: Mapping[str, Any]
    forecasts: Path | None
    routes: tuple[RouteMap, ...]
    weights_sha256: str | None
    promised_sha256: str | None

    @property
    def step_minutes(self) -> float:
        """The time step in minutes."""
        return self.step.total_seconds() / 60

    def ahead(self, step: int) -> float:
        """Minutes from the last observed time to forecast step `step` (1 is the first)."""
        return step * self.step_minutes


def load_run(folder: Path) -> Run:
    """Read the run directory `folder`.

    Raises
    ------
    RunError: it is no directory, a needed file is missing, or any file is damaged or of another format version.
    """
    if not folder.is_dir():
        raise RunError(f"{folder} is no directory; give the directory that training wrote, such as runs/quickstart")
    forecaster = folder / "forecaster.json"
    data = _json(forecaster)
    if data is None:
        raise RunError(f"{forecaster} is missing, so {folder} is no finished run; give another directory, or {_AGAIN}")
    if data.get("format") != FORMAT:
        raise RunError(
            f"{forecaster} has format {data.get('format')!r}, this version reads format {FORMAT}; "
            "write the report with the version that made the run, or train again"
        )
    metrics = _json(folder / "metrics.json")
    if metrics is None or not isinstance(metrics.get("test"), Mapping):
        state = "is missing" if metrics is None else "holds no group 'test'"
        raise RunError(f"{folder / 'metrics.json'} {state}; evaluate the run or {_AGAIN}")
    try:
        schema = data["schema"]
        step = pd.Timedelta(seconds=float(schema["step_seconds"]))
        tags = tuple(Tag.from_dict(tag) for tag in schema["tags"])
        lookback, horizon = int(schema["lookback"]), int(schema["horizon"])
        model, provenance = dict(data["model"]), dict(data["provenance"])
        quality = QualityRecord.from_dict(data["quality"])
    except (KeyError, TypeError, ValueError, LogError) as error:
        what = f"the entry {error} is missing" if isinstance(error, KeyError) else str(error)
        raise RunError(f"{forecaster} is damaged: {what}; {_AGAIN}") from error
    for tag in tags:
        texts = (tag.name, tag.quantity, tag.unit or "", tag.station or "", tag.role)
        if not tag.name or not all(isinstance(text, str) for text in texts):
            raise RunError(f"{forecaster} is damaged: the tag {tag.name!r} has a field that is no text; {_AGAIN}")
    if not isinstance(quality.masked, Mapping):
        raise RunError(f"{forecaster} is damaged: the masked values are no table of reasons; {_AGAIN}")
    if not _is_calendar(quality.flags, quality.calendar):
        raise RunError(f"{forecaster} is damaged: the flagged values are no counts by flag and day; {_AGAIN}")
    if not tags or step <= pd.Timedelta(0) or horizon < 1 or lookback < 1:
        raise RunError(f"{forecaster} is damaged: it names no tag, or a step, lookback or horizon below 1; {_AGAIN}")
    forecasts = folder / "forecasts.parquet"
    weights = folder / "model.safetensors"
    manifest = _json(folder / "manifest.json") or {}
    hashes = manifest.get("sha256")
    promised = hashes.get(weights.name) if isinstance(hashes, dict) else None
    return Run(
        name=folder.resolve().name,
        tags=tags,
        step=step,
        lookback=lookback,
        horizon=horizon,
        model=model,
        provenance=provenance,
        quality=quality,
        metrics=Metrics(metrics, str(folder / "metrics.json")),
        config=_text(folder / "config.yaml"),
        environment=_json(folder / "environment.json") or {},
        forecasts=forecasts if forecasts.is_file() else None,
        routes=_routes(folder / "routes"),
        weights_sha256=_sha256(weights) if weights.is_file() else None,
        promised_sha256=promised if isinstance(promised, str) else None,
    )


def _is_calendar(flags: object, calendar: object) -> bool:
    if not isinstance(flags, Mapping) or not isinstance(calendar, Mapping):
        return False
    tables = [flags, *calendar.values()]
    if not all(isinstance(table, Mapping) and table for table in tables[1:]):
        return False
    counts = [number for table in tables for number in table.values()]
    days = [day for table in calendar.values() for day in table]
    return all(isinstance(number, int) and number > 0 for number in counts) and all(map(_is_day, days))


def _is_day(text: object) -> bool:
    try:
        return isinstance(text, str) and 1700 < dt.date.fromisoformat(text).year < 2262
    except ValueError:
        return False


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path} cannot be read: {error}; {_AGAIN}") from error


def _json(path: Path) -> dict[str, Any] | None:
    text = _text(path)
    if text is None:
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged: {error}; {_AGAIN}") from error
    if not isinstance(data, dict):
        raise RunError(f"{path} is damaged: it holds {type(data).__name__}, not an object; {_AGAIN}")
    return data


def _routes(folder: Path) -> tuple[RouteMap, ...]:
    paths = sorted(folder.glob("*.json"))
    maps = [RouteMap.load(path) for path in paths]
    for path, route_map in zip(paths, maps, strict=True):
        if route_map.axis not in ("spatial", "temporal") or not all(
            isinstance(name, str) for name in route_map.targets + route_map.sources
        ):
            raise RunError(f"the route map {path} is damaged: axis {route_map.axis!r} or a name is none; {_AGAIN}")
    return tuple(sorted(maps, key=lambda m: (m.axis, m.round)))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
