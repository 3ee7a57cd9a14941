"""Route maps by station."""

from __future__ import annotations

import numpy as np
import pytest

from attentionmixer.data.log import Tag
from attentionmixer.report.grouping import (
    NamedMatrix,
    busiest,
    by_station,
    channel,
    few_enough,
    mean_of,
    named_matrix,
    station_matrix,
)
from attentionmixer.routemap import RouteMap

TAGS = [Tag("a1", station="A"), Tag("b1", station="B"), Tag("a2", station="A"), Tag("free")]


def matrix() -> NamedMatrix:
    names = ("a1", "b1", "a2", "free")
    strength = np.array([[0.4, 0.3, 0.2, 0.1], [0.0, 1.0, 0.0, 0.0], [0.6, 0.1, 0.3, 0.0], [0.25, 0.25, 0.25, 0.25]])
    return named_matrix(RouteMap("spatial", 1, names, names, strength.astype(np.float32)), TAGS)


def test_tags_are_grouped_by_station_and_those_of_none_come_last() -> None:
    groups = by_station([TAGS[3], *TAGS[:3]])
    assert [(station, [tag.name for tag in tags]) for station, tags in groups] == [
        ("A", ["a1", "a2"]), ("B", ["b1"]), (None, ["free"]),
    ]  # fmt: skip


def test_a_channel_is_what_follows_the_stations_name() -> None:
    assert channel(Tag("AZ: PHOENIX R02", station="AZ: PHOENIX")) == "R02"
    assert channel(Tag("PHOENIX", station="PHOENIX")) == "PHOENIX"
    assert channel(Tag("R02", station="PHOENIX")) == "R02"


def test_rows_and_columns_keep_their_values_when_put_in_order() -> None:
    ordered = matrix()
    assert ordered.targets == ordered.sources == ("a1", "a2", "b1", "free")
    assert ordered.values[1, 0] == pytest.approx(0.6)  # a2 listens to a1
    assert ordered.values[0, 2] == pytest.approx(0.3)  # a1 listens to b1
    assert ordered.target_groups == ("A", "A", "B", None)


def test_a_source_that_is_no_tag_belongs_to_no_group() -> None:
    route_map = RouteMap("spatial", 1, ("a1",), ("rain ahead", "a1"), np.array([[0.7, 0.3]], dtype=np.float32))
    named = named_matrix(route_map, TAGS)
    assert named.sources == ("a1", "rain ahead")
    assert named.source_groups == ("A", None)
    assert named.own.tolist() == [[True, False]]


def test_the_strongest_routes_are_between_different_nodes_and_open() -> None:
    routes = [(matrix().sources[source], matrix().targets[to]) for to, source in matrix().routes(100)]
    assert routes[:2] == [("a1", "a2"), ("b1", "a1")]
    assert len(routes) == 8  # 16 cells, 4 of a node to itself, 4 removed ones among the rest
    assert matrix().largest_other() == pytest.approx(0.6)


def test_between_stations_stands_the_mean_weight_of_their_tags_routes() -> None:
    stations = station_matrix(matrix())
    assert stations.targets == ("A", "B", "free")
    # a1 puts 0.4 and 0.2 on A's tags, a2 puts 0.6 and 0.3
    np.testing.assert_allclose(stations.values[0], [0.375, 0.2, 0.05], atol=1e-6)
    np.testing.assert_allclose(stations.values[2], 0.25, atol=1e-6)


def test_effective_sources_are_one_for_one_source_and_all_for_even_weights() -> None:
    effective = matrix().effective()
    assert effective[2] == pytest.approx(1.0)
    assert effective[3] == pytest.approx(4.0)
    empty = NamedMatrix(("a",), ("a", "b"), np.zeros((1, 2)), (None,), (None, None))
    assert empty.effective().tolist() == [0.0]


def test_the_mean_of_rounds_leaves_out_maps_of_other_names() -> None:
    one = matrix()
    other = one.keep([0, 1], [0, 1])
    np.testing.assert_allclose(mean_of([one, other]).values, one.values)


def test_large_maps_are_summed_by_station_or_cut_and_say_so() -> None:
    def large(stations: int) -> NamedMatrix:
        tags = [Tag(f"t{i}", station=f"S{i % stations}") for i in range(120)]
        names = tuple(tag.name for tag in tags)
        strength = np.full((120, 120), 0.001, dtype=np.float32)
        strength[7, 9] = 0.5
        return named_matrix(RouteMap("spatial", 1, names, names, strength), tags)

    summed, remark = few_enough(large(10))
    assert len(summed.targets) == 10
    assert "drawn by station" in remark
    cut, remark = few_enough(large(120))
    assert len(cut.targets) == 60
    assert {"t7", "t9"} <= set(cut.targets)
    assert "Of 120 tags the 60" in remark
    assert few_enough(matrix())[1] == ""


def test_the_busiest_nodes_are_those_at_the_ends_of_the_strongest_routes() -> None:
    assert set(busiest(matrix(), 2).targets) == {"a1", "a2"}
