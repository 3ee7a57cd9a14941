"""Writing files so that a crash leaves either the old one or the new one, and noticing when one was changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import RunError

MANIFEST = "manifest.json"
#: Folders of a run that may change after it is finished and are no part of its result.
UNLISTED = ("checkpoints", "logs")


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Call ``write`` with a temporary path beside ``path``, sync it and rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        write(temporary)
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, data: Any) -> None:
    """Write JSON; numbers that are none are refused, since JSON has no word for them."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, lambda part: write_text(part, text + "\n"))


def write_text(path: Path, text: str) -> None:
    """Write UTF-8."""
    path.write_text(text, encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read JSON. Raises `RunError` that names the file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{path} is missing; is {path.parent} the directory of a finished run?") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path) -> None:
    """Record the hash of every result file of a run. Call it last."""
    write_json(folder / MANIFEST, {"sha256": {name: sha256(folder / name) for name in _listed(folder)}})


def verify_manifest(folder: Path) -> None:
    """Raise `RunError` where a file differs from the manifest or is gone; without a manifest nothing is checked."""
    if not (folder / MANIFEST).is_file():
        return
    listed = read_json(folder / MANIFEST)
    hashes = listed.get("sha256") if isinstance(listed, dict) else None
    if not isinstance(hashes, dict):
        raise RunError(f"{folder / MANIFEST} is damaged: it lists no hashes")
    for name, expected in hashes.items():
        path = folder / name
        # a NUL cannot be part of a path, so such a name lies nowhere
        if "\0" in name or not path.resolve().is_relative_to(folder.resolve()):
            raise RunError(f"{folder / MANIFEST} names {name!r}, which lies outside the run")
        if not path.is_file():
            raise RunError(f"{path} is listed in the manifest but missing; copy the whole run directory")
        if sha256(path) != expected:
            raise RunError(f"{path} was changed after the run was written: its hash is not the one in the manifest")


def _listed(folder: Path) -> list[str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder) for path in paths]
    return [n.as_posix() for n in names if n.parts[0] not in UNLISTED and n.name != MANIFEST]
