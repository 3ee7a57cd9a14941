"""Small charts of a log's tags."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd

from attentionmixer.data import StationLog, Tag
from attentionmixer.data.quality import Flag
from attentionmixer.report.blocks import Picture, Table
from attentionmixer.report.log_trends import envelope, trend_blocks
from attentionmixer.report.svg import drawing_style


def slow_envelope(values: np.ndarray, edges: np.ndarray) -> list[tuple[float, float]]:
    found = []
    for first, last in zip(edges, [*edges[1:], len(values)], strict=True):
        there = [v for v in values[first:last].tolist() if not math.isnan(v)]
        found.append((min(there), max(there)) if there else (np.nan, np.nan))
    return found


def test_the_envelope_is_the_lowest_and_highest_of_each_span() -> None:
    rng = np.random.default_rng(0)
    for length in (3, 440, 441, 5000):
        values = rng.normal(size=length).astype(np.float32)
        values[rng.random(length) < 0.3] = np.nan
        flagged = rng.random(length) < 0.01
        shape = envelope(values, flagged)
        assert len(shape.first) == min(440, length)
        expected = np.array(slow_envelope(values, shape.first))
        np.testing.assert_array_equal(shape.low, expected[:, 0].astype(np.float32))
        np.testing.assert_array_equal(shape.high, expected[:, 1].astype(np.float32))
        assert shape.flagged.sum() <= flagged.sum()
        assert shape.flagged.any() == flagged.any()


def test_a_single_spike_among_millions_is_in_the_envelope() -> None:
    values = np.full(3_000_000, 100, dtype=np.float32)
    values[1_234_567] = 180
    shape = envelope(values, np.zeros(len(values), dtype=bool))
    assert (shape.high == 180).sum() == 1
    assert (shape.low == 100).all()


def log_of(values: np.ndarray, flags: np.ndarray | None = None) -> StationLog:
    time = pd.date_range("2024-01-01", periods=len(values), freq="1h", tz="UTC")
    tags = [Tag(f"T{i}", "nSv/h") for i in range(values.shape[1])]
    return StationLog(values.astype(np.float32), time, tags, flags=flags)


def strokes(picture: Picture) -> list[float]:
    """Heights (in points, downwards) of the longest line of a drawing."""
    paths = re.findall(r' d="(M [^"]*)"', picture.svg)
    longest = max(paths, key=len)
    return [float(y) for _, y in re.findall(r"[ML] (\S+) (\S+)", longest)]


def test_a_spike_stands_out_of_the_line_of_a_long_log() -> None:
    values = np.random.default_rng(0).normal(100, 1, (9000, 1))
    values[4321] = 200
    with drawing_style():
        picture = next(block for block in trend_blocks(log_of(values)) if isinstance(block, Picture))
    heights = np.array(strokes(picture))
    assert heights.min() < np.median(heights) - 30


def test_a_brief_fault_does_not_flatten_the_chart_and_is_marked() -> None:
    values = np.random.default_rng(0).normal(100, 5, (500, 1))
    values[100] = 1e6
    flags = np.zeros(values.shape, dtype=np.uint16)
    with drawing_style():
        flat = next(block for block in trend_blocks(log_of(values, flags.copy())) if isinstance(block, Picture))
        flags[100] = Flag.WRAP
        clipped = next(block for block in trend_blocks(log_of(values, flags)) if isinstance(block, Picture))
    spread = [float(np.median(np.abs(h - np.median(h)))) for h in map(np.array, (strokes(flat), strokes(clipped)))]
    assert spread[0] < 0.1
    assert spread[1] > 3
    assert clipped.svg.count("<use") > flat.svg.count("<use")


def test_the_table_gives_range_median_and_missing_of_every_tag() -> None:
    values = np.array([[1, np.nan], [3, np.nan], [8, np.nan], [np.nan, np.nan]])
    with drawing_style():
        table = next(block for block in trend_blocks(log_of(values)) if isinstance(block, Table))
    assert table.rows[0][5:] == ["3", "25.0\u202f%", "1", "3", "8", "0"]
    assert table.rows[1][5:] == ["0", "100.0\u202f%", "no data", "no data", "no data", "0"]
