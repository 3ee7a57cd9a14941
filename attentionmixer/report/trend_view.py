"""Section 2: forecast against observation, drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes

from .blocks import Block, Column, Heading, Note, Picture, Section, Table
from .run import Run
from .svg import GRID, MODEL, OBSERVED, PERSISTENCE, Sketch
from .text import NO_DATA, cell, clean, count, duration, fixed, moment, number, percent
from .timeaxis import days, time_axis
from .trends import RULE, RULE_WITHOUT_DOSE, Trend, load_trends, summary

_TITLE = "Forecast against observation"
_MANY_SEAMS = 40


def section(run: Run) -> Section:
    """Trends of the most telling tags."""
    blocks = _blocks(run)
    return Section("trends", _TITLE, "Trends", blocks)


def _blocks(run: Run) -> list[Block]:
    if run.forecasts is None:
        return [Note("The run holds no forecasts.parquet, so there is nothing to draw.", "empty")]
    trends = load_trends(run)
    if not trends:
        return [Note("No forecast of the test period has an observed value beside it.", "empty")]
    doses = any(tag.quantity == "dose_rate" for tag in run.tags)
    blocks: list[Block] = [
        Note(
            f"Each forecast reaches {duration(run.ahead(run.horizon))} ahead and uses only readings before it; the "
            "forecasts of the test period are set end to end. Left: the last days that have data. Right: the largest "
            "departure of the readings from their median in the whole test period. Times are UTC.",
        ),
        Note(RULE if doses else RULE_WITHOUT_DOSE),
        Note(
            "How to read it: the thin line is what was measured, the blue line what was expected. About half of the "
            "readings should lie in the dark band and nine in ten in the light one. A faint upright line marks where a "
            "new forecast begins. Where the thin line breaks, no reading was usable.",
            "hint",
        ),
    ]
    for index, trend in enumerate(trends):
        blocks += _trend_blocks(run, index, trend)
    return blocks


def _trend_blocks(run: Run, index: int, trend: Trend) -> list[Block]:
    tag = trend.choice.tag
    unit = tag.unit or ""
    skill = run.metrics.skill("persistence", tag=tag.name)
    mae = run.metrics.number("test", "per_tag", tag.name, "mae")
    inside = trend.covered(0.05, 0.95)
    facts = [
        f"mean absolute error {_with_unit(mae, unit)}",
        f"skill against repeating the last value {percent(skill)}",
        f"90 % interval covered {percent(inside)}",
    ]
    peak = trend.frame["observed"].get(trend.peak)
    caption = (
        f"Chosen as {' and '.join(trend.choice.reasons)}. Over the test period: {'; '.join(facts)}. "
        f"Largest excursion: {_with_unit(None if peak is None else float(peak), unit)} at {moment(trend.peak)} UTC."
    )
    return [
        Heading(
            cell(tag.name), clean(f"{unit or 'no unit'}{f' · station {cell(tag.station)}' if tag.station else ''}")
        ),
        Picture(_draw(f"trend{index}", trend, run.step), caption),
        _table(trend, unit),
    ]


def _with_unit(value: float | None, unit: str) -> str:
    text = number(value)
    return text if text == NO_DATA or not unit else f"{text} {clean(unit)}"


def _table(trend: Trend, unit: str) -> Table:
    rows = []
    for start, values in summary(trend.recent_frame):
        outside = values.get("outside")
        low, mean, high = (values.get(name) for name in ("min", "mean", "max"))
        decimals = _decimals(trend)
        rows.append(
            [
                f"{start:%Y-%m-%d %H:%M}",
                count(values["n"]),
                *(fixed(value, decimals) for value in (low, mean, high)),
                number(values.get("mae")),
                NO_DATA if outside is None else f"{outside} ({percent(outside / values['n'])})",
            ]
        )
    labels = ("Readings", "Lowest", "Mean", "Highest", "Mean abs. error", "Outside 90 %")
    return Table(
        f"{cell(trend.choice.tag.name)}: the left picture in figures{f', {clean(unit)}' if unit else ''}",
        [Column("From (UTC)", numeric=False, tight=True), *(Column(label) for label in labels)],
        rows,
        fold=True,
    )


def _decimals(trend: Trend) -> int:
    size = float(trend.frame["observed"].abs().median())
    return int(np.clip(2 - np.floor(np.log10(size)), 0, 6)) if size > 0 else 2


# --- drawing ---------------------------------------------------------------------------------------------------------


def _draw(key: str, trend: Trend, step: pd.Timedelta) -> Markup:
    tag = trend.choice.tag
    alt = f"Line chart of {tag.name}: observed, forecast, 50 % and 90 % intervals; figures in the table below"
    sketch = Sketch(key, 2.55, alt)
    unit = clean(tag.unit or "value")
    wide = sketch.axes(0.62, 0.42, 5.35, 1.72)
    zoom = sketch.axes(6.62, 0.42, 2.35, 1.72)
    for axes, frame, title in (
        (wide, trend.recent_frame, f"Last {_days(trend.recent_frame)} with data"),
        (zoom, trend.excursion_frame, "Largest excursion"),
    ):
        _lines(axes, frame, step, most=8 if axes is wide else 4)
        axes.set_title(title, pad=5)
    sketch.name(
        wide, -0.5 / 5.35, 0.5, unit, transform=wide.transAxes, rotation=90, ha="center", va="center", fontsize=9
    )
    if "persistence" in trend.frame:
        _dashed(zoom, trend.excursion_frame)
    handles, labels = [], []
    for axes in (wide, zoom):
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    sketch.figure.legend(
        handles, labels, loc="upper right", ncols=len(labels), bbox_to_anchor=(0.995, 1.02), columnspacing=1.4,
        handlelength=1.6, borderaxespad=0.2,
    )  # fmt: skip
    return sketch.svg()


def _days(frame: pd.DataFrame) -> str:
    return duration((frame.index[-1] - frame.index[0]).total_seconds() / 60)


def _lines(axes: Axes, frame: pd.DataFrame, step: pd.Timedelta, most: int) -> None:
    time = days(pd.DatetimeIndex(frame.index))
    axes.grid(axis="x", visible=False)
    origins = pd.DatetimeIndex(frame["origin"].dropna().unique())
    if 1 < len(origins) <= _MANY_SEAMS:
        for place in days(origins[1:] + step / 2):
            axes.axvline(float(place), color=GRID, linewidth=0.6)
    for low, high, alpha, label in (
        ("q0.05", "q0.95", 0.2, "90 % interval"),
        ("q0.25", "q0.75", 0.38, "50 % interval"),
    ):
        if low in frame and high in frame:
            axes.fill_between(time, frame[low], frame[high], color=MODEL, alpha=alpha, linewidth=0, label=label)
    axes.plot(time, frame["point"], color=MODEL, linewidth=1.2, label="forecast")
    axes.plot(time, frame["observed"], color=OBSERVED, linewidth=0.8, label="observed", solid_joinstyle="round")
    _lone_points(axes, frame)
    time_axis(axes, pd.Timestamp(frame.index[0]), pd.Timestamp(frame.index[-1]), most)
    axes.margins(x=0.01)


def _lone_points(axes: Axes, frame: pd.DataFrame) -> None:
    """A reading between two gaps has no line to be on, so it gets a dot."""
    seen = frame["observed"].notna()
    lone = seen & ~seen.shift(1, fill_value=False) & ~seen.shift(-1, fill_value=False)
    if lone.any():
        axes.plot(
            days(pd.DatetimeIndex(frame.index[lone])), frame.loc[lone, "observed"], ".", color=OBSERVED, markersize=2.5
        )


def _dashed(axes: Axes, frame: pd.DataFrame) -> None:
    axes.plot(
        days(pd.DatetimeIndex(frame.index)),
        frame["persistence"],
        color=PERSISTENCE,
        linewidth=0.9,
        linestyle=(0, (4, 2)),
        label="last value",
    )
