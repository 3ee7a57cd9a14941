"""The command that searches."""

from __future__ import annotations

from pathlib import Path

import pytest

from attentionmixer.train import main as train
from attentionmixer.tune import main


def test_a_search_leaves_a_configuration_that_trains(
    tiny_arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, space = tmp_path / "tune", tmp_path / "space.yaml"
    space.write_text("model.patch: [3, 4]\noptimizer.learning_rate: [0.001, 0.002]\n")
    arguments = [*tiny_arguments, "--trainer.max_epochs=1", f"--space={space}", "--trials=3", f"--run_dir={folder}"]
    assert main(arguments) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == [f"best: {folder / 'best.yaml'}", f"report: {folder / 'tuning.html'}"]
    assert (folder / "trials.csv").read_text().count("\n") == 4
    assert "best" in (folder / "tuning.html").read_text(encoding="utf-8")
    assert train([f"--config={folder / 'best.yaml'}", f"--run_dir={tmp_path / 'run'}"]) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--trials=0",), "--trials must be at least 1, not 0"),
        (("--space=missing.yaml",), "the space missing.yaml cannot be read"),
        (("--model.widht=3",), "the nearest is"),
        (("--model.name=persistence",), "has nothing to search"),
        (("--resume",), "by its --storage and --study, not by --resume"),
    ],
)
def test_bad_input_ends_with_two_and_says_what_to_do(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*arguments, f"--run_dir={tmp_path / 'tune'}"]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "tune").exists()


def test_a_search_does_not_write_among_the_results_of_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main([f"--run_dir={tmp_path / 'file'}"]) == 2
    assert "is a file; name a directory" in capsys.readouterr().err
    (tmp_path / "config.yaml").write_text("")
    assert main([f"--run_dir={tmp_path}"]) == 2
    assert "holds a training run" in capsys.readouterr().err
