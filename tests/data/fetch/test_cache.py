"""The manifest and the files it knows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data.fetch.cache import MANIFEST, Cache, Entry
from attentionmixer.errors import LogError
from attentionmixer.files import sha256


def entry_of(part: Path, etag: str | None = '"a"') -> Entry:
    return Entry(
        "https://example.org/f", "2026-12-01T12:00:00+00:00", sha256(part), part.stat().st_size, rows=1, etag=etag
    )


def fill(content: bytes, etag: str | None = '"a"') -> Any:
    def write(part: Path) -> Entry:
        part.write_bytes(content)
        return entry_of(part, etag)

    return write


def test_a_stored_file_is_known_to_the_next_process(tmp_path: Path) -> None:
    stored = Cache(tmp_path / "deep").store("a.csv", fill(b"x"))
    assert Cache(tmp_path / "deep").intact("a.csv") == (stored, "")
    assert (tmp_path / "deep" / "a.csv").read_bytes() == b"x"
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["a.csv", MANIFEST]


def test_the_manifest_says_where_when_and_what(tmp_path: Path) -> None:
    Cache(tmp_path).store("a.csv", fill(b"abc"))
    (listed,) = json.loads((tmp_path / MANIFEST).read_text())["files"].values()
    assert listed == {
        "url": "https://example.org/f",
        "fetched": "2026-12-01T12:00:00+00:00",
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "bytes": 3,
        "rows": 1,
        "etag": '"a"',
    }


def test_a_file_that_was_never_there_has_no_reason(tmp_path: Path) -> None:
    assert Cache(tmp_path).intact("a.csv") == (None, "")


def test_a_changed_file_is_not_intact(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store("a.csv", fill(b"x"))
    (tmp_path / "a.csv").write_bytes(b"y")
    have, why = cache.intact("a.csv")
    assert have is None
    assert "changed since it was fetched" in why


def test_a_deleted_file_is_not_intact(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store("a.csv", fill(b"x"))
    (tmp_path / "a.csv").unlink()
    assert cache.intact("a.csv") == (None, "it was deleted")


def test_a_file_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"mine")
    with pytest.raises(LogError, match=r"a\.csv is there, but fetched\.json does not list it; move it away"):
        Cache(tmp_path).intact("a.csv")


def test_nothing_to_keep_leaves_all_as_it_was(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store("a.csv", fill(b"x"))
    before = (tmp_path / MANIFEST).read_bytes()

    def write(part: Path) -> None:
        part.write_bytes(b"half")

    assert cache.store("a.csv", write) is None
    assert (tmp_path / "a.csv").read_bytes() == b"x"
    assert (tmp_path / MANIFEST).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", MANIFEST]


def test_an_interrupted_transfer_leaves_all_as_it_was(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store("a.csv", fill(b"x"))

    def write(part: Path) -> Entry:
        part.write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.store("a.csv", write)
    assert Cache(tmp_path).intact("a.csv")[0] is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", MANIFEST]


def test_a_crash_between_manifest_and_file_is_mended_by_fetching_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path)
    cache.store("a.csv", fill(b"x"))
    replace = os.replace

    def crash(source: Any, target: Any) -> None:
        if Path(target).name == "a.csv":
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        cache.store("a.csv", fill(b"new"))
    monkeypatch.undo()
    assert (tmp_path / "a.csv").read_bytes() == b"x"
    have, why = Cache(tmp_path).intact("a.csv")
    assert have is None
    assert "changed since" in why


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"files": []}',
        '{"files": {"a.csv": {}}}',
        '{"files": {"a.csv": 5}}',
        '{"files": 5}',
        '{"files": {"a.csv": {"url": "u", "fetched": "2026", "sha256": "", "bytes": "x", "rows": 1, "etag": null}}}',
        '{"files": {"a.csv": {"url": "u", "fetched": "now", "sha256": "", "bytes": 1, "rows": 1, "etag": null}}}',
        '{"files": {"a.csv": {"url": "u", "fetched": "2026-12-01", "sha256": "", "bytes": 1, "rows": 1, "etag": 1}}}',
    ],
)
def test_a_damaged_manifest_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(LogError, match=r"fetched\.json .*delete it and the files it lists"):
        Cache(tmp_path)


@pytest.mark.parametrize("etag", ["a", '"a\r\nX: y"', '"ä"', '"a" "b"'])
def test_an_etag_that_is_none_is_not_used(tmp_path: Path, etag: str) -> None:
    Cache(tmp_path).store("a.csv", fill(b"x", etag))
    have, _ = Cache(tmp_path).intact("a.csv")
    assert have is not None
    assert have.etag is None


@pytest.mark.parametrize("etag", ['"a"', 'W/"a"', '""'])
def test_an_etag_is_kept(tmp_path: Path, etag: str) -> None:
    Cache(tmp_path).store("a.csv", fill(b"x", etag))
    have, _ = Cache(tmp_path).intact("a.csv")
    assert have is not None
    assert have.etag == etag


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "deep")
    with pytest.raises(LogError, match=r"a\.csv cannot be written"):
        cache.store("a.csv", fill(b"x"))


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store("a.csv", fill(b"x"))
    (tmp_path / "a.csv").unlink()
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(LogError, match=r"a\.csv cannot be read"):
        cache.intact("a.csv")
