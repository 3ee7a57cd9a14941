"""Attention on a given station graph."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.models.base import Task
from attentionmixer.models.graph import Graph, GraphConfig, station_edges

#: Four stations on a line, two tags at the first.
PLACES = ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (2.5, 0.0, 1.0), (9.0, 0.0, 1.0))
LINE = Task(5, 8, 2, (0.1, 0.9), static=PLACES, stations=(0, 0, 1, 2, 3))


def pairs(task: Task, neighbours: int) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in station_edges(task, neighbours).T}


def test_tags_of_a_station_are_linked_both_ways_and_with_the_nearest_station() -> None:
    own = {(0, 1), (1, 0)}
    # from, to: every station listens to its nearest one
    assert pairs(LINE, 1) == own | {(2, 0), (2, 1), (0, 2), (1, 2), (2, 3), (3, 4)}
    assert pairs(LINE, 0) == own
    assert len(pairs(LINE, 9)) == 20


def test_a_station_without_a_place_is_linked_with_no_other() -> None:
    nowhere = (*PLACES[:4], (0.0, 0.0, 0.0))
    assert not any(4 in pair for pair in pairs(Task(5, 8, 2, static=nowhere, stations=LINE.stations), 3))


def test_without_stations_each_place_is_one_and_without_places_all_tags_are_one() -> None:
    assert pairs(Task(5, 8, 2, static=PLACES), 1) == pairs(LINE, 1)
    assert len(pairs(Task(3, 8, 2), 1)) == 6


@torch.no_grad()
def test_a_forecast_depends_on_linked_tags_only() -> None:
    model = Graph(LINE, GraphConfig(neighbours=1, layers=1)).eval()
    torch.nn.init.normal_(model.head.point.weight)
    x, mask = torch.randn(3, 8, 5), torch.ones(3, 8, 5, dtype=torch.bool)
    before = model(x, mask)
    other = x.clone()
    other[1, :, 2] += torch.randn(8)
    changed = (model(other, mask) != before).flatten(3).any(dim=-1).any(dim=1)
    # tag 2 is listened to by 0, 1 and 3, not by 4; other windows of the batch see nothing
    assert changed[1].tolist() == [True, True, True, True, False]
    assert not changed[0].any() and not changed[2].any()


@pytest.mark.parametrize(
    ("settings", "says"), [({"width": 10}, "heads must divide width"), ({"neighbours": -1}, "neighbours must be")]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        GraphConfig(**settings)  # type: ignore[arg-type]
