"""Stations one after the other, for a model that is to know none."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attentionmixer.data.datamodule import RadiationDataModule, WindowConfig
from attentionmixer.data.log import StationLog
from attentionmixer.data.split import SplitConfig
from experiments.zoo.models import ANY_TAG, ENTRIES
from experiments.zoo.stations import moments, pool


def station(level: float, steps: int, seed: int) -> StationLog:
    values = level + level / 10 * np.random.default_rng(seed).normal(size=(steps, 2))
    values[3, 0] = np.nan
    time = pd.date_range("2024-05-01", periods=steps, freq="h", tz="UTC", name="time")
    return StationLog.from_frame(pd.DataFrame(values.astype(np.float32), time, [f"{level:g} a", f"{level:g} b"]))


def test_stations_follow_each_other_part_by_part_each_on_its_own_scale() -> None:
    logs = [station(100.0, 200, 0), station(4000.0, 100, 1)]
    log, split = pool(logs, ["a", "b"], SplitConfig(), gap=12)
    assert (split.train, split.validation, split.test) == (140 + 70 + 24, 30 + 15 + 24, 30 + 15 + 24)
    assert len(log) == 300 + 6 * 12 and log.names == ("a", "b")
    for first, steps, own in ((0, 140, logs[0]), (152, 70, logs[1])):
        piece = log.values[first : first + steps]
        assert np.allclose(np.nanmean(piece, axis=0), 0, atol=1e-5) and np.allclose(np.nanstd(piece, axis=0), 1)
        mean, deviation = moments(own.values[:steps])
        np.testing.assert_allclose(piece * deviation + mean, own.values[:steps], rtol=1e-5)
    assert np.isnan(log.values[140:152]).all()


def test_no_window_holds_readings_of_two_stations() -> None:
    logs = [station(100.0, 200, 0), station(4000.0, 100, 1)]
    log, split = pool(logs, ["a", "b"], SplitConfig(), gap=12)
    data = RadiationDataModule(log, WindowConfig(lookback=8, horizon=4, split=split))
    belongs = np.full(len(log), -1)
    first = 0
    for part in ((140, 70), (30, 15), (30, 15)):
        for number, steps in enumerate(part):
            belongs[first : first + steps] = number
            first += steps + 12
    for name in ("train", "validation", "test"):
        for batch in data.loader(name):  # type: ignore[arg-type]
            for start in batch.start.tolist():
                assert len({number for number in belongs[start : start + 12].tolist() if number >= 0}) <= 1


def test_no_model_of_the_zoo_belongs_to_a_tag() -> None:
    assert len(ENTRIES) >= 3
    for entry in ENTRIES.values():
        assert all(entry.model[key] == value for key, value in ANY_TAG.items())
