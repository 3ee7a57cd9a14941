"""Checkpoints without pickle."""

from __future__ import annotations

import math
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from attentionmixer.errors import RunError
from attentionmixer.training.checkpoint import SafeCheckpointIO, average_weights, read_tree, write_tree


def same(a: Any, b: Any) -> bool:
    """Equal, of the same types, down to every tensor."""
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b)))


def test_nested_structures_come_back_as_they_were(tmp_path: Path) -> None:
    tree = {
        "state": {0: {"step": torch.tensor(3.0), "exp": torch.randn(2, 3)}, 7: {}},
        ("a", 1): [(), [], {}, (1, (2.5, [None]))],
        "flags": [True, False, 1, 0, -2, 1.0],
        "text": 'µSv/h "quoted"\n\x00',
        "dtypes": [torch.ones(2, dtype=d) for d in (torch.bfloat16, torch.int64, torch.bool, torch.float64)],
        "numbers": [math.nan, math.inf, 1e-300, 2**60, 0.1],
        "__tensor__": {"__tensor__": "t0", "__tuple__": [1], "__pairs__": []},
        "empty": torch.empty(0, 3),
    }
    write_tree(tree, tmp_path / "deep" / "last.ckpt")
    assert same(read_tree(tmp_path / "deep" / "last.ckpt"), tree)


def test_tensors_that_share_memory_and_strided_ones_are_kept(tmp_path: Path) -> None:
    base = torch.arange(12.0).view(3, 4)
    tree = {"a": base, "b": base.T, "c": base[1], "d": base, "p": torch.nn.Parameter(base[:, 1])}
    write_tree(tree, tmp_path / "x.ckpt")
    again = read_tree(tmp_path / "x.ckpt")
    assert all(torch.equal(again[name], part) for name, part in tree.items())


def test_the_state_of_an_optimiser_comes_back(tmp_path: Path) -> None:
    weight = torch.nn.Parameter(torch.randn(3))
    optimizer = torch.optim.AdamW([weight])
    weight.square().sum().backward()
    optimizer.step()
    path = tmp_path / "last.ckpt"
    SafeCheckpointIO().save_checkpoint({"optimizer_states": [optimizer.state_dict()], "epoch": 3}, path)
    again = SafeCheckpointIO().load_checkpoint(path)
    assert same(again["optimizer_states"][0], optimizer.state_dict())
    torch.optim.AdamW([weight]).load_state_dict(again["optimizer_states"][0])


class Thing:
    """Something only code could bring back."""


@pytest.mark.parametrize(
    "node", [Thing(), {1, 2}, np.zeros(2), b"bytes", Path("x"), 1j, print], ids=lambda node: type(node).__name__
)
def test_what_needs_code_to_come_back_is_refused_and_the_old_file_stays(tmp_path: Path, node: Any) -> None:
    path = tmp_path / "last.ckpt"
    write_tree({"old": 1}, path)
    with pytest.raises(RunError, match=f"cannot hold {type(node).__name__}"):
        write_tree({"deep": [{"er": node}]}, path)
    assert read_tree(path) == {"old": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["last.ckpt"]


def test_ordered_dictionaries_keep_their_order(tmp_path: Path) -> None:
    write_tree(OrderedDict([("z", 1), ("a", 2)]), tmp_path / "x.ckpt")
    assert list(read_tree(tmp_path / "x.ckpt").items()) == [("z", 1), ("a", 2)]


@pytest.mark.parametrize("cut", [0, 4, 40, -1])
def test_a_cut_file_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "last.ckpt"
    write_tree({"a": torch.randn(50), "n": [1, 2]}, path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(RunError, match=r"last\.ckpt cannot be read"):
        read_tree(path)


def test_pickles_foreign_files_and_missing_ones_are_refused(tmp_path: Path) -> None:
    torch.save({"a": torch.ones(2)}, tmp_path / "pickle.ckpt")
    save_file({"a": torch.ones(2)}, str(tmp_path / "foreign.ckpt"))
    save_file({"a": torch.ones(2)}, str(tmp_path / "lost.ckpt"), metadata={"skeleton": '{"__tensor__": "t9"}'})
    save_file({"a": torch.ones(2)}, str(tmp_path / "odd.ckpt"), metadata={"skeleton": '{"other": 1}'})
    for name in ("pickle", "foreign", "lost", "odd", "nowhere"):
        with pytest.raises(RunError, match="cannot be read"):
            read_tree(tmp_path / f"{name}.ckpt")


def test_weights_are_read_and_files_removed(tmp_path: Path) -> None:
    path = tmp_path / "last.ckpt"
    SafeCheckpointIO().save_checkpoint({"state_dict": {"w": torch.ones(2)}}, path)
    assert torch.equal(average_weights(path)["w"], torch.ones(2))
    SafeCheckpointIO().remove_checkpoint(path)
    SafeCheckpointIO().remove_checkpoint(path)
    assert not path.exists()


class Trap:
    """Would leave a file behind if it were unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    mark, plain, zipped = (tmp_path / name for name in ("was run", "plain.ckpt", "zipped.ckpt"))
    plain.write_bytes(pickle.dumps(Trap(mark)))
    torch.save({"state_dict": Trap(mark)}, zipped)
    for path in (plain, zipped):
        with pytest.raises(RunError, match="cannot be read"):
            read_tree(path)
    assert not mark.exists()
    # the trap works: else this would show nothing
    pickle.loads(plain.read_bytes())
    assert mark.exists()


@pytest.mark.parametrize(
    "skeleton",
    [
        "{",
        '{"__pairs__": 3}',
        '{"__pairs__": [[1, 2, 3]]}',
        '{"__pairs__": [[[], 1]]}',
        '{"__tuple__": null}',
        '{"__tensor__": []}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:30],
)
def test_a_file_of_another_structure_is_refused(tmp_path: Path, skeleton: str) -> None:
    path = tmp_path / "last.ckpt"
    save_file({"t0": torch.zeros(1)}, str(path), metadata={"skeleton": skeleton})
    with pytest.raises(RunError, match=r"last\.ckpt cannot be read.*--resume"):
        read_tree(path)
