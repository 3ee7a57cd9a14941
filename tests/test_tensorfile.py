"""Tensor files: what a header may claim, what is read, and what fits."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save

from attentionmixer import models
from attentionmixer.errors import RunError
from attentionmixer.models.base import Task
from attentionmixer.tensorfile import MAX_HEADER_BYTES, OnPaper, check_fits, read_header, read_tensors, write_tensors

TENSORS = {
    "weight": torch.arange(6.0).view(2, 3),
    "bias": torch.ones(3, dtype=torch.float64),
    "half": torch.ones(5, dtype=torch.bfloat16),
    "flags": torch.tensor([True, False, True]),
    "step": torch.tensor(7),
    "nothing": torch.empty(0, 3),
}


def entry(begin: int, end: int, shape: Any = None, dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": [(end - begin) // 4] if shape is None else shape, "data_offsets": [begin, end]}


def write(path: Path, header: Any, data: bytes = bytes(16), length: int | None = None) -> Path:
    """A file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize("seal", [False, True])
def test_what_is_written_is_read_back_by_us_and_by_the_library(seal: bool, tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    write_tensors(path, TENSORS, {"unit": "µSv/h"}, seal=seal)
    header = read_header(path)
    assert header.texts == {"unit": "µSv/h"}
    for again in (read_tensors(path, header, sealed=seal), load_file(str(path))):
        again.pop("sha256", None)
        assert again.keys() == TENSORS.keys()
        for name, value in TENSORS.items():
            assert again[name].dtype == value.dtype
            assert torch.equal(again[name], value)


def test_a_file_of_the_library_is_read(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(save(TENSORS))
    header = read_header(tmp_path / "t")
    assert {name: (e.dtype, e.shape) for name, e in header.tensors.items()} == {
        name: (value.dtype, tuple(value.shape)) for name, value in TENSORS.items()
    }
    assert torch.equal(read_tensors(tmp_path / "t", header)["weight"], TENSORS["weight"])


def test_the_same_tensors_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_tensors(tmp_path / name, TENSORS, {"skeleton": "x"}, seal=True)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("header", "says"),
    [
        (b"[]", "no object"),
        (b"{ ", "Expecting property name"),
        (b"\xff\xfe", "utf-8"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": 1, "a": 2}', "'a' is given twice"),
        (b'{"a":' + b"[" * 100_000, "nested deeper"),
        ({"a": entry(0, 16), "__metadata__": {"x": 1}}, "no text"),
        ({"a": entry(0, 16), "__metadata__": []}, "no text"),
        ({"a": [0, 16]}, "does not describe"),
        ({"a": {**entry(0, 16), "code": "import os"}}, "does not describe"),
        ({"a": {"dtype": "F32", "shape": [4]}}, "does not describe"),
        ({"a": entry(0, 16, dtype="F128")}, "unknown type"),
        ({"a": entry(0, 16, dtype=["F32"])}, "unknown type"),
        ({"a": entry(0, 16, shape=[-4])}, "no possible shape"),
        ({"a": entry(0, 16, shape=[4.0])}, "no possible shape"),
        ({"a": entry(0, 16, shape=[True] * 4)}, "no possible shape"),
        ({"a": entry(0, 16, shape="4")}, "no possible shape"),
        ({"a": entry(0, 16, shape=[2**70])}, "no possible shape"),
        ({"a": entry(0, 16, shape=[1] * 9)}, "no possible shape"),
        ({"a": entry(0, 16, shape=[2**40, 2**40])}, "its shape does not need"),
        ({"a": entry(0, 16, shape=[5])}, "its shape does not need"),
        ({"a": {**entry(0, 16), "data_offsets": [0, 16, 16]}}, "no possible place"),
        ({"a": {**entry(0, 16), "data_offsets": [-16, 0]}}, "no possible place"),
        ({"a": {**entry(0, 16), "data_offsets": [16, 0]}}, "its shape does not need"),
        ({"a": entry(0, 8), "b": entry(12, 16)}, "do not follow"),
        ({"a": entry(0, 8), "b": entry(4, 16)}, "do not follow"),
        ({"a": entry(0, 16), "b": entry(0, 16)}, "do not follow"),
        ({"a": entry(4, 16)}, "do not follow"),
        ({"a": entry(0, 12)}, "cut off or added to"),
        ({"a": entry(0, 20)}, "cut off or added to"),
        ({"a": entry(0, 2**40)}, "cut off or added to"),
        ({}, "cut off or added to"),
        ({f"t{i}": entry(0, 0) for i in range(100_001)}, "100,001 tensors"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_header_that_claims_what_cannot_be_is_refused(header: Any, says: str, tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", header)
    with pytest.raises(RunError) as caught:
        read_header(path)
    message = str(caught.value)
    assert message.startswith(f"{path} cannot be read")
    assert says in message
    assert len(message) < 400


@pytest.mark.parametrize("length", [0, 1, 100, 2**31, 2**63, 2**64 - 1])
def test_a_length_that_cannot_be_is_refused(length: int, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cut off, or no safetensors file"):
        read_header(write(tmp_path / "m", {"a": entry(0, 16)}, length=length))


def test_a_header_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "m", b"{}", b" " * MAX_HEADER_BYTES, length=MAX_HEADER_BYTES + 1)
    with pytest.raises(RunError, match="16,000,001 bytes; more than 16,000,000"):
        read_header(path)


@pytest.mark.parametrize("content", [b"", b"\x05", bytes(8)])
def test_a_file_of_a_few_bytes_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(RunError, match="cut off"):
        read_header(tmp_path / "m")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_named_as_such(protocol: int, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(pickle.dumps({"a": 1}, protocol=protocol))
    torch.save({"a": torch.ones(2)}, tmp_path / "zipped")
    for name in ("plain", "zipped"):
        with pytest.raises(RunError, match="could run code and is never opened"):
            read_header(tmp_path / name)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(RunError, match="no such file"):
            read_header(path)


def test_every_flipped_byte_is_noticed_by_the_seal(tmp_path: Path) -> None:
    path = tmp_path / "t"
    write_tensors(path, TENSORS, {"skeleton": "{}"}, seal=True)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(RunError, match="cannot be read"):
            read_tensors(path, read_header(path), sealed=True)


def test_a_file_without_a_seal_is_refused_where_one_is_asked_for(tmp_path: Path) -> None:
    write_tensors(tmp_path / "none", TENSORS)
    write_tensors(tmp_path / "short", {"sha256": torch.zeros(31, dtype=torch.uint8)})
    write_tensors(tmp_path / "other", {"sha256": torch.zeros(32, dtype=torch.int8)})
    for name in ("none", "short", "other"):
        with pytest.raises(RunError, match="no SHA-256 of itself"):
            read_tensors(tmp_path / name, read_header(tmp_path / name), sealed=True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"weight": torch.zeros(3, 2)}, r"'weight' is float32 \[3, 2\] there, float32 \[2, 3\] in the model"),
        ({"weight": torch.zeros(2, 3, dtype=torch.float16)}, "'weight' is float16"),
        ({"extra": torch.zeros(1)}, r"'extra' is float32 \[1\] there, missing in the model"),
        ({"weight": None}, r"'weight' is missing there, float32 \[2, 3\] in the model"),
    ],
)
def test_other_names_types_or_shapes_do_not_fit(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    stored = {name: value for name, value in {**TENSORS, **change}.items() if value is not None}
    write_tensors(tmp_path / "t", stored)
    with pytest.raises(RunError, match=says):
        check_fits(tmp_path / "t", read_header(tmp_path / "t"), TENSORS)
    check_fits(tmp_path / "t", read_header(tmp_path / "t"), stored)


@pytest.mark.parametrize("name", models.names())
def test_a_model_on_paper_has_the_shapes_of_a_real_one_and_no_memory(name: str) -> None:
    task = Task(5, 24, 4, (0.1, 0.9), 2, ((1.0, 2.0, 1.0),) * 5)
    with OnPaper():
        paper = models.build(name, task, {}).state_dict()
    real = models.build(name, task, {}).state_dict()
    assert [(k, v.dtype, v.shape) for k, v in paper.items()] == [(k, v.dtype, v.shape) for k, v in real.items()]
    assert {value.device.type for value in paper.values()} == {"meta"}
    assert {value.device.type for value in real.values()} == {"cpu"}
