"""What the package shows of itself, and what importing it costs."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

import attentionmixer
import attentionmixer.data


def imported_by(program: str) -> set[str]:
    """Modules of a fresh process after the program."""
    program += "\nimport sys; print('\\n' + ' '.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8", check=True
    )
    return set(result.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "program",
    [
        "import attentionmixer; attentionmixer.__version__",
        "from attentionmixer import cli; cli.main(['--help']); cli.main(['--version']); cli.main(['nonsense'])",
    ],
)
def test_importing_the_package_and_asking_for_help_load_nothing_heavy(program: str) -> None:
    modules = imported_by(program)
    assert "attentionmixer" in modules
    assert not modules & {"torch", "lightning", "pandas", "numpy", "jsonargparse"}


def test_reading_a_log_does_not_load_the_training_framework() -> None:
    modules = imported_by("from attentionmixer import read_log")
    assert "attentionmixer.data.readers" in modules
    assert "lightning" not in modules


@pytest.mark.parametrize("package", [attentionmixer, attentionmixer.data])
def test_every_promised_name_is_there(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]
    assert set(names) <= set(dir(package))
    for name in names:
        assert getattr(package, name).__name__ == name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Forcaster"):
        attentionmixer.Forcaster  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match="StationLogg"):
        attentionmixer.data.StationLogg  # type: ignore[attr-defined] # noqa: B018


def test_the_version_is_the_installed_one() -> None:
    assert attentionmixer.__version__ == importlib.metadata.version("attentionmixer")
