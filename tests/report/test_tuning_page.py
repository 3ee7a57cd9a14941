"""The page of a search."""

from __future__ import annotations

from pathlib import Path

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.trial import TrialState, create_trial

from attentionmixer.report.tuning_page import render_tuning, write_tuning_page

SPACE = {"model.width": CategoricalDistribution([8, 16]), "rate": FloatDistribution(0.0, 1.0)}


def make(values: list[float | None], name: str = "a study", pruned: int = 0) -> optuna.Study:
    study = optuna.create_study(study_name=name)
    for number, value in enumerate(values):
        study.add_trial(
            create_trial(
                state=TrialState.FAIL if value is None else TrialState.COMPLETE,
                params={"model.width": 8 if number % 2 else 16, "rate": number / 20},
                distributions=SPACE,
                value=value,
                user_attrs={"seconds": 30.0, **({"failed": "<b>loss</b> became nan"} if value is None else {})},
            )
        )
    for number in range(pruned):
        study.add_trial(
            create_trial(
                state=TrialState.PRUNED,
                params={"model.width": 8, "rate": 0.9},
                distributions=SPACE,
                intermediate_values={0: 2.0 + number},
                value=2.0 + number,
            )
        )
    return study


def test_the_page_says_which_trial_is_best_and_by_how_much() -> None:
    page = render_tuning(make([1.0, 0.9, 0.8, 0.95, None, 0.85], pruned=2), SPACE)
    assert "Trial 2 is best: validation error 0.8000. That is 20.0" in page
    assert "below trial 0, where the search began" in page
    assert "2 pruned, 1 failed" in page
    assert "&lt;b&gt;loss&lt;/b&gt; became nan" in page and "<b>loss" not in page
    assert page.index(">0.8000<") < page.index(">0.8500<") < page.index(">0.9000<")
    assert "model.width 16, rate 0.1" in page
    assert "nan" not in page.replace("became nan", "").lower()


def test_a_study_of_one_trial_is_a_page_too() -> None:
    page = render_tuning(make([1.0]), SPACE)
    assert "Trial 0 is best" in page and "nothing better was found" in page
    assert "At least 4 complete trials" in page and "None failed." in page


def test_errors_far_above_are_counted_and_do_not_press_the_others_together() -> None:
    page = render_tuning(make([1.0, 0.9, 0.8, 0.95, 0.85, 0.9, 0.87, 0.91, 0.92, 0.93, 0.94, 1e6]), SPACE)
    assert "1 with larger errors lie above the drawing" in page and "2 more are in trials.csv" in page


def test_names_are_escaped_and_the_file_needs_nothing_else(tmp_path: Path) -> None:
    page = write_tuning_page(make([1.0, 0.9, 0.8, 0.7], "<script>alert(1)</script>"), SPACE, tmp_path / "tuning.html")
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text and "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
    assert render_tuning(make([1.0, 0.9, 0.8, 0.7], "x"), SPACE) == render_tuning(
        make([1.0, 0.9, 0.8, 0.7], "x"), SPACE
    )
