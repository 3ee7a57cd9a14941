"""A forecaster as files: weights in safetensors, everything else in sealed JSON; nothing in them can run code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from . import models
from .data.quality import QualityRecord
from .data.scaling import TagScaler
from .errors import ConfigError, LogError, RunError
from .files import (
    commit,
    drop_manifest,
    part_of,
    read_json,
    sealed_text,
    sha256,
    verify_manifest,
    verify_seal,
    write_part,
    write_text,
)
from .models.base import Task
from .schema import Schema
from .tensorfile import OnPaper, check_fits, read_header, read_tensors, write_tensors

FORMAT = 1
WEIGHTS, DESCRIPTION = "model.safetensors", "forecaster.json"
#: No saved model is larger; one that claims to be would take the machine's memory or hours to build.
MAX_SETTING = 65_536
MAX_ROUNDS = 128
MAX_WINDOW = 2**31


@dataclass(frozen=True)
class Saved:
    """What a forecaster is, but for its weights.

    Attributes
    ----------
    model: name of the architecture. config: its settings as plain types. task: what the model was built for.
    schema, scaler, provenance, quality: as in `Forecaster`.
    """

    model: str
    config: dict[str, Any]
    task: Task
    schema: Schema
    scaler: TagScaler
    provenance: dict[str, Any]
    quality: QualityRecord


def write_saved(parts: Saved, state: Mapping[str, Tensor], folder: Path) -> None:
    """Write ``model.safetensors`` and ``forecaster.json``, so that a crash leaves the old ones or the new ones."""
    _finish_save(folder)
    weights = {name: value.contiguous() for name, value in state.items()}
    weights_part = write_part(folder / WEIGHTS, lambda part: write_tensors(part, weights))
    description = {
        "format": FORMAT,
        "model": {"name": parts.model, "config": parts.config, "task": asdict(parts.task)},
        "schema": parts.schema.to_dict(),
        "scaler": parts.scaler.to_dict(),
        "provenance": parts.provenance,
        "quality": parts.quality.to_dict(),
        "weights_sha256": sha256(weights_part),
    }
    try:
        write_part(folder / DESCRIPTION, lambda part: write_text(part, sealed_text(description)))
    except BaseException:
        weights_part.unlink()
        raise
    drop_manifest(folder)
    commit(folder / DESCRIPTION)
    commit(folder / WEIGHTS)


def read_saved(folder: Path) -> tuple[Saved, dict[str, Tensor]]:
    """Inverse of `write_saved`. Raises `RunError` where a file is missing, damaged or does not fit.

    Sizes and the header of the weights are checked before a model is built or a weight is read.
    """
    verify_manifest(folder, (DESCRIPTION, WEIGHTS))
    path = folder / DESCRIPTION
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RunError(f"{path} is not of format {FORMAT}; it needs another version")
    try:
        parts = Saved(
            model=data["model"]["name"],
            config=dict(data["model"]["config"]),
            task=Task(**_task_fields(data["model"]["task"])),
            schema=Schema.from_dict(data["schema"]),
            scaler=TagScaler.from_dict(data["scaler"]),
            provenance=dict(data["provenance"]),
            quality=QualityRecord.from_dict(data["quality"]),
        )
        _check_size(parts.task, parts.config)
        with OnPaper():
            expected = models.build(parts.model, parts.task, parts.config).state_dict()
    except (LogError, ConfigError) as error:
        raise RunError(f"{path} is damaged: {error}") from error
    except (LookupError, AttributeError, TypeError, ValueError, RuntimeError, ArithmeticError) as error:
        raise RunError(f"{path} is damaged: {error!r}") from error
    _check_agreement(parts.task, parts.schema, parts.scaler, path)
    weights = _load_weights(folder, expected, data.get("weights_sha256"))
    verify_seal(path)
    return parts, weights


def _task_fields(task: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(task)
    fields["levels"] = tuple(fields["levels"])
    fields["static"] = tuple(tuple(row) for row in fields["static"])
    fields["stations"] = tuple(fields.get("stations", ()))
    return fields


def _check_agreement(task: Task, schema: Schema, scaler: TagScaler, path: Path) -> None:
    """Raise `RunError` where the parts of ``forecaster.json`` speak of different tags, windows or quantiles."""
    wanted = (task.variates, task.variates, task.lookback, task.horizon, task.levels)
    there = (len(schema.tags), len(scaler.location), schema.lookback, schema.horizon, schema.levels)
    names = ("tags", "tags of the scaler", "look-back", "horizon", "levels")
    for name, one, other in zip(names, wanted, there, strict=True):
        if one != other:
            raise RunError(f"{path} is damaged: {name} is {other}, but the model was built for {one}")
    for name, numbers in scaler.named_buffers():
        # in float32: what is finite in the file need not be so here
        if not bool(numbers.isfinite().all()) or (name in ("scale", "deviation") and not bool((numbers > 0).all())):
            raise RunError(f"{path} is damaged: the scaler's {name} is no possible number for some tag")


def _check_size(task: Task, config: Mapping[str, Any]) -> None:
    """Raise `ValueError` for a size that is none, or that no saved model has: building it would take all memory."""
    sizes = {name: getattr(task, name) for name in ("variates", "lookback", "horizon", "known")}
    for name, size in sizes.items():
        if type(size) is not int or size < (name != "known"):
            raise ValueError(f"{name} is {str(size)[:40]!r}, which is no possible number of them")
    settings = {name: value for name, value in config.items() if type(value) is int}
    for name, size in {**sizes, "levels": len(task.levels), **settings}.items():
        most = MAX_ROUNDS if name == "rounds" else MAX_SETTING
        if size > most:
            raise ValueError(f"{name} is {size:,}; no saved model has more than {most:,}")
    if len(task.static) not in (0, task.variates):
        raise ValueError(f"{len(task.static):,} tags have a place, but there are {task.variates:,}")
    steps = task.lookback + task.horizon * (1 + len(task.levels))
    window = task.variates * steps * max([1, *settings.values()])
    if window > MAX_WINDOW:
        raise ValueError(
            f"one window of {task.variates:,} tags, look-back {task.lookback:,} and horizon {task.horizon:,} would "
            f"take {window:,} numbers; no saved model takes more than {MAX_WINDOW:,}"
        )


def _finish_save(folder: Path) -> None:
    """Rename the weights of a save that was cut off just before."""
    try:
        digest = read_json(folder / DESCRIPTION)["weights_sha256"]
    except (RunError, LookupError, TypeError):
        return  # nothing of ours is there that could be lost
    if _find_weights(folder, digest) != folder / WEIGHTS:
        commit(folder / WEIGHTS)


def _find_weights(folder: Path, digest: str) -> Path:
    """Where the weights with that hash lie: in their place, or under the temporary name if a save was cut off."""
    path = folder / WEIGHTS
    part = part_of(path)
    if part.is_file() and sha256(part) == digest and not (path.is_file() and sha256(path) == digest):
        return part
    return path


def _load_weights(folder: Path, expected: Mapping[str, Tensor], digest: str | None) -> dict[str, Tensor]:
    path = folder / WEIGHTS if digest is None else _find_weights(folder, digest)
    header = read_header(path)
    check_fits(path, header, expected)
    if digest is not None and sha256(path) != digest:
        raise RunError(f"{path} was changed after it was written: its hash is not the one in {DESCRIPTION}")
    weights = read_tensors(path, header)
    for name, value in weights.items():
        if not bool(value.isfinite().all()):
            raise RunError(f"{path} is damaged: {name!r} holds values that are no numbers")
    return weights
