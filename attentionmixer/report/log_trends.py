"""Trends of a log: a small chart a tag, in which a single odd reading can still be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ..data.log import StationLog
from ..data.quality import Flag
from .blocks import Block, Column, Note, Picture, Table
from .svg import MUTED, OBSERVED, PERSISTENCE, WIDTH, Sketch
from .text import NO_DATA, cell, clean, count, fit, number, percent, shorten
from .timeaxis import days, time_axis

_DRAWN: Final = 48
_PER_PICTURE: Final = 6
_BINS: Final = 440
#: Faults that would flatten the chart of everything else.
_BRIEF: Final = Flag.SPIKE | Flag.STARTUP | Flag.WRAP | Flag.RANGE
# inches: width and height of a chart, and the room for what stands above and below it
_PANEL: Final = (3.75, 0.78)
_BETWEEN: Final = 0.74


@dataclass(frozen=True)
class Envelope:
    """Lowest and highest value in each of B equal spans of time [B] (NaN = none), and whether a cell in it is flagged.

    ``first`` [B] is the row each span begins with.
    """

    first: NDArray[np.int64]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    flagged: NDArray[np.bool_]


def envelope(values: NDArray[np.float32], flagged: NDArray[np.bool_], bins: int = _BINS) -> Envelope:
    """[T] values and flagged cells in at most ``bins`` spans. No value is lost from sight, however short it lasts."""
    edges = np.linspace(0, len(values), min(bins, len(values)) + 1).astype(np.int64)[:-1]
    return Envelope(
        edges,
        np.fmin.reduceat(values, edges),
        np.fmax.reduceat(values, edges),
        np.logical_or.reduceat(flagged, edges),
    )


def trend_blocks(log: StationLog) -> list[Block]:
    """Charts of the tags worth a look, and a table of all."""
    shown = _chosen(log)
    blocks: list[Block] = [
        Note(
            "How to read it: each upright stroke spans the lowest and highest reading of its moment, so a single odd "
            "reading is seen. Orange ticks at the bottom mark flagged readings. Spikes, counter faults and start-up "
            "transients may lie beyond the chart; a triangle at its edge shows where. Times are UTC.",
            "hint",
        )
    ]
    if len(shown) < len(log.tags):
        blocks.append(
            Note(
                f"Of {count(len(log.tags))} tags, {len(shown)} are drawn: those with most flagged readings first, then "
                "dose rates, then the others in the order of the log. The table lists all."
            )
        )
    for first in range(0, len(shown), _PER_PICTURE):
        part = shown[first : first + _PER_PICTURE]
        caption = "" if first + _PER_PICTURE < len(shown) else "Range of all readings at the upper right of each chart."
        blocks.append(Picture(_draw(f"log{first}", log, part), caption))
    return [*blocks, _table(log)]


def _chosen(log: StationLog) -> list[int]:
    if len(log.tags) <= _DRAWN:
        return list(range(len(log.tags)))
    flagged = (log.flags != 0).sum(axis=0)
    order = sorted(range(len(log.tags)), key=lambda i: (-int(flagged[i]), log.tags[i].quantity != "dose_rate", i))
    return sorted(order[:_DRAWN])


def _table(log: StationLog) -> Table:
    rows = []
    for i, tag in enumerate(log.tags):
        values = log.values[:, i]
        there = values[~np.isnan(values)]
        low, middle, high = (float(x) for x in np.percentile(there, (0, 50, 100))) if len(there) else (None,) * 3
        rows.append(
            [
                cell(tag.name),
                shorten(tag.unit or "–", 16),
                clean(tag.quantity.replace("_", " ")),
                shorten(tag.station or "–", 24),
                clean(tag.role),
                count(len(there)),
                percent(1 - len(there) / len(log), 1),
                *(NO_DATA if value is None else _short(value) for value in (low, middle, high)),
                count(int((log.flags[:, i] != 0).sum())),
            ]
        )
    words = [Column("Tag", numeric=False)]
    words += [Column(label, numeric=False, tight=True) for label in ("Unit", "Quantity", "Station", "Role")]
    figures = [Column(label) for label in ("Readings", "Missing", "Lowest", "Median", "Highest", "Flagged")]
    return Table(f"{count(len(log.tags))} tag(s)", [*words, *figures], rows, fold=len(rows) > 12)


# --- drawing ---------------------------------------------------------------------------------------------------------


def _draw(key: str, log: StationLog, columns: Sequence[int]) -> Markup:
    rows = -(-len(columns) // 2)
    width, height = _PANEL
    names = ", ".join(log.tags[i].name for i in columns)
    sketch = Sketch(key, rows * (height + _BETWEEN), f"Small line charts of {names}; figures in the table below")
    for place, column in enumerate(columns):
        row, side = place // 2, place % 2
        left = 0.62 + side * (WIDTH / 2)
        axes = sketch.axes(left, (rows - 1 - row) * (height + _BETWEEN) + 0.46, width, height)
        _panel(sketch, axes, log, column)
    return sketch.svg()


def _panel(sketch: Sketch, axes: Axes, log: StationLog, column: int) -> None:
    tag, values, flags = log.tags[column], log.values[:, column], log.flags[:, column]
    shape = envelope(values, flags != 0)
    middle = (np.append(shape.first[1:], len(log)) + shape.first - 1) / 2
    start, end = days([log.time[0], log.time[-1]]).tolist()
    x = start + middle * ((end - start) / (len(log) - 1))
    _strokes(axes, x, shape)
    trusted = values[(flags & np.uint16(_BRIEF)) == 0]
    _limits(axes, x, shape, trusted if not np.isnan(trusted).all() else values)
    marked = x[shape.flagged]
    axes.vlines(marked, 0, 0.09, transform=axes.get_xaxis_transform(), color=PERSISTENCE, linewidth=1.0, zorder=3)
    axes.set_xlim(start, end)
    time_axis(axes, log.time[0], log.time[-1], most=6)
    axes.grid(axis="x", visible=False)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.yaxis.set_major_formatter(lambda value, _: _short(float(value)))
    unit = f" {clean(tag.unit)}" if tag.unit else ""
    empty = bool(np.isnan(values).all())
    span = "no reading" if empty else f"{_short(float(np.nanmin(values)))} to {_short(float(np.nanmax(values)))}{unit}"
    width, height = _PANEL
    above = 1 + 0.07 / height
    sketch.name(axes, 0, above, fit(tag.name, 8.5, width * 72 * 0.6), transform=axes.transAxes, fontsize=8.5)
    sketch.name(
        axes, 1, above, fit(span, 8, width * 72 * 0.4), transform=axes.transAxes, fontsize=8, ha="right", color=MUTED
    )


def _short(value: float) -> str:
    """A number without decimals where it has none."""
    return count(value) if value.is_integer() and abs(value) < 1e6 else number(value)


def _strokes(axes: Axes, x: NDArray[np.float64], shape: Envelope) -> None:
    # up, over, down, over: no diagonal from a high to the next low
    low_first = np.arange(len(x)) % 2 == 0
    ends = np.where(low_first, shape.low, shape.high), np.where(low_first, shape.high, shape.low)
    axes.plot(
        np.repeat(x, 2), np.stack(ends, axis=1).reshape(-1), color=OBSERVED, linewidth=0.7, solid_joinstyle="round"
    )
    there = ~np.isnan(shape.low)
    alone = there & ~np.append(there[1:], False) & ~np.append(False, there[:-1]) & (shape.low == shape.high)
    if alone.any():
        axes.plot(x[alone], shape.low[alone], ".", color=OBSERVED, markersize=2.0)


def _limits(axes: Axes, x: NDArray[np.float64], shape: Envelope, trusted: NDArray[np.float32]) -> None:
    """The range of all but brief faults; triangles where something lies beyond it."""
    if np.isnan(trusted).all():
        axes.set_ylim(0, 1)
        return
    low, high = float(np.nanmin(trusted)), float(np.nanmax(trusted))
    room = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    axes.set_ylim(low - 2 * room, high + room)
    for beyond, edge, sign in ((shape.high > high + room, 0.95, "^"), (shape.low < low - 2 * room, 0.14, "v")):
        if beyond.any():
            axes.plot(
                x[beyond], np.full(int(beyond.sum()), edge), sign, transform=axes.get_xaxis_transform(),
                color=PERSISTENCE, markersize=4, linestyle="none", zorder=4,
            )  # fmt: skip
