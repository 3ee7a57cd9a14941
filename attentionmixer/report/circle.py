"""Places and names of nodes that have no coordinates: a circle, group by group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes

from .grouping import NamedMatrix
from .svg import WIDTH, Sketch
from .text import fit, text_width

Place = tuple[float, float]  # inches from the lower left corner of the drawing
_MARGIN: Final = 1.1  # inches between the circle and the edge, for its labels
_SIZE: Final = 8.5


@dataclass(frozen=True)
class Circle:
    """Nodes on a circle, clockwise from the top, with a wider space between groups.

    Attributes
    ----------
    groups: name → group.
    angles: name → angle, radians, counter-clockwise from the right.
    radius, centre: in inches.
    """

    groups: Mapping[str, str | None]
    angles: Mapping[str, float]
    radius: float
    centre: Place

    @classmethod
    def of(cls, matrix: NamedMatrix, names: Sequence[str], height: float) -> Circle:
        """The circle of `names` in a drawing of `height` inches."""
        ends = zip(matrix.targets + matrix.sources, matrix.target_groups + matrix.source_groups, strict=True)
        groups = dict(ends)
        steps = [1.0 if groups[a] == groups[b] else 1.8 for a, b in zip(names, [*names[1:], names[0]], strict=True)]
        turns = (np.cumsum([0.0, *steps[:-1]]) + steps[-1] / 2) / sum(steps)
        angles = dict(zip(names, (math.pi / 2 - 2 * math.pi * turns).tolist(), strict=True))
        return cls(groups, angles, height / 2 - _MARGIN, (WIDTH / 2, height / 2))

    def place(self, angle: float, outward: float = 0.0) -> Place:
        """The point at `angle`, `outward` inches outside the circle."""
        radius = self.radius + outward
        return self.centre[0] + radius * math.cos(angle), self.centre[1] + radius * math.sin(angle)


def circle_labels(sketch: Sketch, axes: Axes, circle: Circle, labels: Mapping[str, str]) -> None:
    """Write the names round the circle; by their short `labels` where the groups are named beside them."""
    names = list(circle.angles)
    runs = [(key, list(members)) for key, members in groupby(names, key=lambda name: circle.groups[name])]
    named = len(runs) > 1 and len(names) >= 3 * len(runs) and all(key is not None for key, _ in runs)
    size = float(np.clip(2 * math.pi * circle.radius * 72 / len(names) * 0.7, 5, _SIZE))
    longest = 0.0
    for name in names:
        text = fit(labels.get(name, name) if named else name, size, _MARGIN * 72 * (0.65 if named else 0.9))
        longest = max(longest, text_width(text, size) / 72)
        # text leads away from the centre and is never upside down
        turned = math.degrees(circle.angles[name]) % 360
        left = 90 < turned < 270
        x, y = circle.place(circle.angles[name], 0.14)
        settings: dict[str, Any] = {
            "rotation": turned - 180 if left else turned,
            "ha": "right" if left else "left",
            "va": "center",
        }
        sketch.name(axes, x, y, text, fontsize=size, **settings)
    if not named:
        return
    for key, members in runs:
        middle = float(np.mean([circle.angles[name] for name in members]))
        x, y = circle.place(middle, 0.3 + longest)
        align = "center" if abs(math.cos(middle)) < 0.35 else "left" if math.cos(middle) > 0 else "right"
        low, high = 0.12, axes.get_ylim()[1] - 0.12
        sketch.name(axes, x, min(max(y, low), high), fit(key or "", 9.5, 1.9 * 72), ha=align, va="center", fontsize=9.5)
