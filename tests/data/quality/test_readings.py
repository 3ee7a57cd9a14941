"""`Readings` and its helpers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attentionmixer.data.log import Tag
from attentionmixer.data.quality.network import Network
from attentionmixer.data.quality.readings import Finding, Readings, runs_of, scatter_of


def readings(value: np.ndarray, quantity: str = "dose_rate", step: float = 600.0) -> Readings:
    tag = Tag("A", None, quantity)
    network = Network(value[:, None].astype(np.float32), [tag])
    return Readings.of(value, np.arange(len(value)), np.zeros(len(value), np.uint16), tag, step, 0, network)


@given(where=st.lists(st.booleans(), max_size=40))
def test_runs_are_found_from_first_to_one_past_the_last(where):
    first, last = runs_of(np.array(where, dtype=bool))
    covered = np.zeros(len(where), dtype=bool)
    for a, b in zip(first, last, strict=True):
        assert a < b
        assert a == 0 or not where[a - 1]
        covered[a:b] = True
    np.testing.assert_array_equal(covered, where)


def test_the_scatter_of_noise_is_its_standard_deviation_whatever_steps_and_events_there_are():
    values = np.random.default_rng(0).normal(100, 4, 20_000)
    values[5000:] += 500
    values[::100] += 3000
    assert scatter_of(values) == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 5.0]])
def test_too_few_readings_have_no_scatter(values):
    assert scatter_of(np.array(values)) == 0


def test_setting_readings_aside_keeps_rows_and_what_is_known_of_the_tag():
    before = readings(np.array([1.0, 2.0, 900.0, 3.0, 4.0]))
    after = before.without(np.array([2]))
    assert after.value.tolist() == [1, 2, 3, 4]
    assert after.row.tolist() == [0, 1, 3, 4]
    assert (after.level, after.scatter) == (before.level, before.scatter)
    assert after.change.tolist() == [1, 1, 1]


def test_only_what_is_counted_is_expected_to_be_noisy():
    values = np.arange(5.0)
    assert readings(values).counted
    assert readings(values, "count_rate").counted
    assert not readings(values, "temperature").counted


@pytest.mark.parametrize(("step", "steps"), [(60.0, 120), (600.0, 12), (3600.0, 2), (86_400.0, 1)])
def test_a_time_is_at_least_one_step(step, steps):
    assert readings(np.arange(5.0), step=step).steps(2.0) == steps


def test_a_finding_lists_each_position_once_and_in_order():
    assert Finding.at([5, 1, 5, 3]).index.tolist() == [1, 3, 5]
    assert Finding.of_runs(np.array([4, 0]), np.array([6, 2])).index.tolist() == [0, 1, 4, 5]
    assert Finding.of_runs(np.zeros(0, np.int64), np.zeros(0, np.int64)).index.tolist() == []
