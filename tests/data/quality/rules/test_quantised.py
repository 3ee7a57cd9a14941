"""Quantised: what readings are rounded to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attentionmixer.data.quality import QualityConfig, screen
from attentionmixer.data.quality.rules.quantised import resolution_of


@given(
    step=st.sampled_from([0.01, 0.1, 1 / 6, 0.5, 1.0, 10.0, 64.0]),
    level=st.integers(50, 500),
    spread=st.integers(2, 60),
    seed=st.integers(0, 1000),
)
def test_the_step_of_rounded_readings_is_found(step, level, spread, seed):
    whole = np.round(np.random.default_rng(seed).normal(level, spread, 3000))
    found = resolution_of((whole * step).astype(np.float32).astype(np.float64))
    assert found == pytest.approx(step, rel=1e-3)


@given(seed=st.integers(0, 1000), scale=st.floats(1e-3, 1e3))
def test_readings_that_are_not_rounded_have_no_step(seed, scale):
    values = np.random.default_rng(seed).normal(100, 10, 3000) * scale
    assert resolution_of(values.astype(np.float32).astype(np.float64)) == 0


@pytest.mark.parametrize("values", [[], [5.0], [5.0] * 50, [5.0] * 50 + [32016.0], [30.0, 31.0]])
def test_too_few_values_have_no_step(values):
    assert resolution_of(np.array(values)) == 0


def test_a_fault_far_away_does_not_hide_the_step():
    values = np.random.default_rng(0).poisson(30, 500).astype(float)
    values[100] = 4294967295
    assert resolution_of(values) == 1


def test_coarse_rounding_is_mentioned_and_flags_nothing(make_log):
    slow = 100 + 6 * np.sin(np.arange(5000) / 300) + np.random.default_rng(0).normal(0, 0.1, 5000)
    log = screen(make_log({"A": np.round(slow / 10) * 10}), QualityConfig(rules=("quantised",)))
    assert not log.flags.any()
    assert log.quality.decisions == ("readings are rounded: 1 tag(s): 'A' (steps of 10 nSv/h, 98% of steps repeat)",)
