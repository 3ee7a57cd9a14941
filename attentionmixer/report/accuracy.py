"""Section 3: errors per tag and per horizon, beside both baselines."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from .blocks import Block, Column, Heading, Note, Picture, Section, Table
from .grouping import by_station
from .metrics import Metrics
from .run import Run
from .svg import GRID, LINEAR, MODEL, MUTED, PERSISTENCE, Sketch
from .text import NO_DATA, cell, count, duration, fit, fixed, number, percent, shorten, text_width
from .verdict import LEVELS

_MANY = 40
_BASELINES = (("persistence", "repeating the last value", PERSISTENCE, "s"), ("linear", "linear model", LINEAR, "^"))
_SHOWN_HORIZONS = 48


def section(run: Run) -> Section:
    """Errors on the test part, and the validation part for comparison."""
    blocks: list[Block] = [_overall(run.metrics), _coverage(run.metrics), Heading("Error by horizon")]
    blocks += _horizon_blocks(run)
    blocks.append(Heading("Error by tag"))
    blocks += _tag_blocks(run)
    return Section("accuracy", "Error per tag and per horizon", "Errors", blocks)


def _overall(metrics: Metrics) -> Table:
    rows = []
    for name, path in (
        ("This model", ()),
        ("Repeating the last value", ("baselines", "persistence")),
        ("Linear model", ("baselines", "linear")),
    ):
        cells = [
            number(metrics.number(*path, part, kind)) for part in ("test", "validation") for kind in ("mae", "mse")
        ]
        skill = metrics.skill(path[1]) if path else None
        rows.append([name, *cells, percent(skill, 1) if path else "–"])
    labels = ("Test MAE", "Test MSE", "Validation MAE", "Validation MSE", "Model's skill over it")
    return Table(
        "Errors over all scored tags and steps, in units of each tag's standard deviation in training (sd)",
        [Column("Forecast", numeric=False), *(Column(label) for label in labels)],
        rows,
        note="MAE: mean absolute error. MSE: mean squared error. Missing readings are not counted. "
        "Skill: 1 − MSE / MSE of the baseline, on the test part.",
    )


def _coverage(metrics: Metrics) -> Table:
    rows = []
    for level in LEVELS:
        share = metrics.number("coverage", f"{level:g}")
        gap = NO_DATA if share is None else f"{fixed(100 * (share - level), 1)} points"
        rows.append([f"{percent(level)} interval", percent(level), percent(share, 1), gap])
    return Table(
        "Share of test readings inside the intervals",
        [Column("Interval", numeric=False), Column("Promised"), Column("Measured"), Column("Difference")],
        rows,
        note="Measured above promised: the interval is wider than it need be. Below: it is too narrow.",
    )


# --- by horizon ------------------------------------------------------------------------------------------------------


def _horizon_blocks(run: Run) -> list[Block]:
    metrics = run.metrics
    curves = {"model": metrics.series("test", "per_horizon", "mae")}
    for name, *_ in _BASELINES:
        curves[name] = metrics.series("baselines", name, "test", "per_horizon", "mae")
    steps = max(map(len, curves.values()))
    if not any(value is not None for curve in curves.values() for value in curve):
        return [Note("No error per horizon was measured.", "empty")]
    shown = sorted({*np.linspace(1, steps, min(steps, _SHOWN_HORIZONS)).round().astype(int).tolist()})
    squares = metrics.series("test", "per_horizon", "mse")
    rows = [
        [
            f"{step}",
            duration(run.ahead(step)),
            *(number(_at(curve, step)) for curve in curves.values()),
            number(_at(squares, step)),
        ]
        for step in shown
    ]
    left_out = f" {steps - len(shown)} of {steps} steps are left out here." if len(shown) < steps else ""
    table = Table(
        "Mean absolute error by horizon, sd",
        [
            Column("Step"),
            *map(Column, ("Ahead", "This model", "Last value", "Linear", "This model, MSE")),
        ],
        rows,
        note=left_out.strip(),
        fold=steps > 6,
    )
    if steps == 1:
        return [Note("Forecasts reach one step ahead, so there is one horizon only."), table]
    caption = (
        "Mean absolute error over all scored tags by how far ahead the forecast looks. Lower is better; the distance "
        "to the other lines is what the model gains."
    )
    return [Picture(_draw_horizons(run, curves), caption), table]


def _at(curve: Sequence[float | None], step: int) -> float | None:
    return curve[step - 1] if step <= len(curve) else None


def _draw_horizons(run: Run, curves: dict[str, list[float | None]]) -> Markup:
    sketch = Sketch("horizon", 2.7, "Line chart of the mean absolute error by horizon for the model and both baselines")
    axes = sketch.axes(0.62, 0.5, 6.6, 2.1)
    unit, minutes = ("h", 60.0) if run.ahead(run.horizon) >= 240 else ("min", 1.0)
    if run.ahead(run.horizon) < 2:
        unit, minutes = "s", 1 / 60
    ends = []
    for name, label, colour, marker in (("model", "this model", MODEL, "o"), *_BASELINES):
        values = np.array([math.nan if v is None else v for v in curves[name]])
        if not np.isfinite(values).any():
            continue
        x = np.array([run.ahead(step) for step in range(1, len(values) + 1)]) / minutes
        axes.plot(
            x, values, color=colour, linewidth=1.6, marker=marker, markersize=4, markevery=max(1, len(values) // 12)
        )
        last = int(np.flatnonzero(np.isfinite(values))[-1])
        ends.append((float(values[last]), float(x[last]), label, colour))
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"time ahead, {unit}")
    axes.set_ylabel("mean absolute error, sd")
    low, high = axes.get_ylim()
    position = -math.inf
    for value, x_end, label, colour in sorted(ends):
        position = max(value, position + (high - low) * 0.085)
        axes.annotate(
            label, (x_end, value), (1.015, (position - low) / (high - low)), textcoords="axes fraction", color=colour,
            va="center", fontsize=9, annotation_clip=False,
        )  # fmt: skip
    return sketch.svg()


# --- by tag ----------------------------------------------------------------------------------------------------------


def _tag_blocks(run: Run) -> list[Block]:
    metrics = run.metrics
    scored = set(metrics.keys("test", "per_tag"))
    known = [tag.name for _, tags in by_station(run.tags) for tag in tags if tag.name in scored]
    names = known + [name for name in metrics.keys("test", "per_tag") if name not in set(known)]
    if not names:
        return [Note("No tag was scored.", "empty")]
    blocks: list[Block] = []
    skills = {name: [metrics.skill(baseline, tag=name) for baseline, *_ in _BASELINES] for name in names}
    drawn = [name for name in names if any(skill is not None for skill in skills[name])]
    if not drawn:
        blocks.append(Note("No baseline error per tag was measured, so the skill of each tag is unknown.", "empty"))
    else:
        caption = (
            "Skill of each tag: the share of the baseline's squared error that the model takes away. Right of the line "
            "it helps, left of it the baseline is better."
        )
        if len(drawn) > _MANY:
            worst_first = sorted(drawn, key=lambda n: min(s for s in skills[n] if s is not None))
            keep = {*worst_first[: _MANY // 2], *worst_first[-(_MANY // 2) :]}
            caption += (
                f" Drawn are the {_MANY // 2} best and the {_MANY // 2} worst of {len(drawn)}; the table has all."
            )
            drawn = [name for name in drawn if name in keep]
        blocks.append(Picture(_draw_tags(drawn, skills), caption))
    blocks.append(_tag_table(run, names, skills))
    return blocks


def _tag_table(run: Run, names: Sequence[str], skills: dict[str, list[float | None]]) -> Table:
    metrics = run.metrics
    ends = (1, run.horizon) if run.horizon > 1 else ()
    rows = []
    for name in names:
        path = ("per_tag", name)
        by_horizon = metrics.series("test", *path, "mae_by_horizon")
        rows.append(
            [
                cell(name),
                shorten(metrics.text("test", *path, "unit") or "–", 16),
                number(metrics.number("test", *path, "mae")),
                *(number(metrics.number("baselines", b, "test", *path, "mae")) for b, *_ in _BASELINES),
                number(metrics.number("test", *path, "rmse")),
                *(number(_at(by_horizon, step)) for step in ends),
                *(percent(skill) for skill in skills[name]),
                count(metrics.number("test", *path, "observed_values")),
            ]
        )
    labels = ["MAE", "MAE last value", "MAE linear", "RMSE", *(f"MAE at {duration(run.ahead(step))}" for step in ends)]
    return Table(
        "Errors by tag on the test part, in the tag's own unit",
        [
            Column("Tag", numeric=False, tight=max(map(len, names)) <= 30),
            Column("Unit", numeric=False, tight=True),
            *map(Column, (*labels, "Skill, last value", "Skill, linear", "Readings")),
        ],
        rows,
        note="RMSE: root mean squared error.",
    )


def _draw_tags(names: Sequence[str], skills: dict[str, list[float | None]]) -> Markup:
    row, size = 0.185, 8.5
    labels = [fit(name, size, 2.6 * 72) for name in names]
    left = max(0.8, max(text_width(label, size) for label in labels) / 72 + 0.15)
    height = row * len(names)
    sketch = Sketch(
        "skill", height + 0.85, "Dot chart of the skill of each tag against both baselines; figures in the table"
    )
    axes = sketch.axes(left, 0.45, 9.05 - left, height)
    position = np.arange(len(names))
    finite = [s for name in names for s in skills[name] if s is not None]
    low = max(min(0.0, *finite) if finite else 0.0, -1.0)
    high = max(0.1, *finite) if finite else 1.0
    axes.set_xlim(low - 0.05 * (high - low), high + 0.08 * (high - low))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.axvline(0, color=MUTED, linewidth=1)
    for index, (_, label, colour, marker) in enumerate(_BASELINES):
        values = np.array([math.nan if (s := skills[name][index]) is None else s for name in names])
        beyond = values < low
        axes.plot(np.clip(values, low, None), position, marker, color=colour, markersize=5, label=f"against {label}")
        axes.plot(np.full(beyond.sum(), low), position[beyond], "<", color=colour, markersize=7)
    axes.set_yticks([])
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    for y, label in enumerate(labels):
        axes.axhline(y, color=GRID, linewidth=0.6, zorder=0.5)
        sketch.name(
            axes,
            -0.09 / (9.05 - left),
            y,
            label,
            transform=axes.get_yaxis_transform(),
            ha="right",
            va="center",
            fontsize=size,
        )
    axes.xaxis.set_major_formatter(lambda value, _: f"{number(100 * value, 2)} %")
    axes.set_xlabel("skill on the test part")
    sketch.figure.legend(loc="upper right", ncols=2, bbox_to_anchor=(0.99, 1.0), borderaxespad=0.2, handletextpad=0.3)
    return sketch.svg()
