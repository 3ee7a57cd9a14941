"""Averaging, the best epoch, interrupts and the progress line."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lightning as L
import pytest
import torch
from lightning.pytorch.callbacks import Callback
from torch import Tensor, nn

from attentionmixer.training.callbacks import AveragedWeights, EpochCheckpoints, GracefulInterrupt, ProgressLine
from attentionmixer.training.module import WATCHED


class Slope(L.LightningModule):
    """One weight, pushed by one in each step, and an error that says how far it is."""

    def __init__(self, fails_at: int = -1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.fails_at = fails_at

    def training_step(self, batch: Tensor, batch_idx: int) -> dict[str, Tensor]:
        if self.global_step == self.fails_at:
            raise RuntimeError("as asked")
        return {"loss": -self.weight.sum()}

    def validation_step(self, batch: Tensor, batch_idx: int) -> None:
        self.log(WATCHED, self.weight.sum())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=1.0)


def train(module: L.LightningModule, callbacks: list[Callback], epochs: int = 2, **settings: Any) -> L.Trainer:
    trainer = L.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        **settings,
    )
    batches = torch.utils.data.DataLoader(torch.zeros(5, 1), batch_size=1)
    trainer.fit(module, batches, batches)
    return trainer


def expected_average(decay: float, steps: int) -> float:
    """The average of 1, 2, 3 … by its definition."""
    average = 1.0
    for k in range(1, steps):
        share = min(decay, (1 + k) / (10 + k))
        average = share * average + (1 - share) * (k + 1)
    return average


@pytest.mark.parametrize("decay", [0.0, 0.25, 0.99])
def test_the_average_is_the_one_of_the_formula_and_is_what_is_validated(decay: float) -> None:
    averaged = AveragedWeights(decay)
    trainer = train(Slope(), [averaged])
    state = averaged.average_state()
    assert float(state["weight"]) == pytest.approx(expected_average(decay, 10), rel=1e-6)
    assert float(trainer.callback_metrics[WATCHED]) == pytest.approx(expected_average(decay, 10), rel=1e-6)


def test_the_average_that_is_handed_out_does_not_move_with_training() -> None:
    kept: list[dict[str, Tensor]] = []

    class Keep(Callback):
        def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
            kept.append(averaged.average_state())

    averaged = AveragedWeights(0.5)
    train(Slope(), [averaged, Keep()])
    assert float(kept[0]["weight"]) == pytest.approx(expected_average(0.5, 5), rel=1e-6)
    assert float(kept[1]["weight"]) == pytest.approx(expected_average(0.5, 10), rel=1e-6)


def keeper_after(errors: list[float], folder: Path | None = None) -> EpochCheckpoints:
    """A keeper that has seen these validation errors; the weights of epoch e are e."""
    averaged = SimpleNamespace(average_state=lambda: {"weight": torch.tensor(float(trainer.current_epoch))})
    keeper = EpochCheckpoints(folder, averaged, GracefulInterrupt())  # type: ignore[arg-type]
    trainer: Any = SimpleNamespace(current_epoch=0, sanity_checking=False, callback_metrics={})
    for epoch, error in enumerate(errors):
        trainer.current_epoch, trainer.callback_metrics = epoch, {WATCHED: torch.tensor(error)}
        keeper.on_validation_end(trainer, None)  # type: ignore[arg-type]
    return keeper


@pytest.mark.parametrize(
    ("errors", "epoch"),
    [([3.0, 1.0, 2.0], 1), ([1.0, 1.0], 0), ([math.nan, 2.0, math.nan], 1), ([2.0, -math.inf, 1.0], 1)],
)
def test_the_best_epoch_is_the_first_with_the_lowest_error_and_never_one_that_is_no_number(
    errors: list[float], epoch: int
) -> None:
    keeper = keeper_after(errors)
    assert keeper.best_epoch == epoch
    assert float(keeper.best["weight"]) == epoch


def test_errors_that_are_no_numbers_leave_nothing_to_keep() -> None:
    assert keeper_after([math.nan, math.inf]).best == {}


def test_what_was_best_survives_an_interrupt() -> None:
    keeper = keeper_after([3.0, 1.0])
    again = keeper_after([])
    again.load_state_dict(keeper.state_dict())
    assert (again.best_error, again.best_epoch, float(again.best["weight"])) == (1.0, 1, 1.0)


@pytest.mark.parametrize(("folder", "interrupted", "writes"), [(True, False, 1), (True, True, 0), (False, False, 0)])
def test_a_checkpoint_is_written_after_a_whole_epoch_only(
    folder: bool, interrupted: bool, writes: int, tmp_path: Path
) -> None:
    keeper = keeper_after([1.0], tmp_path if folder else None)
    keeper.interrupt.happened = interrupted
    written: list[Path] = []
    keeper.on_train_epoch_end(SimpleNamespace(save_checkpoint=written.append), None)  # type: ignore[arg-type]
    assert written == [tmp_path / "last.safetensors"] * writes


# --- interrupts ------------------------------------------------------------------------------------------------------


@pytest.fixture
def handler() -> Iterator[Any]:
    """The handler of SIGINT before the test; put back after it, whatever happened."""
    before = signal.getsignal(signal.SIGINT)
    yield before
    signal.signal(signal.SIGINT, before)


class InterruptAt(Callback):
    """Ctrl-C in the middle of step ``step``, ``times`` times."""

    def __init__(self, step: int, times: int = 1) -> None:
        self.step, self.times = step, times

    def on_train_batch_end(self, trainer: L.Trainer, *_: Any) -> None:
        if trainer.global_step == self.step:
            for _number in range(self.times):
                os.kill(os.getpid(), signal.SIGINT)


no_signals = pytest.mark.skipif(sys.platform == "win32", reason="a signal can not be sent to one process there")


@no_signals
def test_the_first_interrupt_ends_training_after_the_batch(handler: Any) -> None:
    interrupt = GracefulInterrupt()
    trainer = train(Slope(), [interrupt, InterruptAt(2)])
    assert interrupt.happened
    assert trainer.global_step < 10
    assert signal.getsignal(signal.SIGINT) is handler


@no_signals
def test_the_second_interrupt_ends_it_at_once_and_the_signal_is_given_back(handler: Any) -> None:
    with pytest.raises(SystemExit):
        train(Slope(), [GracefulInterrupt(), InterruptAt(2, times=2)])
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize("fails_at", [-1, 3])
def test_the_signal_is_given_back_after_an_end_and_after_a_failure(fails_at: int, handler: Any) -> None:
    try:
        train(Slope(fails_at), [GracefulInterrupt()])
    except RuntimeError as error:
        assert str(error) == "as asked"
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_thread_leaves_the_signal_alone(handler: Any) -> None:
    seen: list[Any] = []

    class Look(Callback):
        def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=lambda: train(Slope(), [GracefulInterrupt(), Look()]))
    thread.start()
    thread.join()
    assert seen == [handler]


# --- the progress line -----------------------------------------------------------------------------------------------


def test_the_line_shows_epoch_loss_and_error_and_is_closed(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    train(Slope(), [line])
    printed = capsys.readouterr().out
    assert "epoch 2/2" in printed
    assert "10/10" in printed
    assert "validation error 10.0000" in printed
    assert line.progress is None


def test_the_line_is_closed_after_a_failure() -> None:
    line = ProgressLine()
    opened: list[Any] = []

    class Look(Callback):
        def on_train_batch_end(self, *_: Any) -> None:
            opened.append(line.progress)

    with pytest.raises(RuntimeError, match="as asked"):
        train(Slope(fails_at=3), [line, Look()])
    assert opened[0].finished is False
    assert opened[0].live.is_started is False
    assert line.progress is None
