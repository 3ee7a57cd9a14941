"""Heat maps of routes: rows listen, columns are listened to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from .grouping import NamedMatrix
from .svg import MUTED, WIDTH, Sketch
from .text import fit, number, text_width

# One hue from light to dark: it reads the same for the colour-blind, and prints with little ink.
COLOURS: Final = LinearSegmentedColormap.from_list("routes", ["#e6eef6", "#9cc4e0", "#3f8dc0", "#0a5794", "#041f45"])
COLOUR_RULE: Final = (
    "The colours end at the strongest route between two different nodes, but not below three times the even weight "
    "(fewer times where there are fewer than six sources), so that even weights look pale; what a node gives to itself "
    "may lie beyond them."
)
_REMOVED: Final = "#ffffff"
_MARK: Final = "#b9c0ca"
_ROOM: Final = 1.7  # inches for a label


def draw_heatmap(key: str, matrix: NamedMatrix, labels: Mapping[str, str], alt: str, scale: str) -> Markup:
    """One large map with the name of every row and column.

    Parameters
    ----------
    labels: name → short label, used where the groups are named beside them; a name not in it stands for itself.
    scale: what the colour bar measures.
    """
    rows, columns = matrix.values.shape
    grouped = _worth_grouping(matrix)
    cell = min(0.42, 5.6 / max(rows, columns))
    size = float(np.clip(cell * 72 * 0.72, 5.0, 9.0))
    row_labels = [_label(name, labels, grouped, size) for name in matrix.targets]
    column_labels = [_label(name, labels, grouped, size) for name in matrix.sources]
    group_room = 0.24 if grouped else 0.0
    beside = max(text_width(text, size) for text in row_labels) / 72 + 0.16 + group_room
    below = max(text_width(text, size) for text in column_labels) / 72 + 0.16 + group_room
    width, height = cell * columns, cell * rows
    left = max(beside, (WIDTH - width - 1.2) / 2)
    sketch = Sketch(key, below + height + 0.34, alt)
    axes = sketch.axes(left, below, width, height)
    image = _show(axes, matrix, mark=min(4.0, cell * 72 * 0.3))
    for y, text in enumerate(row_labels):
        sketch.name(
            axes, -0.07 / width, y, text, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=size
        )
    for x, text in enumerate(column_labels):
        sketch.name(
            axes, x, -0.07 / height, text, transform=axes.get_xaxis_transform(), rotation=90, ha="right", va="center",
            fontsize=size,
        )  # fmt: skip
    _group_lines(axes, matrix)
    if grouped:
        _group_names(sketch, axes, matrix, (beside, below))
    bar = sketch.axes(left + width + 0.22, below, 0.13, min(height, 2.6))
    sketch.figure.colorbar(image, cax=bar, extend="max" if _clipped(matrix) else "neither")
    _plain(bar)
    bar.set_ylabel(scale)
    axes.text(0, 1 + 0.09 / height, "columns: listened to", transform=axes.transAxes, fontsize=8.5, color=MUTED)
    return sketch.svg()


def draw_small_maps(
    key: str, maps: Sequence[tuple[str, NamedMatrix]], alt: str, ends: tuple[str, str] | None = None
) -> Markup:
    """Several maps side by side, each with its own colour bar; at most the `ends` (first, last) are named."""
    below = 0.25 if ends else 0.08
    count = max(3, len(maps))
    side = min(2.1, (WIDTH - 0.2) / count - 0.75)
    rows, columns = maps[0][1].values.shape
    height = side * rows / columns
    sketch = Sketch(key, height + below + 0.32, alt)
    for index, (title, matrix) in enumerate(maps):
        left = 0.15 + index * (side + 0.85)
        axes = sketch.axes(left, below, side, height)
        image = _show(axes, matrix)
        _group_lines(axes, matrix)
        axes.set_title(title, pad=4)
        if ends:
            for x, text, align in ((0.0, ends[0], "left"), (1.0, ends[1], "right")):
                place: dict[str, Any] = {"transform": axes.transAxes, "ha": align, "va": "top", "color": MUTED}
                sketch.name(axes, x, -0.06 / height, fit(text, 9, side * 36), fontsize=9, **place)
        bar = sketch.axes(left + side + 0.08, below, 0.08, height)
        sketch.figure.colorbar(image, cax=bar, extend="max" if _clipped(matrix) else "neither", extendfrac=0.05)
        _plain(bar)
    return sketch.svg()


def _plain(bar: Axes) -> None:
    bar.yaxis.set_major_locator(MaxNLocator(4))
    bar.yaxis.set_major_formatter(lambda value, _: number(value, 2))
    bar.grid(visible=False)
    for spine in bar.spines.values():
        spine.set_visible(False)


def _show(axes: Axes, matrix: NamedMatrix, mark: float = 0.0) -> AxesImage:
    """Draw the cells; `mark` is the size of the cross in a removed one, 0 for none."""
    colours = COLOURS.with_extremes(bad=(0, 0, 0, 0))
    values = np.ma.masked_equal(matrix.values, 0.0)
    # white on dark pages too: there an empty cell would look like the strongest
    axes.add_patch(Rectangle((0, 0), 1, 1, transform=axes.transAxes, color=_REMOVED, zorder=-1))
    removed = np.argwhere(matrix.values == 0.0)
    if mark and len(removed):
        axes.plot(removed[:, 1], removed[:, 0], "x", color=_MARK, markersize=mark, markeredgewidth=0.6)
    top = matrix.scale_end()
    # "none" keeps one pixel a cell in the file; the browser enlarges it with sharp edges
    settings: dict[str, Any] = {"interpolation": "none", "aspect": "auto", "cmap": colours, "norm": Normalize(0, top)}
    image = axes.imshow(values, **settings)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)
    return image


def _clipped(matrix: NamedMatrix) -> bool:
    return float(matrix.values.max()) > matrix.scale_end() * (1 + 1e-9)


def _label(name: str, labels: Mapping[str, str], grouped: bool, size: float) -> str:
    return fit(labels.get(name, name) if grouped else name, size, _ROOM * 72)


def _runs(groups: Sequence[str | None]) -> list[tuple[str | None, int, int]]:
    """(group, first, last) of each run of equal neighbours."""
    result, start = [], 0
    for group, members in groupby(groups):
        length = len(list(members))
        result.append((group, start, start + length - 1))
        start += length
    return result


def _worth_grouping(matrix: NamedMatrix) -> bool:
    """Naming groups pays where they are few and large; a row of lone posts is clearer with full names."""
    runs = _runs(matrix.target_groups)
    return len(runs) > 1 and len(matrix.targets) >= 3 * len(runs) and all(group is not None for group, *_ in runs)


def has_group_lines(matrix: NamedMatrix) -> bool:
    """Whether groups are parted by lines; a row of lone posts is not."""
    runs = len(_runs(matrix.target_groups))
    return runs > 1 and len(matrix.targets) >= 2 * runs


def _group_lines(axes: Axes, matrix: NamedMatrix) -> None:
    if not has_group_lines(matrix):
        return
    for _, first, _last in _runs(matrix.target_groups)[1:]:
        axes.axhline(first - 0.5, color=_REMOVED, linewidth=1.6)
    for _, first, _last in _runs(matrix.source_groups)[1:]:
        axes.axvline(first - 0.5, color=_REMOVED, linewidth=1.6)


def _group_names(sketch: Sketch, axes: Axes, matrix: NamedMatrix, room: tuple[float, float]) -> None:
    """Names of the groups; `room` is the inches beside and below the cells that their labels take."""
    beside, below = room
    extent = axes.get_window_extent()
    box = (extent.width / sketch.figure.dpi, extent.height / sketch.figure.dpi)
    for group, first, last in _runs(matrix.source_groups):
        text = fit(group or "", 9, (last - first + 1) / len(matrix.sources) * box[0] * 64)
        place: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "bottom"}
        sketch.name(axes, (first + last) / 2, -(below - 0.06) / box[1], text, fontsize=9, **place)
    for group, first, last in _runs(matrix.target_groups):
        text = fit(group or "", 9, (last - first + 1) / len(matrix.targets) * box[1] * 64)
        place = {"transform": axes.get_yaxis_transform(), "ha": "center", "va": "top", "rotation": 90}
        sketch.name(axes, -(beside - 0.02) / box[0], (first + last) / 2, text, fontsize=9, **place)
