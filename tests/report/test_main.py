"""The front door: ``python -m attentionmixer.report``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from attentionmixer.report import __main__ as front_door


def test_the_path_of_the_report_is_printed(run_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert front_door.main([str(run_dir)]) == 0
    assert capsys.readouterr().out == f"{run_dir / 'report.html'}\n"


def test_another_file_can_be_named(run_dir: Path, tmp_path: Path) -> None:
    assert front_door.main([str(run_dir), "--output", str(tmp_path / "r.html")]) == 0
    assert (tmp_path / "r.html").is_file()


def test_a_run_that_cannot_be_used_gives_a_sentence_and_two(run_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run_dir / "metrics.json").unlink()
    assert front_door.main([str(run_dir)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert "metrics.json is missing" in output.err
    assert len(output.err.splitlines()) == 1


def test_the_module_can_be_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "attentionmixer.report", str(tmp_path / "nothing")]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 2
    assert "is no directory" in result.stderr
    assert "Traceback" not in result.stderr
