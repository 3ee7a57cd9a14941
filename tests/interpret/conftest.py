"""A system whose routes are known, and a forecaster of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.datamodule import WindowConfig
from attentionmixer.data.log import StationLog
from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.training.fit import FitConfig, TrainerConfig
from attentionmixer.training.module import RegularizerConfig

TAGS = tuple("abcde")
#: (target, source) → coefficient at lag 1: a drives b, c drives d, d drives e; nothing else crosses.
TRUE = {(1, 0): 0.8, (3, 2): -0.7, (4, 3): 0.6}


@pytest.fixture(scope="session")
def chain() -> StationLog:
    """Five tags, three routes at lag 1, 1,500 steps."""
    generator = np.random.default_rng(0)
    values = np.zeros((1500, 5))
    noise = generator.normal(size=values.shape)
    for t in range(1, len(values)):
        values[t] = 0.3 * values[t - 1] + noise[t]
        for (target, source), coefficient in TRUE.items():
            values[t, target] += coefficient * values[t - 1, source]
    time = pd.date_range("2024-01-01", periods=len(values), freq="h", tz="UTC", name="time")
    return StationLog.from_frame(pd.DataFrame(values.astype(np.float32), time, list(TAGS)))


@pytest.fixture(scope="session")
def seer(chain: StationLog) -> Forecaster:
    """Trained on it, one step ahead, all gates nearly open."""
    settings = {"width": 8, "heads": 2, "rounds": 1, "patch": 4, "dropout": 0.0, "warm_start": True, "cross_lags": 2}
    training = FitConfig(
        regularizer=RegularizerConfig("none", 0.0),
        trainer=TrainerConfig(max_epochs=2, logger="none", progress=False, accelerator="cpu"),
    )
    window = WindowConfig(lookback=8, horizon=1)
    return Forecaster(ForecasterConfig(model_config=settings, window=window, training=training)).fit(chain)


@pytest.fixture(scope="session")
def test_part(seer: Forecaster, chain: StationLog) -> int:
    """Row at which the part begins that training did not look at."""
    assert seer.data is not None
    return seer.data.split.validation_end
