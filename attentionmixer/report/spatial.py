"""Section 4: which tags each estimate listens to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .blocks import Block, Column, Heading, Note, Picture, Section, Table
from .grouping import NamedMatrix, busiest, channel, mean_of, named_matrix, station_matrix
from .heatmap import draw_heatmap, draw_small_maps
from .network import draw_network
from .run import Run
from .text import clean, count, fixed, number, percent

_SHOWN = 60
_STRONGEST = 15
_NEARLY_EVEN = 0.8
_TITLE = "Spatial routes: which tags each estimate listens to"


def section(run: Run) -> Section:
    """Heat map, strongest routes, and the network drawn."""
    return Section("spatial", _TITLE, "Spatial routes", _blocks(run))


def _blocks(run: Run) -> list[Block]:
    maps = [m for m in run.routes if m.axis == "spatial" and m.targets and m.sources]
    rounds = [m for m in maps if m.round > 0]
    linear = next((m for m in maps if m.round == 0), None)
    if not maps:
        return [Note(_why_none(run), "empty")]
    matrices = [named_matrix(m, run.tags) for m in rounds]
    straight = None if linear is None else named_matrix(linear, run.tags)
    only_linear = not matrices
    main = straight if straight is not None and only_linear else mean_of(matrices)
    blocks: list[Block] = []
    if only_linear:
        blocks.append(Note("There is no message passing between tags in this run; what follows is its linear path."))
    blocks += _reading(main, max(m.windows for m in maps), [m.note for m in maps if m.note])
    shown, remark = _few_enough(main)
    labels = {tag.name: channel(tag) for tag in run.tags}
    scale = "size of coefficient" if only_linear else "weight, mean of rounds" if len(rounds) > 1 else "weight"
    alt = f"Heat map of {len(shown.targets)} rows that listen by {len(shown.sources)} columns; the table has the strongest"
    caption = (
        f"{remark}Rows listen, columns are listened to; white lines part the stations. A blank cell is a route that the "
        "model removed. The colours end at the strongest route between two different tags, so that a tag's own past "
        "(the diagonal) may lie beyond them."
    )
    blocks.append(Picture(draw_heatmap("spatial", shown, labels, alt, scale), caption))
    others = [(f"round {m.round}", matrix) for m, matrix in zip(rounds, matrices, strict=True)] if len(rounds) > 1 else []
    if straight is not None and not only_linear:
        others.append(("linear path", straight))
    if others:
        blocks.append(_small(others))
    blocks.append(_listening(main))
    blocks.append(Heading("Strongest routes"))
    blocks.append(_strongest(main, {name: matrix for name, matrix in others}))
    blocks += _network(run, main, labels)
    return blocks


def _why_none(run: Run) -> str:
    name = clean(str(run.model.get("name", "this model")))
    return (
        f"The run holds no spatial route map. Either {name} passes no messages between tags (a baseline, or spatial "
        "message passing switched off), or the folder routes/ was not copied with the run."
    )


def _reading(main: NamedMatrix, windows: int, notes: Sequence[str]) -> list[Block]:
    blocks: list[Block] = [
        Note(
            "How to read it: go along a row to see which tags the estimate for that tag listens to. Strength is the weight "
            "a reading gets, not proof of cause, and weight alone is weak evidence: a route may carry much weight and "
            "change little. Before acting on a route, check it against what is known of the plant.",
            "hint",
        )
    ]
    effective = main.effective()
    listening = effective[effective > 0]
    sources = len(main.sources)
    if not len(listening):
        blocks.append(Note("Every route between tags is removed: each estimate rests on its own tag's past alone.", "warning"))
    else:
        mean = float(listening.mean())
        text = f"On average an estimate listens to {fixed(mean, 1)} of {sources} sources (effective number)"
        even = mean > _NEARLY_EVEN * sources and sources > 2
        ending = ". The weights are nearly even, so no route stands out: do not read much into single routes." if even else "."
        blocks.append(Note(text + ending, "warning" if even else "plain"))
    closed = float((main.values == 0).mean())
    averaged = f" Weights are averaged over {count(windows)} windows." if windows else ""
    blocks.append(Note(f"{percent(closed, 1)} of the routes are removed.{averaged}"))
    blocks += [Note(clean(note)) for note in dict.fromkeys(notes)]
    return blocks


def _few_enough(matrix: NamedMatrix) -> tuple[NamedMatrix, str]:
    """The matrix, or less of it where it has more nodes than a page can name; and the sentence that says so."""
    nodes = max(len(matrix.targets), len(matrix.sources))
    if nodes <= _SHOWN:
        return matrix, ""
    stations = station_matrix(matrix)
    groups = max(len(stations.targets), len(stations.sources))
    if 1 < groups <= _SHOWN:
        return stations, (
            f"The {nodes} tags are summed up by station: the weight that a station's tags put, on average, on all tags of "
            "the other together. "
        )
    return busiest(matrix, _SHOWN), f"Of {nodes} tags the {_SHOWN} with the strongest routes are drawn. "


def _small(others: Sequence[tuple[str, NamedMatrix]]) -> Picture:
    same = [(title, _few_enough(matrix)[0]) for title, matrix in others]
    linear = (
        " The linear path adds to the forecast directly; its numbers are sizes of coefficients on another scale than "
        "weights, so compare patterns, not values."
        if any(title == "linear path" for title, _ in others)
        else ""
    )
    caption = f"The same tags in the same order, each map with colours of its own.{linear}"
    return Picture(draw_small_maps("rounds", same, "Small heat maps of the single rounds and of the linear path"), caption)


def _listening(matrix: NamedMatrix) -> Table:
    own, effective = matrix.own, matrix.effective()
    rows = []
    for i, name in enumerate(matrix.targets):
        itself = matrix.values[i][own[i]]
        others = matrix.values[i] * ~own[i]
        best = int(others.argmax())
        found = others[best] > 0
        rows.append(
            [
                clean(name),
                number(float(itself[0])) if len(itself) else "–",
                clean(matrix.sources[best]) if found else "none",
                number(float(others[best])) if found else "–",
                fixed(float(effective[i]), 1),
                f"{int((matrix.values[i] > 0).sum())} of {len(matrix.sources)}",
            ]
        )
    return Table(
        "What each tag listens to: the map in figures",
        [
            Column("Tag", numeric=False),
            Column("Own past"),
            Column("Strongest other", numeric=False),
            Column("Its weight"),
            Column("Effective sources"),
            Column("Open routes"),
        ],
        rows,
        note="Effective sources: exp of the entropy of the row; 1 means a single source, the number of tags means all alike.",
        fold=len(rows) > 12,
    )


def _strongest(main: NamedMatrix, others: Mapping[str, NamedMatrix]) -> Block:
    routes = main.routes(_STRONGEST)
    if not routes:
        return Note("No route between two different tags is open.", "empty")
    even = 1 / len(main.sources)
    rows = []
    for to, source in routes:
        target, name = main.targets[to], main.sources[source]
        rows.append(
            [
                clean(name),
                clean(target),
                number(float(main.values[to, source])),
                f"{fixed(float(main.values[to, source]) / even, 1)} ×",
                *(_cell(matrix, target, name) for matrix in others.values()),
            ]
        )
    return Table(
        f"The {len(rows)} strongest routes between different tags",
        [
            Column("From (listened to)", numeric=False),
            Column("To (listens)", numeric=False),
            Column("Weight"),
            Column("Against even"),
            *(Column(name.capitalize()) for name in others),
        ],
        rows,
        note="Against even: how many times the weight that every source would get if all got the same.",
    )


def _cell(matrix: NamedMatrix, target: str, source: str) -> str:
    if target not in matrix.targets or source not in matrix.sources:
        return "–"
    value = float(matrix.values[matrix.targets.index(target), matrix.sources.index(source)])
    return "removed" if value == 0 else number(value)


# --- the network -----------------------------------------------------------------------------------------------------


def _network(run: Run, main: NamedMatrix, labels: Mapping[str, str]) -> list[Block]:
    if not main.routes(1):
        return []
    places = {tag.station or tag.name: tag.coordinates for tag in run.tags if tag.coordinates is not None}
    stations = station_matrix(main)
    located = all(name in places for name in stations.targets + stations.sources) and len(stations.targets) > 2
    matrix = stations if located else main
    remark = "Nodes are stations at their coordinates; those that would hide one another are moved apart. " if located else ""
    if located and len(stations.targets) < len(main.targets):
        remark += "An arrow is the weight that a station's tags put, on average, on all tags of the other together. "
    if not located:
        matrix, less = _few_enough(main)
        remark = f"{less}The stations have no coordinates in this log, so the nodes stand on a circle, station by station. "
    if not matrix.routes(1):
        return []
    degrees = {name: places[name] for name in stations.targets + stations.sources} if located else None
    svg, arrows, unlabelled = draw_network(
        "network", matrix, labels, "Network drawing of the strongest routes; they are listed in the table above", degrees
    )
    caption = f"{remark}The {arrows} strongest routes; an arrow points from the source to the tag that listens, its width is the weight."
    if unlabelled:
        caption += f" {unlabelled} label(s) found no free place and are left out."
    blocks: list[Block] = [Heading("The network"), Picture(svg, caption)]
    if located and matrix is stations and len(stations.targets) < len(main.targets):
        blocks.append(_station_table(stations))
    return blocks


def _station_table(stations: NamedMatrix) -> Table:
    rows = [
        [clean(stations.sources[source]), clean(stations.targets[to]), number(float(stations.values[to, source]))]
        for to, source in stations.routes(_STRONGEST)
    ]
    return Table(
        "The strongest routes between stations",
        [Column("From (listened to)", numeric=False), Column("To (listens)", numeric=False), Column("Weight")],
        rows,
    )
