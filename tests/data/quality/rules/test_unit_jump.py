"""Unit jump: factors that are too round to be true."""

from __future__ import annotations

import numpy as np
import pytest

from attentionmixer.data.quality import Flag, QualityConfig, screen


@pytest.mark.parametrize("factor", [10, 100, 1000, 0.1, 0.01, 0.001])
def test_readings_by_a_power_of_ten_off_their_own_baseline_are_noted(make_log, flagged, counter, factor):
    values = counter()
    values[350:] *= factor
    assert flagged(make_log({"A": values}), "unit_jump") == list(range(350, 500))


def test_the_shorter_stretch_is_the_one_that_is_noted(make_log, flagged, counter):
    values = counter()
    values[:100] /= 1000
    values[200:250] /= 1000
    assert flagged(make_log({"A": values}), "unit_jump") == [*range(100), *range(200, 250)]


@pytest.mark.parametrize("factor", [2, 8, 14, 91.2, 110])
def test_another_factor_is_no_question_of_units(make_log, flagged, counter, factor):
    values = counter()
    values[350:] *= factor
    assert flagged(make_log({"A": values}), "unit_jump") == []


def test_a_short_source_check_is_no_question_of_units(make_log, flagged, counter):
    values = counter()
    values[350:353] *= 10
    assert flagged(make_log({"A": values}), "unit_jump") == []


def test_a_post_that_never_agreed_with_its_network_is_noted(make_log, flagged, counter):
    levels = {"A": 0.11, "B": 70.0, "C": 90.0, "D": 110.0, "E": 160.0}
    columns = {name: counter(300, seed, level, 6.0 * 100 / level) for seed, (name, level) in enumerate(levels.items())}
    log = make_log(columns)
    assert flagged(log, "unit_jump") == list(range(300))
    assert [flagged(log, "unit_jump", column=i) for i in range(1, 5)] == [[]] * 4


def test_among_posts_of_every_level_none_is_noted(make_log, counter):
    levels = [60.0, 80.0, 120.0, 250.0, 600.0, 900.0]
    log = make_log({f"P{i}": counter(300, i, level) for i, level in enumerate(levels)})
    assert not (screen(log).flags & np.uint16(Flag.UNIT)).any()


def test_a_question_of_units_is_a_note_and_not_taken_for_an_instrument_fault(make_log, counter):
    columns = {name: counter(seed=seed) for seed, name in enumerate("ABCDE")}
    columns["A"][350:] *= 1000
    log = screen(make_log(columns), QualityConfig(rules=("unit_jump", "neighbour")))
    assert set(np.unique(log.flags)) == {0, int(Flag.UNIT)}
    assert any("check the unit" in sentence and "× 1000" in sentence for sentence in log.quality.decisions)
    assert log.without_flagged() is log
