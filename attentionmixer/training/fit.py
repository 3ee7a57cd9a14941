"""From a data module and a fresh model to a trained model: everything Lightning is asked for, in one place."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import lightning as L
import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import Callback, EarlyStopping, Timer
from lightning.pytorch.loggers import CSVLogger, Logger, TensorBoardLogger

from ..data.datamodule import RadiationDataModule
from ..errors import ConfigError
from ..models.base import BatchSource, ForecastModel
from ..nn.regularizers import SparseRegularizer, distance_prior
from .allowed import instantiate_callback
from .callbacks import AveragedWeights, EpochCheckpoints, GracefulInterrupt, ProgressLine
from .checkpoint import SafeCheckpointIO
from .module import WATCHED, ForecastModule, OptimizerConfig, RegularizerConfig
from .ranks import check_strategy, part_ways

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainerConfig:
    """How training runs. Names and meanings are Lightning's.

    Attributes
    ----------
    max_epochs
        most epochs
    patience
        epochs without a better validation error before training stops
    max_seconds
        most seconds of training, validation included; the learning rate has fallen to zero by then. Not given: no limit
    accelerator
        ``auto``, ``cpu``, ``gpu`` …
    devices
        number of devices
    strategy
        as for a Lightning trainer
    precision
        ``32-true``, ``bf16-mixed`` …
    gradient_clip
        largest norm of the gradient
    compile
        use ``torch.compile``
    logger
        ``csv``, ``tensorboard`` or ``none``
    progress
        show the progress line
    callbacks
        further Lightning callbacks, {class_path, init_args}; only classes on the allow-list
    """

    max_epochs: int = 4
    patience: int = 3
    max_seconds: float | None = None
    accelerator: str = "auto"
    devices: int | str = 1
    strategy: str = "auto"
    precision: Literal["32-true", "16-mixed", "bf16-mixed", "64-true"] = "32-true"
    gradient_clip: float = 1.0
    compile: bool = False
    logger: Literal["csv", "tensorboard", "none"] = "csv"
    progress: bool = True
    callbacks: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class FitConfig:
    """Optimiser, regularizer, trainer and seed of one training."""

    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    regularizer: RegularizerConfig = field(default_factory=RegularizerConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    seed: int = 0


@dataclass(frozen=True)
class FitResult:
    """What training did: seconds, epochs run, epoch of the weights kept, its error, speed, interrupted or not."""

    seconds: float
    epochs: int
    best_epoch: int
    validation_mse: float | None
    windows_per_second: float | None
    interrupted: bool = False


def fit(
    model: ForecastModel,
    data: RadiationDataModule,
    config: FitConfig,
    folder: Path | None = None,
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
    warm_start: bool = True,
) -> FitResult:
    """Train ``model`` in place and leave it with the best averaged weights, in evaluation mode.

    Parameters
    ----------
    model: fresh weights, or learned ones without ``warm_start``. data: its log, split and scaled.
    config: see `FitConfig`.
    folder: where logs and the checkpoint to resume from go, or ``None`` for nothing on disk.
    resume: continue from the checkpoint in ``folder``. callbacks: further ones, as those that prune trials.

    Raises `ConfigError` for settings that cannot be met and `TrainingError` where the loss is not a number.
    """
    began = time.perf_counter()
    if not any(p.requires_grad for p in model.parameters()):
        model.finish(_in_order(data))
        return FitResult(time.perf_counter() - began, 0, 0, None, None)
    checkpoint = None if folder is None else folder / "checkpoints" / "last.safetensors"
    if resume and (checkpoint is None or not checkpoint.is_file()):
        raise ConfigError(f"there is nothing to resume: {checkpoint} is missing; leave out --resume")
    timer, spent = _clock(config.trainer.max_seconds)
    module = ForecastModule(
        model,
        data.scaler,
        config.optimizer,
        _regularizer(config.regularizer, data),
        config.regularizer.strength,
        config.regularizer.warmup,
        config.seed,
        spent,
    )
    if warm_start and not resume:
        model.warm_start(_in_order(data), _in_order(data, "validation"))
    if config.trainer.compile:
        model.compile()
    interrupt = GracefulInterrupt()
    averaged = AveragedWeights(config.optimizer.average_decay)
    keeper = EpochCheckpoints(None if folder is None else folder / "checkpoints", averaged, interrupt)
    trainer = _trainer(config, folder, [averaged, keeper, interrupt, *timer, *callbacks])
    started = time.perf_counter()
    trainer.fit(module, datamodule=data, ckpt_path=str(checkpoint) if resume else None, weights_only=True)
    training_seconds = time.perf_counter() - started
    part_ways()
    if keeper.best:  # an interrupt can come before the first validation: then the average so far stands
        module.load_state_dict(keeper.best)
    model.to("cpu").eval()
    data.scaler.to("cpu")
    model.finish(_in_order(data))
    windows = (trainer.global_step - keeper.first_step) * data.windows_config.batch_size
    return FitResult(
        seconds=time.perf_counter() - began,
        epochs=trainer.current_epoch,
        best_epoch=keeper.best_epoch + 1,
        validation_mse=keeper.best_error if keeper.best else None,
        windows_per_second=windows / training_seconds,
        interrupted=interrupt.happened,
    )


def _clock(limit: float | None) -> tuple[list[Callback], Callable[[], float] | None]:
    """A callback that stops after so many seconds, and the share of them that has passed."""
    if limit is None:
        return [], None
    timer = Timer(timedelta(seconds=limit), interval="step", verbose=False)
    return [timer], lambda: timer.time_elapsed() / limit


def _trainer(config: FitConfig, folder: Path | None, callbacks: list[Callback]) -> L.Trainer:
    settings = config.trainer
    check_strategy(settings.strategy)
    cores = os.cpu_count() or 1
    if str(settings.devices).isdigit() and not torch.cuda.is_available() and int(settings.devices) > cores:
        # every device would be a process of its own
        raise ConfigError(f"trainer.devices is {settings.devices}, but this machine has {cores} cores and no GPU")
    callbacks = [*callbacks, EarlyStopping(WATCHED, patience=settings.patience, check_finite=True)]
    callbacks += [instantiate_callback(spec) for spec in settings.callbacks]
    if settings.progress:
        callbacks.append(ProgressLine())
    try:
        return L.Trainer(
            max_epochs=settings.max_epochs,
            accelerator=settings.accelerator,
            devices=settings.devices,
            strategy=settings.strategy,
            precision=settings.precision,
            gradient_clip_val=settings.gradient_clip,
            callbacks=callbacks,
            plugins=[SafeCheckpointIO()],
            logger=_logger(settings, folder),
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            log_every_n_steps=10,
            default_root_dir=folder,
            use_distributed_sampler=False,
        )
    except (ValueError, TypeError, RuntimeError, ImportError, MisconfigurationException) as error:
        raise ConfigError(f"the trainer settings cannot be met on this machine: {error}") from error


def _logger(settings: TrainerConfig, folder: Path | None) -> Logger | bool:
    if folder is None or settings.logger == "none":
        return False
    if settings.logger == "tensorboard":
        return TensorBoardLogger(folder, name="logs", version="")
    return CSVLogger(folder, name="logs", version="")


def _regularizer(config: RegularizerConfig, data: RadiationDataModule) -> SparseRegularizer:
    prior = None
    places = [tag.coordinates for tag in data.log.tags]
    if config.name == "prior" and all(place is not None for place in places):
        prior = distance_prior(torch.tensor(places, dtype=torch.float64), config.prior_km)
    return SparseRegularizer(config.name, config.spatial, config.temporal, prior)


def _in_order(data: RadiationDataModule, part: Literal["train", "validation"] = "train") -> BatchSource:
    """Passes over the windows of a part in order of time, on the CPU."""

    def batches() -> Any:
        for batch in data.loader(part):
            parts = batch.x, batch.x_mask, batch.y, batch.y_mask
            yield parts if batch.known is None else (*parts, batch.known)

    return batches
