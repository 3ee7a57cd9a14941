"""What the other tags say about a moment."""

from __future__ import annotations

import numpy as np
import pytest

from attentionmixer.data.log import Tag
from attentionmixer.data.quality.network import Network


def network(values: np.ndarray, **tag) -> Network:
    return Network(
        values.astype(np.float32), [Tag(f"P{i}", "nSv/h", "dose_rate", **tag) for i in range(values.shape[1])]
    )


@pytest.fixture
def sound() -> np.ndarray:
    return np.random.default_rng(0).normal(100, 3, (500, 6))


def test_others_have_the_same_quantity_and_unit_and_another_station():
    tags = [
        Tag("A dose", "nSv/h", "dose_rate", "A"),
        Tag("A low", "cpm", "count_rate", "A"),
        Tag("A high", "cpm", "count_rate", "A"),
        Tag("B dose", "nSv/h", "dose_rate", "B"),
        Tag("B low", "cpm", "count_rate", "B"),
        Tag("C dose", "µSv/h", "dose_rate", "C"),
        Tag("loose", "nSv/h", "dose_rate"),
        Tag("loose too", "nSv/h", "dose_rate"),
    ]
    there = Network(np.zeros((3, 8), np.float32), tags)
    assert [there.others(i).tolist() for i in range(8)] == [
        [3, 6, 7],
        [4],
        [4],
        [0, 6, 7],
        [1, 2],
        [],
        [0, 3, 7],
        [0, 3, 6],
    ]


def test_with_coordinates_the_nearest_eight_are_asked_also_across_the_date_line():
    longitudes = [179.9, -179.9, *range(0, 100, 5)]
    tags = [Tag(f"P{i}", "nSv/h", "dose_rate", f"P{i}", (50.0, float(x))) for i, x in enumerate(longitudes)]
    others = Network(np.zeros((3, len(tags)), np.float32), tags).others(0)
    assert len(others) == 8
    assert others[0] == 1


def test_who_moved_is_counted_in_the_direction_asked_for(sound):
    sound[250:, 1:3] += 60
    sound[250:, 3] -= 60
    sound[240:260, 4] = np.nan
    assert network(sound).agree(0, 250, 1.0, reach=3) == (4, 2)
    assert network(sound).agree(0, 250, -1.0, reach=3) == (4, 1)
    assert network(sound).agree(0, 100, 1.0, reach=3) == (5, 0)


def test_one_reading_alone_bears_no_witness(sound):
    sound[250, 1] += 600
    assert network(sound).agree(0, 250, 1.0, reach=3) == (5, 0)


@pytest.mark.parametrize("row", [0, 499])
def test_the_edges_of_a_log_can_be_asked_about(sound, row):
    heard, moved = network(sound).agree(0, row, 1.0, reach=3)
    assert (heard, moved) == (5, 0)


def test_what_all_do_together_is_the_median_of_their_shares(sound):
    sound *= 1 + 0.2 * np.sin(np.arange(500) / 20)[:, None]
    sound[:, 5] += 5000
    sound[7] = np.nan
    common = network(sound).common(0)
    level = np.median(sound[~np.isnan(sound).any(axis=1)], axis=0)
    obvious = np.median(sound / level - 1, axis=1)
    obvious[7] = 0
    np.testing.assert_allclose(common, obvious, atol=1e-5)


def test_three_tags_have_nothing_in_common_that_could_be_told(sound):
    assert network(sound[:, :3]).common(0) is None


def test_of_many_tags_the_order_of_columns_does_not_choose_the_witnesses():
    rng = np.random.default_rng(1)
    values = rng.normal(100, 3, (50, 90)).astype(np.float32)
    tags = [Tag(f"P{i:02d}", "nSv/h", "dose_rate") for i in range(90)]
    order = rng.permutation(90)
    shuffled = Network(values[:, order], [tags[i] for i in order])
    np.testing.assert_array_equal(shuffled.common(0), Network(values, tags).common(0))
