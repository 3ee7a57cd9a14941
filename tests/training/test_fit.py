"""Training: interrupts, resuming, and settings that cannot be met."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from torch import Tensor

from attentionmixer.data.log import StationLog
from attentionmixer.errors import ConfigError, TrainingError
from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.training.callbacks import EpochCheckpoints
from attentionmixer.training.fit import FitConfig
from attentionmixer.training.module import ForecastModule, OptimizerConfig, RegularizerConfig


def with_training(config: ForecasterConfig, **changes: object) -> ForecasterConfig:
    return replace(config, training=replace(config.training, **changes))  # type: ignore[arg-type]


def longer(config: ForecasterConfig, epochs: int = 4) -> ForecasterConfig:
    trainer = replace(config.training.trainer, max_epochs=epochs, patience=epochs, logger="none")
    return with_training(config, trainer=trainer)


def weights(forecaster: Forecaster, folder: Path) -> bytes:
    forecaster.save(folder)
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="a signal can not be sent to one process there")
def test_an_interrupted_training_resumes_to_the_weights_of_one_that_was_not(
    tiny: tuple[Forecaster, StationLog], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # slow enough to get better up to the end: otherwise both would keep the weights of an epoch before the interrupt
    config = with_training(longer(tiny[0].config), optimizer=OptimizerConfig(learning_rate=3e-4))
    log = tiny[1]
    whole = Forecaster(config).fit(log, tmp_path / "whole")
    assert whole.result is not None and whole.result.best_epoch == 4
    original = EpochCheckpoints.on_train_epoch_end
    calls = []

    def interrupt(self: EpochCheckpoints, *arguments: object) -> None:
        original(self, *arguments)  # type: ignore[arg-type]
        calls.append(1)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        patch.setattr(EpochCheckpoints, "on_train_epoch_end", interrupt)
        broken = Forecaster(config).fit(log, tmp_path / "broken")
    assert signal.getsignal(signal.SIGINT) is before
    assert broken.result is not None and broken.result.interrupted
    assert broken.result.epochs < 4
    resumed = Forecaster(config).fit(log, tmp_path / "broken", resume=True)
    assert resumed.result is not None and resumed.result.epochs == 4
    assert weights(broken, tmp_path / "b") != weights(whole, tmp_path / "w")
    assert weights(resumed, tmp_path / "r") == weights(whole, tmp_path / "w")
    last = [tmp_path / name / "checkpoints" / "last.safetensors" for name in ("broken", "whole")]
    assert last[0].read_bytes() == last[1].read_bytes()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(
    tiny: tuple[Forecaster, StationLog], tmp_path: Path
) -> None:
    config, log = tiny[0].config, tiny[1]
    first = weights(tiny[0], tmp_path / "a")
    assert weights(Forecaster(config).fit(log), tmp_path / "b") == first
    assert weights(Forecaster(with_training(config, seed=1)).fit(log), tmp_path / "c") != first


@pytest.mark.parametrize(("name", "acts"), [(n, n != "l1") for n in ("entropy", "tsallis", "prior", "gates", "l1")])
def test_every_regularizer_moves_the_weights_but_the_control(
    name: str, acts: bool, tiny: tuple[Forecaster, StationLog]
) -> None:
    config, log = tiny[0].config, tiny[1]

    def train(strength: float) -> dict[str, Tensor]:
        # a vanishing strength takes the same way through the code, so that only the gradient differs
        regularizer = RegularizerConfig(name, strength, warmup=0.0)  # type: ignore[arg-type]
        return Forecaster(with_training(config, regularizer=regularizer)).fit(log).model.state_dict()

    off, on = train(1e-12), train(1.0)
    moved = max(float((on[key].double() - off[key].double()).abs().max()) for key in on)
    assert (moved > 1e-3) == acts


def test_a_validation_error_that_is_no_number_is_never_the_best(
    tiny: tuple[Forecaster, StationLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = ForecastModule.forward

    def broken(self: ForecastModule, *inputs: object) -> object:
        return original(self, *inputs) * float("nan")  # type: ignore[arg-type]

    monkeypatch.setattr(ForecastModule, "forward", broken)
    forecaster = Forecaster(with_training(tiny[0].config, regularizer=RegularizerConfig("none", 0.0)))
    with pytest.raises(TrainingError, match=r"became nan"):
        forecaster.fit(tiny[1])
    assert forecaster.result is None


@pytest.mark.parametrize("changes", [{"accelerator": "abacus"}, {"strategy": "none such"}])
def test_trainer_settings_that_cannot_be_met_are_a_configuration_error(
    changes: dict[str, str], tiny: tuple[Forecaster, StationLog]
) -> None:
    training: FitConfig = tiny[0].config.training
    config = with_training(tiny[0].config, trainer=replace(training.trainer, **changes))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="cannot be met"):
        Forecaster(config).fit(tiny[1])


def test_nothing_to_resume_is_said_before_anything_is_trained(
    tiny: tuple[Forecaster, StationLog], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="nothing to resume"):
        Forecaster(tiny[0].config).fit(tiny[1], tmp_path, resume=True)


def test_training_ends_with_its_time_and_the_rate_falls_over_it(
    tiny: tuple[Forecaster, StationLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    # a clock that moves by one second with each look at it
    ticks = iter(range(10**6))
    monkeypatch.setattr("lightning.pytorch.callbacks.timer.time.monotonic", lambda: float(next(ticks)))
    rates: list[float] = []
    original = ForecastModule.training_step

    def step(self: ForecastModule, *arguments: object) -> Tensor:
        rates.append(self.trainer.optimizers[0].param_groups[0]["lr"])
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ForecastModule, "training_step", step)
    config = longer(tiny[0].config, 1000)
    trainer = replace(config.training.trainer, max_seconds=60.0)
    result = Forecaster(with_training(config, trainer=trainer)).fit(tiny[1]).result
    assert result is not None and result.epochs < 1000 and len(rates) < 60
    assert result.validation_mse is not None and not result.interrupted
    # up at first, then down to next to nothing, though next to none of the steps planned were done
    assert rates[0] < max(rates) and rates[-1] < 0.05 * max(rates)
