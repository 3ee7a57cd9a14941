"""The network drawing: nodes at their places, routes as arrows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path as Curve
from numpy.typing import NDArray

from .circle import Circle, Place, circle_labels
from .grouping import NamedMatrix
from .svg import INK, MODEL, MUTED, PAPER, WIDTH, Sketch
from .text import fit, number, text_width

ARROWS: Final = 30
_SIZE: Final = 8.5
_KM_PER_DEGREE: Final = 111.2
_NODE: Final = 0.075  # radius, inches


@dataclass(frozen=True)
class NetworkDrawing:
    """The drawing, the number of its arrows, and how many labels found no free place."""

    svg: Markup
    arrows: int
    unlabelled: int


def draw_network(
    key: str,
    matrix: NamedMatrix,
    alt: str,
    *,
    labels: Mapping[str, str],
    degrees: Mapping[str, tuple[float, float]] | None,
) -> NetworkDrawing:
    """Draw the strongest routes between different nodes.

    Parameters
    ----------
    labels: name → short label for the circle, where groups are named beside it.
    degrees: name → (latitude, longitude) of every node, or ``None`` for a circle.
    """
    names = list(dict.fromkeys(matrix.targets + matrix.sources))
    routes = matrix.routes(min(ARROWS, 2 * len(names)))
    height = 5.6 if degrees is None else _map_height(names, degrees)
    sketch = Sketch(key, height, alt)
    axes = sketch.axes(0, 0, WIDTH, height)
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    unlabelled, centre = 0, None
    if degrees is None:
        circle = Circle.of(matrix, names, height)
        places = {name: circle.place(angle) for name, angle in circle.angles.items()}
        centre = circle.centre
        circle_labels(sketch, axes, circle, labels)
    else:
        places = _map(names, degrees, height)
        unlabelled = _map_labels(sketch, axes, names, places)
        _scale_bar(axes, _scale(names, degrees, height))
    strongest = matrix.scale_end()
    for to, source in reversed(routes):  # the strongest on top
        ends = (places[matrix.sources[source]], places[matrix.targets[to]])
        _arrow(axes, ends, float(matrix.values[to, source]) / strongest, centre=centre)
    points = np.array([places[name] for name in names])
    axes.plot(points[:, 0], points[:, 1], "o", color=INK, markersize=_NODE * 72 * 1.5, markeredgecolor=PAPER, zorder=5)
    _legend(axes, strongest, height)
    return NetworkDrawing(sketch.svg(), len(routes), unlabelled)


def _arrow(
    axes: Axes, ends: tuple[Place, Place], share: float, *, centre: Place | None = None, bend: float = 0.12
) -> None:
    """An arrow that bends to its right, so that two opposite ones lie side by side; on a circle towards its centre."""
    a, b = np.array(ends[0]), np.array(ends[1])
    along = b - a
    control = (a + b) / 2 + bend * np.array([along[1], -along[0]])
    if centre is not None:
        # neighbours keep close to the rim
        pull = 0.15 + 0.45 * min(1.0, float(np.hypot(*along)) / 3.0)
        control += pull * (np.array(centre) - (a + b) / 2)
    gap = _NODE * 1.35
    a = a + (control - a) / max(float(np.hypot(*(control - a))), 1e-9) * gap
    b = b + (control - b) / max(float(np.hypot(*(control - b))), 1e-9) * gap
    axes.add_patch(
        FancyArrowPatch(
            path=Curve([a, control, b], [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3]),
            arrowstyle=f"-|>,head_length={2.2 + 2.6 * share:.2f},head_width={1.1 + 1.5 * share:.2f}",
            linewidth=0.5 + 2.6 * share,
            facecolor=MODEL,
            edgecolor=MODEL,
            fill=True,
            alpha=0.25 + 0.6 * share,
            joinstyle="miter",
            capstyle="butt",
            zorder=2 + share,
        )
    )


def _legend(axes: Axes, strongest: float, height: float) -> None:
    for index, share in enumerate((1.0, 0.5)):
        y = height - 0.22 - 0.22 * index
        _arrow(axes, ((0.15, y), (0.85, y)), share, bend=0.0)
        axes.text(0.95, y, number(strongest * share, 2), va="center", fontsize=_SIZE, color=MUTED)


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
    scale = _scale(names, degrees, height)
    points = np.stack([east - (east.max() + east.min()) / 2, north - (north.max() + north.min()) / 2], axis=1) * scale
    points = _apart(points + np.array([WIDTH / 2, height / 2]), least=3.2 * _NODE)
    points = np.clip(points, 0.25, np.array([WIDTH, height]) - 0.25)
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, points, strict=True)}


def _scale(names: Sequence[str], degrees: Mapping[str, tuple[float, float]], height: float) -> float:
    """Inches per degree of latitude."""
    spans = (float(np.ptp(axis)) for axis in _flat(names, degrees))
    rooms = (WIDTH - 3.0, height - 1.0)
    return min((room / span for room, span in zip(rooms, spans, strict=True) if span > 0), default=1.0)


def _scale_bar(axes: Axes, scale: float) -> None:
    """A bar of a round number of kilometres, about an inch long."""
    inches_per_km = scale / _KM_PER_DEGREE
    power = 10.0 ** math.floor(math.log10(1.0 / inches_per_km))
    kilometres = max(step * power for step in (1, 2, 5) if step * power * inches_per_km <= 1.0)
    length = kilometres * inches_per_km
    axes.plot([0.15, 0.15, 0.15 + length, 0.15 + length], [0.27, 0.2, 0.2, 0.27], color=MUTED, linewidth=1)
    text = f"{kilometres * 1000:g} m" if kilometres < 1 else f"{kilometres:g} km"
    axes.text(0.15, 0.34, text, fontsize=_SIZE, color=MUTED)


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


def _map_labels(sketch: Sketch, axes: Axes, names: Sequence[str], places: Mapping[str, Place]) -> int:
    """Write each label at the first free place round its node, outward first; return how many found none."""
    height = axes.get_ylim()[1]
    taken = [(x - _NODE, y - _NODE, x + _NODE, y + _NODE) for x, y in places.values()]
    taken += [(0.0, height - 0.6, 1.6, height), (0.0, 0.0, 1.6, 0.5)]  # the two legends
    centre = np.mean(list(places.values()), axis=0)
    missing = 0
    for name in names:
        text = fit(name, _SIZE, 1.9 * 72)
        width, tall = text_width(text, _SIZE) / 72, _SIZE / 72 * 1.15
        x, y = places[name]
        for dx, dy, align in _sides(np.array([x, y]) - centre, _NODE * 1.7, tall):
            left = x + dx - {"left": 0.0, "right": width, "center": width / 2}[align]
            box = (left, y + dy - tall / 2, left + width, y + dy + tall / 2)
            inside = box[0] > 0.02 and box[2] < WIDTH - 0.02 and box[1] > 0 and box[3] < height
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                sketch.name(axes, x + dx, y + dy, text, halo=True, ha=align, va="center", fontsize=_SIZE, zorder=6)
                break
        else:
            missing += 1
    return missing


def _sides(outward: NDArray[np.float64], gap: float, tall: float) -> list[tuple[float, float, str]]:
    """Places for a label relative to its node, (dx, dy, alignment); those on the `outward` side come first."""
    sides = [
        (gap, 0.0, "left"),
        (-gap, 0.0, "right"),
        (0.0, gap + tall / 2, "center"),
        (0.0, -gap - tall / 2, "center"),
        (gap * 0.8, tall * 0.8, "left"),
        (gap * 0.8, -tall * 0.8, "left"),
        (-gap * 0.8, tall * 0.8, "right"),
        (-gap * 0.8, -tall * 0.8, "right"),
    ]
    return sorted(sides, key=lambda side: -(side[0] * outward[0] + side[1] * outward[1]) / math.hypot(side[0], side[1]))


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
