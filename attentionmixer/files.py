"""Writing files so that a crash leaves either the old one or the new one, and noticing when one was changed.

A file is written under a temporary name beside its place (``.NAME.part``), synced, and renamed; then its folder is
synced, so that the rename outlasts a power cut. Whatever a killed process leaves under a temporary name is written over
when the file is next saved, and is part of no result.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import RunError

MANIFEST = "manifest.json"
#: Folders of a run that may change after it is finished and are no part of its result.
UNLISTED = ("checkpoints", "logs")
#: JSON of ours is small; a list of empty lists takes thirty times its bytes in memory.
MAX_JSON_BYTES = 64_000_000
SEAL = "seal"
_BLANK = "0" * 64
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: File systems that cannot sync a folder say so with these.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP)


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Call ``write`` with a temporary path beside ``path``, sync it and rename it.

    Raises `RunError` where the disk is full, naming path and free space, and `OSError` for other failures. The old
    file is kept then.
    """
    part = write_part(path, write)
    try:
        commit(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def part_of(path: Path) -> Path:
    """The temporary name of a file."""
    return path.with_name(f".{path.name}.part")


def write_part(path: Path, write: Callable[[Path], None]) -> Path:
    """First half of `write_atomically`: write and sync the temporary file, and return its path."""
    part = part_of(path)
    with _told_if_full(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # what a crash left there; and never written through, since it may be a link to something else
        part.unlink(missing_ok=True)
        try:
            write(part)
            with part.open("rb+") as written:
                os.fsync(written.fileno())
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return part


def commit(path: Path) -> None:
    """Second half of `write_atomically`: the temporary file takes the place of ``path``, for good."""
    with _told_if_full(path):
        os.replace(part_of(path), path)
        _sync_folder(path.parent)


def write_json(path: Path, data: Any) -> None:
    """Write JSON; numbers that are none are refused, since JSON has no word for them."""
    text = _dump(data)
    write_atomically(path, lambda part: write_text(part, text))


def write_sealed_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write JSON with a seal: see `sealed_text`."""
    text = sealed_text(data)
    write_atomically(path, lambda part: write_text(part, text))


def sealed_text(data: Mapping[str, Any]) -> str:
    """JSON with the SHA-256 of its own text as the last entry (hashed with zeros in its place)."""
    text = _dump({**data, SEAL: _BLANK})
    return hashlib.sha256(text.encode()).hexdigest().join(_split(text, _BLANK))


def write_text(path: Path, text: str) -> None:
    """Write UTF-8, with the same line ends on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")


def read_json(path: Path) -> Any:
    """Read JSON, as strictly as `parse_json` does. Raises `RunError` that names the file."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise RunError(f"{path} cannot be read: it is larger than {MAX_JSON_BYTES:,} bytes, which none of ours is")
        return parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{path} is missing; is {path.parent} the directory of a finished run?") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error


def parse_json(text: str) -> Any:
    """JSON as its standard has it.

    Raises `ValueError` for a key given twice, for NaN, Infinity and numbers beyond all bounds, and for too deep a
    nesting; the library takes the last of two keys, and makes numbers that are none.
    """
    try:
        return json.loads(text, object_pairs_hook=_keys_once, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested deeper than anything of ours is") from None


def verify_seal(path: Path) -> None:
    """Raise `RunError` where a file was changed after `write_sealed_json`; a file without a seal passes."""
    data = read_json(path)
    seal = data.get(SEAL) if isinstance(data, dict) else None
    if seal is None:
        return
    # the bytes, not what they mean: a changed blank is noticed as well
    text = path.read_bytes().decode(encoding="utf-8")
    if not isinstance(seal, str) or len(seal) != len(_BLANK):
        raise RunError(f"{path} is damaged: its seal is no SHA-256")
    if hashlib.sha256(_BLANK.join(_split(text, seal)).encode()).hexdigest() != seal:
        raise RunError(f"{path} was changed after it was written: its seal does not fit its content")


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path) -> None:
    """Record the hash of every result file of a run, and remove what a killed process left. Call it last."""
    for path in _results(folder):
        if _is_part(path):
            path.unlink()
    results = [path for path in _results(folder) if path.name != MANIFEST]
    write_sealed_json(folder / MANIFEST, {"sha256": {p.relative_to(folder).as_posix(): sha256(p) for p in results}})


def drop_manifest(folder: Path) -> None:
    """Remove the manifest before a result of a finished run is replaced: its hashes are those of the old ones."""
    if (folder / MANIFEST).is_file():
        with _told_if_full(folder / MANIFEST):
            (folder / MANIFEST).unlink()
            _sync_folder(folder)


def verify_manifest(folder: Path, needed: Iterable[str] = ()) -> None:
    """Raise `RunError` where a run is not what its manifest says; without a manifest nothing is checked.

    A listed file that differs or is gone is an error, and so is one of ``needed`` that is not listed. A file that was
    added is one in a folder of results (beside ``routes/00-….json``), since readers take all files there; anywhere
    else it is harmless, since results are read by name: a forecast or a note may lie in a run.
    """
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return
    verify_seal(manifest)
    listed = read_json(manifest)
    hashes = listed.get("sha256") if isinstance(listed, dict) else None
    if not isinstance(hashes, dict):
        raise RunError(f"{manifest} is damaged: it lists no hashes")
    for name, expected in hashes.items():
        path = folder / name
        # a NUL cannot be part of a path, so such a name lies nowhere
        if "\0" in name or not path.resolve().is_relative_to(folder.resolve()):
            raise RunError(f"{manifest} names {name!r}, which lies outside the run")
        if not path.is_file():
            raise RunError(f"{path} is listed in the manifest but missing; copy the whole run directory")
        if sha256(path) != expected:
            raise RunError(f"{path} was changed after the run was written: its hash is not the one in the manifest")
    unknown = listed.keys() - {"sha256", SEAL}
    if unknown:
        raise RunError(f"{manifest} is damaged: it has an entry {sorted(unknown)[0]!r}")
    kinds = {(Path(name).parent, Path(name).suffix) for name in hashes if "/" in name}
    found = [path.relative_to(folder) for path in _results(folder) if not _is_part(path)]
    added = [n.as_posix() for n in found if n.as_posix() not in hashes and (n.parent, n.suffix) in kinds]
    for name in [*added, *(name for name in needed if name not in hashes)]:
        raise RunError(f"{folder / name} is not listed in the manifest: it was added after the run was written")


def _results(folder: Path) -> list[Path]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in paths if path.relative_to(folder).parts[0] not in UNLISTED]


def _is_part(path: Path) -> bool:
    return path.name.startswith(".") and path.suffix == ".part"


@contextmanager
def _told_if_full(path: Path) -> Iterator[None]:
    """Turn the failure of a full disk into an error for people."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        there = next(parent for parent in path.absolute().parents if parent.is_dir())
        free = shutil.disk_usage(there).free / 1e6
        raise RunError(
            f"{path} cannot be written: {error.strerror}; {free:,.1f} MB are free on that disk. What was there before "
            "is kept; make room, or name a place on another disk"
        ) from error


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # there a folder cannot be opened for this, and a rename is kept in the file system's journal
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(handle)


def _dump(data: Any) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _split(text: str, seal: str) -> tuple[str, str]:
    """What stands before and after the seal, which is the last text of its kind."""
    before, _, after = text.rpartition(seal)
    return before, after


def _keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:60]!r} is given twice")
    return result


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:30]} is beyond what a number can be")
    return number
