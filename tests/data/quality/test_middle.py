"""Medians of many windows: the fast way against the obvious one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attentionmixer.data.quality.middle import medians, medians_between

readings = st.floats(-1e6, 1e6) | st.just(float("nan"))


@given(rows=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=readings))
def test_medians_pass_over_what_is_missing(rows):
    for row, median in zip(rows, medians(rows), strict=True):
        there = row[~np.isnan(row)]
        np.testing.assert_allclose(median, np.median(there) if len(there) else np.nan, rtol=1e-12)


@given(
    value=hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e6, 1e6)),
    bounds=st.lists(st.tuples(st.integers(-5, 45), st.integers(0, 12)), min_size=1, max_size=20),
)
def test_medians_of_windows_are_those_of_slices(value, bounds):
    first = np.array([a for a, _ in bounds])
    last = np.array([a + n for a, n in bounds])
    for a, b, median in zip(first, last, medians_between(value, first, last), strict=True):
        piece = value[max(0, a) : max(0, b)]
        np.testing.assert_allclose(median, np.median(piece) if len(piece) else np.nan, rtol=1e-12)
