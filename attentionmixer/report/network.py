"""The network drawing: nodes at their places, routes as arrows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from numpy.typing import NDArray

from .grouping import NamedMatrix
from .svg import INK, MODEL, MUTED, PAPER, WIDTH, Sketch
from .text import number, shorten, text_width

Place = tuple[float, float]  # inches from the lower left corner of the drawing
ARROWS: Final = 40
_SIZE: Final = 8.5
_NODE: Final = 0.075  # radius, inches
_LABEL: Final = 26


def draw_network(
    key: str, matrix: NamedMatrix, labels: Mapping[str, str], alt: str, degrees: Mapping[str, tuple[float, float]] | None
) -> tuple[Markup, int, int]:
    """Draw the strongest routes between different nodes.

    Parameters
    ----------
    labels: name → short label for the circle, where groups are named beside it.
    degrees: name → (latitude, longitude) of every node, or ``None`` for a circle.

    Returns
    -------
    The drawing, the number of arrows drawn, and the number of nodes whose label found no free place.
    """
    names = list(dict.fromkeys(matrix.targets + matrix.sources))
    routes = matrix.routes(min(ARROWS, 3 * len(names)))
    height = 5.4 if degrees is None else _map_height(names, degrees)
    sketch = Sketch(key, height, alt)
    axes = sketch.axes(0, 0, WIDTH, height)
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    places = _circle(matrix, names, height) if degrees is None else _map(names, degrees, height)
    strongest = max((matrix.values[to, source] for to, source in routes), default=1.0)
    for to, source in reversed(routes):  # the strongest on top
        start, end = places[matrix.sources[source]], places[matrix.targets[to]]
        _arrow(axes, start, end, matrix.values[to, source] / strongest, bend=0.16 if degrees else -0.12)
    points = np.array([places[name] for name in names])
    axes.plot(points[:, 0], points[:, 1], "o", color=INK, markersize=_NODE * 72 * 1.5, markeredgecolor=PAPER, zorder=5)
    if degrees is None:
        unlabelled = 0
        _circle_labels(sketch, axes, matrix, names, labels, height)
    else:
        unlabelled = _map_labels(sketch, axes, names, places, height)
    _legend(axes, strongest, height)
    return sketch.svg(), len(routes), unlabelled


def _arrow(axes: Axes, start: Place, end: Place, share: float, bend: float) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle=f"-|>,head_length={2.2 + 2.6 * share:.2f},head_width={1.1 + 1.5 * share:.2f}",
            shrinkA=_NODE * 72,
            shrinkB=_NODE * 72,
            linewidth=0.5 + 2.6 * share,
            color=MODEL,
            alpha=0.25 + 0.6 * share,
            joinstyle="miter",
            capstyle="butt",
            zorder=2 + share,
        )
    )


def _legend(axes: Axes, strongest: float, height: float) -> None:
    for index, share in enumerate((1.0, 0.5)):
        y = height - 0.22 - 0.22 * index
        _arrow(axes, (0.15, y), (0.75, y), share, bend=0.0)
        axes.text(0.85, y, number(strongest * share, 2), va="center", fontsize=_SIZE, color=MUTED)


# --- at their coordinates --------------------------------------------------------------------------------------------


def _map_height(names: Sequence[str], degrees: Mapping[str, tuple[float, float]]) -> float:
    east, north = _flat(names, degrees)
    wide, high = max(float(np.ptp(east)), 1e-9), float(np.ptp(north))
    return float(np.clip((WIDTH - 3.0) * high / wide + 1.2, 2.6, 5.6))


def _flat(
    names: Sequence[str], degrees: Mapping[str, tuple[float, float]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """East and north in degrees of latitude; good for one region, which is all that a drawing needs."""
    latitude, longitude = np.array([degrees[name] for name in names], dtype=np.float64).T
    # across the date line the shorter way round is the right one
    longitude = longitude[0] + (longitude - longitude[0] + 180) % 360 - 180
    return longitude * math.cos(math.radians(float(latitude.mean()))), latitude


def _map(names: Sequence[str], degrees: Mapping[str, tuple[float, float]], height: float) -> dict[str, Place]:
    east, north = _flat(names, degrees)
    room = np.array([WIDTH - 3.0, height - 1.0])
    spans = [float(np.ptp(axis)) for axis in (east, north)]
    scale = min((r / s for r, s in zip(room, spans, strict=True) if s > 0), default=1.0)
    points = np.stack([east - (east.max() + east.min()) / 2, north - (north.max() + north.min()) / 2], axis=1) * scale
    points = _apart(points + np.array([WIDTH / 2, height / 2]), least=3.2 * _NODE)
    points = np.clip(points, 0.25, np.array([WIDTH, height]) - 0.25)
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, points, strict=True)}


def _apart(points: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """Push nodes that would hide one another apart, to at least `least` inches where there is room."""
    points = points.copy()
    # equal places have no direction to part in, so each gets a small one of its own
    turn = np.arange(len(points)) * 2.399963
    points += 1e-4 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    for _ in range(60):
        apart = points[:, None] - points[None, :]
        distance = np.hypot(apart[..., 0], apart[..., 1])
        np.fill_diagonal(distance, np.inf)
        push = np.clip(least - distance, 0, None)
        if not push.any():
            break
        points += (apart / distance[..., None] * (push / 2)[..., None]).sum(axis=1)
    return points


def _map_labels(
    sketch: Sketch, axes: Axes, names: Sequence[str], places: Mapping[str, Place], height: float
) -> int:
    """Write each label at the first free place round its node; return how many found none."""
    taken = [(x - _NODE, y - _NODE, x + _NODE, y + _NODE) for x, y in places.values()]
    taken.append((0.0, height - 0.6, 1.5, height))  # the legend
    missing = 0
    for name in names:
        text = shorten(name, _LABEL)
        width, tall = text_width(text, _SIZE) / 72, _SIZE / 72 * 1.15
        x, y = places[name]
        gap = _NODE * 1.7
        for dx, dy, align in (
            (gap, 0, "left"), (-gap, 0, "right"), (0, gap + tall / 2, "center"), (0, -gap - tall / 2, "center"),
            (gap, tall, "left"), (gap, -tall, "left"), (-gap, tall, "right"), (-gap, -tall, "right"),
        ):  # fmt: skip
            left = x + dx - {"left": 0.0, "right": width, "center": width / 2}[align]
            box = (left, y + dy - tall / 2, left + width, y + dy + tall / 2)
            inside = box[0] > 0.02 and box[2] < WIDTH - 0.02 and box[1] > 0 and box[3] < height
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                sketch.name(axes, x + dx, y + dy, text, ha=align, va="center", fontsize=_SIZE, zorder=6)
                break
        else:
            missing += 1
    return missing


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


# --- on a circle -----------------------------------------------------------------------------------------------------


def _angles(matrix: NamedMatrix, names: Sequence[str]) -> NDArray[np.float64]:
    """Clockwise from the top, with a wider space between groups."""
    group = dict(zip(matrix.targets + matrix.sources, matrix.target_groups + matrix.source_groups, strict=True))
    steps = [1.0 if group[a] == group[b] else 1.8 for a, b in zip(names, [*names[1:], names[0]], strict=True)]
    turns = np.cumsum([0.0, *steps[:-1]]) / sum(steps)
    angles: NDArray[np.float64] = math.pi / 2 - 2 * math.pi * (turns + 0.5 * steps[-1] / sum(steps))
    return angles


def _radius(height: float) -> float:
    return height / 2 - 1.05


def _circle(matrix: NamedMatrix, names: Sequence[str], height: float) -> dict[str, Place]:
    return {
        name: (WIDTH / 2 + _radius(height) * math.cos(a), height / 2 + _radius(height) * math.sin(a))
        for name, a in zip(names, _angles(matrix, names), strict=True)
    }


def _circle_labels(
    sketch: Sketch, axes: Axes, matrix: NamedMatrix, names: Sequence[str], labels: Mapping[str, str], height: float
) -> None:
    group = dict(zip(matrix.targets + matrix.sources, matrix.target_groups + matrix.source_groups, strict=True))
    angles = dict(zip(names, _angles(matrix, names), strict=True))
    runs = [(key, list(members)) for key, members in groupby(names, key=lambda name: group[name])]
    named = len(runs) > 1 and len(names) >= 3 * len(runs) and all(key is not None for key, _ in runs)
    radius, size = _radius(height), float(np.clip(2 * math.pi * _radius(height) * 72 / len(names) * 0.7, 5, _SIZE))
    longest = 0.0
    for name in names:
        text = shorten(labels.get(name, name) if named else name, 18)
        longest = max(longest, text_width(text, size) / 72)
        _radial(sketch, axes, text, angles[name], radius + 0.14, size, height)
    if not named:
        return
    for key, members in runs:
        middle = float(np.mean([angles[name] for name in members]))
        side = math.cos(middle)
        align = "center" if abs(side) < 0.35 else "left" if side > 0 else "right"
        distance = radius + 0.3 + longest
        sketch.name(
            axes, WIDTH / 2 + distance * side, height / 2 + min(distance, height / 2 - 0.1) * math.sin(middle),
            shorten(key or "", _LABEL), ha=align, va="center", fontsize=9.5,
        )  # fmt: skip


def _radial(sketch: Sketch, axes: Axes, text: str, angle: float, radius: float, size: float, height: float) -> None:
    """Text that leads away from the centre and is never upside down."""
    turned = math.degrees(angle) % 360
    left = 90 < turned < 270
    x, y = WIDTH / 2 + radius * math.cos(angle), height / 2 + radius * math.sin(angle)
    sketch.name(
        axes, x, y, text, rotation=turned - 180 if left else turned, ha="right" if left else "left", va="center",
        fontsize=size,
    )  # fmt: skip
