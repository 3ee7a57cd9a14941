"""What readers and rules hand on is not changed afterwards: their records are frozen."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from typing import Any

import pytest

from attentionmixer.data import quality, readers

#: These gather rows and cells while a file is read, or hold arrays that are filled in place.
GATHERING = {"Extras", "Features", "Numbers", "OddCells", "Posts", "Reading", "Rows", "TableFile", "_Piece"}


def records() -> list[type[Any]]:
    found: set[type[Any]] = set()
    for package in (quality, readers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            found |= {
                content
                for content in vars(importlib.import_module(module.name)).values()
                if isinstance(content, type) and dataclasses.is_dataclass(content) and content.__module__ == module.name
            }
    return sorted(found, key=lambda record: (record.__module__, record.__qualname__))


@pytest.mark.parametrize("record", records(), ids=lambda record: record.__qualname__)
def test_a_record_is_frozen_unless_it_gathers(record: type[Any]) -> None:
    assert record.__dataclass_params__.frozen != (record.__qualname__ in GATHERING)
