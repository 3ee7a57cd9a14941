"""`Schema` and bringing a log into its shape."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.quality import Flag
from attentionmixer.errors import LogError
from attentionmixer.schema import Schema, align

TAGS = (Tag("a", "nSv/h", "dose_rate", "A", (50.0, 8.5)), Tag("b", "mm", role="known"), Tag("c"))
SCHEMA = Schema(TAGS, pd.Timedelta("10min"), 12, 4, (0.05, 0.5, 0.95), ("hour", "year"))


def log_of(*tags: Tag, freq: Any = "10min") -> StationLog:
    values = np.arange(5 * len(tags), dtype=np.float32).reshape(5, -1)
    return StationLog(values, pd.date_range("2024-01-01", periods=5, freq=freq, tz="UTC"), tags)


def test_a_schema_survives_json() -> None:
    assert Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict()))) == SCHEMA


def test_tags_are_matched_by_name_and_never_by_position() -> None:
    log = log_of(Tag("c"), Tag("a", "nSv/h"), Tag("b", "mm"))
    aligned = align(log, SCHEMA)
    assert aligned.names == ("a", "b", "c")
    np.testing.assert_array_equal(aligned.values, log.values[:, [1, 2, 0]])
    assert [tag.role for tag in aligned.tags] == ["target", "known", "target"]


def test_further_tags_are_ignored_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert align(log_of(Tag("new"), *TAGS), SCHEMA).names == ("a", "b", "c")
    assert "1 tag(s) the model does not know are ignored: new" in caplog.text


def test_all_missing_tags_are_listed() -> None:
    with pytest.raises(
        LogError, match=r"2 of the model's 3 tags are missing from the log: a, c\. The log has: b, other"
    ):
        align(log_of(Tag("b"), Tag("other")), SCHEMA)


def test_another_unit_or_step_is_refused() -> None:
    with pytest.raises(LogError, match="tag 'a' is in µSv/h, but the model was trained on nSv/h"):
        align(log_of(Tag("a", "µSv/h"), *TAGS[1:]), SCHEMA)
    with pytest.raises(LogError, match="step of 0 days 01:00:00, the model was trained on 0 days 00:10:00"):
        align(log_of(*TAGS, freq="h"), SCHEMA)


def test_a_unit_that_is_not_stated_is_accepted() -> None:
    assert align(log_of(Tag("a"), Tag("b"), Tag("c", "bar")), SCHEMA).names == ("a", "b", "c")


def test_cells_the_schema_ignores_are_missing_to_the_model() -> None:
    log = log_of(*TAGS)
    flags = np.zeros(log.shape, dtype=np.uint16)
    flags[1, 0], flags[2, 0] = Flag.SPIKE, Flag.SWAP
    log = log.with_flags(flags)
    aligned = align(log, SCHEMA)
    assert np.isnan(aligned.values[1, 0]) and np.isfinite(aligned.values[2, 0])
    other = replace(SCHEMA, ignored=Flag.SWAP)
    assert Schema.from_dict(json.loads(json.dumps(other.to_dict()))) == other
    aligned = align(log, other)
    assert np.isfinite(aligned.values[1, 0]) and np.isnan(aligned.values[2, 0])
