"""What is shipped: the wheel holds all it needs and works outside the checkout; the locks fit the declared ranges."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", "*.egg-info", "build", "dist", "runs", ".*_cache", ".hypothesis", "lightning_logs"
)


def _run(command: Sequence[str | Path], folder: Path) -> str:
    result = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert result.returncode == 0, f"{command} ended with {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout


# --- the wheel -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a source distribution, so that what the latter lacks is noticed as well."""
    folder = tmp_path_factory.mktemp("build")
    # from a copy: setuptools leaves a build folder behind, whose stale files would get into the next wheel
    shutil.copytree(REPOSITORY, folder / "source", ignore=NOT_SOURCE)
    _run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder / "source"], folder)
    (path,) = (folder / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel_names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _source_names(folder: str, pattern: str) -> set[str]:
    paths = (REPOSITORY / folder).rglob(pattern)
    return {p.relative_to(REPOSITORY).as_posix() for p in paths if p.is_file() and "__pycache__" not in p.parts}


def test_every_module_is_in_the_wheel(wheel_names: set[str]) -> None:
    missing = _source_names("attentionmixer", "*.py") - wheel_names
    assert not missing, f"not in the wheel; add their packages to [tool.setuptools] in pyproject.toml: {missing}"


def test_every_configuration_is_in_the_wheel(wheel_names: set[str]) -> None:
    expected = {f"attentionmixer/{name}" for name in _source_names("configs", "*.yaml")}
    assert "attentionmixer/configs/quickstart.yaml" in expected
    assert expected <= wheel_names, f"not in the wheel: {expected - wheel_names}"


def test_the_report_templates_are_in_the_wheel(wheel_names: set[str]) -> None:
    expected = {name for name in _source_names("attentionmixer/report", "*") if not name.endswith(".py")}
    assert expected, "attentionmixer/report holds no template"
    assert expected <= wheel_names, f"not in the wheel: {expected - wheel_names}"


def test_the_licence_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/(licenses/)?LICENSE", n))
        assert archive.read(name) == (REPOSITORY / "LICENSE").read_bytes()
        metadata = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        assert "License-Expression: Apache-2.0" in archive.read(metadata).decode("utf-8")


def test_nothing_but_the_package_is_in_the_wheel(wheel_names: set[str]) -> None:
    strangers = {n for n in wheel_names if not re.match(r"attentionmixer(-[^/]+\.dist-info)?/", n)}
    assert not strangers
    assert not {n for n in wheel_names if "test" in Path(n).parts[1].lower()}


@pytest.fixture(scope="module")
def installed_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment in which attentionmixer comes from the wheel, and everything else from this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "env", with_pip=False)
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    python = folder / "env" / scripts / Path(sys.executable).name
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install"]
    _run([*pip, "--no-deps", "--no-index", wheel], folder)
    # A path entry comes after the environment's own packages, and .pth files in it are not read: an editable install
    # of the checkout stays unseen. Written after the installation, for pip would take the checkout for the wheel.
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = Path(_run([python, "-I", "-c", code], folder).strip())
    others = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    (own / "libraries.pth").write_text("\n".join(others) + "\n", encoding="utf-8")
    return python


def test_the_installed_package_is_the_wheels(installed_python: Path, tmp_path: Path) -> None:
    program = """
import attentionmixer, importlib.resources
print(attentionmixer.__file__)
print(importlib.resources.files("attentionmixer.configs").joinpath("quickstart.yaml").is_file())
print(importlib.resources.files("attentionmixer.configs"))
"""
    output = _run([installed_python, "-I", "-c", program], tmp_path).splitlines()
    environment = installed_python.parents[1]
    assert environment in Path(output[0]).parents
    assert REPOSITORY not in Path(output[0]).parents
    assert output[1] == "True"
    assert str(environment) in output[2]


def test_the_installed_package_has_every_module_importable(installed_python: Path, tmp_path: Path) -> None:
    program = """
import importlib, pkgutil, attentionmixer
for module in pkgutil.walk_packages(attentionmixer.__path__, "attentionmixer."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""
    modules = _run([installed_python, "-I", "-c", program], tmp_path).split()
    assert "attentionmixer.data.log" in modules
    assert "attentionmixer.configs" in modules


def test_the_installed_front_door_prints_its_configuration(installed_python: Path, tmp_path: Path) -> None:
    output = _run([installed_python, "-I", "-m", "attentionmixer.train", "--print_config"], tmp_path)
    assert ":" in output
    assert not list(tmp_path.iterdir()), "printing the configuration left files behind"


def test_the_installed_command_shows_its_help(installed_python: Path, tmp_path: Path) -> None:
    (command,) = (p for p in installed_python.parent.iterdir() if p.stem == "attentionmixer")
    assert "train" in _run([command, "--help"], tmp_path)


# --- the locks -------------------------------------------------------------------------------------------------------

LOCKS = ["requirements.lock", "requirements-dev.lock"]


def _requirements(lock: str) -> Iterator[Requirement]:
    """The lines of a lock and of the lock it includes."""
    for line in (REPOSITORY / lock).read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            yield from _requirements(line.removeprefix("-r ").strip())
        elif line and not line.startswith("#"):
            yield Requirement(line)


def _pins(lock: str) -> dict[str, Version]:
    pins: dict[str, Version] = {}
    for requirement in _requirements(lock):
        (clause,) = requirement.specifier
        assert clause.operator == "==", f"{requirement} is not an exact version"
        assert requirement.url is None, f"{requirement} names a place, which other machines do not have"
        name = canonicalize_name(requirement.name)
        assert name not in pins, f"{name} is locked twice"
        pins[name] = Version(clause.version)
    return pins


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_exact_public_versions(lock: str) -> None:
    pins = _pins(lock)
    assert all(version.local is None for version in pins.values())
    # only lines that end in a version: no index, no path, no option
    for line in (REPOSITORY / lock).read_text(encoding="utf-8").splitlines():
        assert re.match(r"#|-r requirements\.lock$|[\w.-]+==[\w.]+( ; .+)?$", line), line


def test_the_locks_fit_the_declared_ranges() -> None:
    declared = {
        "requirements.lock": PROJECT["dependencies"],
        "requirements-dev.lock": PROJECT["optional-dependencies"]["dev"],
    }
    for lock, requirements in declared.items():
        pins = _pins(lock)
        for requirement in map(Requirement, requirements):
            version = pins[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), f"{lock}: {version} is outside {requirement}"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_lacks_no_dependency(lock: str) -> None:
    pins = _pins(lock)
    missing = set()
    for locked in _requirements(lock):
        if locked.marker is not None and not locked.marker.evaluate():
            continue
        for text in importlib.metadata.requires(locked.name) or []:
            needed = Requirement(text)
            extras = {"signatures"} if locked.name == "jsonargparse" else set()
            wanted = needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in extras | {""})
            # torch pins the CUDA libraries of its Linux builds itself
            cuda = re.match(r"nvidia-|cuda-|triton", canonicalize_name(needed.name))
            if wanted and not cuda and canonicalize_name(needed.name) not in pins:
                missing.add(f"{needed.name} (needed by {locked.name})")
    assert not missing, f"{lock} lacks {sorted(missing)}"
