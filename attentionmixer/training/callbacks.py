"""Averaged weights, checkpoints at whole epochs, a graceful interrupt and the progress line."""

from __future__ import annotations

import logging
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, WeightAveraging
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch import Tensor

from .module import WATCHED

logger = logging.getLogger(__name__)


class AveragedWeights(WeightAveraging):
    """Exponential moving average of the weights; validation and saving use the average.

    decay_k = min(decay, (1 + k) / (10 + k)), so the first random weights are forgotten fast.
    """

    def __init__(self, decay: float) -> None:
        def average(averaged: list[Tensor], current: list[Tensor], count: Tensor | int) -> None:
            k = float(count)
            torch._foreach_lerp_(averaged, current, 1.0 - min(decay, (1 + k) / (10 + k)))

        super().__init__(use_buffers=False, multi_avg_fn=average)

    def average_state(self) -> dict[str, Tensor]:
        """A copy of the averaged weights of the Lightning module."""
        assert self._average_model is not None
        return {name: value.detach().clone() for name, value in self._average_model.module.state_dict().items()}


class EpochCheckpoints(Callback):
    """Remembers the best averaged weights, and writes a checkpoint after each whole epoch.

    An epoch cut short by an interrupt is not written: a resumed run repeats it from its start, and so ends with the
    same weights as one that was never interrupted.
    """

    def __init__(self, folder: Path | None, averaged: AveragedWeights, interrupt: GracefulInterrupt) -> None:
        self.folder, self.averaged, self.interrupt = folder, averaged, interrupt
        self.best_error = float("inf")
        self.best_epoch = -1
        self.best: dict[str, Tensor] = {}
        self.first_step = 0

    def on_load_checkpoint(self, trainer: L.Trainer, pl_module: L.LightningModule, checkpoint: dict[str, Any]) -> None:
        """Note where this process began: a resumed training has steps behind it, and may have none before it."""
        self.first_step = int(checkpoint["global_step"])

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Keep the averaged weights if they are the best so far."""
        error = float(trainer.callback_metrics[WATCHED])
        if error < self.best_error and not trainer.sanity_checking:
            self.best_error, self.best_epoch = error, trainer.current_epoch
            self.best = self.averaged.average_state()

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Write the checkpoint to resume from."""
        if self.folder is not None and not self.interrupt.happened:
            trainer.save_checkpoint(self.folder / "last.safetensors")

    def state_dict(self) -> dict[str, Any]:
        """Best weights and error, for resuming."""
        return {"best_error": self.best_error, "best_epoch": self.best_epoch, "best": self.best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Inverse of `state_dict`."""
        self.best_error, self.best_epoch = state_dict["best_error"], state_dict["best_epoch"]
        self.best = state_dict["best"]


class GracefulInterrupt(Callback):
    """Ctrl-C ends training after the current batch, with everything written; a second Ctrl-C ends it at once."""

    def __init__(self) -> None:
        self.happened = False
        self._before: Any = None

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Take over the signal.

        No earlier: the trainer notes all handlers between `on_fit_start` and here, and puts back what it noted at the
        end, after a failure even later than `on_exception`.
        """
        if threading.current_thread() is not threading.main_thread():
            return

        def stop(number: int, frame: FrameType | None) -> None:
            if self.happened:
                raise KeyboardInterrupt
            self.happened = True
            trainer.should_stop = True
            logger.warning("interrupted: finishing this batch, then writing the run; press Ctrl-C again to drop it")

        self._before = signal.signal(signal.SIGINT, stop)

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        """Give the signal back."""
        self._give_back()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Give the signal back after a failure too: `teardown` is not called then."""
        self._give_back()

    def _give_back(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None


class ProgressLine(Callback):
    """One line for the whole training: bar, loss, validation error, elapsed and remaining time."""

    def __init__(self) -> None:
        self.progress: Progress | None = None

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Open the line."""
        if not trainer.is_global_zero:
            return
        self.progress = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}  validation error {task.fields[error]}"),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
        )
        self.progress.start()
        total = int(trainer.estimated_stepping_batches)
        self.task = self.progress.add_task(
            "train", total=total, completed=trainer.global_step, epoch=f"1/{trainer.max_epochs}", loss="–", error="–"
        )

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Move the line; the loss is read rarely, since reading it waits for the device."""
        if self.progress is not None:
            self.progress.update(self.task, completed=trainer.global_step)
            if batch_idx % 20 == 0:
                epoch = f"{trainer.current_epoch + 1}/{trainer.max_epochs}"
                self.progress.update(self.task, loss=f"{float(outputs['loss']):.4f}", epoch=epoch)

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Show the validation error."""
        if self.progress is not None:
            self.progress.update(self.task, error=f"{float(trainer.callback_metrics[WATCHED]):.4f}")

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        """Close the line."""
        self._close()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Close the line after a failure too: `teardown` is not called then, and the cursor would stay hidden."""
        self._close()

    def _close(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress = None
