"""Reading a run directory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.errors import RunError
from attentionmixer.report.run import load_run


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit a JSON file in place."""
    data = json.loads(path.read_text(encoding="utf-8"))
    edit(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def test_a_run_is_read_whole(run_dir: Path) -> None:
    run = load_run(run_dir)
    assert [len(run.tags), run.horizon, run.lookback] == [9, 24, 96]
    assert run.step_minutes == 60
    assert run.ahead(24) == 1440
    assert [(m.axis, m.round) for m in run.routes] == [
        ("spatial", 0), ("spatial", 1), ("spatial", 2), ("temporal", 1), ("temporal", 2),
    ]  # fmt: skip
    assert run.weights_sha256 is not None
    assert run.weights_sha256 == run.promised_sha256


@pytest.mark.parametrize("name", ["forecaster.json", "metrics.json"])
def test_a_missing_file_is_named_with_what_to_do(run_dir: Path, name: str) -> None:
    (run_dir / name).unlink()
    with pytest.raises(RunError, match=rf"{name} is missing.*train again"):
        load_run(run_dir)


@pytest.mark.parametrize("name", ["forecaster.json", "metrics.json", "environment.json", "manifest.json"])
@pytest.mark.parametrize("content", [b'{"format": 1,', b"[1, 2]", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_damaged_file_is_named_with_what_to_do(run_dir: Path, name: str, content: bytes) -> None:
    (run_dir / name).write_bytes(content)
    with pytest.raises(RunError, match=rf"{name} (is damaged|cannot be read).*train again"):
        load_run(run_dir)


def test_metrics_without_a_test_part_are_damaged(run_dir: Path) -> None:
    (run_dir / "metrics.json").write_text('{"validation": {}}')
    with pytest.raises(RunError, match=r"metrics\.json holds no group 'test'"):
        load_run(run_dir)


def test_another_format_version_is_named(run_dir: Path) -> None:
    change(run_dir / "forecaster.json", lambda data: data.update(format=2))
    with pytest.raises(RunError, match="has format 2, this version reads format 1"):
        load_run(run_dir)


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["schema"].pop("horizon"),
        lambda data: data["schema"].update(tags=[]),
        lambda data: data["schema"].update(tags=[{"name": "a", "colour": "red"}]),
        lambda data: data["schema"].update(tags=[{"name": 7}]),
        lambda data: data["schema"].update(tags=[{"name": "a", "station": ["x"]}]),
        lambda data: data["schema"].update(step_seconds=0),
        lambda data: data["schema"].update(step_seconds="soon"),
        lambda data: data.update(provenance=3),
        lambda data: data.pop("quality"),
        lambda data: data["quality"].update(rows_in=1),
        lambda data: data["quality"].update(masked=[1]),
    ],
)
def test_a_damaged_schema_or_account_is_named(run_dir: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    change(run_dir / "forecaster.json", edit)
    with pytest.raises(RunError, match=r"forecaster\.json is damaged"):
        load_run(run_dir)


def test_a_damaged_route_map_is_named(run_dir: Path) -> None:
    (run_dir / "routes" / "spatial-1.json").write_text("{}")
    with pytest.raises(RunError, match=r"spatial-1\.json"):
        load_run(run_dir)
    change(run_dir / "routes" / "spatial-2.json", lambda data: data.update(axis="sideways"))
    (run_dir / "routes" / "spatial-1.json").unlink()
    with pytest.raises(RunError, match=r"spatial-2\.json is damaged"):
        load_run(run_dir)


def test_what_is_no_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is no directory"):
        load_run(tmp_path / "nothing")


def test_optional_files_may_be_absent(run_dir: Path) -> None:
    for name in ("config.yaml", "environment.json", "forecasts.parquet", "manifest.json", "model.safetensors"):
        (run_dir / name).unlink()
    for path in (run_dir / "routes").iterdir():
        path.unlink()
    run = load_run(run_dir)
    assert run.config is None
    assert run.forecasts is None
    assert run.routes == ()
    assert run.environment == {}
    assert run.weights_sha256 is None
    assert run.promised_sha256 is None
