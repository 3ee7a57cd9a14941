"""Temporal routes: which part is the newest, and what has no age."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from attentionmixer.report import temporal
from attentionmixer.report.blocks import Note, Table
from attentionmixer.report.run import load_run
from attentionmixer.report.svg import drawing_style
from attentionmixer.routemap import RouteMap


def route_map(targets: tuple[str, ...], sources: tuple[str, ...], lags: list[float] | None) -> RouteMap:
    weight = np.arange(1, len(targets) * len(sources) + 1, dtype=np.float32).reshape(len(targets), len(sources))
    weight /= weight.sum(axis=1, keepdims=True)
    return RouteMap("temporal", 1, targets, sources, weight, None if lags is None else np.array(lags, np.float32))


def test_the_newest_part_is_the_one_of_the_least_age() -> None:
    assert temporal.newest(route_map(("old", "new"), ("old", "new"), [60, 0])) == 1
    assert temporal.newest(route_map(("new", "old"), ("new", "old"), [0, 60])) == 0
    assert temporal.newest(route_map(("old", "new"), ("old", "new"), None)) == 1


def test_a_source_that_is_no_part_of_the_window_has_no_age() -> None:
    with_place = route_map(("new", "old"), ("new", "old", "place of the tag"), [10, 60, 0])
    assert temporal.extras(with_place) == ["place of the tag"]
    assert temporal.newest(with_place) == 0


def test_the_table_runs_from_old_to_new_and_names_what_has_no_age(make_run: Callable[..., Path]) -> None:
    run = make_run(days=5)
    for path in (run / "routes").glob("temporal-*.json"):
        path.unlink()
    route_map(("new", "old"), ("place of the tag", "new", "old"), [0, 10, 60]).save(run / "routes" / "t.json")
    with drawing_style():
        blocks = temporal.section(load_run(run)).blocks
    (table,) = (block for block in blocks if isinstance(block, Table))
    assert [row[0].replace("\u202f", " ") for row in table.rows] == ["1 h ago", "10 min ago", "place of the tag"]
    # the row of "new" holds 1, 2, 3 sixths for place, new and old
    assert [row[2] for row in table.rows] == ["0.500", "0.333", "0.167"]
    notes = [block.text for block in blocks if isinstance(block, Note)]
    assert any("cut into 2 parts" in note and "what has no age: place of the tag" in note for note in notes)
