"""Damage that keeps a file's form."""

from __future__ import annotations

import json
import random
from functools import reduce
from operator import xor
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CORPUS = Path(__file__).resolve().parent / "corpus"


def swap(content: bytes, longest: int) -> bytes:
    """Blind damage that is the same each time."""
    return content[: longest // 2][::-1]


def damaged(mutators: ModuleType, reader: str, name: str) -> list[bytes]:
    content = (CORPUS / reader / name).read_bytes()
    return [mutators.MUTATORS[reader](content, 4096, random.Random(seed), swap) for seed in range(200)]


@pytest.mark.parametrize(("reader", "name"), [("odl", "hours.json"), ("nra", "map.json")])
def test_most_damaged_json_is_still_json_of_many_kinds(mutators: ModuleType, reader: str, name: str) -> None:
    found = set()
    for content in damaged(mutators, reader, name):
        try:
            found.add(str(json.loads(content.decode("utf-8", "surrogatepass"))))
        except ValueError:
            continue
    assert len(found) > 100


def test_a_document_can_be_damaged_again_and_again(mutators: ModuleType) -> None:
    # what is put in must not be shared between documents, or one could come to hold itself
    content = (CORPUS / "odl" / "hours.json").read_bytes()
    for seed in range(300):
        content = mutators.mutate_json(content, 1 << 20, random.Random(seed), lambda text, _: text)
    json.loads(content.decode("utf-8", "surrogatepass"))


def test_most_damaged_sentences_have_a_checksum_that_fits(mutators: ModuleType) -> None:
    def change(content: bytes, _: int) -> bytes:
        return content.replace(b",30,", b",31,")

    content = (CORPUS / "safecast" / "nano.log").read_bytes()
    fits = 0
    for seed in range(50):
        lines = mutators.mutate_lines_with_checksums(content, 4096, random.Random(seed), change).split(b"\n")
        body, _, check = next(line for line in lines if b",31," in line)[1:].partition(b"*")
        fits += int(check, 16) == reduce(xor, body, 0)
    assert 25 < fits < 50


def test_a_damaged_description_is_carried_by_a_whole_file(mutators: ModuleType) -> None:
    found = set()
    for content in damaged(mutators, "exported", "bare.parquet"):
        try:
            found.add(pq.read_schema(pa.BufferReader(content)).metadata[b"attentionmixer"])
        except (pa.ArrowException, OSError, KeyError, TypeError):
            continue
    assert len(found) > 20


@pytest.mark.parametrize("reader", ["exported", "odl", "nra", "safecast"])
def test_no_damage_is_longer_than_allowed_and_what_is_no_file_is_damaged_too(mutators: ModuleType, reader: str) -> None:
    for seed in range(20):
        assert len(mutators.MUTATORS[reader](b"\xff{", 16, random.Random(seed), swap)) <= 16
