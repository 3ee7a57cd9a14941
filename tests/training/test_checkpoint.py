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
from attentionmixer.tensorfile import write_tensors
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


def write_skeleton(path: Path, skeleton: str, **tensors: torch.Tensor) -> None:
    """A sealed checkpoint with any skeleton."""
    write_tensors(path, tensors or {"t0": torch.zeros(1)}, {"skeleton": skeleton}, seal=True)


def test_a_skeleton_written_by_hand_is_read(tmp_path: Path) -> None:
    write_skeleton(
        tmp_path / "x", '{"__pairs__": [["a", {"__tuple__": [{"__tensor__": "t0"}, {"__float__": "-inf"}]}]]}'
    )
    assert same(read_tree(tmp_path / "x"), {"a": (torch.zeros(1), -math.inf)})


HAND = '{"__tensor__": "t0"}'


@pytest.mark.parametrize(
    ("skeleton", "says"),
    [
        ("{", "Expecting"),
        ("{}", "0 kinds"),
        ('{"__pairs__": 3}', "int"),
        ('{"__pairs__": [[1, 2, 3]]}', "unpack"),
        ('{"__pairs__": [[[], 1]]}', "unhashable"),
        ('{"__tuple__": null}', "NoneType"),
        ('{"__tensor__": []}', "unhashable"),
        ('{"__tensor__": "t9"}', "'t9', which it does not hold"),
        ('{"__tensor__": "sha256"}', "'sha256', which it does not hold"),
        (f"[{HAND}, {HAND}]", "'t0', which it does not hold"),
        ("[1]", "'t0', which is no part of it"),
        ('{"__code__": "import os"}', "__pairs__"),
        ('{"__tensor__": "t0", "__tuple__": []}', "2 kinds"),
        ('{"__tensor__": "t0", "__tensor__": "t0"}', "given twice"),
        ('{"__pairs__": [["a", 1], ["a", 2]]}', "one key twice"),
        ('{"__pairs__": [[1, 1], [true, 2]]}', "one key twice"),
        ('{"__float__": "1"}', "'1'"),
        ('{"__float__": []}', "unhashable"),
        ("[NaN]", "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("[1e999]", "beyond"),
        ("[" * 62 + "]" * 62, "nested deeper than 60"),
        ("[" * 900 + "]" * 900, "nested deeper"),
        ("[" * 100_000, "nested deeper"),
        ('{"__tuple__": [' * 62 + "]}" * 62, "nested deeper than 60"),
        ("[" + "0," * 1_000_000 + "0]", "more than 500,000 entries"),
        ('{"__pairs__": [["hyper_parameters", {"__pairs__": [["_target_", "os.system"]]}]]}', "'_target_'"),
    ],
    ids=lambda text: text[:30],
)
def test_a_file_of_another_structure_is_refused(tmp_path: Path, skeleton: str, says: str) -> None:
    path = tmp_path / "last.ckpt"
    write_skeleton(path, skeleton)
    with pytest.raises(RunError, match=r"last\.ckpt cannot be read.*--resume") as caught:
        read_tree(path)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("key", ["class_path", "_target_", "_instantiator", "hyper_parameters", "hparams_instantiator"])
def test_the_name_of_a_class_to_make_is_neither_written_nor_read(tmp_path: Path, key: str) -> None:
    with pytest.raises(RunError, match=f"cannot hold '{key}'"):
        write_tree({"deep": [{key: "os.system"}]}, tmp_path / "x")
    write_skeleton(tmp_path / "x", f'{{"__pairs__": [["{key}", "os.system"]]}}')
    with pytest.raises(RunError, match=f"cannot hold '{key}'"):
        read_tree(tmp_path / "x")


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    tree: Any = 1
    for _ in range(60):
        tree = [tree]
    write_tree(tree, tmp_path / "x")
    assert same(read_tree(tmp_path / "x"), tree)
    with pytest.raises(RunError, match="deeper than 60"):
        write_tree([tree], tmp_path / "x")


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "last.ckpt"
    write_tree({"epoch": 3, "w": torch.randn(9, generator=torch.manual_seed(0)), "best": math.inf}, path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(RunError, match=r"last\.ckpt cannot be read"):
            read_tree(path)


def test_a_checkpoint_is_a_dictionary(tmp_path: Path) -> None:
    write_tree([1], tmp_path / "x")
    with pytest.raises(RunError, match="holds no dictionary"):
        SafeCheckpointIO().load_checkpoint(tmp_path / "x")
