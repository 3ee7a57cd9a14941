"""Run directories made up for the report's tests: a small real-looking network, its forecasts and their true errors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from attentionmixer.data.log import Tag
from attentionmixer.data.quality import Gap, QualityRecord, Quarantined
from attentionmixer.routemap import RouteMap

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
NORMAL = (-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645)
HOSTILE = (
    "<script>window.hacked=1;alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "../../etc/passwd",
    r"$\frac{a}{b}$ \alpha",
    '"><img src=x onerror="window.hacked=1;alert(2)">',
    "線量率 東海村 nSv/h",
    "a\u202ebc\x00\x07\nd",
    "]]></style></svg><script>window.hacked=1</script>",
    "{{ 7*7 }} {% raw %} &amp; %s" + "x" * 300,
)
Array = NDArray[np.float64]


def stations_of_channels(stations: int = 3, channels: int = 9) -> list[Tag]:
    """Monitors with a dose rate and count rates, no coordinates."""
    places = ["AZ: PHOENIX", "CO: DENVER", "NM: ALBUQUERQUE", "UT: SALT LAKE CITY", "NV: LAS VEGAS"]
    tags = []
    for number in range(stations):
        place = places[number] if number < len(places) else f"STATION {number}"
        tags.append(Tag(f"{place} dose", "nSv/h", "dose_rate", place))
        tags += [Tag(f"{place} R{i:02d}", "cpm", "count_rate", place) for i in range(2, channels + 1)]
    return tags


def ring(posts: int = 16) -> list[Tag]:
    """Dose rate posts round a plant, with coordinates."""
    angles = np.linspace(0, 2 * np.pi, posts, endpoint=False)
    radius = np.where(np.arange(posts) % 2, 0.012, 0.02)
    return [
        Tag(
            f"P{i + 1:02d} dose rate",
            "nSv/h",
            "dose_rate",
            f"P{i + 1:02d}",
            (49.0 + r * np.cos(a), 8.4 + r * np.sin(a)),
        )
        for i, (a, r) in enumerate(zip(angles, radius, strict=True))
    ]


def hostile_tags() -> list[Tag]:
    """Names, units and stations that try to be something else."""
    units = ("nSv/h", "<b>µ</b>", "$x$", None, "%s", "µSv/h", "cpm", "a&b", "K")
    return [
        Tag(name, unit, "dose_rate" if i < 2 else "generic", HOSTILE[-1 - i // 3])
        for i, (name, unit) in enumerate(zip(HOSTILE, units, strict=True))
    ]


def write_run(
    folder: Path,
    tags: Sequence[Tag],
    *,
    horizon: int = 24,
    lookback: int = 96,
    days: int = 60,
    step: str = "1h",
    rounds: int = 2,
    parts: int = 4,
    seed: int = 0,
) -> Path:
    """Write a whole run directory for `tags` into `folder`; errors are those of the forecasts that it holds."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    delta = pd.Timedelta(step)
    blocks = max(3, int(pd.Timedelta(days=days) / (delta * horizon)))
    time = pd.date_range("2021-07-01", periods=blocks * horizon + 1, freq=delta, tz="UTC")
    observed, mean, level = _series(rng, time, tags)
    frame, parts_of_error = _forecasts(time, tags, observed, mean, horizon)
    frame.to_parquet(folder / "forecasts.parquet")
    spread = level * 0.12
    _write_json(folder / "metrics.json", _metrics(tags, parts_of_error, spread, blocks, frame))
    _write_json(folder / "forecaster.json", _forecaster(tags, delta, lookback, horizon, time))
    _write_json(folder / "environment.json", _environment())
    (folder / "config.yaml").write_text("model:\n  name: attentionmixer\n  config: {width: 64, rounds: 2}\nseed: 0\n")
    (folder / "model.safetensors").write_bytes(b"weights of a made-up run")
    _spatial_routes(folder / "routes", rng, tags, rounds)
    _temporal_routes(folder / "routes", rng, rounds, lookback / parts * delta.total_seconds() / 60, parts=parts)
    hashes = {"model.safetensors": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()}
    _write_json(folder / "manifest.json", {"sha256": hashes})
    return folder


def _write_json(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, ensure_ascii=True), encoding="utf-8")


def _series(rng: np.random.Generator, time: pd.DatetimeIndex, tags: Sequence[Tag]) -> tuple[Array, Array, Array]:
    """Background, a daily cycle, rain that decays and noise; a gap for the first tag's station."""
    steps, hours = len(time), (time - time[0]) / pd.Timedelta(hours=1)
    stations = list(dict.fromkeys(tag.station for tag in tags))
    rain = {}
    for station in stations:
        impulses = np.where(rng.random(steps) < 0.006, rng.gamma(2, 1.0, steps), 0.0)
        rain[station] = np.convolve(impulses, np.exp(-np.arange(12) / 3))[:steps]
    level = np.array([90.0 if t.quantity == "dose_rate" else 1200.0 / (i % 9 + 1) ** 1.3 for i, t in enumerate(tags)])
    cycle = 0.05 * np.sin(2 * np.pi * (np.asarray(hours)[:, None] - 5) / 24)
    washed = np.stack([rain[tag.station] for tag in tags], axis=1)
    mean = level * (1 + cycle)
    slow = np.cumsum(rng.normal(size=(steps, len(tags))), axis=0) * 0.004
    observed = mean * (1 + 0.25 * washed + slow - slow.mean(axis=0)) + rng.normal(size=mean.shape) * level * 0.02
    gone = [tag.station == tags[0].station for tag in tags]
    observed[np.ix_(range(steps // 2, steps // 2 + 30), gone)] = np.nan
    observed[rng.random(observed.shape) < 0.01] = np.nan
    return observed, mean, level


def _forecasts(
    time: pd.DatetimeIndex, tags: Sequence[Tag], observed: Array, mean: Array, horizon: int
) -> tuple[pd.DataFrame, dict[str, Array]]:
    """Back-to-back forecasts: the departure from the daily mean fades out."""
    filled = pd.DataFrame(observed).ffill().bfill().to_numpy()
    blocks = (len(time) - 1) // horizon
    last = np.repeat(np.arange(blocks) * horizon, horizon)
    ahead = np.tile(np.arange(1, horizon + 1), blocks)
    rows = last + ahead
    level = mean.mean(axis=0)
    fade = np.exp(-ahead / 8)[:, None]
    point = mean[rows] + (filled[last] - mean[last]) * fade
    linear = mean[rows] * 0.3 + level * 0.7 + (filled[last] - level) * fade
    persistence = filled[last]
    width = level * (0.02 + 0.06 * (1 - fade))
    columns: dict[str, Any] = {
        "origin": time[last].repeat(len(tags)),
        "time": time[rows].repeat(len(tags)),
        "tag": np.tile(np.array([tag.name for tag in tags], dtype=object), len(rows)),
        "unit": np.tile(np.array([tag.unit or "" for tag in tags], dtype=object), len(rows)),
        "horizon": ahead.repeat(len(tags)),
        "point": point.reshape(-1),
    }
    columns |= {f"q{q:g}": (point + z * width).reshape(-1) for q, z in zip(LEVELS, NORMAL, strict=True)}
    columns |= {"observed": observed[rows].reshape(-1), "persistence": persistence.reshape(-1)}
    shape = (blocks, horizon, len(tags))
    errors = {
        name: (values - observed[rows]).reshape(shape)
        for name, values in (("model", point), ("persistence", persistence), ("linear", linear))
    }
    return pd.DataFrame(columns), errors


def _part(tags: Sequence[Tag], error: Array, spread: Array) -> dict[str, Any]:
    scaled = error / spread
    return {
        "mse": float(np.nanmean(scaled**2)),
        "mae": float(np.nanmean(abs(scaled))),
        "windows": len(error),
        "observed_values": int(np.isfinite(error).sum()),
        "per_tag": {
            tag.name: {
                "unit": tag.unit,
                "mae": float(np.nanmean(abs(error[..., i]))),
                "rmse": float(np.nanmean(error[..., i] ** 2) ** 0.5),
                "mse_scaled": float(np.nanmean(scaled[..., i] ** 2)),
                "observed_values": int(np.isfinite(error[..., i]).sum()),
                "mae_by_horizon": np.nanmean(abs(error[..., i]), axis=0).tolist(),
            }
            for i, tag in enumerate(tags)
            if tag.role == "target"
        },
        "per_horizon": {
            "mse": np.nanmean(scaled**2, axis=(0, 2)).tolist(),
            "mae": np.nanmean(abs(scaled), axis=(0, 2)).tolist(),
        },
    }


def _metrics(
    tags: Sequence[Tag], errors: dict[str, Array], spread: Array, blocks: int, frame: pd.DataFrame
) -> dict[str, Any]:
    parts = {name: _part(tags, error, spread) for name, error in errors.items()}
    seen = frame.dropna(subset="observed")
    covered = {
        name: float(seen["observed"].between(seen[f"q{low:g}"], seen[f"q{high:g}"]).mean())
        for name, low, high in (("0.5", 0.25, 0.75), ("0.8", 0.1, 0.9), ("0.9", 0.05, 0.95))
    }
    baselines = {
        name: {"mse": parts[name]["mse"], "mae": parts[name]["mae"], "test": parts[name], "validation": parts[name]}
        for name in ("persistence", "linear")
    }
    return {
        "test": parts["model"],
        "validation": parts["model"],
        "baselines": baselines,
        "coverage": covered,
        "skill": {name: 1 - parts["model"]["mse"] / parts[name]["mse"] for name in baselines},
        "train": {"seconds": 73.4, "windows_per_second": 812.5, "peak_rss_mb": 913.0, "epochs": 8},
        "parameters": 123456,
        "routes": {"effective": {"spatial": 5.3, "temporal": 2.9}, "open": 0.61},
    }


def _forecaster(
    tags: Sequence[Tag], step: pd.Timedelta, lookback: int, horizon: int, time: pd.DatetimeIndex
) -> dict[str, Any]:
    station = tags[0].station or "*"
    gaps = [
        Gap(tag.station or "*", f"2020-{month:02d}-0{1 + i % 9} 00:00", f"2020-{month:02d}-{10 + i % 9} 00:00", 216 + i)
        for i, tag in enumerate(tags[:6])
        for month in (2, 5, 9)
    ]
    quality = QualityRecord(
        rows_in=54321,
        rows_kept=54000,
        rows_quarantined=301,
        rows_merged=20,
        masked={"exact zero": 12, "negative <rate>": 3, "below range": 1234},
        decisions=(
            "times are UTC, rounded to the full hour (half past goes up)",
            f"station {station}: kept as written",
        ),
        gaps=(*gaps, Gap("*", "2021-03-28 01:00", "2021-03-28 02:00", 2)),
        quarantined=(Quarantined("a.csv", 17, "DOSE", "<script>alert(3)</script>", "is no number"),),
        sources=("AZ_PHOENIX_2020.csv", "../../etc/passwd", "CO_DENVER_2020.csv"),
    )
    dates = ("2019-12-01", "2021-03-15", "2021-06-30", "2021-07-01")
    return {
        "format": 1,
        "model": {
            "name": "attentionmixer",
            "config": {"width": 64, "heads": 4, "rounds": 2, "patch": 24, "gates": True},
        },
        "schema": {
            "tags": [tag.to_dict() for tag in tags],
            "step_seconds": step.total_seconds(),
            "lookback": lookback,
            "horizon": horizon,
            "levels": list(LEVELS),
        },
        "scaler": {},
        "provenance": {
            "created": "2026-01-15T09:30:00Z",
            "version": "0.1.0",
            "seed": 0,
            "data_start": f"{dates[0]}T00:00:00Z",
            "data_end": time[-1].isoformat(),
            "train_start": f"{dates[0]}T00:00:00Z",
            "train_end": f"{dates[1]}T00:00:00Z",
            "validation_start": f"{dates[1]}T00:00:00Z",
            "validation_end": f"{dates[2]}T00:00:00Z",
            "test_start": f"{dates[3]}T00:00:00Z",
            "test_end": time[-1].isoformat(),
            "parameters": 123456,
        },
        "quality": quality.to_dict(),
    }


def _environment() -> dict[str, Any]:
    return {
        "python": "3.11.7",
        "platform": "Linux-6.1-x86_64",
        "cpu": "Example CPU @ 2.50GHz",
        "cores": 2,
        "packages": {"torch": "2.13.0", "lightning": "2.6.6", "numpy": "2.4.0", "attentionmixer": "0.1.0"},
        "date": "2026-01-15T09:31:12Z",
        "command": "python -m attentionmixer.train --config configs/quickstart.yaml --name '<b>run</b>'",
        "git": "0123456789abcdef",
    }


def _spatial_routes(folder: Path, rng: np.random.Generator, tags: Sequence[Tag], rounds: int) -> None:
    folder.mkdir()
    names = tuple(tag.name for tag in tags)
    count = len(tags)
    same = np.array([[a.station == b.station for b in tags] for a in tags])
    for number in range(rounds + 1):
        strength = rng.gamma(0.5, 1.0, (count, count)) * np.where(same, 1.5, 0.35) + 3.0 * np.eye(count)
        strength[rng.random((count, count)) < 0.35] = 0.0
        strength /= np.maximum(strength.sum(axis=1, keepdims=True), 1e-9)
        if number == 0:
            strength *= 0.08
        note = "Linear path across tags: mean size of its coefficients." if number == 0 else ""
        route_map = RouteMap("spatial", number, names, names, strength.astype(np.float32), windows=480, note=note)
        route_map.save(folder / f"spatial-{number}.json")


def _temporal_routes(folder: Path, rng: np.random.Generator, rounds: int, minutes: float, *, parts: int) -> None:
    lags = (np.arange(parts)[::-1] * minutes).astype(np.float32)
    labels = tuple(f"part {i + 1}" for i in range(parts))
    for number in range(1, rounds + 1):
        weight = rng.gamma(1.0, 1.0, (parts, parts)) * np.exp(-lags / lags.max() * 1.5) + np.eye(parts) * 0.5
        weight /= weight.sum(axis=1, keepdims=True)
        route_map = RouteMap("temporal", number, labels, labels, weight.astype(np.float32), lags, windows=480)
        route_map.save(folder / f"temporal-{number}.json")


# --- fixtures --------------------------------------------------------------------------------------------------------

Maker = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> Maker:
    """A function that writes a run directory for the tags it is given (three monitors of three channels if none)."""

    def make(tags: Sequence[Tag] | None = None, **settings: Any) -> Path:
        return write_run(tmp_path / "run", stations_of_channels(3, 3) if tags is None else tags, **settings)

    return make


@pytest.fixture(scope="session")
def ring_tags() -> list[Tag]:
    """Sixteen posts with coordinates."""
    return ring(16)


@pytest.fixture(scope="session")
def hostile_names() -> tuple[str, ...]:
    """The names of `hostile_run`'s tags."""
    return HOSTILE


@pytest.fixture
def run_dir(make_run: Maker) -> Path:
    """A small run directory that a test may spoil."""
    return make_run(days=8)


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose tags, units and stations try to break out of the page. For reading only."""
    return write_run(tmp_path_factory.mktemp("hostile") / "run <b>", hostile_tags(), days=8)


@pytest.fixture(scope="session")
def network_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three monitors of nine channels. For reading only."""
    return write_run(tmp_path_factory.mktemp("network") / "run", stations_of_channels(3, 9), days=30)
