"""Every input the fuzzer keeps is read again, by the reader it was found for and by all others."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from attentionmixer.data.readers import READERS

CORPUS = Path(__file__).resolve().parent / "corpus"
INPUTS = sorted(CORPUS.glob("*/*"))
#: Inputs named by people hold what a format looks like; those named by their hash and crashes are damaged.
SEEDS = [path for path in INPUTS if "." in path.name and not path.name.startswith("crash-")]


def shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def test_every_reader_has_seeds() -> None:
    assert {path.parent.name for path in SEEDS} == set(READERS)


@pytest.mark.parametrize("path", INPUTS, ids=shown)
def test_an_input_of_the_corpus_breaks_no_promise_of_its_reader(path: Path, targets: ModuleType) -> None:
    targets.read_any(path.parent.name, path.read_bytes(), thoroughly=True)


@pytest.mark.parametrize("path", INPUTS, ids=shown)
def test_an_input_of_the_corpus_breaks_no_promise_of_the_other_readers(path: Path, targets: ModuleType) -> None:
    content = path.read_bytes()
    for name in READERS:
        if name != path.parent.name:
            targets.read_any(name, content)


@pytest.mark.parametrize("path", SEEDS, ids=shown)
def test_a_seed_is_recognised_as_its_own_format(path: Path, targets: ModuleType) -> None:
    assert targets.format_of(path.read_bytes()) == path.parent.name


@pytest.mark.parametrize("name", READERS)
def test_half_the_seeds_of_a_reader_become_logs(name: str, targets: ModuleType) -> None:
    # seeds that are all refused would exercise nothing but the refusal
    logs = [targets.read_any(name, path.read_bytes()) for path in SEEDS if path.parent.name == name]
    assert sum(log is not None for log in logs) * 2 >= len(logs)


def test_the_corpus_stays_small() -> None:
    for name in READERS:
        sizes = [path.stat().st_size for path in INPUTS if path.parent.name == name]
        assert len(sizes) <= 80 and sum(sizes) <= 150_000, name
