"""Damage that keeps a file's form, for formats of which blind damage only reaches the parser of the form itself.

A mutator is ``(content, longest, random, mutate) -> content``; ``mutate(content, longest)`` is blind damage.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from functools import reduce
from io import BytesIO
from operator import xor
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Blind = Callable[[bytes, int], bytes]
Mutator = Callable[[bytes, int, random.Random, Blind], bytes]
_EXPORTED = b"attentionmixer"
#: Values that JSON can hold where another was expected.
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 1e308, -1e-320, 10**30, 2**63, float("inf"), float("nan"), -9999, 1e15),
    *("", " ", "0", "-", "<0.01", "1e999", "NaN", "0,07", "nSv/h", "µSv/h", "\x00", "\u202e", "\ud800", "٣", "欠測"),
    *("2024-05-01T00:00:00Z", "2024-05-01T09:10:00+09:00", "9999-12-31T23:59:59Z", "1677-01-01", "24:00", [], {}, [[]]),
    *([1, 2], [None, "a"], {"a": 1}, "x" * 300),
)


def mutate_json(content: bytes, longest: int, chance: random.Random, blind: Blind) -> bytes:
    """Change, remove, repeat or exchange some entries of a JSON document, or damage its text."""
    if chance.random() < 0.3:
        return blind(content, longest)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return blind(content, longest)
    for _ in range(chance.randint(1, 3)):
        _change(document, chance, blind)
    text = json.dumps(document, ensure_ascii=chance.random() < 0.5)
    return text.encode("utf-8", "surrogatepass")[:longest]


def mutate_lines_with_checksums(content: bytes, longest: int, chance: random.Random, blind: Blind) -> bytes:
    """Damage sentences of the form ``$…*HH`` and give most of them a checksum that fits again."""
    lines = blind(content, longest).split(b"\n")
    if chance.random() < 0.2:
        return b"\n".join(lines)[:longest]
    for i, line in enumerate(lines):
        if line.startswith(b"$") and b"*" in line:
            body, _, end = line[1:].partition(b"*")
            lines[i] = b"$%s*%02X%s" % (body, reduce(xor, body, 0), b"\r" if end.endswith(b"\r") else b"")
    return b"\n".join(lines)[:longest]


def mutate_description(content: bytes, longest: int, chance: random.Random, blind: Blind) -> bytes:
    """Change the description that an exported log carries in its Parquet metadata, or damage the file."""
    if chance.random() < 0.4:
        return blind(content, longest)
    try:
        table = pq.read_table(pa.BufferReader(content), use_threads=False)
        described = (table.schema.metadata or {})[_EXPORTED]
        changed = mutate_json(described, longest, chance, blind)
        sink = BytesIO()
        table = table.replace_schema_metadata({_EXPORTED: changed})
        pq.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
    except Exception:  # damaged content may be refused in any way; here that is no finding
        return blind(content, longest)
    return sink.getvalue() if len(sink.getvalue()) <= longest else blind(content, longest)


MUTATORS: dict[str, Mutator] = {
    "exported": mutate_description,
    "odl": mutate_json,
    "nra": mutate_json,
    "safecast": mutate_lines_with_checksums,
}


def _change(document: Any, chance: random.Random, blind: Blind) -> None:
    """Change one entry of a list or an object, at any depth."""
    holders = [node for node in _nodes(document) if node]
    if not holders:
        return
    holder = chance.choice(holders)
    key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    kind = chance.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(holder[key])))
    elif kind == 2:
        other = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder[key], holder[other] = holder[other], holder[key]
    elif kind == 3 and isinstance(holder[key], str):
        holder[key] = blind(holder[key].encode("utf-8", "surrogatepass"), 64).decode("utf-8", "replace")
    else:
        holder[key] = deepcopy(chance.choice(_VALUES))


def _nodes(document: Any) -> list[Any]:
    """All lists and objects of a document."""
    found, waiting = [], [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list):
            found.append(node)
            waiting.extend(node.values() if isinstance(node, dict) else node)
    return found
