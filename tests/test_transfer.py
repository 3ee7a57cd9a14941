"""A forecaster for other tags than those it was trained on."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.datamodule import WindowConfig
from attentionmixer.data.log import StationLog
from attentionmixer.errors import LogError, RunError
from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.training.fit import FitConfig, TrainerConfig
from attentionmixer.training.module import RegularizerConfig

ANY_TAG = {"width": 8, "heads": 2, "tag_embedding": False, "gates": False, "cross_lags": 0, "dropout": 0.0}
TRAINER = TrainerConfig(max_epochs=1, logger="none", progress=False, accelerator="cpu")


def make(names: str, steps: int = 300, seed: int = 0, step: str = "h", level: float = 100.0) -> StationLog:
    generator = np.random.default_rng(seed)
    swing = np.sin(2 * np.pi * np.arange(steps) / 24)[:, None]
    values = level + 10 * swing + generator.normal(size=(steps, len(names)))
    time = pd.date_range("2024-05-01", periods=steps, freq=step, tz="UTC", name="time")
    return StationLog.from_frame(pd.DataFrame(values.astype(np.float32), time, list(names)))


@pytest.fixture(scope="module")
def general() -> Forecaster:
    training = FitConfig(regularizer=RegularizerConfig("none", 0.0), trainer=TRAINER)
    window = WindowConfig(lookback=24, horizon=4, calendar=("hour",))
    return Forecaster(ForecasterConfig(model_config=ANY_TAG, window=window, training=training)).fit(make("abc"))


def test_on_its_own_log_an_adapted_forecaster_is_the_same(general: Forecaster) -> None:
    log = make("abc")
    assert general.data is not None
    same = general.adapt(log, rows=general.data.split.train_end)
    np.testing.assert_array_equal(same.predict(log).point, general.predict(log).point)
    assert same.schema == general.schema


def test_a_station_never_seen_is_forecast_at_its_own_level(general: Forecaster) -> None:
    log = make("vwxyz", seed=1, level=4000.0)
    adapted = general.adapt(log)
    assert adapted.schema.names == tuple("vwxyz")
    point = adapted.predict(log).point
    assert point.shape == (1, 4, 5) and (np.abs(point - 4000) < 30).all()
    assert general.schema.names == tuple("abc")


def test_the_scaler_sees_no_row_after_the_first_ones(general: Forecaster) -> None:
    log = make("vw", seed=1)
    values = log.values.copy()
    values[200:] *= 50
    later = StationLog.from_frame(pd.DataFrame(values, log.time, ["v", "w"]))
    one, other = (general.adapt(which, rows=200).scaler.to_dict() for which in (log, later))
    assert one == other


def test_an_adapted_forecaster_is_saved_and_loaded_like_any(
    general: Forecaster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = make("vwxyz", seed=1)
    folder = tmp_path_factory.mktemp("adapted")
    adapted = general.adapt(log)
    adapted.save(folder)
    loaded = Forecaster.load(folder)
    np.testing.assert_array_equal(loaded.predict(log).point, adapted.predict(log).point)
    # and what was loaded can be adapted in turn
    again = loaded.adapt(make("abc"))
    assert again.schema.calendar == ("hour",) and again.schema.lookback == 24


def test_weights_that_belong_to_tags_are_refused(tiny: tuple[Forecaster, StationLog]) -> None:
    names = [f"p{i}" for i in range(len(tiny[0].schema.tags) + 1)]
    time = pd.date_range("2024-05-01", periods=100, freq="10min", tz="UTC", name="time")
    log = StationLog.from_frame(pd.DataFrame(np.ones((100, len(names)), np.float32), time, names))
    with pytest.raises(RunError, match=r"model's 'tag', 'gates\.logit'"):
        tiny[0].adapt(log)


def test_another_step_is_refused(general: Forecaster) -> None:
    for verb in (general.adapt, general.finetune):
        with pytest.raises(LogError, match="step of 0 days 00:10:00, the model was trained on 0 days 01:00:00"):
            verb(make("abc", step="10min"))


def test_finetuning_begins_at_the_weights_and_moves_them(general: Forecaster, caplog: pytest.LogCaptureFixture) -> None:
    log = make("vw", seed=3)
    still = FitConfig(
        regularizer=RegularizerConfig("none", 0.0),
        trainer=TrainerConfig(max_epochs=0, logger="none", progress=False, accelerator="cpu"),
    )
    with caplog.at_level(logging.ERROR):
        begun = general.finetune(log, still)
    for name, value in general.model.state_dict().items():
        np.testing.assert_array_equal(begun.model.state_dict()[name].numpy(), value.numpy())
    tuned = general.finetune(log, FitConfig(regularizer=RegularizerConfig("none", 0.0), trainer=TRAINER))
    assert any(not np.array_equal(v, tuned.model.state_dict()[n]) for n, v in general.model.state_dict().items())
    assert tuned.provenance["started from"] == general.provenance
    assert tuned.schema.names == ("v", "w") and tuned.schema.calendar == ("hour",)


def test_a_forecaster_of_its_own_tags_can_be_finetuned_on_them(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    tuned = forecaster.finetune(log, FitConfig(trainer=TRAINER))
    assert tuned.schema.names == forecaster.schema.names
    assert tuned.result is not None and tuned.result.epochs == 1


def test_other_settings_of_the_same_weights(tiny: tuple[Forecaster, StationLog]) -> None:
    forecaster, log = tiny
    sparse = forecaster.reconfigured(sparse=True)
    np.testing.assert_allclose(sparse.predict(log).point, forecaster.predict(log).point, rtol=1e-5)
    assert sparse.schema == forecaster.schema and sparse.provenance == forecaster.provenance
    assert sparse.model is not forecaster.model
    with pytest.raises(RunError, match=r"do not fit this model and log: only one of the two has 'gates\.logit'"):
        forecaster.reconfigured(gates=False)
