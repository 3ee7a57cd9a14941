"""The one evaluator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from attentionmixer.data.datamodule import RadiationDataModule, WindowConfig
from attentionmixer.data.log import StationLog
from attentionmixer.models import Task, build
from experiments.forecasting.scoring import per_group, score


def module(columns: int = 2, steps: int = 400, missing: bool = True) -> RadiationDataModule:
    generator = np.random.default_rng(0)
    values = generator.normal(size=(steps, columns)).cumsum(axis=0).astype(np.float32)
    if missing:
        values[generator.random(values.shape) < 0.1] = np.nan
    time = pd.date_range("2024-05-01", periods=steps, freq="h", tz="UTC", name="time")
    log = StationLog.from_frame(pd.DataFrame(values, time, [f"t{i}" for i in range(columns)]))
    return RadiationDataModule(log, WindowConfig(lookback=8, horizon=3, evaluation_batch_size=7))


def test_the_figures_are_those_of_a_slow_loop_over_windows() -> None:
    data = module()
    model = build("persistence", Task(2, 8, 3, (0.05, 0.95)))
    found = score(model, data, "test")
    values = data.log.values.astype(np.float64)
    mean, spread = np.nanmean(values[: data.split.train_end], axis=0), np.nanstd(values[: data.split.train_end], axis=0)
    scaled = (values - mean) / spread
    errors, readings = [], []
    for start in range(data.split.validation_end - 8, data.split.test_end - 10):
        window = scaled[start : start + 8]
        last = [next((v for v in window[::-1, i] if not np.isnan(v)), 0.0) for i in range(2)]
        errors.append(scaled[start + 8 : start + 11] - last)
        readings.append(scaled[start + 8 : start + 11])
    error, reading = np.array(errors), np.array(readings)
    assert found["windows"] == len(errors) and found["observed_values"] == int((~np.isnan(error)).sum())
    assert found["mse"] == pytest.approx(np.nanmean(error**2), rel=1e-5)
    assert found["mae"] == pytest.approx(np.nanmean(np.abs(error)), rel=1e-5)
    seen = ~np.isnan(reading)
    shares = [
        1 - np.nansum(error[..., i] ** 2) / np.nansum((reading[..., i] - reading[..., i][seen[..., i]].mean()) ** 2)
        for i in range(2)
    ]
    assert found["r2"] == pytest.approx(np.mean(shares), rel=1e-5)
    assert "rmse" not in found


def test_groups_hold_all_errors_in_order_of_time() -> None:
    data = module()
    model = build("persistence", Task(2, 8, 3))
    found = score(model, data, "test")
    square, absolute, count = map(np.array, found["groups"])
    assert count.sum() == found["observed_values"]
    assert square.sum() / count.sum() == pytest.approx(found["mse"], rel=1e-4)
    assert absolute.sum() / count.sum() == pytest.approx(found["mae"], rel=1e-4)
    batches = list(data.loader("test"))
    first = torch.cat([batch.start for batch in batches])
    size = per_group(data, len(first))
    assert len(count) == len(set((first // size).tolist())) >= 40


def test_a_log_of_one_scored_tag_has_its_error_in_its_own_unit() -> None:
    data = module(1)
    found = score(build("persistence", Task(1, 8, 3)), data, "test")
    spread = float(np.nanstd(data.log.values[: data.split.train_end].astype(np.float64)))
    assert found["rmse"] == pytest.approx(np.sqrt(found["mse"]) * spread, rel=1e-4)
