"""Safetensors files that cannot hurt: the header is checked before any tensor is made, and a seal tells of damage.

A file is 8 bytes (the length of the header, little-endian), the header (JSON: name → dtype, shape, place of the bytes)
and the bytes of the tensors. The library reads and writes it; here is what it is to be trusted with.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch.overrides import TorchFunctionMode

from .errors import RunError
from .files import parse_json

MAX_HEADER_BYTES = 16_000_000
MAX_TENSORS = 100_000
MAX_DIMENSIONS = 8
#: Name of the tensor that holds the SHA-256 of the file, computed with zeros in its place.
SEAL = "sha256"
_SEAL_BYTES = 32
_DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}
#: What makes a tensor from a size alone.
_SIZED: tuple[Callable[..., Any], ...] = (
    torch.arange,
    torch.empty,
    torch.eye,
    torch.full,
    torch.linspace,
    torch.ones,
    torch.rand,
    torch.randn,
    torch.zeros,
)


@dataclass(frozen=True)
class TensorEntry:
    """One tensor of a file: its type, its shape, and where its bytes begin and end, counted from the file's start."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """The tensors of a file in the order of their bytes, and the texts beside them."""

    tensors: Mapping[str, TensorEntry]
    texts: Mapping[str, str]


class OnPaper(TorchFunctionMode):
    """Within this context, tensors made from a size have that size but no memory.

    A model built here has the shapes of a real one, for free. Tensors made from given numbers are real.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Send what is made from a size to the device without memory."""
        kwargs = dict(kwargs or {})
        if func in _SIZED:
            kwargs["device"] = "meta"
        return func(*args, **kwargs)


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], texts: Mapping[str, str] | None = None, *, seal: bool = False
) -> None:
    """Write a file to ``path`` itself: to be called by `files.write_atomically`.

    Parameters
    ----------
    tensors: contiguous, and none sharing memory with another. texts: what else the header holds.
    seal: add the SHA-256 of the file as a further tensor, which `read_tensors` asks for.
    """
    # not by the library's save_file: it writes under a random name of its own, which a killed process would leave
    named = dict(tensors)
    if seal:
        named[SEAL] = torch.zeros(_SEAL_BYTES, dtype=torch.uint8)
    content = bytearray(save(named, dict(texts) if texts else None))
    if seal:
        size = int.from_bytes(content[:8], "little")
        entry = _parse(bytes(content[8 : 8 + size]), len(content)).tensors[SEAL]
        content[entry.begin : entry.end] = hashlib.sha256(content).digest()
    path.write_bytes(content)


def read_header(path: Path) -> Header:
    """The header, with every claim of it checked against the file's size; no byte of a tensor is read.

    Raises `RunError` for another kind of file (a pickle is named as such), a header too long, with too many tensors or
    that is no strict JSON, unknown types, and tensors that overlap, leave a hole or lie outside the file.
    """
    try:
        if not path.is_file():
            raise ValueError("there is no such file")
        size = path.stat().st_size
        with path.open("rb") as file:
            return _read_header(file, size)
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error


def read_tensors(path: Path, header: Header, *, sealed: bool = False) -> dict[str, Tensor]:
    """The tensors of a file whose header was read and checked.

    With ``sealed``, a file whose seal is missing or does not fit is refused first. Raises `RunError`.
    """
    try:
        if sealed:
            _verify_seal(path, header)
        with safe_open(str(path), framework="pt") as file:
            return {name: file.get_tensor(name) for name in header.tensors if not (sealed and name == SEAL)}
    except (OSError, ValueError, SafetensorError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error


def check_fits(path: Path, header: Header, expected: Mapping[str, Tensor]) -> None:
    """Raise `RunError` where names, types or shapes are not those of ``expected``, a state dict (on paper, say)."""
    wanted = {name: (value.dtype, tuple(value.shape)) for name, value in expected.items()}
    found = {name: (entry.dtype, entry.shape) for name, entry in header.tensors.items()}
    wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    if wrong:
        name = wrong[0]
        raise RunError(
            f"{path} does not fit the model in forecaster.json; first difference: {name[:60]!r} is "
            f"{_in_words(found.get(name))} there, {_in_words(wanted.get(name))} in the model"
        )


def _in_words(kind: tuple[torch.dtype, tuple[int, ...]] | None) -> str:
    return "missing" if kind is None else f"{str(kind[0]).removeprefix('torch.')} {list(kind[1])}"


def _read_header(file: BinaryIO, size: int) -> Header:
    start = file.read(8)
    if start[:4] == b"PK\x03\x04" or (start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05"):
        raise ValueError("it is a pickle or an archive of pickles, which could run code and is never opened")
    length = int.from_bytes(start, "little")
    if len(start) < 8 or not 2 <= length <= size - 8:
        raise ValueError("it is cut off, or no safetensors file")
    if length > MAX_HEADER_BYTES:
        raise ValueError(f"its header has {length:,} bytes; more than {MAX_HEADER_BYTES:,} are not allowed")
    return _parse(file.read(length), size)


def _parse(text: bytes, size: int) -> Header:
    data = parse_json(text.decode("utf-8"))
    if not isinstance(data, dict):
        raise ValueError("its header is no object")
    texts = data.pop("__metadata__", {})
    if not isinstance(texts, dict) or not all(isinstance(value, str) for value in texts.values()):
        raise ValueError("what its header holds beside tensors is no text")
    if len(data) > MAX_TENSORS:
        raise ValueError(f"it holds {len(data):,} tensors; more than {MAX_TENSORS:,} are not allowed")
    first = 8 + len(text)
    entries = {name: _entry(name, claim, first) for name, claim in data.items()}
    tensors = dict(sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)))
    end = first
    for name, entry in tensors.items():
        if entry.begin != end:
            raise ValueError(f"the bytes of tensor {name[:60]!r} do not follow those of the one before it")
        end = entry.end
    if end != size:
        raise ValueError(f"its tensors end at byte {end:,}, but the file has {size:,}: it was cut off or added to")
    return Header(tensors, texts)


def _entry(name: str, claim: Any, first: int) -> TensorEntry:
    if not isinstance(claim, dict) or claim.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"its header does not describe tensor {name[:60]!r} by type, shape and place")
    kind, shape, place = claim["dtype"], claim["shape"], claim["data_offsets"]
    if not isinstance(kind, str) or kind not in _DTYPES:
        raise ValueError(f"tensor {name[:60]!r} is of an unknown type, {str(kind)[:20]!r}")
    if not _are_sizes(shape) or len(shape) > MAX_DIMENSIONS:
        raise ValueError(f"tensor {name[:60]!r} has no possible shape")
    if not _are_sizes(place) or len(place) != 2:
        raise ValueError(f"tensor {name[:60]!r} has no possible place")
    if place[1] - place[0] != math.prod(shape) * _DTYPES[kind].itemsize:
        raise ValueError(f"tensor {name[:60]!r} has {place[1] - place[0]:,} bytes, which its shape does not need")
    return TensorEntry(_DTYPES[kind], tuple(shape), first + place[0], first + place[1])


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**63 for value in values)


def _verify_seal(path: Path, header: Header) -> None:
    entry = header.tensors.get(SEAL)
    if entry is None or (entry.dtype, entry.shape) != (torch.uint8, (_SEAL_BYTES,)):
        raise ValueError("it holds no SHA-256 of itself")
    digest = hashlib.sha256()
    with path.open("rb") as file:
        _hash(digest, file, entry.begin)
        seal = file.read(_SEAL_BYTES)
        digest.update(bytes(_SEAL_BYTES))
        _hash(digest, file, path.stat().st_size - entry.end)
    if digest.digest() != seal:
        raise ValueError("it was changed after it was written: its SHA-256 is another")


def _hash(digest: hashlib._Hash, file: BinaryIO, count: int) -> None:
    """Add the next ``count`` bytes, never holding many."""
    while count > 0 and (block := file.read(min(count, 1 << 20))):
        digest.update(block)
        count -= len(block)
