"""The network drawing."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attentionmixer.data.log import Tag
from attentionmixer.report.grouping import NamedMatrix
from attentionmixer.report.network import draw_network
from attentionmixer.report.network_view import network_blocks
from attentionmixer.report.svg import drawing_style


def matrix(tags: list[Tag], strength: float = 0.2) -> NamedMatrix:
    names = tuple(tag.name for tag in tags)
    values = np.full((len(tags), len(tags)), strength)
    groups = tuple(tag.station for tag in tags)
    return NamedMatrix(names, names, values, groups, groups)


def boxes(svg: str) -> dict[str, tuple[float, float]]:
    found = re.findall(r'<text[^>]*\bx="([-\d.]+)" y="([-\d.]+)"[^>]*>([^<]+)</text>', svg)
    return {text: (float(x), float(y)) for x, y, text in found}


def test_posts_stand_where_they_are(ring_tags: list[Tag]) -> None:
    named = matrix(ring_tags)
    places = {tag.name: tag.coordinates for tag in ring_tags if tag.coordinates}
    with drawing_style():
        drawing = draw_network("n", named, "alt", labels={}, degrees=places)
    assert drawing.unlabelled == 0
    assert drawing.arrows == 30
    labels = boxes(drawing.svg)
    north, south = labels["P01 dose rate"], labels["P09 dose rate"]
    east, west = labels["P05 dose rate"], labels["P13 dose rate"]
    assert north[1] < south[1]  # y runs down in SVG
    assert west[0] < east[0]


def test_labels_do_not_lie_on_one_another(ring_tags: list[Tag]) -> None:
    places = {tag.name: tag.coordinates for tag in ring_tags if tag.coordinates}
    with drawing_style():
        svg = draw_network("n", matrix(ring_tags), "alt", labels={}, degrees=places).svg
    spots = [place for text, place in boxes(svg).items() if text.startswith("P")]
    assert len(spots) == len(ring_tags)
    for i, (x, y) in enumerate(spots):
        for other_x, other_y in spots[:i]:
            assert abs(y - other_y) > 8 or abs(x - other_x) > 20


def test_posts_at_one_place_are_moved_apart_and_labels_without_room_are_counted() -> None:
    tags = [Tag(f"post {i}", station=f"post {i}", coordinates=(49.0, 8.4)) for i in range(40)]
    tags.append(Tag("far", station="far", coordinates=(50.0, 9.4)))
    places = {tag.name: tag.coordinates for tag in tags if tag.coordinates}
    with drawing_style():
        drawing = draw_network("n", matrix(tags), "alt", labels={}, degrees=places)
    assert drawing.unlabelled > 0
    shown = [text for text in boxes(drawing.svg) if text.startswith(("post", "far"))]
    assert len(shown) == len(tags) - drawing.unlabelled


def test_without_coordinates_the_nodes_stand_on_a_circle_and_it_is_said() -> None:
    tags = [Tag(f"{station} {i}", station=station) for station in "AB" for i in range(3)]
    with drawing_style():
        blocks = network_blocks(matrix(tags), tags, {tag.name: tag.name[2:] for tag in tags})
    picture = next(block for block in blocks if block.kind == "picture")
    assert "stand on a circle" in picture.caption
    assert {"A", "B", "0", "1", "2"} <= set(boxes(picture.svg))


def test_a_place_that_is_no_number_counts_as_none() -> None:
    tags = [Tag(f"p{i}", station=f"p{i}", coordinates=(49.0, float("nan") if i else 8.0)) for i in range(4)]
    with drawing_style():
        blocks = network_blocks(matrix(tags), tags, {})
    assert any("stand on a circle" in block.caption for block in blocks if block.kind == "picture")


def test_stations_of_several_tags_are_drawn_with_a_table() -> None:
    tags = [
        Tag(f"{s} {i}", station=s, coordinates=(49.0 + n, 8.0 + n * n)) for n, s in enumerate("ABC") for i in (1, 2)
    ]
    with drawing_style():
        blocks = network_blocks(matrix(tags), tags, {})
    (table,) = (block for block in blocks if block.kind == "table")
    # even weights stay even, however many tags a station has
    assert {row[2] for row in table.rows} == {"0.200"}
    assert len(table.rows) == 6


def test_without_an_open_route_there_is_no_drawing(ring_tags: list[Tag]) -> None:
    with drawing_style():
        assert network_blocks(matrix(ring_tags, strength=0.0), ring_tags, {}) == []


@pytest.mark.parametrize("count", [1, 2, 3])
def test_very_small_networks_can_be_drawn(count: int) -> None:
    tags = [Tag(f"p{i}", station=f"p{i}", coordinates=(49.0, 8.0 + i)) for i in range(count)]
    with drawing_style():
        blocks = network_blocks(matrix(tags), tags, {})
    assert bool(blocks) == (count > 1)


def test_the_date_line_does_not_tear_a_network_apart() -> None:
    tags = [Tag(f"p{i}", station=f"p{i}", coordinates=(60.0, lon)) for i, lon in enumerate((179.0, -179.0, -178.0))]
    places = {tag.name: tag.coordinates for tag in tags if tag.coordinates}
    with drawing_style():
        labels = boxes(draw_network("n", matrix(tags), "alt", labels={}, degrees=places).svg)
    assert labels["p0"][0] < labels["p1"][0] < labels["p2"][0]
    gap, next_gap = labels["p1"][0] - labels["p0"][0], labels["p2"][0] - labels["p1"][0]
    assert gap == pytest.approx(2 * next_gap, rel=0.35)
