"""Exit codes, and where messages go."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from attentionmixer.errors import ConfigError, LogError, RunError, TrainingError
from attentionmixer.front import front_door, log_to_file


def door(error: BaseException | None) -> int:
    def main(arguments: Sequence[str] | None) -> int:
        if error is not None:
            raise error
        return 0

    return front_door(main)([])


def test_done_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert door(None) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("kind", [ConfigError, LogError, RunError, TrainingError])
def test_what_the_user_can_mend_is_two_without_a_traceback(
    kind: type[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    assert door(kind("column x, row 3")) == 2
    assert capsys.readouterr().err == "error: column x, row 3\n"


def test_no_text_of_a_log_in_an_error_is_a_command_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert door(LogError("column '\x1b[2Jx'\nsecond line")) == 2
    assert capsys.readouterr().err == "error: column '\\x1b[2Jx'\nsecond line\n"


def test_a_fault_of_ours_is_one_with_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert door(ZeroDivisionError("a fault")) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "ZeroDivisionError: a fault" in error


def test_an_interrupt_is_one_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert door(KeyboardInterrupt()) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_what_is_logged_lands_in_the_file_and_only_while_it_is_open(tmp_path: Path) -> None:
    door(None)
    logger = logging.getLogger("attentionmixer.somewhere")
    with log_to_file(tmp_path / "new" / "log.txt"):
        logger.info("inside µ")
    logger.info("outside")
    text = (tmp_path / "new" / "log.txt").read_text(encoding="utf-8")
    assert "inside µ" in text
    assert "outside" not in text


@pytest.mark.parametrize("name", ["file/run/log.txt", "a\0b/log.txt"])
def test_a_folder_that_cannot_be_made_is_the_users_to_mend(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be written to"), log_to_file(tmp_path / name):
        pytest.fail("the body must not run")
