"""Section 4: which tags each estimate listens to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .blocks import Block, Column, Note, Picture, Section, Table
from .grouping import NamedMatrix, channel, few_enough, mean_of, named_matrix
from .heatmap import COLOUR_RULE, draw_heatmap, draw_small_maps, has_group_lines
from .network_view import network_blocks
from .run import Run
from .text import cell, clean, count, fixed, number, percent

_STRONGEST = 15
_NEARLY_EVEN = 0.8
_LINEAR = "linear path"
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
    blocks += _reading(main, max(m.windows for m in maps), [m.note for m in maps if m.note and m.round > 0])
    shown, remark = few_enough(main)
    labels = {tag.name: channel(tag) for tag in run.tags}
    scale = "size of coefficient" if only_linear else "weight, mean of rounds" if len(rounds) > 1 else "weight"
    alt = f"Heat map of routes, {len(shown.targets)} rows by {len(shown.sources)} columns; tables list the strongest"
    lines = "; white lines part the stations" if has_group_lines(shown) else ""
    caption = (
        f"{remark}Rows listen, columns are listened to{lines}. A crossed cell is a route that the model removed. "
        f"{COLOUR_RULE}"
    )
    blocks.append(Picture(draw_heatmap("spatial", shown, labels, alt, scale), caption))
    others = (
        [(f"round {m.round}", matrix) for m, matrix in zip(rounds, matrices, strict=True)] if len(rounds) > 1 else []
    )
    if straight is not None and not only_linear:
        others.append((_LINEAR, straight))
    if others:
        blocks.append(_small(others, linear.note if linear is not None else ""))
    blocks.append(_listening(main))
    blocks.append(_strongest(main, {name: matrix for name, matrix in others}))
    blocks += network_blocks(main, run.tags, labels)
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
            "How to read it: go along a row to see which tags the estimate for that tag listens to. Strength is the "
            "weight a reading gets, not proof of cause, and weight alone is weak evidence: a route may carry much "
            "weight and change little. Before acting on a route, check it against what is known of the plant.",
            "hint",
        )
    ]
    effective = main.effective()
    listening = effective[effective > 0]
    sources = len(main.sources)
    if not len(listening):
        blocks.append(
            Note("Every route between tags is removed: each estimate rests on its own tag's past alone.", "warning")
        )
    else:
        mean = float(listening.mean())
        text = f"On average an estimate listens to {fixed(mean, 1)} of {sources} sources (effective number)"
        even = mean > _NEARLY_EVEN * sources and sources > 2
        ending = (
            ". The weights are nearly even, so no route stands out: do not read much into single routes."
            if even
            else "."
        )
        blocks.append(Note(text + ending, "warning" if even else "plain"))
    closed = float((main.values == 0).mean())
    averaged = f" Weights are averaged over {count(windows)} windows." if windows else ""
    removed = f"{percent(closed, 1)} of the routes are removed." if closed else "No route is removed."
    blocks.append(Note(f"{removed}{averaged}"))
    blocks += [Note(clean(note)) for note in dict.fromkeys(notes)]
    return blocks


def _small(others: Sequence[tuple[str, NamedMatrix]], note: str) -> Picture:
    same = [(title, few_enough(matrix)[0]) for title, matrix in others]
    linear = ""
    if any(title == _LINEAR for title, _ in others):
        linear = (
            " The linear path adds to the forecast directly. Its numbers are coefficients on another scale than "
            "weights, so compare patterns, not values; a blank cell there is a coefficient of zero, as for tags that "
            "are not forecast."
        )
    if note:
        linear += f" Its note says: {clean(note)}"
    caption = (
        f"The same tags in the same order, each map with colours of its own; a blank cell is a removed route.{linear}"
    )
    return Picture(
        draw_small_maps("rounds", same, "Small heat maps of the single rounds and of the linear path"), caption
    )


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
                cell(name),
                number(float(itself[0])) if len(itself) else "–",
                cell(matrix.sources[best]) if found else "none",
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
        note="Effective sources: exp of the entropy of the row; 1 means one source only, the number of tags all alike.",
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
                cell(name),
                cell(target),
                number(float(main.values[to, source])),
                f"{fixed(float(main.values[to, source]) / even, 1)} ×",
                *(_weight(matrix, target, name, title) for title, matrix in others.items()),
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


def _weight(matrix: NamedMatrix, target: str, source: str, title: str) -> str:
    if target not in matrix.targets or source not in matrix.sources:
        return "–"
    value = float(matrix.values[matrix.targets.index(target), matrix.sources.index(source)])
    return number(value) if value else "0" if title == _LINEAR else "removed"
