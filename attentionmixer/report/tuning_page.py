"""`write_tuning_page`: what a search found, as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import optuna
from markupsafe import Markup
from optuna.trial import FrozenTrial, TrialState

from ..files import write_atomically, write_text
from .blocks import Block, Column, Items, Note, Picture, Section, Table
from .shell import fill
from .svg import MODEL, MUTED, PERSISTENCE, WIDTH, Sketch, drawing_style
from .text import clean, count, duration, fixed, number, percent
from .verdict import Verdict

_SHOWN: Final = 10
#: Fewer complete trials than this say nothing about which setting matters.
_FEWEST: Final = 4


def write_tuning_page(study: optuna.Study, space: Mapping[str, Any], target: Path) -> Path:
    """Write the page of a study with at least one complete trial; returns its path.

    Parameters
    ----------
    study: finished or not. space: the settings that were searched. target: the file.
    """
    page = render_tuning(study, space)
    write_atomically(target, lambda part: write_text(part, page))
    return target


def render_tuning(study: optuna.Study, space: Mapping[str, Any]) -> str:
    """The page as text. The same study gives the same page."""
    trials = study.get_trials(deepcopy=False)
    complete = sorted((t for t in trials if t.state == TrialState.COMPLETE), key=lambda t: (t.value, t.number))
    with drawing_style():
        sections = [
            Section("history", "Trials, one after the other", "History", [_history(trials)]),
            Section("importance", "Which settings matter", "Settings", _importance(study, complete)),
            Section("best", "The best trials", "Best", [_best(complete, list(space))]),
            Section("failed", "Trials without a result", "Without result", _failed(trials)),
            Section("on", "How to go on", "Going on", [_going_on()]),
        ]
    made = f"{count(len(trials))} trials of {len(space)} settings"
    return fill("what a search found", study.study_name, made, _verdict(trials, complete), sections)


def _verdict(trials: list[FrozenTrial], complete: list[FrozenTrial]) -> Verdict:
    best, first = complete[0], min(complete, key=lambda trial: trial.number)
    assert best.value is not None and first.value is not None
    gain = 1 - best.value / first.value if first.value else 0.0
    pruned, failed = (sum(t.state == state for t in trials) for state in (TrialState.PRUNED, TrialState.FAIL))
    spent = sum(float(trial.user_attrs.get("seconds", 0)) for trial in trials)
    headline = f"Trial {best.number} is best: validation error {number(best.value, 4)}."
    if best.number != first.number:
        headline += f" That is {percent(gain, 1)} below trial {first.number}, where the search began."
    else:
        headline += " That is where the search began: nothing better was found."
    return Verdict(
        "good" if gain > 0 else "mixed",
        headline,
        (
            "Errors are masked, in units of the training variance, on the validation part; the test part was not used.",
            "The best of many trials looks a little better there than it is: train it, and look at the test part.",
        ),
        (
            ("best error", number(best.value, 4), f"trial {best.number}"),
            ("complete", count(len(complete)), f"{count(pruned)} pruned, {count(failed)} failed"),
            ("time", duration(spent / 60), "all trials together"),
        ),
    )


def _history(trials: list[FrozenTrial]) -> Block:
    done = [(t.number, t.value) for t in trials if t.state == TrialState.COMPLETE and t.value is not None]
    pruned = [(t.number, t.value) for t in trials if t.state == TrialState.PRUNED and t.value is not None]
    sketch = Sketch("history", 2.6, "validation error of each trial, and the best so far")
    axes = sketch.axes(0.7, 0.5, WIDTH - 0.9, 1.95)
    axes.set_xlabel("trial")
    axes.set_ylabel("validation error")
    best, steps = float("inf"), []
    for at, value in done:
        best = min(best, value)
        steps.append((at, best))
    if pruned:
        axes.plot(*zip(*pruned, strict=True), linestyle="none", marker="x", color=MUTED, markersize=4.5)
    axes.plot(*zip(*done, strict=True), linestyle="none", marker="o", color=MODEL, markersize=4.5)
    axes.step(*zip(*steps, strict=True), where="post", color=PERSISTENCE, linewidth=1.2)
    # a trial that went astray must not press all others into a line
    values = sorted(value for _, value in done)
    top = values[(3 * (len(values) - 1)) // 4]
    room = max(1e-9, top - values[0], 0.01 * abs(values[0]))
    everything = [*values, *(value for _, value in pruned)]
    limit = min(top + 1.5 * room, max(everything) + 0.15 * room)
    axes.set_ylim(values[0] - 0.15 * room, limit)
    beyond = sum(value > limit for value in everything)
    caption = "Circles are complete trials, crosses pruned ones when they were stopped, the line is the best so far."
    if beyond:
        caption += f" {count(beyond)} with larger errors lie above the drawing."
    return Picture(sketch.svg(), caption)


def _importance(study: optuna.Study, complete: list[FrozenTrial]) -> list[Block]:
    if len(complete) < _FEWEST or len({trial.value for trial in complete}) < 2:
        return [Note(f"At least {_FEWEST} complete trials of different errors are needed to say.", "empty")]
    shares = optuna.importance.get_param_importances(study, evaluator=optuna.importance.PedAnovaImportanceEvaluator())
    ordered = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    return [
        Picture(_bars(ordered), "How much of what tells good trials from others lies in each setting (PED-ANOVA)."),
        Note(
            "With few trials this is a hint, not a finding: look at the table below before you fix a setting.", "hint"
        ),
    ]


def _bars(shares: list[tuple[str, float]]) -> Markup:
    height = 0.26 * len(shares)
    sketch = Sketch("importance", height + 0.2, "share of each setting")
    axes = sketch.axes(2.6, 0.1, WIDTH - 3.3, height)
    places = list(range(len(shares)))[::-1]
    axes.barh(places, [share for _, share in shares], color=MODEL, height=0.62)
    axes.set_ylim(-0.6, len(shares) - 0.4)
    axes.set_xlim(0, max(share for _, share in shares) * 1.12 or 1.0)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.grid(visible=False, axis="y")
    for place, (name, share) in zip(places, shares, strict=True):
        sketch.name(
            axes, -0.012, place, name, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=8.5
        )
        axes.text(share, place, f" {percent(share)}", ha="left", va="center", fontsize=8)
    return sketch.svg()


def _best(complete: list[FrozenTrial], keys: list[str]) -> Block:
    columns = [Column("Trial"), Column("Error"), Column("Seconds"), Column("Settings", numeric=False)]
    rows = []
    for trial in complete[:_SHOWN]:
        settings = (f"{key} {_value(trial.params[key])}" for key in keys if key in trial.params)
        seconds = fixed(float(trial.user_attrs.get("seconds", 0)), 0)
        rows.append([str(trial.number), number(trial.value, 4), seconds, clean(", ".join(settings))])
    more = f"{count(len(complete) - _SHOWN)} more are in trials.csv." if len(complete) > _SHOWN else ""
    return Table("Best first", columns, rows, note=more)


def _going_on() -> Block:
    return Items(
        (
            "Train the best: python -m attentionmixer.train --config best.yaml with your log.",
            "Search on: the same command with a larger --trials; it needs --storage. All trials are in trials.csv.",
        )
    )


def _failed(trials: list[FrozenTrial]) -> list[Block]:
    failed = [trial for trial in trials if trial.state == TrialState.FAIL]
    if not failed:
        return [Note("None failed.", "empty")]
    rows = [[str(trial.number), clean(str(trial.user_attrs.get("failed", "its process ended")))] for trial in failed]
    return [Table("Failed", [Column("Trial"), Column("Why", numeric=False)], rows[:50])]


def _value(value: Any) -> str:
    return clean(f"{value:.3g}" if isinstance(value, float) else str(value))
