"""The fuzzer's promises and mutators, for the tests: they lie beside them, in a folder that is no package."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parent


def _load(name: str) -> ModuleType:
    spec = spec_from_file_location(f"fuzz_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    # dataclasses look their module up by its name
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def targets() -> ModuleType:
    """The promises, and what checks them."""
    return _load("targets")


@pytest.fixture(scope="session")
def mutators() -> ModuleType:
    """Damage that keeps a file's form."""
    return _load("mutators")


@pytest.fixture(scope="session")
def driver() -> ModuleType:
    """The command that fuzzes."""
    return _load("fuzz_readers")
