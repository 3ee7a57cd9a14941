"""Heat maps of routes: rows listen, columns are listened to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from .grouping import NamedMatrix
from .svg import MUTED, PAPER, Sketch, WIDTH
from .text import number, shorten, text_width

COLOURS: Final = "cividis"
_LABEL: Final = 24  # characters


def draw_heatmap(key: str, matrix: NamedMatrix, labels: Mapping[str, str], alt: str, scale: str) -> Markup:
    """One large map with the name of every row and column.

    Parameters
    ----------
    labels: name → short label, used where the groups are named beside them; a name not in it stands for itself.
    scale: what the colour bar measures.
    """
    rows, columns = matrix.values.shape
    grouped = _worth_grouping(matrix)
    row_labels = [_label(name, labels, grouped) for name in matrix.targets]
    column_labels = [_label(name, labels, grouped) for name in matrix.sources]
    cell = min(0.42, 5.6 / max(rows, columns))
    size = float(np.clip(cell * 72 * 0.72, 5.0, 9.0))
    group_room = 0.24 if grouped else 0.0
    left = max(text_width(text, size) for text in row_labels) / 72 + 0.16 + group_room
    below = max(text_width(text, size) for text in column_labels) / 72 + 0.16 + group_room
    width, height = cell * columns, cell * rows
    left = max(left, (WIDTH - width - 1.2) / 2)
    sketch = Sketch(key, below + height + 0.34, alt)
    axes = sketch.axes(left, below, width, height)
    image = _show(axes, matrix, max(matrix.largest_other(), 1e-12))
    for y, text in enumerate(row_labels):
        sketch.name(axes, -0.07 / width, y, text, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=size)
    for x, text in enumerate(column_labels):
        sketch.name(
            axes, x, -0.07 / height, text, transform=axes.get_xaxis_transform(), rotation=90, ha="right", va="center",
            fontsize=size,
        )  # fmt: skip
    _group_lines(axes, matrix)
    if grouped:
        _group_names(sketch, axes, matrix, (left, below), (width, height), cell)
    bar = sketch.axes(left + width + 0.22, below, 0.13, min(height, 2.6))
    sketch.figure.colorbar(image, cax=bar, extend="max" if _clipped(matrix) else "neither")
    _plain(bar)
    bar.set_ylabel(scale)
    axes.text(0, 1 + 0.09 / height, "columns: listened to", transform=axes.transAxes, fontsize=8.5, color=MUTED)
    return sketch.svg()


def draw_small_maps(key: str, maps: Sequence[tuple[str, NamedMatrix]], alt: str) -> Markup:
    """Several maps side by side without names, each with its own colour bar."""
    count = max(3, len(maps))
    side = min(2.1, (WIDTH - 0.2) / count - 0.75)
    rows, columns = maps[0][1].values.shape
    height = side * rows / columns
    sketch = Sketch(key, height + 0.4, alt)
    for index, (title, matrix) in enumerate(maps):
        left = 0.15 + index * (side + 0.85)
        axes = sketch.axes(left, 0.08, side, height)
        image = _show(axes, matrix, max(matrix.largest_other(), 1e-12))
        _group_lines(axes, matrix)
        axes.set_title(title, pad=4)
        bar = sketch.axes(left + side + 0.08, 0.08, 0.08, height)
        sketch.figure.colorbar(image, cax=bar, extend="max" if _clipped(matrix) else "neither", extendfrac=0.05)
        _plain(bar)
    return sketch.svg()


def _plain(bar: Axes) -> None:
    bar.yaxis.set_major_locator(MaxNLocator(4))
    bar.yaxis.set_major_formatter(lambda value, _: number(value, 2))
    bar.grid(visible=False)
    for spine in bar.spines.values():
        spine.set_visible(False)


def _show(axes: Axes, matrix: NamedMatrix, top: float) -> AxesImage:
    colours = matplotlib.colormaps[COLOURS].with_extremes(bad=(0, 0, 0, 0))
    values = np.ma.masked_equal(matrix.values, 0.0)
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
    return bool(matrix.values.size) and float(matrix.values.max()) > matrix.largest_other() * (1 + 1e-9)


def _label(name: str, labels: Mapping[str, str], grouped: bool) -> str:
    return shorten(labels.get(name, name) if grouped else name, _LABEL)


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


def _group_lines(axes: Axes, matrix: NamedMatrix) -> None:
    if len(matrix.targets) < 2 * len(_runs(matrix.target_groups)):
        return
    for _, first, _last in _runs(matrix.target_groups)[1:]:
        axes.axhline(first - 0.5, color=PAPER, linewidth=1.4)
    for _, first, _last in _runs(matrix.source_groups)[1:]:
        axes.axvline(first - 0.5, color=PAPER, linewidth=1.4)


def _group_names(
    sketch: Sketch,
    axes: Axes,
    matrix: NamedMatrix,
    corner: tuple[float, float],
    size: tuple[float, float],
    cell: float,
) -> None:
    left, below = corner
    width, height = size
    for groups, across in ((matrix.target_groups, False), (matrix.source_groups, True)):
        for group, first, last in _runs(groups):
            room = int((last - first + 1) * cell * 72 / (9 * 0.58))
            text = shorten(group or "", max(room, 2))
            middle = (first + last) / 2
            if across:
                sketch.name(
                    axes, middle, -(below - 0.06) / height, text, transform=axes.get_xaxis_transform(), ha="center",
                    va="bottom", fontsize=9,
                )  # fmt: skip
            else:
                sketch.name(
                    axes, -(left - 0.04) / width if left < 1.6 else -1.55 / width, middle, text,
                    transform=axes.get_yaxis_transform(), rotation=90, ha="center", va="top", fontsize=9,
                )  # fmt: skip
