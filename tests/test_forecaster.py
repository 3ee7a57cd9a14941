"""The trained thing: alignment, timestamps, saving, loading."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from attentionmixer.data.datamodule import WindowConfig
from attentionmixer.data.log import StationLog
from attentionmixer.data.windows import WindowLoader
from attentionmixer.errors import LogError, RunError
from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.tensorfile import write_tensors
from attentionmixer.training.metrics import ForecastErrors

PREDICT = """
import sys
from attentionmixer.forecaster import Forecaster
from attentionmixer.training.metrics import ForecastErrors
from attentionmixer.data.readers import read_log
log = read_log(sys.argv[2], tz="UTC")
forecast = Forecaster.load(sys.argv[1]).predict(log)
print(forecast.point.tobytes().hex(), forecast.quantiles.tobytes().hex())
"""


@pytest.fixture
def saved(tiny: tuple[Forecaster, StationLog], tmp_path: Path) -> Path:
    """The tiny forecaster, saved."""
    tiny[0].save(tmp_path / "model")
    return tmp_path / "model"


def test_a_new_process_predicts_the_same_bits(
    tiny: tuple[Forecaster, StationLog], saved: Path, tmp_path: Path, headers: dict[str, str]
) -> None:
    from attentionmixer.data.readers import read_log

    tiny[1].to_frame().rename(columns=headers).to_csv(tmp_path / "log.csv", index_label="time")
    log = read_log(tmp_path / "log.csv", tz="UTC")
    forecast = tiny[0].predict(log)
    answer = subprocess.run(
        [sys.executable, "-c", PREDICT, str(saved), str(tmp_path / "log.csv")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert answer.stdout.split() == [forecast.point.tobytes().hex(), forecast.quantiles.tobytes().hex()]


def test_the_order_of_tags_does_not_matter(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    turned = log.select(log.names[::-1])
    np.testing.assert_array_equal(forecaster.predict(turned).point, forecaster.predict(log).point)


def test_further_tags_are_ignored_with_a_warning(
    tiny: tuple[Forecaster, StationLog], caplog: pytest.LogCaptureFixture
) -> None:
    forecaster, log = tiny
    frame = log.to_frame().assign(further=1.0)
    with caplog.at_level(logging.WARNING):
        forecast = forecaster.predict(StationLog.from_frame(frame))
    assert "further" in caplog.text
    np.testing.assert_array_equal(forecast.point, forecaster.predict(log).point)


def test_missing_tags_are_all_listed(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    with pytest.raises(LogError) as caught:
        forecaster.predict(log.select(log.names[2:]))
    assert all(name in str(caught.value) for name in log.names[:2])


def test_another_unit_or_step_is_refused(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    tags = [type(tag)(**{**tag.__dict__, "unit": "µSv/h"}) for tag in log.tags]
    with pytest.raises(LogError, match=r"P01.*µSv/h.*nSv/h"):
        forecaster.predict(StationLog(log.values, log.time, tags))
    with pytest.raises(LogError, match="step"):
        forecaster.predict(StationLog.from_frame(log.to_frame().iloc[::2]))


def test_the_first_forecast_is_one_step_after_the_last_reading(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    assert forecaster.predict(log).times()[0] == log.time[-1] + log.step
    silent = log.values.copy()
    silent[-5:] = np.nan
    late = forecaster.predict(StationLog(silent, log.time, log.tags))
    assert late.times()[0] == log.time[-6] + log.step
    frame = late.to_frame()
    assert frame["time"].min() == log.time[-6] + log.step
    assert len(frame) == forecaster.schema.horizon * len(log.tags)
    assert bool(np.isfinite(frame["point"]).all())


def test_a_log_shorter_than_the_look_back_is_refused_with_numbers(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    with pytest.raises(LogError, match=r"24 steps.*has 10"):
        forecaster.predict(log.rows(0, 10))


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_errors_are_the_same_for_any_batch_size(size: int, tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    errors = ForecastErrors(forecaster.scaler, 4, forecaster.schema.levels)
    with torch.no_grad():
        for batch in WindowLoader(forecaster.windows(log), size):
            errors.update(forecaster.model(batch.x, batch.x_mask), batch.observed, batch.y_mask)
    whole, again = forecaster.evaluate(log).compute(), errors.compute()
    assert again["mse"] == pytest.approx(whole["mse"], abs=1e-6)
    assert again["mae"] == pytest.approx(whole["mae"], abs=1e-6)
    assert again["observed_values"] == whole["observed_values"]


def test_many_origins_equal_single_ones(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    many = forecaster.forecasts(log, stride=7)
    for number in (0, 3, len(many.origin) - 1):
        row = log.time.get_loc(many.origin[number])
        one = forecaster.predict(log.rows(0, row + 1))
        np.testing.assert_allclose(one.point[0], many.point[number], rtol=1e-4)


def test_the_test_part_is_not_looked_at_in_training(tiny: tuple[Forecaster, StationLog], tmp_path: Path) -> None:
    forecaster, log = tiny
    assert forecaster.data is not None
    values = log.values.copy()
    values[forecaster.data.split.validation_end :] *= 3
    again = Forecaster(forecaster.config).fit(StationLog(values, log.time, log.tags, log.quality))
    forecaster.save(tmp_path / "a")
    again.save(tmp_path / "b")
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == (tmp_path / "b" / "model.safetensors").read_bytes()


def test_routes_have_names_and_rows_that_sum_to_one(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    maps = {(m.axis, m.round): m for m in forecaster.routes(log, windows=20)}
    assert set(maps) == {("spatial", 0), ("spatial", 1), ("spatial", 2), ("temporal", 1), ("temporal", 2)}
    assert maps["spatial", 1].targets == log.names
    np.testing.assert_allclose(maps["spatial", 1].strength.sum(axis=1), 1, atol=1e-5)
    lags = maps["temporal", 1].lag_minutes
    assert lags is not None
    assert float(np.nanmax(lags)) <= 24 * 10
    assert float(np.nanmin(lags)) >= 10


@pytest.mark.parametrize("name", ["model.safetensors", "forecaster.json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "pickle"])
def test_a_damaged_file_is_an_error_that_names_it(saved: Path, name: str, damage: str) -> None:
    path = saved / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "pickle":
        path.write_bytes(b"\x80\x04\x8c\x05posix\x8c\x06system\x93.")
    else:
        path.write_bytes(b"\xff" + content[1:])
    with pytest.raises(RunError, match=name.replace(".", r"\.")):
        Forecaster.load(saved)


def test_weights_of_another_shape_are_refused(saved: Path) -> None:
    data = json.loads((saved / "forecaster.json").read_text(encoding="utf-8"))
    data["model"]["config"]["width"] = 16
    (saved / "forecaster.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(RunError, match="does not fit"):
        Forecaster.load(saved)


def test_an_unfitted_forecaster_says_so() -> None:
    with pytest.raises(RunError, match="not fitted"):
        Forecaster().predict(
            StationLog.from_frame(pd.DataFrame({"a": [1.0, 2.0]}, index=pd.date_range("2024", periods=2, tz="UTC")))
        )


def test_weights_of_another_type_are_refused(tiny: tuple[Forecaster, StationLog], saved: Path) -> None:
    weights = {name: value.double() for name, value in tiny[0].model.state_dict().items()}
    write_tensors(saved / "model.safetensors", weights)
    with pytest.raises(RunError, match=r"does not fit.*is float64 .* there, float32 .* in the model"):
        Forecaster.load(saved)


def test_weights_of_another_training_are_refused(tiny: tuple[Forecaster, StationLog], saved: Path) -> None:
    weights = {name: value + 1 for name, value in tiny[0].model.state_dict().items()}
    write_tensors(saved / "model.safetensors", weights)
    with pytest.raises(RunError, match=r"model\.safetensors was changed after it was written"):
        Forecaster.load(saved)


def test_a_description_that_was_edited_is_refused(saved: Path) -> None:
    text = (saved / "forecaster.json").read_text(encoding="utf-8")
    assert text.count('"unit": "nSv/h"') > 0
    (saved / "forecaster.json").write_text(text.replace('"unit": "nSv/h"', '"unit": "µSv/h"'), encoding="utf-8")
    with pytest.raises(RunError, match=r"forecaster\.json was changed after it was written"):
        Forecaster.load(saved)


def test_a_forecaster_saved_before_there_were_hashes_is_loaded(
    tiny: tuple[Forecaster, StationLog], saved: Path
) -> None:
    data = json.loads((saved / "forecaster.json").read_text(encoding="utf-8"))
    del data["weights_sha256"], data["seal"]
    (saved / "forecaster.json").write_text(json.dumps(data), encoding="utf-8")
    np.testing.assert_array_equal(Forecaster.load(saved).predict(tiny[1]).point, tiny[0].predict(tiny[1]).point)


def test_an_estimate_does_not_depend_on_its_own_readings() -> None:
    values = np.random.default_rng(1).normal(size=(120, 3)).astype(np.float32)
    time = pd.date_range("2024-05-01", periods=120, freq="h", tz="UTC", name="time")
    log = StationLog.from_frame(pd.DataFrame(values, time, ["a", "b", "lab"])).with_roles({"lab": "estimate"})
    config = ForecasterConfig(model="ridge_var", window=WindowConfig(lookback=6, horizon=1))
    forecaster = Forecaster(config).fit(log)
    later = values.copy()
    later[100:, 2] += 9
    other = StationLog.from_frame(pd.DataFrame(later, time, ["a", "b", "lab"]))
    np.testing.assert_array_equal(forecaster.predict(other).point, forecaster.predict(log).point)
    # its last reading may be old: a forecast starts after the last reading of the tags it is made from
    blank = values.copy()
    blank[110:, 2] = np.nan
    late = StationLog.from_frame(pd.DataFrame(blank, time, ["a", "b", "lab"]))
    assert forecaster.predict(late).origin.equals(forecaster.predict(log).origin)
    assert forecaster.evaluate(log).per_tag(forecaster.schema.tags)["lab"]["observed_values"] > 100
