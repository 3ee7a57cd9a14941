"""Section 5: from which age of the window each part listens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from ..routemap import RouteMap
from .blocks import Block, Column, Note, Picture, Section, Table
from .grouping import NamedMatrix, named_matrix
from .heatmap import COLOUR_RULE, draw_small_maps
from .run import Run
from .svg import LINEAR, MODEL, MUTED, PERSISTENCE, WIDTH, Sketch
from .text import cell, clean, count, duration, number, percent

_TITLE: Final = "Temporal routes: from what age of the window"
_COLOURS: Final = (MODEL, PERSISTENCE, LINEAR, MUTED)
_LISTED: Final = 48
_NAMED: Final = 12


def section(run: Run) -> Section:
    """Weight by age for the newest part of the window, and the whole maps."""
    return Section("temporal", _TITLE, "Temporal routes", _blocks(run))


def _blocks(run: Run) -> list[Block]:
    maps = [m for m in run.routes if m.axis == "temporal" and m.targets and m.sources]
    if not maps:
        name = clean(str(run.model.get("name", "this model")))
        return [
            Note(
                f"The run holds no temporal route map. Either {name} passes no messages between parts of its window, "
                "or the folder routes/ was not copied with the run.",
                "empty",
            )
        ]
    window = duration(run.lookback * run.step_minutes)
    windows = max(m.windows for m in maps)
    averaged = f" Weights are averaged over {count(windows)} windows and over all tags." if windows else ""
    others = [cell(name) for name in extras(maps[0])]
    beside = f" Beside the parts stands what has no age: {', '.join(others)}." if others else ""
    last = " What has no age follows in the last columns." if others else ""
    blocks: list[Block] = [
        Note(
            f"The model sees the last {window} of every tag, cut into {len(maps[0].targets)} parts. The bars show how "
            f"much the newest part, the one that ends at the last reading, listens to each part of it."
            f"{beside}{averaged}"
        ),
        Note(
            "How to read it: a tall bar at the left means that much weight lies on old readings, one at the right that "
            "it lies on the newest. If all bars are as tall as the grey line, no age is preferred. Weight alone is "
            "weak evidence of use.",
            "hint",
        ),
        *(Note(clean(note)) for note in dict.fromkeys(m.note for m in maps if m.note)),
        Picture(
            _bars(maps),
            "Weight by age for the newest part of the window. Grey line: the weight if all ages got the same.",
        ),
        _table(maps),
    ]
    if len(maps[0].targets) > 1:
        pictures = [(f"round {m.round}", _by_age(m)) for m in maps]
        caption = (
            "Rows listen, columns are listened to; both run from the oldest part (top, left) to the newest (bottom, "
            f"right).{last} A blank cell is a removed route. {COLOUR_RULE} Each map has colours of its own."
        )
        alt = "Heat maps of the temporal routes, by round"
        ends = ("oldest", others[-1] if others else "newest")
        blocks.append(Picture(draw_small_maps("ages", pictures, alt, ends), caption))
    return blocks


def newest(route_map: RouteMap) -> int:
    """Row of the part that ends at the last reading: the one of the least age, else the last row."""
    if route_map.lag_minutes is not None:
        for source in reversed(_order(route_map)):
            if route_map.sources[source] in route_map.targets:
                return route_map.targets.index(route_map.sources[source])
    return len(route_map.targets) - 1


def extras(route_map: RouteMap) -> list[str]:
    """Sources that are no part of the window and so have no age, such as what is known of a tag's place."""
    return [name for name in route_map.sources if name not in route_map.targets]


def _ages(route_map: RouteMap) -> list[str]:
    if route_map.lag_minutes is None:
        return [cell(name) for name in route_map.sources]
    others = set(extras(route_map))
    return [
        cell(name) if name in others else f"{duration(float(lag))} ago" if lag else "now"
        for name, lag in zip(route_map.sources, route_map.lag_minutes, strict=True)
    ]


def _order(route_map: RouteMap) -> list[int]:
    """Sources from oldest to newest, those without an age last."""
    others = set(extras(route_map))
    lags = np.zeros(len(route_map.sources)) if route_map.lag_minutes is None else route_map.lag_minutes
    return sorted(range(len(lags)), key=lambda i: (route_map.sources[i] in others, -float(lags[i])))


def _by_age(route_map: RouteMap) -> NamedMatrix:
    """Rows and columns from oldest to newest."""
    matrix = named_matrix(route_map, ())
    columns = _order(route_map)
    place = {route_map.sources[i]: rank for rank, i in enumerate(columns)}
    rows = sorted(range(len(matrix.targets)), key=lambda i: place.get(matrix.targets[i], len(place)))
    return matrix.keep(rows, columns)


def _bars(maps: Sequence[RouteMap]) -> Markup:
    sketch = Sketch("lags", 2.35, "Bar chart of the weight of each age of the window; figures in the table")
    axes = sketch.axes(0.62, 0.5, WIDTH - 0.75, 1.55)
    order, ages = _order(maps[0]), _ages(maps[0])
    same = [m for m in maps if m.sources == maps[0].sources]
    width = 0.8 / len(same)
    for index, route_map in enumerate(same):
        place = np.arange(len(order)) + (index - (len(same) - 1) / 2) * width
        heights = np.nan_to_num(route_map.strength[newest(route_map)].astype(np.float64))[order]
        axes.bar(place, heights, width * 0.92, color=_COLOURS[index % len(_COLOURS)], label=f"round {route_map.round}")
    axes.axhline(1 / len(order), color=MUTED, linewidth=1, zorder=3)
    every = -(-len(order) // _NAMED)
    named = list(range(len(order) - 1, -1, -every))
    axes.set_xticks(named)
    axes.set_xticklabels([])
    axes.grid(axis="x", visible=False)
    axes.set_xlim(-0.6, len(order) - 0.4)
    _age_labels(sketch, axes, named, [ages[order[i]] for i in named])
    axes.set_ylabel("weight")
    axes.set_xlabel("age at the end of the window", labelpad=18)
    if len(same) > 1:
        sketch.figure.legend(loc="upper right", ncols=len(same), bbox_to_anchor=(0.995, 1.02), borderaxespad=0.2)
    return sketch.svg()


def _age_labels(sketch: Sketch, axes: Axes, places: Sequence[int], labels: Sequence[str]) -> None:
    for x, label in zip(places, labels, strict=True):
        sketch.name(
            axes,
            x,
            -0.06,
            label,
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="top",
            fontsize=8.5,
            color=MUTED,
        )


def _table(maps: Sequence[RouteMap]) -> Table:
    first = maps[0]
    order, ages = _order(first), _ages(first)
    same = [m for m in maps if m.sources == first.sources]
    heaviest = order
    if len(order) > _LISTED:
        mean = np.mean([m.strength[newest(m)] for m in same], axis=0)
        chosen = set(np.argsort(-mean)[:_LISTED].tolist())
        heaviest = [i for i in order if i in chosen]
    rows = []
    for i in heaviest:
        weights = [float(m.strength[newest(m)][i]) for m in same]
        rows.append(
            [
                ages[i],
                cell(first.sources[i]),
                *("removed" if w == 0 else number(w) for w in weights),
                percent(float(np.mean(weights)), 1),
            ]
        )
    return Table(
        "Weight of each part of the window for the newest part",
        [
            Column("Age", numeric=False, tight=True),
            Column("Part of the window", numeric=False),
            *(Column(f"Round {m.round}") for m in same),
            Column("Mean share"),
        ],
        rows,
        note=f"The {_LISTED} heaviest of {len(order)} parts." if len(order) > _LISTED else "",
        fold=len(rows) > 12,
    )
