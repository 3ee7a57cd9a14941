"""Flags of a log as blocks of a page: how many readings each rule flagged, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.ticker import FixedLocator
from numpy.typing import NDArray

from ..data.command.findings import MEANING
from ..data.quality import IGNORED, Flag
from .blocks import Block, Column, Note, Picture, Table
from .log_account import Span
from .svg import GRID, PAPER, Sketch
from .text import cell, clean, count, duration, fit, text_width
from .timeaxis import days, time_axis

#: Flag → day such as ``"2021-05-01"`` (UTC) → cells, days without any left out: as in `QualityRecord.calendar`.
Calendar = Mapping[str, Mapping[str, int]]

# one hue; the palest can still be told from a time without any
_COLOURS: Final = LinearSegmentedColormap.from_list("cells", ["#8fbcdc", "#3f8dc0", "#0a5794", "#041f45"])
_COLUMNS: Final = 366
_ROW: Final = 0.24
_DAY: Final = pd.Timedelta(days=1)


@dataclass(frozen=True)
class Strips:
    """Readings counted in C equal spans of time from ``first`` to ``end``, a strip for each of R names.

    ``counts`` [R, C]; ``column`` says how long a span is.
    """

    names: tuple[str, ...]
    counts: NDArray[np.int64]
    first: pd.Timestamp
    end: pd.Timestamp
    column: str


def strips_by_day(found: Calendar, span: Span | None = None) -> Strips:
    """Strips of days, or of several days each where there are too many to be seen one by one.

    ``found``: name → day → cells, at least one. ``span``: the log's first and last time, if known.
    """
    days_seen = pd.to_datetime(sorted({day for counts in found.values() for day in counts}), utc=True)
    times = [days_seen[0], days_seen[-1], *(span or ())]
    first, last = min(times).normalize(), max(times).normalize()
    width = -(-((last - first).days + 1) // _COLUMNS)
    columns = (last - first).days // width + 1
    counts = np.zeros((len(found), columns), dtype=np.int64)
    for row, by_day in enumerate(found.values()):
        at = (pd.to_datetime(list(by_day), utc=True) - first).days.to_numpy() // width
        np.add.at(counts[row], at, list(by_day.values()))
    column = "a day" if width == 1 else f"{width} days"
    return Strips(tuple(found), counts, first, first + columns * width * _DAY, column)


def strips_by_step(found: Mapping[str, NDArray[np.int64]], time: pd.DatetimeIndex) -> Strips:
    """Strips of a log too short for days. ``found``: name → [T] flagged cells at each of the times."""
    step = pd.Timedelta(time[1] - time[0])
    width = -(-len(time) // _COLUMNS)
    edges = np.arange(0, len(time), width)
    counts = np.stack([np.add.reduceat(cells, edges) for cells in found.values()])
    column = duration(width * step.total_seconds() / 60)
    return Strips(tuple(found), counts, time[0], time[0] + len(edges) * width * step, column)


def flag_blocks(flags: Mapping[str, int], calendar: Calendar, strips: Strips | None) -> list[Block]:
    """A picture with a strip of time for each rule, and a table of the readings each flagged.

    ``flags``, ``calendar``: as in `QualityRecord`; ``strips``: by flag, or ``None`` where the days are not known.
    """
    if not flags:
        return [Note("No reading has a flag.")]
    blocks: list[Block] = []
    if strips is not None:
        alt = "Calendar of flagged readings, a strip for each rule; figures in the table below"
        caption = f"Flagged readings of all tags (UTC). {_reading(strips)}"
        blocks.append(Picture(_draw("calendar", strips, alt), caption))
    rows = [
        [clean(flag), count(number), count(len(calendar.get(flag, {}))), MEANING.get(flag, ""), _use(flag)]
        for flag, number in sorted(flags.items(), key=lambda item: -item[1])
    ]
    labels = (Column("Flag", numeric=False), Column("Readings"), Column("Days"))
    words = (Column("Meaning", numeric=False), Column("In training", numeric=False, tight=True))
    note = "A reading can have several flags. What training ignores is the default, and a configuration can change it."
    return [*blocks, Table("Flagged readings, by rule", [*labels, *words], rows, note=note)]


def rule_blocks(flag: str, tags: Mapping[str, int], strips: Strips) -> list[Block]:
    """One rule: a picture with a strip of time for each tag, and a table of the counts.

    ``tags``: tag → flagged readings, of all tags with any; ``strips``: of those to draw.
    """
    caption = f"{flag}: {MEANING[flag]}. {_reading(strips)}"
    if len(tags) > len(strips.names):
        caption += f" Of {count(len(tags))} tags, the {len(strips.names)} with most are drawn."
    alt = f"Calendar of readings flagged {flag}, a strip for each tag; figures in the table below"
    columns = [Column("Tag", numeric=False), Column("Readings")]
    rows = [[cell(name), count(number)] for name, number in tags.items()]
    return [
        Picture(_draw(f"calendar-{flag}", strips, alt), caption),
        Table(f"Readings flagged {flag}, by tag", columns, rows, fold=True),
    ]


def _use(flag: str) -> str:
    known = Flag.__members__.get(flag.upper())
    return "" if known is None else "ignored" if known & IGNORED else "used"


def _reading(strips: Strips) -> str:
    shade = "blue: one" if strips.counts.max() == 1 else "the darker, the more readings"
    return f"A column stands for {strips.column}; {shade}; grey: none."


def _draw(key: str, strips: Strips, alt: str) -> Markup:
    most = int(strips.counts.max())
    labels = [fit(name, 8.5, 2.4 * 72) for name in strips.names]
    left = max(0.6, max(text_width(label, 8.5) for label in labels) / 72 + 0.2)
    height, wide = _ROW * len(labels), 8.25 - left
    sketch = Sketch(key, (height if most == 1 else max(height, 0.6)) + 0.5, alt)
    axes = sketch.axes(left, 0.38, wide, height)
    start, end = days([strips.first, strips.end]).tolist()
    image = axes.imshow(
        np.ma.masked_equal(strips.counts, 0),
        interpolation="none",
        aspect="auto",
        cmap=_COLOURS.with_extremes(bad=(0, 0, 0, 0)),
        norm=LogNorm(1, max(2, most)),
        extent=(start, end, len(labels) - 0.5, -0.5),
        zorder=2,
    )
    for row, label in enumerate(labels):
        axes.axhspan(row - 0.42, row + 0.42, color=GRID, linewidth=0, zorder=1)
        sketch.name(
            axes, -0.09 / wide, row, label, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=8.5
        )
    for row in range(len(labels) - 1):
        # the paper's colour between the strips, so that each is seen as one
        axes.axhline(row + 0.5, color=PAPER, linewidth=2.5, zorder=3)
    axes.set_xlim(start, end)
    time_axis(axes, strips.first, strips.end)
    _bare(axes)
    axes.set_yticks([])
    if most == 1:
        return sketch.svg()
    bar = sketch.axes(8.35, 0.38, 0.1, max(height, 0.6))
    sketch.figure.colorbar(image, cax=bar)
    bar.yaxis.set_major_locator(FixedLocator([1, most]))
    bar.yaxis.set_major_formatter(lambda value, _: count(value))
    bar.set_ylabel("readings")
    bar.minorticks_off()
    _bare(bar)
    return sketch.svg()


def _bare(axes: Axes) -> None:
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
