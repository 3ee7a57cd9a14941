"""The command that fuzzes, as far as it goes without fuzzing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from attentionmixer.data.readers import READERS

HERE = Path(__file__).resolve().parent


def test_without_atheris_there_is_a_sentence_and_exit_code_2(
    driver: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(driver, "find_spec", lambda _: None)
    assert driver.main([]) == 2
    assert "atheris is not installed" in capsys.readouterr().err


def test_every_reader_has_a_corpus_and_a_dictionary(driver: ModuleType) -> None:
    assert {folder.name for folder in driver.CORPUS.iterdir()} == set(READERS)
    assert {file.stem for file in driver.DICTIONARIES.iterdir()} == set(READERS)


def test_a_finding_of_a_process_is_counted_and_shown(
    driver: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(driver, "find_spec", lambda _: "atheris")
    said = "finding: odl-crash-1\nTraceback\n\nstat::number_of_executed_units: 7\nstat::peak_rss_mb: 300\n"

    def start(name: str, options: dict[str, object], *folders: Path) -> subprocess.CompletedProcess[str]:
        assert name == "odl" and options["max_total_time"] == 1 and folders[1] == driver.CORPUS / "odl"
        return subprocess.CompletedProcess([], 0, "", said)

    monkeypatch.setattr(driver, "_start", start)
    monkeypatch.setattr(driver, "version", lambda _: "3")
    assert driver.main(["--reader", "odl", "--seconds", "1", "--keep", str(tmp_path / "o.json")]) == 1
    shown = capsys.readouterr()
    assert "| odl | 7 |" in shown.out and "Traceback" in shown.err
    assert '"findings": 1' in (tmp_path / "o.json").read_text()
    assert "| odl | 7 | 1 | 300 | 1 |" in (tmp_path / "o.md").read_text()


@pytest.mark.parametrize("alone", [0, 1])
def test_an_input_that_ends_a_process_is_tried_alone(
    driver: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, alone: int
) -> None:
    monkeypatch.setattr(driver, "find_spec", lambda _: "atheris")
    unit = tmp_path / "odl-crash-2"
    unit.write_bytes(b"{")

    def start(name: str, options: dict[str, object], *folders: Path) -> subprocess.CompletedProcess[str]:
        if folders == (unit,):
            return subprocess.CompletedProcess([], alone, "", "")
        return subprocess.CompletedProcess([], 77, "", f"artifact_prefix='x'; Test unit written to {unit}\n")

    monkeypatch.setattr(driver, "_start", start)
    # memory that a process gathered is no fault of its last input, and that input is not kept
    assert driver.main(["--reader", "odl", "--seconds", "1"]) == alone
    assert unit.exists() == bool(alone)


def test_it_runs_from_any_directory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, HERE / "fuzz_readers.py", "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "--seconds" in done.stdout
