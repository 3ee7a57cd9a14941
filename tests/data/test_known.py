"""Known-ahead channels: the calendar, tags known ahead, and the rows of the future."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from attentionmixer.data.known import (
    calendar_channels,
    calendar_names,
    known_channels,
    known_names,
    with_future,
)
from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.scaling import TagScaler
from attentionmixer.errors import LogError


def hours(count: int, start: str = "2024-05-01") -> pd.DatetimeIndex:
    return pd.date_range(start, periods=count, freq="h", tz="UTC")


def rain_log(rows: int = 48, start: str = "2024-05-01") -> StationLog:
    values = np.random.default_rng(0).normal(10, 2, (rows, 2)).astype(np.float32)
    return StationLog(values, hours(rows, start), [Tag("dose"), Tag("rain", role="known")])


def test_a_day_is_one_turn_of_the_hour_cycle() -> None:
    channels = calendar_channels(hours(48), ("hour",))
    assert channels.shape == (48, 2)
    for row in range(48):
        angle = 2 * np.pi * (row % 24) / 24
        np.testing.assert_allclose(channels[row], [np.sin(angle), np.cos(angle)], atol=1e-6)


@pytest.mark.parametrize(("cycle", "length"), [("weekday", 7 * 24), ("hour", 24)])
def test_cycles_repeat_after_their_length_and_not_before(cycle: str, length: int) -> None:
    channels = calendar_channels(hours(2 * length), (cycle,))  # type: ignore[arg-type]
    torch.testing.assert_close(channels[:length], channels[length:], atol=1e-5, rtol=0)
    assert float((channels[0] - channels[length // 2]).abs().max()) > 1


def test_the_year_cycle_returns_after_a_year() -> None:
    channels = calendar_channels(pd.date_range("2001-01-01", "2025-01-01", freq="YS", tz="UTC"), ("year",))
    # 1 January wanders by less than a day and a half against the mean year
    assert float((channels - channels[0]).abs().max()) < 2 * np.pi * 1.5 / 365


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_resolution_of_the_index_does_not_matter(unit: str) -> None:
    expected = calendar_channels(hours(30), ("hour", "weekday"))
    assert torch.equal(calendar_channels(hours(30).as_unit(unit), ("hour", "weekday")), expected)


def test_without_cycles_there_are_no_channels() -> None:
    assert calendar_channels(hours(5), ()).shape == (5, 0)
    log = StationLog(np.zeros((5, 1), np.float32), hours(5), [Tag("A")])
    assert known_channels(log, TagScaler.fit(log, 5), ()) is None


def test_channels_are_the_calendar_then_the_scaled_known_tags_and_so_are_their_names() -> None:
    log = rain_log()
    log_values = log.values.copy()
    log_values[3, 1] = np.nan
    log = StationLog(log_values, log.time, log.tags)
    scaler = TagScaler.fit(log, 48)
    channels = known_channels(log, scaler, ("hour", "year"))
    assert channels is not None
    names = known_names(log, ("hour", "year"))
    assert names == (*calendar_names(("hour", "year")), "rain (ahead)")
    assert channels.shape == (48, len(names)) == (48, 5)
    torch.testing.assert_close(channels[:, :4], calendar_channels(log.time, ("hour", "year")))
    expected = (log_values[:, 1] - np.nanmean(log_values[:, 1])) / np.nanstd(log_values[:, 1])
    np.testing.assert_allclose(channels[:, 4], np.nan_to_num(expected), atol=1e-4)
    # a missing value of a known tag is its mean
    assert float(channels[3, 4]) == 0.0


def test_the_future_holds_known_values_and_nothing_else() -> None:
    log, ahead = rain_log(10), rain_log(6, "2024-05-01T10:00")
    longer = with_future(log, 4, ahead)
    assert list(longer.time) == list(hours(14))
    np.testing.assert_array_equal(longer.values[:10], log.values)
    assert np.isnan(longer.values[10:, 0]).all()
    np.testing.assert_array_equal(longer.values[10:, 1], ahead.values[:4, 1])
    assert longer.tags == log.tags


def test_a_future_without_known_tags_needs_no_further_log() -> None:
    log = rain_log(10).select(["dose"])
    assert np.isnan(with_future(log, 3, None).values[10:]).all()


def test_a_known_tag_without_its_future_is_an_error_that_says_when() -> None:
    log = rain_log(10)
    with pytest.raises(LogError, match=r"'rain'.*2024-05-01 10:00.*2024-05-01 13:00.*ahead"):
        with_future(log, 4, None)
    with pytest.raises(LogError, match=r"'rain'.*no value at 2024-05-01 13:00"):
        with_future(log, 4, rain_log(3, "2024-05-01T10:00"))
    gap = rain_log(6, "2024-05-01T10:00")
    values = gap.values.copy()
    values[1, 1] = np.nan
    with pytest.raises(LogError, match="no value at 2024-05-01 11:00"):
        with_future(log, 4, StationLog(values, gap.time, gap.tags))
    with pytest.raises(LogError, match="rain"):
        with_future(log, 4, rain_log(6, "2024-05-01T10:00").select(["dose"]))
