"""Files of a run."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from attentionmixer.errors import RunError
from attentionmixer.files import (
    MANIFEST,
    MAX_JSON_BYTES,
    drop_manifest,
    read_json,
    sha256,
    verify_manifest,
    verify_seal,
    write_atomically,
    write_json,
    write_manifest,
    write_sealed_json,
    write_text,
)


def run_directory(folder: Path) -> Path:
    folder.mkdir()
    write_text(folder / "config.yaml", "a: 1\n")
    write_json(folder / "routes" / "one.json", {"x": [1, 2]})
    write_json(folder / "checkpoints" / "last.json", {})
    write_manifest(folder)
    return folder


def test_the_old_file_stays_when_the_writer_raises(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half(part: Path) -> None:
        part.write_text("ne")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, half)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_the_new_file_replaces_the_old_one_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.txt"
    for text in ("old", "new"):
        write_atomically(path, lambda part, text=text: write_text(part, text))
        assert path.read_text() == text
    assert [file.name for file in path.parent.iterdir()] == ["a.txt"]


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    seen = []

    def write(part: Path) -> None:
        part.write_text("new")
        seen.append(path.read_text())

    write_atomically(path, write)
    assert (seen, path.read_text()) == (["old"], "new")


def test_numbers_that_are_none_are_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    write_json(tmp_path / "m.json", {"tag": "µSv/h"})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "m.json", {"mse": float("nan")})
    assert read_json(tmp_path / "m.json") == {"tag": "µSv/h"}


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b""])
def test_a_damaged_json_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.json").write_bytes(content)
    with pytest.raises(RunError, match=r"m\.json cannot be read"):
        read_json(tmp_path / "m.json")
    with pytest.raises(RunError, match=r"n\.json is missing"):
        read_json(tmp_path / "n.json")


def test_the_hash_is_sha_256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256(tmp_path / "a") == hashlib.sha256(b"abc").hexdigest()


def test_an_unchanged_run_passes_also_when_moved_or_resumed(tmp_path: Path) -> None:
    run = run_directory(tmp_path / "run")
    verify_manifest(run)
    (run / "checkpoints" / "last.json").write_text("[1]")
    verify_manifest(run)
    verify_manifest(run.rename(tmp_path / "moved"))


@pytest.mark.parametrize("name", ["config.yaml", "routes/one.json"])
def test_a_flipped_bit_is_noticed(tmp_path: Path, name: str) -> None:
    run = run_directory(tmp_path / "run")
    content = bytearray((run / name).read_bytes())
    content[1] ^= 1
    (run / name).write_bytes(content)
    with pytest.raises(RunError, match=f"{name} was changed"):
        verify_manifest(run)


def test_a_missing_file_is_noticed(tmp_path: Path) -> None:
    run = run_directory(tmp_path / "run")
    (run / "config.yaml").unlink()
    with pytest.raises(RunError, match=r"config\.yaml is listed in the manifest but missing"):
        verify_manifest(run)


@pytest.mark.parametrize("absolute", [True, False])
def test_a_path_that_escapes_the_run_is_refused(tmp_path: Path, absolute: bool) -> None:
    run = run_directory(tmp_path / "run")
    secret = tmp_path / "secret"
    secret.write_text("x")
    name = str(secret) if absolute else "../secret"
    (run / MANIFEST).write_text(json.dumps({"sha256": {name: sha256(secret)}}))
    with pytest.raises(RunError, match="lies outside the run"):
        verify_manifest(run)


def test_a_link_that_escapes_the_run_is_refused(tmp_path: Path) -> None:
    run = run_directory(tmp_path / "run")
    (tmp_path / "secret").write_text("x")
    (run / "link").symlink_to(tmp_path / "secret")
    (run / MANIFEST).write_text(json.dumps({"sha256": {"link": sha256(tmp_path / "secret")}}))
    with pytest.raises(RunError, match="lies outside the run"):
        verify_manifest(run)


@pytest.mark.parametrize("content", ["[]", "{}", '{"sha256": []}', "{"])
def test_a_damaged_manifest_is_noticed(tmp_path: Path, content: str) -> None:
    run = run_directory(tmp_path / "run")
    (run / MANIFEST).write_text(content)
    with pytest.raises(RunError, match=r"manifest\.json"):
        verify_manifest(run)


def test_without_a_manifest_nothing_is_checked(tmp_path: Path) -> None:
    verify_manifest(tmp_path)


@pytest.mark.parametrize("name", ["routes/../../secret", "a\0b"])
def test_a_name_that_is_no_path_within_the_run_is_refused(tmp_path: Path, name: str) -> None:
    run = run_directory(tmp_path / "run")
    (run / MANIFEST).write_text(json.dumps({"sha256": {name: "0" * 64}}))
    with pytest.raises(RunError, match="lies outside the run"):
        verify_manifest(run)


@pytest.mark.parametrize("value", [None, 5, "", ["x"]])
def test_a_hash_of_another_type_does_not_fit(tmp_path: Path, value: object) -> None:
    run = run_directory(tmp_path / "run")
    (run / MANIFEST).write_text(json.dumps({"sha256": {"config.yaml": value}}))
    with pytest.raises(RunError, match=r"config\.yaml was changed"):
        verify_manifest(run)


# --- strict JSON -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"mse": NaN}', "NaN is no number"),
        ("[Infinity]", "Infinity is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("[1e999]", "1e999 is beyond"),
        ("[" + "9" * 5000 + "]", "4300 digits"),
        ('{"a": 1, "b": 2, "a": 3}', "'a' is given twice"),
        ('[{"x": {"deep": 1, "deep": 1}}]', "'deep' is given twice"),
        ("[" * 100_000, "nested deeper"),
        ('{"a":' * 100_000, "nested deeper"),
    ],
    ids=lambda text: text[:20],
)
def test_what_the_standard_does_not_know_is_refused(content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(RunError, match=r"m\.json cannot be read") as caught:
        read_json(tmp_path / "m.json")
    assert says in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "m.json").open("wb") as file:
        file.truncate(MAX_JSON_BYTES + 1)
    with pytest.raises(RunError, match="larger than 64,000,000 bytes"):
        read_json(tmp_path / "m.json")


# --- seals -----------------------------------------------------------------------------------------------------------


def test_every_flipped_byte_of_a_sealed_file_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_sealed_json(path, {"tag": "µSv/h", "x": [1, 0.1], "zeros": "0" * 64})
    verify_seal(path)
    whole, data = path.read_bytes(), read_json(path)
    passed = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            verify_seal(path)
        except RunError:
            continue
        # the word "seal" itself: such a file counts as one without
        passed += 1
        changed = read_json(path)
        assert list(changed.values()) == list(data.values())
    assert passed == len("seal")


@pytest.mark.parametrize("seal", [5, "", "0" * 64, "f" * 63, ["f" * 64]])
def test_a_seal_that_is_none_is_refused(seal: object, tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"a": 1, "seal": seal})
    with pytest.raises(RunError, match=r"a\.json (is damaged|was changed)"):
        verify_seal(tmp_path / "a.json")


# --- manifests -------------------------------------------------------------------------------------------------------


def test_every_flipped_byte_of_every_listed_file_is_noticed(tmp_path: Path) -> None:
    run = run_directory(tmp_path / "run")
    for path in (run / "config.yaml", run / "routes" / "one.json", run / MANIFEST):
        whole = path.read_bytes()
        for place in range(len(whole)):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(RunError, match=path.name if path.name != MANIFEST else "manifest"):
                verify_manifest(run)
        path.write_bytes(whole)
    verify_manifest(run)


def test_a_file_added_among_results_is_noticed_and_elsewhere_harmless(tmp_path: Path) -> None:
    run = run_directory(tmp_path / "run")
    for name in ("forecast.csv", "note.json", "checkpoints/last.safetensors", "routes/.DS_Store", "plots/a.json"):
        write_json(run / name, {})
    verify_manifest(run)
    write_json(run / "routes" / "two.json", {"x": [3]})
    with pytest.raises(RunError, match=r"two\.json is not listed.*added"):
        verify_manifest(run)


def test_a_file_that_will_be_read_must_be_listed(tmp_path: Path) -> None:
    run = run_directory(tmp_path / "run")
    verify_manifest(run, ["config.yaml"])
    write_json(run / "forecaster.json", {})
    with pytest.raises(RunError, match=r"forecaster\.json is not listed"):
        verify_manifest(run, ["config.yaml", "forecaster.json"])


def test_a_manifest_with_an_unknown_entry_is_damaged(tmp_path: Path) -> None:
    run = run_directory(tmp_path / "run")
    write_sealed_json(run / MANIFEST, {"sha256": {}, "sha512": {}})
    with pytest.raises(RunError, match="has an entry 'sha512'"):
        verify_manifest(run)


def test_a_manifest_is_dropped_before_results_are_replaced(tmp_path: Path) -> None:
    run = run_directory(tmp_path / "run")
    write_text(run / "config.yaml", "a: 2\n")
    drop_manifest(run)
    verify_manifest(run)
    drop_manifest(run)
    assert not (run / MANIFEST).exists()
