"""A killed process, a power cut or a full disk at any step of saving leaves the old state or the new one.

The steps are counted where files are opened, written, synced, renamed and removed; each is made to fail in turn.
"""

from __future__ import annotations

import copy
import errno
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

from attentionmixer import run
from attentionmixer.config import parse
from attentionmixer.data.log import StationLog
from attentionmixer.errors import RunError
from attentionmixer.files import (
    MANIFEST,
    part_of,
    read_json,
    verify_manifest,
    verify_seal,
    write_atomically,
    write_json,
    write_manifest,
    write_sealed_json,
    write_text,
)
from attentionmixer.forecaster import Forecaster
from attentionmixer.routemap import RouteMap
from attentionmixer.training.checkpoint import SafeCheckpointIO, read_tree, write_tree

Failure = Literal["kill", "power cut", "full disk"]
FAILURES: tuple[Failure, ...] = ("kill", "power cut", "full disk")
#: What needs no room on a full disk.
FREE = ("unlink",)


class Killed(BaseException):
    """The process is gone: nothing catches this, and no step after it reaches the disk."""


class Written:
    """A file open for writing, whose writes are steps."""

    def __init__(self, file: Any, disk: Disk) -> None:
        self.file, self.disk = file, disk

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> Written:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, data: Any) -> int:
        """Write; the step that fails gets half of it done."""
        half = data[: len(data) // 2]
        self.disk.step("write", lambda: (self.file.write(half), self.file.flush()))
        return int(self.file.write(data))


class Disk:
    """Steps on files within a folder, one of which fails, and all after it."""

    def __init__(self, folder: Path, failure: Failure, at: int, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.failure, self.at = folder, failure, at
        self.steps: list[str] = []
        self.failed = False
        # files whose content would outlast a power cut
        self.safe = {path.stat().st_ino for path in folder.rglob("*")}
        self.real_open = io.open
        patch.setattr(io, "open", self.open)
        patch.setattr(os, "fsync", self.fsync)
        for name in ("replace", "unlink", "mkdir"):
            patch.setattr(os, name, self.watched(name, getattr(os, name)))

    def step(self, name: str, half: Callable[[], object] = lambda: None) -> None:
        """Count one step, and fail if it is the one to fail at or comes after it."""
        if not self.failed:
            self.steps.append(name)
            if len(self.steps) == self.at and not (self.failure == "full disk" and name in FREE):
                self.failed = True
                half()
        if self.failed and self.failure == "full disk" and name not in FREE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.failed and self.failure != "full disk":
            raise Killed

    def watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """The function with a step before it, where it is about the folder."""

        def function(path: Any, *rest: Any, **options: Any) -> Any:
            if Path(path).is_relative_to(self.folder):
                self.step(name)
            return real(path, *rest, **options)

        return function

    def open(self, file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
        """Open; opening a file for writing is a step. ``rb+`` is for syncing alone."""
        mine = isinstance(file, int) or Path(file).is_relative_to(self.folder)
        if not mine or not set(mode) & set("wxa"):
            return self.real_open(file, mode, *rest, **options)
        self.step("open")
        opened = self.real_open(file, mode, *rest, **options)
        self.safe.discard(os.fstat(opened.fileno()).st_ino)
        return Written(opened, self)

    def fsync(self, handle: int) -> None:
        """Note that the file is safe; really syncing it would make no difference that a test could see."""
        self.step("fsync")
        self.safe.add(os.fstat(handle).st_ino)

    def cut_power(self) -> None:
        """Half of what was written to a file and never synced is lost."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path.stat().st_ino not in self.safe:
                os.truncate(path, path.stat().st_size // 2)


def fail_at_every_step(
    folder: Path,
    failure: Failure,
    act: Callable[[Path], object],
    check: Callable[[Path], str],
    before: str = "old",
    every: int = 1,
) -> list[str]:
    """Let ``act`` fail at each of its steps in a fresh copy of ``folder``; the steps of an undisturbed ``act``.

    ``check`` says which state it finds, or raises. After the failure it must be ``before`` or ``new``; and once
    ``act`` could run to its end, ``new``, with nothing left lying about (looked at after ``every`` such step).
    """
    seen = []
    for at in range(1, 1000):
        place = folder.with_name(f"{folder.name}-{failure.replace(' ', '-')}-{at}")
        shutil.copytree(folder, place)
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(place, failure, at, patch)
            try:
                act(place)
            except Killed:
                assert failure != "full disk"
            except RunError as error:
                assert failure == "full disk"
                assert str(place) in str(error)
                assert "No space left on device" in str(error)
                assert "MB are free" in str(error)
        if failure == "power cut":
            disk.cut_power()
        seen.append(check(place))
        assert seen[-1] in (before, "new"), disk.steps
        if at % every == 0:
            act(place)
            assert check(place) == "new"
            assert not list(place.rglob("*.part"))
        if len(disk.steps) < at:
            assert set(seen[:-1]) == {before, "new"} or at == 2
            return disk.steps
    raise AssertionError("it does not end")


# --- single files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("write", [write_json, write_sealed_json])
def test_a_json_file_is_the_old_one_or_the_new_one(failure: Failure, write: Any, tmp_path: Path) -> None:
    def check(folder: Path) -> str:
        verify_seal(folder / "a.json")
        return str(read_json(folder / "a.json")["state"])

    folder = tmp_path / "folder"
    write(folder / "a.json", {"state": "old", "x": list(range(100))})
    steps = fail_at_every_step(folder, failure, lambda at: write(at / "a.json", {"state": "new"}), check)
    # synced before it is renamed, and the folder synced after that
    assert steps[-5:] == ["open", "write", "fsync", "replace", "fsync"]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_checkpoint_is_the_old_one_or_the_new_one(failure: Failure, tmp_path: Path) -> None:
    def check(folder: Path) -> str:
        tree = SafeCheckpointIO().load_checkpoint(folder / "checkpoints" / "last.safetensors")
        assert torch.equal(tree["state_dict"]["w"], torch.full((50,), float(tree["epoch"])))
        return "old" if tree["epoch"] == 1 else "new"

    def save(folder: Path, epoch: int = 2) -> None:
        tree = {"epoch": epoch, "state_dict": {"w": torch.full((50,), float(epoch))}}
        SafeCheckpointIO().save_checkpoint(tree, folder / "checkpoints" / "last.safetensors")

    save(tmp_path / "folder", 1)
    steps = fail_at_every_step(tmp_path / "folder", failure, save, check)
    assert steps[-5:] == ["open", "write", "fsync", "replace", "fsync"]


@pytest.mark.parametrize("failure", FAILURES)
def test_the_first_checkpoint_is_there_or_not(failure: Failure, tmp_path: Path) -> None:
    def check(folder: Path) -> str:
        path = folder / "checkpoints" / "last.safetensors"
        return str(read_tree(path)["state"]) if path.exists() else "none"

    (tmp_path / "folder").mkdir()
    steps = fail_at_every_step(
        tmp_path / "folder",
        failure,
        lambda at: write_tree({"state": "new", "w": torch.ones(9)}, at / "checkpoints" / "last.safetensors"),
        check,
        before="none",
    )
    assert steps[0] == "mkdir"


def test_an_unsynced_file_would_be_found_out(tmp_path: Path) -> None:
    def careless(folder: Path) -> None:
        (folder / ".a.part").write_text("new " * 20)
        os.replace(folder / ".a.part", folder / "a")

    def check(folder: Path) -> str:
        return {"old": "old", "new " * 20: "new"}.get((folder / "a").read_text(), "broken")

    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_text("old")
    with pytest.raises(AssertionError):
        fail_at_every_step(tmp_path / "folder", "power cut", careless, check)


def test_a_failure_that_is_not_a_full_disk_is_told_as_it_is(tmp_path: Path) -> None:
    def refuse(part: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(part))

    with pytest.raises(PermissionError):
        write_atomically(tmp_path / "a", refuse)
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="file"):
        write_atomically(tmp_path / "file" / "a", lambda part: write_text(part, "x"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_lies_under_a_temporary_name_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("keep")
    part_of(tmp_path / "a").symlink_to(tmp_path / "precious")
    write_atomically(tmp_path / "a", lambda part: write_text(part, "new"))
    assert (tmp_path / "precious").read_text() == "keep"
    assert (tmp_path / "a").read_text() == "new"


# --- a forecaster ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(tiny: tuple[Forecaster, StationLog]) -> tuple[Forecaster, Forecaster]:
    """Two forecasters of one shape: another scaler with the same weights would give wrong doses and no error."""
    other = copy.copy(tiny[0])
    other._model, other._scaler = copy.deepcopy(tiny[0].model), copy.deepcopy(tiny[0].scaler)
    with torch.no_grad():
        for weight in other._model.parameters():
            weight.add_(1.0)
        other._scaler.location.add_(5.0)
    return tiny[0], other


def content(forecaster: Forecaster) -> tuple[Any, ...]:
    """Weights and scaler, to the bit."""
    weights = [(name, value.numpy().tobytes()) for name, value in forecaster.model.state_dict().items()]
    return weights, forecaster.scaler.to_dict(), forecaster.schema


def state_of(pair: tuple[Forecaster, Forecaster]) -> Callable[[Path], str]:
    """A check that finds the first of the pair ``old`` and the second ``new``."""

    def check(folder: Path) -> str:
        if not (folder / "forecaster.json").exists():
            return "none"
        found = content(Forecaster.load(folder))
        return "old" if found == content(pair[0]) else "new" if found == content(pair[1]) else "mixed"

    return check


@pytest.mark.parametrize("failure", FAILURES)
def test_a_saved_forecaster_is_the_old_one_or_the_new_one_and_never_half_of_each(
    failure: Failure, pair: tuple[Forecaster, Forecaster], tmp_path: Path
) -> None:
    pair[0].save(tmp_path / "folder")
    steps = fail_at_every_step(tmp_path / "folder", failure, pair[1].save, state_of(pair))
    assert steps.count("replace") == 2


@pytest.mark.parametrize("failure", FAILURES)
def test_a_forecaster_saved_for_the_first_time_is_there_or_not(
    failure: Failure, pair: tuple[Forecaster, Forecaster], tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    fail_at_every_step(tmp_path / "folder", failure, pair[1].save, state_of(pair), before="none")


@pytest.mark.parametrize("failure", FAILURES)
def test_a_save_into_a_finished_run_is_not_taken_for_tampering(
    failure: Failure, pair: tuple[Forecaster, Forecaster], tmp_path: Path
) -> None:
    pair[0].save(tmp_path / "folder")
    write_manifest(tmp_path / "folder")
    fail_at_every_step(tmp_path / "folder", failure, pair[1].save, state_of(pair))


@pytest.mark.parametrize("failure", FAILURES)
def test_a_save_that_was_cut_off_is_finished_by_the_next_one_before_it_begins(
    failure: Failure, pair: tuple[Forecaster, Forecaster], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    pair[0].save(folder)
    # the moment between the two renames: the new description beside the old weights
    weights, part = folder / "model.safetensors", part_of(folder / "model.safetensors")
    old = weights.read_bytes()
    pair[1].save(folder)
    weights.rename(part)
    weights.write_bytes(old)
    assert state_of(pair)(folder) == "new"
    fail_at_every_step(folder, failure, pair[0].save, state_of(pair[::-1]))


def test_what_cannot_be_written_leaves_the_old_forecaster_its_manifest_and_nothing_else(
    pair: tuple[Forecaster, Forecaster], tmp_path: Path
) -> None:
    pair[0].save(tmp_path)
    write_manifest(tmp_path)
    there = sorted(path.name for path in tmp_path.iterdir())
    broken = copy.copy(pair[1])
    broken.provenance = {"loss": float("nan")}
    with pytest.raises(ValueError, match="not JSON compliant"):
        broken.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == there
    assert state_of(pair)(tmp_path) == "old"


def test_leftovers_are_ignored(pair: tuple[Forecaster, Forecaster], tmp_path: Path) -> None:
    pair[0].save(tmp_path)
    for name in ("model.safetensors", "forecaster.json", "metrics.json"):
        part_of(tmp_path / name).write_bytes(b"half of some")
    assert state_of(pair)(tmp_path) == "old"
    write_manifest(tmp_path)
    assert not list(tmp_path.glob(".*"))
    assert state_of(pair)(tmp_path) == "old"


# --- a run -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", ["kill", "full disk"])
def test_a_run_that_is_written_again_holds_the_old_forecaster_or_the_new_one(
    failure: Failure,
    pair: tuple[Forecaster, Forecaster],
    tiny: tuple[Forecaster, StationLog],
    tiny_arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All the writing of a run with none of its computing."""
    config = parse([*tiny_arguments, "--resume"], "test")
    routes = [RouteMap("spatial", n, ("a",), ("a",), np.ones((1, 1), np.float32)) for n in (1, 2)]
    now = [pair[0]]

    def text(path: Path) -> Path:
        write_atomically(path, lambda part: write_text(part, f"of {now.index(now[0])}"))
        return path

    monkeypatch.setattr(run, "load_log", lambda _: tiny[1])
    monkeypatch.setattr(run, "_check_same_settings", lambda *_: None)
    monkeypatch.setattr(run, "_fit", lambda *_: now[0])
    monkeypatch.setattr(run, "measure", lambda *_: {"mse": 1.0})
    monkeypatch.setattr(run, "_write_forecasts", lambda *parts: text(parts[-1]))
    monkeypatch.setattr(run, "write_report", lambda folder: text(folder / "report.html"))
    monkeypatch.setattr(Forecaster, "fit", lambda self, *_: self)
    monkeypatch.setattr(Forecaster, "routes", lambda *_: routes)

    run.train_run(config, tmp_path / "folder", [])
    now[0] = pair[1]
    check = state_of(pair)
    steps = fail_at_every_step(tmp_path / "folder", failure, lambda at: run.train_run(config, at, []), check, every=9)
    # configuration, environment, weights, description, metrics, forecasts, two routes, report, manifest
    assert steps.count("replace") == 10
    verify_manifest(tmp_path / "folder", ["model.safetensors"])


@pytest.mark.parametrize("failure", FAILURES)
def test_a_manifest_is_whole_or_not_there(failure: Failure, tmp_path: Path) -> None:
    def check(folder: Path) -> str:
        verify_manifest(folder)
        return "new" if (folder / MANIFEST).exists() else "old"

    write_text(tmp_path / "a", "x")
    folder = tmp_path / "folder"
    write_json(folder / "metrics.json", {"mse": 1.0})
    part_of(folder / "forecasts.parquet").write_bytes(b"left by a crash")
    fail_at_every_step(folder, failure, write_manifest, check)


# --- for real --------------------------------------------------------------------------------------------------------

SAVE_FOR_EVER = """
import itertools, sys
from pathlib import Path
import torch
from attentionmixer.forecaster import Forecaster
from attentionmixer.training.checkpoint import write_tree
folder = Path(sys.argv[1])
pair = [Forecaster.load(path) for path in sys.argv[2:]]
for number in itertools.count():
    write_tree({"number": number, "weights": torch.full((30_000,), float(number))}, folder / "last.safetensors")
    pair[number % 2].save(folder)
    print(number, flush=True)
"""


def test_a_process_killed_while_saving_leaves_a_whole_checkpoint_and_a_whole_forecaster(
    pair: tuple[Forecaster, Forecaster], tmp_path: Path
) -> None:
    for name, forecaster in zip(("one", "two"), pair, strict=True):
        forecaster.save(tmp_path / name)
    folder = tmp_path / "folder"
    command = [sys.executable, "-c", SAVE_FOR_EVER, str(folder), str(tmp_path / "one"), str(tmp_path / "two")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        done = next(int(line) for line in process.stdout if int(line) >= 3)
        process.kill()
    tree = read_tree(folder / "last.safetensors")
    assert tree["number"] >= done
    assert torch.equal(tree["weights"], torch.full((30_000,), float(tree["number"])))
    assert state_of(pair)(folder) in ("old", "new")
    assert json.loads((folder / "forecaster.json").read_text(encoding="utf-8"))["weights_sha256"]
