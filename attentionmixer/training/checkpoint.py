"""Checkpoints for resuming, without pickle: tensors in safetensors, everything else as JSON in its header."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins.io.checkpoint_io import CheckpointIO
from torch import Tensor

from ..errors import RunError
from ..files import parse_json, write_atomically
from ..tensorfile import read_header, read_tensors, write_tensors

MAX_DEPTH = 60
MAX_ENTRIES = 500_000
_TENSOR, _PAIRS, _TUPLE, _FLOAT = "__tensor__", "__pairs__", "__tuple__", "__float__"
#: JSON has no word for these; a training without a validation yet has infinity for its best error.
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
#: Keys under which libraries keep the name of a class to import and make. Ours writes none, and reads none.
_CLASS_KEYS = frozenset(
    (
        "class_path",
        "_class_path",
        "_target_",
        "_instantiator",
        "hparams_instantiator",
        "hyper_parameters",
        "datamodule_hyper_parameters",
    )
)


class SafeCheckpointIO(CheckpointIO):
    """Lightning plugin that writes one safetensors file, atomically.

    Dictionaries, lists, tuples, numbers, strings and tensors are kept; anything else is refused when saving, since it
    could only be brought back by running code. So is the name of a class to make.
    """

    def save_checkpoint(self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any | None = None) -> None:
        """Write to a temporary name, sync, rename. A crash or a full disk leaves the checkpoint before this one."""
        write_tree(checkpoint, Path(path))

    def load_checkpoint(
        self, path: str | Path, map_location: Any | None = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        """Inverse of `save_checkpoint`. Raises `RunError` for a damaged file."""
        tree = read_tree(Path(path))
        if not isinstance(tree, dict):
            raise _unreadable(Path(path), "it holds no dictionary")
        return tree

    def remove_checkpoint(self, path: str | Path) -> None:
        """Delete a checkpoint file, if it is there."""
        Path(path).unlink(missing_ok=True)


def write_tree(tree: Any, path: Path) -> None:
    """Write a nested structure to one safetensors file, sealed with its own SHA-256.

    Raises `RunError` for what could not be read back, and where the disk is full.
    """
    tensors: dict[str, Tensor] = {}
    skeleton = json.dumps(_encode(tree, tensors), allow_nan=False)
    write_atomically(path, lambda part: write_tensors(part, tensors, {"skeleton": skeleton}, seal=True))


def read_tree(path: Path) -> Any:
    """Read what `write_tree` wrote; nothing that a file names is imported.

    Raises `RunError` where the file is missing, was changed, or holds anything else.
    """
    try:
        header = read_header(path)
        if "skeleton" not in header.texts:
            raise ValueError("it holds tensors, but no checkpoint")
        skeleton = parse_json(header.texts["skeleton"])
        decoder = _Decoder(read_tensors(path, header, sealed=True))
        tree = decoder.decode(skeleton)
        if decoder.tensors:
            raise ValueError(f"it holds the tensor {min(decoder.tensors)[:60]!r}, which is no part of it")
        return tree
    except (RunError, KeyError, TypeError, ValueError) as error:
        raise _unreadable(path, error) from error


def average_weights(path: Path) -> dict[str, torch.Tensor]:
    """The averaged weights of a checkpoint (what would be evaluated)."""
    weights: dict[str, torch.Tensor] = read_tree(path)["state_dict"]
    return weights


def _unreadable(path: Path, reason: object) -> RunError:
    return RunError(f"the checkpoint {path} cannot be read ({reason}); train again without --resume")


def _encode(node: Any, tensors: dict[str, Tensor], depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise RunError(f"a checkpoint cannot be nested deeper than {MAX_DEPTH}")
    if isinstance(node, Tensor):
        name = f"t{len(tensors)}"
        # a copy: tensors that share memory may not be stored twice
        tensors[name] = node.detach().clone().contiguous().cpu()
        return {_TENSOR: name}
    if isinstance(node, dict):
        _check_keys(node)
        items = ((_encode(key, tensors, depth + 1), _encode(value, tensors, depth + 1)) for key, value in node.items())
        return {_PAIRS: [[key, value] for key, value in items]}
    if isinstance(node, tuple):
        return {_TUPLE: [_encode(item, tensors, depth + 1) for item in node]}
    if isinstance(node, list):
        return [_encode(item, tensors, depth + 1) for item in node]
    if isinstance(node, float) and not math.isfinite(node):
        return {_FLOAT: str(float(node))}
    if node is None or isinstance(node, bool | int | float | str):
        return node
    raise RunError(f"a checkpoint cannot hold {type(node).__name__}: it could not be read back without running code")


def _check_keys(node: dict[Any, Any]) -> None:
    for key in node:
        if isinstance(key, str) and key in _CLASS_KEYS:
            raise RunError(f"a checkpoint cannot hold {key!r}: it names classes, which nothing here makes from a file")


class _Decoder:
    """Brings a skeleton back, taking each tensor once."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors, self.entries = tensors, 0

    def decode(self, node: Any, depth: int = 0) -> Any:
        """The part of the tree that ``node`` stands for. Raises what indexing raises, `ValueError` and `RunError`."""
        self.entries += 1
        if depth > MAX_DEPTH or self.entries > MAX_ENTRIES:
            raise ValueError(f"it is nested deeper than {MAX_DEPTH}, or has more than {MAX_ENTRIES:,} entries")
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        if len(node) != 1:
            raise ValueError(f"an entry has {len(node)} kinds at once")
        if _TENSOR in node:
            if node[_TENSOR] not in self.tensors:
                raise ValueError(
                    f"it refers to the tensor {str(node[_TENSOR])[:60]!r}, which it does not hold (any more)"
                )
            return self.tensors.pop(node[_TENSOR])
        if _FLOAT in node:
            return _FLOATS[node[_FLOAT]]
        if _TUPLE in node:
            return tuple(self.decode(item, depth + 1) for item in node[_TUPLE])
        pairs = [(self.decode(key, depth + 1), self.decode(value, depth + 1)) for key, value in node[_PAIRS]]
        tree = dict(pairs)
        if len(tree) < len(pairs):
            raise ValueError("a dictionary has one key twice")
        _check_keys(tree)
        return tree
