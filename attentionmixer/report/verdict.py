"""The verdict: what the measured errors allow to be said in a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .metrics import Metrics
from .run import Run
from .text import NO_DATA, count, duration, moment, number, percent

BASELINES: Final[Mapping[str, str]] = {
    "persistence": "repeating the last value",
    "linear": "a linear model",
}
LEVELS: Final = (0.5, 0.8, 0.9)
_EVEN: Final = 0.005  # a difference below half a percent is called none
_CLOSE: Final = 0.025  # coverage within so much of the nominal value is called close to it
_FAR: Final = 0.1
ADVISORY: Final = "Advisory only. Not safety-classified: no protective action may depend on it alone."


@dataclass(frozen=True)
class Verdict:
    """`level` is ``good`` (beats both baselines, 90 % intervals within ten points), ``mixed``, ``poor`` (beats none) or
    ``unknown``. `figures` are (label, value, remark) of the numbers to be set large.
    """

    level: str
    headline: str
    details: tuple[str, ...]
    figures: tuple[tuple[str, str, str], ...]


def judge(run: Run) -> Verdict:
    """Put the test results of a run in words: skill against the baselines first, then what the intervals cover.

    Skill is 1 − mse / mse of the baseline on the test part; coverage is the share of test readings inside the interval.
    """
    metrics = run.metrics
    skills = {name: metrics.skill(name) for name in BASELINES}
    coverage = {level: metrics.number("coverage", f"{level:g}") for level in LEVELS}
    headline = f"{_against(skills)}; {_covered(coverage[0.9])}."
    return Verdict(_level(skills, coverage[0.9]), headline, tuple(_details(run)), _figures(metrics, skills, coverage))


def _level(skills: Mapping[str, float | None], covered: float | None) -> str:
    known = [skill for skill in skills.values() if skill is not None]
    if not known:
        return "unknown"
    better = sum(skill > _EVEN for skill in known)
    if not better:
        return "poor"
    honest = covered is not None and abs(covered - 0.9) <= _FAR
    return "good" if better == len(skills) and honest else "mixed"


def _against(skills: Mapping[str, float | None]) -> str:
    parts = [_compared(skill, BASELINES[name]) for name, skill in skills.items() if skill is not None]
    if not parts:
        return "There is no test error or no baseline to compare the forecasts with"
    return f"Forecasts are {' and '.join(parts)}"


def _compared(skill: float, baseline: str) -> str:
    if abs(skill) < _EVEN:
        return f"no better than {baseline}"
    if skill > 0:
        return f"{percent(skill)} better than {baseline}"
    return f"{percent(-skill)} worse than {baseline}"


def _covered(share: float | None) -> str:
    if share is None:
        return "what their intervals cover was not measured"
    amount = "" if abs(share - 0.9) > _FAR else "a little "
    if abs(share - 0.9) <= _CLOSE:
        remark = "close to what they promise"
    else:
        remark = f"{amount}too narrow" if share < 0.9 else f"{amount}wider than they need be"
    return f"{percent(0.9)} intervals covered {percent(share)} of the readings, {remark}"


def _details(run: Run) -> list[str]:
    metrics, provenance = run.metrics, run.provenance
    windows, values = metrics.number("test", "windows"), metrics.number("test", "observed_values")
    span = f"{moment(provenance.get('test_start'))} to {moment(provenance.get('test_end'))} UTC"
    tested = f"Measured on {_amount(windows, 'window')} with {_amount(values, 'observed value')}"
    steps = f"{run.horizon} step{'s' if run.horizon > 1 else ''} of {duration(run.step_minutes)}"
    return [
        f"{tested} of the test period, {span}, which training did not see.",
        f"Forecasts reach {steps} ahead ({duration(run.ahead(run.horizon))}). Better and worse compare mean squared "
        "errors in units of each tag's standard deviation in training, over all scored tags and steps.",
        "This is one training run with one seed; a difference of a few percent may be chance.",
    ]


def _amount(value: float | None, thing: str) -> str:
    return f"an unknown number of {thing}s" if value is None else f"{count(value)} {thing}{'' if value == 1 else 's'}"


def _figures(
    metrics: Metrics, skills: Mapping[str, float | None], coverage: Mapping[float, float | None]
) -> tuple[tuple[str, str, str], ...]:
    mae = number(metrics.number("test", "mae"))
    return (
        *(
            (
                f"Skill against {'persistence' if name == 'persistence' else 'linear'}",
                percent(skill),
                "0 % is no better",
            )
            for name, skill in skills.items()
        ),
        ("Mean absolute error", mae if mae == NO_DATA else f"{mae} sd", "sd: standard deviation in training"),
        *(
            (f"Inside {percent(level)} intervals", percent(coverage[level]), f"should be {percent(level)}")
            for level in (0.5, 0.9)
        ),
    )
