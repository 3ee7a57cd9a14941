"""Counts of flags per tag and per day, against an obvious count."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attentionmixer.data.quality import Flag, calendar_counts, flag_counts, screen
from attentionmixer.data.simulate import simulate_ring


def test_counts_agree_with_an_obvious_count():
    log = screen(
        simulate_ring(days=40, seed=3, start="2023-01-01", spikes_per_post_year=60, stuck_per_post_year=20).log
    )
    per_tag, per_day = flag_counts(log), calendar_counts(log)
    assert list(per_tag.index) == list(log.names)
    assert list(per_tag.columns) == list(per_day.columns)
    assert {"stuck", "spike"} <= set(per_tag.columns)
    for name in per_tag.columns:
        hit = pd.DataFrame((log.flags & np.uint16(Flag[name.upper()])) != 0, index=log.time, columns=list(log.names))
        pd.testing.assert_series_equal(per_tag[name], hit.sum(), check_names=False, check_dtype=False)
        daily = hit.sum(axis=1).resample("D").sum()
        pd.testing.assert_series_equal(per_day[name], daily, check_names=False, check_dtype=False, check_freq=False)


def test_a_log_without_flags_has_days_and_tags_but_no_columns(make_log, counter):
    log = make_log({"A": counter(), "B": counter(seed=1)})
    assert flag_counts(log).shape == (2, 0)
    assert calendar_counts(log).shape == (4, 0)


def test_days_are_those_of_utc_and_include_days_without_a_flag(make_log, counter):
    log = make_log({"A": counter()}, step="1h")
    flags = np.zeros(log.shape, dtype=np.uint16)
    flags[[23, 24, 480]] = int(Flag.SPIKE)
    counts = calendar_counts(log.with_flags(flags))["spike"]
    assert counts.loc["2024-05-01":"2024-05-03"].tolist() == [1, 1, 0]
    assert counts.loc["2024-05-21"] == 1
    assert counts.sum() == 3
