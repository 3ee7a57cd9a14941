"""Checkpoints for resuming, without pickle: tensors in safetensors, everything else as JSON in its header."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins.io.checkpoint_io import CheckpointIO
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ..errors import RunError

_TENSOR, _PAIRS, _TUPLE = "__tensor__", "__pairs__", "__tuple__"


class SafeCheckpointIO(CheckpointIO):
    """Lightning plugin that writes one safetensors file, atomically.

    Dictionaries, lists, tuples, numbers, strings and tensors are kept; anything else is refused when saving, since it
    could only be brought back by running code.
    """

    def save_checkpoint(self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any | None = None) -> None:
        """Write to a temporary name, sync, rename."""
        write_tree(checkpoint, Path(path))

    def load_checkpoint(
        self, path: str | Path, map_location: Any | None = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        """Inverse of `save_checkpoint`. Raises `RunError` for a damaged file."""
        tree: dict[str, Any] = read_tree(Path(path))
        return tree

    def remove_checkpoint(self, path: str | Path) -> None:
        """Delete a checkpoint file, if it is there."""
        Path(path).unlink(missing_ok=True)


def write_tree(tree: Any, path: Path) -> None:
    """Write a nested structure to one safetensors file. Raises `RunError` for what could not be read back."""
    tensors: dict[str, Tensor] = {}
    skeleton = json.dumps(_encode(tree, tensors))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    save_file(tensors, str(temporary), metadata={"skeleton": skeleton})
    with temporary.open("rb") as written:
        os.fsync(written.fileno())
    temporary.replace(path)


def read_tree(path: Path) -> Any:
    """Read what `write_tree` wrote. Raises `RunError` where the file is missing or damaged."""
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        return _decode(json.loads(metadata["skeleton"]), tensors)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise RunError(f"the checkpoint {path} cannot be read ({error}); train again without --resume") from error


def _encode(node: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(node, Tensor):
        name = f"t{len(tensors)}"
        # a copy: tensors that share memory may not be stored twice
        tensors[name] = node.detach().clone().contiguous().cpu()
        return {_TENSOR: name}
    if isinstance(node, dict):
        return {_PAIRS: [[_encode(key, tensors), _encode(value, tensors)] for key, value in node.items()]}
    if isinstance(node, tuple):
        return {_TUPLE: [_encode(item, tensors) for item in node]}
    if isinstance(node, list):
        return [_encode(item, tensors) for item in node]
    if node is None or isinstance(node, bool | int | float | str):
        return node
    raise RunError(f"a checkpoint cannot hold {type(node).__name__}: it could not be read back without running code")


def _decode(node: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(node, list):
        return [_decode(item, tensors) for item in node]
    if isinstance(node, dict):
        if _TENSOR in node:
            return tensors[node[_TENSOR]]
        if _PAIRS in node:
            return {_decode(key, tensors): _decode(value, tensors) for key, value in node[_PAIRS]}
        return tuple(_decode(item, tensors) for item in node[_TUPLE])
    return node


def average_weights(path: Path) -> dict[str, torch.Tensor]:
    """The averaged weights of a checkpoint (what would be evaluated)."""
    weights: dict[str, torch.Tensor] = read_tree(path)["state_dict"]
    return weights
