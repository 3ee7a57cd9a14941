"""`Forecast`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attentionmixer.data.log import Tag
from attentionmixer.forecast import Forecast


def make() -> Forecast:
    origin = pd.DatetimeIndex(["2024-01-01 06:00", "2024-01-02 06:00"], tz="UTC")
    point = np.arange(2 * 3 * 2, dtype=np.float32).reshape(2, 3, 2)
    quantiles = np.stack([point - 1, point + 1], axis=-1)
    return Forecast(origin, pd.Timedelta("30min"), (Tag("a", "nSv/h"), Tag("b")), point, (0.05, 0.95), quantiles)


def test_the_first_time_is_one_step_after_the_origin() -> None:
    forecast = make()
    assert forecast.horizon == 3
    assert list(forecast.times(0)) == list(pd.date_range("2024-01-01 06:30", periods=3, freq="30min", tz="UTC"))
    assert forecast.times()[0] == pd.Timestamp("2024-01-02 06:30", tz="UTC")


def test_the_frame_holds_every_number_beside_its_own_labels() -> None:
    forecast = make()
    frame = forecast.to_frame()
    assert list(frame.columns) == ["origin", "time", "tag", "unit", "horizon", "point", "q0.05", "q0.95"]
    assert len(frame) == 12
    rows = frame.set_index(["origin", "tag", "horizon"])
    for o, origin in enumerate(forecast.origin):
        for n, (tag, unit) in enumerate([("a", "nSv/h"), ("b", "")]):
            for h in (1, 2, 3):
                row = rows.loc[(origin, tag, h)]
                value = float(forecast.point[o, h - 1, n])
                assert (row["point"], row["q0.05"], row["q0.95"]) == (value, value - 1, value + 1)
                assert row["time"] == origin + h * forecast.step
                assert row["unit"] == unit


def test_it_shows_what_it_holds() -> None:
    assert repr(make()) == "Forecast(2 tags, 3 steps of 0 days 00:30:00, 2 origin(s), first time 2024-01-01 06:30 UTC)"
