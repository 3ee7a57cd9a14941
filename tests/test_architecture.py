"""The shape of the code: imports run one way between the rooms, and no file speaks of where it was written."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


# --- rooms -----------------------------------------------------------------------------------------------------------


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the package that lies in `folder` against the contracts of this repository's setup.cfg."""
    # a process of its own: import-linter finds the package through sys.path, which here leads to the checkout
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", program, "--no-cache", "--no-logo", str(REPOSITORY / "setup.cfg")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    """A copy of the package's Python files that a test may spoil."""
    copy = tmp_path / "attentionmixer"
    shutil.copytree(
        REPOSITORY / "attentionmixer",
        copy,
        ignore=lambda folder, names: [n for n in names if n == "__pycache__" or not _is_code(Path(folder, n))],
    )
    return copy


def _is_code(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".py"


def _module(package: Path, name: str) -> Path:
    """File of the module `name`, made empty where the package does not have it (yet)."""
    path = package.joinpath(*name.split("."))
    if (path / "__init__.py").is_file():
        return path / "__init__.py"
    file = path.with_suffix(".py")
    file.parent.mkdir(parents=True, exist_ok=True)
    for folder in [f for f in file.parents if package in f.parents]:
        (folder / "__init__.py").touch()
    file.touch()
    return file


def _add_import(package: Path, importer: str, imported: str) -> None:
    _module(package, imported)
    with _module(package, importer).open("a", encoding="utf-8") as file:
        file.write(f"\nimport attentionmixer.{imported}\n")


def test_imports_run_one_way() -> None:
    result = lint_imports(REPOSITORY)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"\b[1-9]\d* kept, 0 broken", result.stdout), result.stdout


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("errors", "nn"),
        ("nn", "data"),
        ("nn", "training"),
        ("data", "nn"),
        ("data", "models"),
        ("models", "data"),
        ("models", "training"),
        ("forecast", "training"),
        ("routemap", "interpret"),
        ("training", "forecaster"),
        ("forecaster", "report"),
        ("interpret", "monitoring"),
        ("monitoring", "interpret"),
        ("interpret", "report"),
        ("report", "config"),
        ("config", "train"),
        ("data.readers", "cli"),
    ],
)
def test_an_import_that_runs_the_wrong_way_is_found(package_copy: Path, importer: str, imported: str) -> None:
    _add_import(package_copy, importer, imported)
    result = lint_imports(package_copy.parent)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "broken" in result.stdout
    # as text without the line breaks that the report puts in long names
    found = re.sub(r"\s+", " ", result.stdout)
    assert f"attentionmixer.{importer} -> attentionmixer.{imported}" in found


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("nn", "errors"),
        ("models", "nn"),
        ("training", "data"),
        ("forecaster", "training"),
        ("interpret", "forecaster"),
        ("report", "monitoring"),
        ("train", "config"),
        ("report.__main__", "cli"),
    ],
)
def test_an_import_that_runs_downwards_is_allowed(package_copy: Path, importer: str, imported: str) -> None:
    _add_import(package_copy, importer, imported)
    result = lint_imports(package_copy.parent)
    assert result.returncode == 0, result.stdout + result.stderr


def test_an_upward_import_through_the_package_itself_is_found(package_copy: Path) -> None:
    with (package_copy / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("\nfrom . import training\n")
    with _module(package_copy, "nn").open("a", encoding="utf-8") as file:
        file.write("\nimport attentionmixer\n")
    result = lint_imports(package_copy.parent)
    assert result.returncode == 1, result.stdout + result.stderr


def test_a_module_without_a_room_is_found(package_copy: Path) -> None:
    _module(package_copy, "attic")
    result = lint_imports(package_copy.parent)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "attentionmixer.attic" in result.stdout


# --- the place of writing --------------------------------------------------------------------------------------------

WORKPLACE = {
    "a path of the machine it was written on": re.compile(r"(?<![\w.~/-])/(?:work|root|opt/wheels|opt/pypi)(?:/|\b)"),
    "the folder of real logs, which only the fixture shared_data knows": re.compile(r"(?<![\w-])shared/(?:\w|$)"),
    "an issue by its number": re.compile(r"\b[Ii]ssues?[ -]?#?\d+\b|\bissue #"),
}
KNOWS_THE_SHARED_FOLDER = {".ci/run", "tests/conftest.py"}
OWN_NAME = Path(__file__).resolve().relative_to(REPOSITORY).as_posix()


def workplace_traces(name: str, text: str) -> Iterator[str]:
    """One sentence for each line of `text` that names the workplace."""
    for reason, pattern in WORKPLACE.items():
        if name in KNOWS_THE_SHARED_FOLDER and reason.startswith("the folder of real logs"):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                yield f"{name}:{number}: {reason}: {line.strip()[:120]}"


def _project_files() -> list[str]:
    """Names of the files that belong to the project, whether committed yet or not."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if listing.returncode != 0:
        pytest.skip(f"this is no git checkout: {listing.stderr.strip()}")
    return [name for name in listing.stdout.split("\0") if name and (REPOSITORY / name).is_file()]


def test_no_file_names_the_place_it_was_written_at() -> None:
    names = _project_files()
    assert OWN_NAME in names
    traces = [
        trace
        for name in names
        if name != OWN_NAME  # it has to spell out what it looks for
        for trace in workplace_traces(name, (REPOSITORY / name).read_bytes().decode("utf-8", errors="replace"))
    ]
    assert not traces, "\n".join(traces)


@pytest.mark.parametrize(
    "text",
    [
        "see /work/main/docs",
        'path = "/work"',
        "cp ../shared/data/log.csv .",
        'Path("shared/cases")',
        "PIP_FIND_LINKS=/opt/wheels",
        "closes issue #12",
        "Issue 7 asks for it",
        "/root/.cache",
    ],
)
def test_a_trace_of_the_workplace_is_found(text: str) -> None:
    assert list(workplace_traces("docs/some.md", text))


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/work/paper.html",
        "the network/work balance",
        "a_shared/state",
        "an issue of taste",
        "x / work",
    ],
)
def test_ordinary_text_is_no_trace(text: str) -> None:
    assert not list(workplace_traces("docs/some.md", text))


def test_the_fixture_may_know_the_shared_folder() -> None:
    assert not list(workplace_traces("tests/conftest.py", "../shared/data"))
    assert list(workplace_traces("tests/conftest.py", "/work/main"))
