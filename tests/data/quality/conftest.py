"""Small logs for the tests of quality rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.quality import Flag, QualityConfig, screen

MakeLog = Callable[..., StationLog]
Flagged = Callable[..., list[int]]
UNITS = {"dose_rate": "nSv/h", "count_rate": "cpm", "rain": "mm"}


@pytest.fixture(scope="session")
def make_log() -> MakeLog:
    """A log from columns: ``make_log({"A": [70, 71, 72]}, step="1h", quantity="dose_rate")``."""

    def make(columns: Mapping[str, Sequence[float] | np.ndarray], step: str = "10min", **tag: Any) -> StationLog:
        tag = {"quantity": "dose_rate", **tag}
        tag.setdefault("unit", UNITS.get(tag["quantity"]))
        values = np.array(list(columns.values()), dtype=np.float32).T
        time = pd.date_range("2024-05-01", periods=len(values), freq=step, tz="UTC")
        return StationLog(values, time, [Tag(name, **tag) for name in columns])

    return make


@pytest.fixture(scope="session")
def flagged() -> Flagged:
    """Rows of a log's column (the first, if not said) that one rule flags: ``flagged(log, "stuck")``."""

    def rows(log: StationLog, rule: str, flag: Flag | None = None, column: int = 0, **settings: Any) -> list[int]:
        names = {"range": "RANGE", "unit_jump": "UNIT"}
        bit = flag or Flag[names.get(rule, rule.upper())]
        seen = screen(log, QualityConfig(rules=("quantised", rule), **settings)).flags[:, column]
        return np.flatnonzero(seen & np.uint16(bit)).tolist()

    return rows


@pytest.fixture(scope="session")
def counter() -> Callable[..., np.ndarray]:
    """Readings of a sound counter: Poisson counts in nSv/h, 10 counts/s per µSv/h and 10 minutes at 100 nSv/h."""

    def count(rows: int = 500, seed: int = 0, level: float = 100.0, sensitivity: float = 6.0) -> np.ndarray:
        return np.random.default_rng(seed).poisson(level * sensitivity, rows) / sensitivity

    return count
