"""Neighbour: jumps that one post makes alone."""

from __future__ import annotations

import numpy as np
import pytest

from attentionmixer.data.quality.rules import NeighbourRule


@pytest.fixture
def network(counter) -> dict[str, np.ndarray]:
    return {name: counter(seed=seed) for seed, name in enumerate("ABCDEF")}


@pytest.mark.parametrize("jump", [7000.0, 300.0, -90.0])
def test_a_jump_of_one_post_that_stays_is_flagged_to_its_end(make_log, flagged, network, jump):
    network["A"][300:] += jump
    assert flagged(make_log(network), "neighbour") == list(range(300, 500))


def test_the_flag_ends_where_the_level_is_back(make_log, flagged, network):
    network["A"][300:340] += 7000
    assert flagged(make_log(network), "neighbour") == list(range(300, 340))


def test_a_jump_behind_a_gap_is_flagged(make_log, flagged, network):
    network["A"][280:300] = np.nan
    network["A"][300:] += 7000
    assert flagged(make_log(network), "neighbour") == list(range(300, 500))


def test_one_neighbour_that_moves_is_enough_to_believe_it(make_log, flagged, network):
    network["A"][300:] += 7000
    network["D"][306:330] += 40
    assert flagged(make_log(network), "neighbour") == []


def test_without_three_others_there_is_no_verdict(make_log, flagged, network):
    network["A"][300:] += 7000
    assert flagged(make_log({name: network[name] for name in "ABC"}), "neighbour") == []
    for name in "CDEF":
        network[name][280:330] = np.nan
    assert flagged(make_log(network), "neighbour") == []


def test_tags_of_another_quantity_are_no_neighbours(make_log, flagged, network):
    network["A"][300:] += 7000
    log = make_log(network)
    assert flagged(log.select(["A", "B", "C", "D"]), "neighbour") != []
    mixed = make_log(network, quantity="generic", unit=None)
    assert flagged(mixed, "neighbour") == []


def test_a_plume_that_one_post_sees_is_believed(make_log, flagged, network):
    network["A"][300:318] += 900 * np.sin(np.arange(18) / 18 * np.pi) ** 2
    assert flagged(make_log(network), "neighbour") == []


def test_a_long_release_that_swells_at_one_post_is_believed(make_log, flagged, network):
    network["A"][300:500] += 4000 * (1 - np.exp(-np.arange(200) / 60))
    assert flagged(make_log(network), "neighbour") == []


def test_rain_at_one_post_is_believed(make_log, flagged, network):
    network["A"][300:360] += 100 * 0.5 ** (np.arange(60) / 4)
    assert flagged(make_log(network), "neighbour") == []


def test_a_source_check_leaves_nothing_behind(make_log, flagged, network):
    network["A"][300:303] += 5000
    assert flagged(make_log(network), "neighbour") == []


def test_how_long_a_jump_must_stay_can_be_set(make_log, flagged, network):
    network["A"][300:308] += 7000
    assert flagged(make_log(network), "neighbour") == []
    settings = NeighbourRule(readings=8, hours=1.0)
    assert flagged(make_log(network), "neighbour", neighbour=settings) == list(range(300, 308))


@pytest.mark.parametrize("jump", [60.0, 150.0, -40.0])
def test_a_lesser_step_that_a_new_detector_makes_is_a_new_normal(make_log, flagged, network, jump):
    network["A"][300:] += jump
    assert flagged(make_log(network), "neighbour") == []
