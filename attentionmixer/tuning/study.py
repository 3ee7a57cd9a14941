"""A study: trials until there are enough, alone or with other processes on the same storage."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightning as L
import optuna
import torch
import yaml
from lightning.pytorch.callbacks import Callback
from optuna.trial import TrialState
from sqlalchemy import make_url
from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError, SQLAlchemyError

from .. import models
from ..config import RunConfig, parse
from ..data.datamodule import RadiationDataModule
from ..data.export import fingerprint
from ..data.log import StationLog
from ..data.windows import WindowLoader
from ..errors import AttentionMixerError, ConfigError, TrainingError
from ..training.fit import fit
from ..training.metrics import ForecastErrors
from ..training.module import WATCHED
from ..training.task import make_task
from .space import Space, as_arguments, leaves

logger = logging.getLogger(__name__)
DONE = (TrialState.COMPLETE, TrialState.PRUNED)
#: A process that has not been heard of for so many seconds is taken for dead, and its trial is tried again.
_SILENT = 120
_KEPT = "attentionmixer"
#: So many failures in a row are no accident.
_FAILURES = 5
#: A setting that ended so many processes is not tried again.
_TRIES = 2
#: Trials say nothing while they train.
_QUIET = ("--trainer.progress=false", "--trainer.logger=none")
#: Settings that change no trial's error.
_FREE = ("data.path", *(f"trainer.{name}" for name in ("accelerator", "devices", "strategy", "progress", "logger")))


class SurplusError(Exception):
    """A trial that is not needed any more."""


class Pruning(Callback):
    """Ends a training that lags behind the median of others at the same epoch."""

    def __init__(self, trial: optuna.Trial) -> None:
        self.trial = trial

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Report the error of this epoch. Raises `optuna.TrialPruned` where the study thinks that is enough."""
        self.trial.report(float(trainer.callback_metrics[WATCHED]), trainer.current_epoch)
        if self.trial.should_prune():
            raise optuna.TrialPruned(f"pruned after epoch {trainer.current_epoch + 1}")


@dataclass
class Search:
    """What one process does for a study.

    Attributes
    ----------
    arguments: the command line of the start. program: named in messages. config: what it resolves to.
    log: read once. space: what may be tried. interrupted: whether Ctrl-C ended the last training.
    wanted: finished trials to come to. failures, reason: how many trials failed in a row, and the last one's reason.
    """

    arguments: Sequence[str]
    program: str
    config: RunConfig
    log: StationLog
    space: Space
    interrupted: bool = False
    wanted: int | None = None
    failures: int = 0
    reason: str = ""

    def open(self, storage: str | None, name: str) -> optuna.Study:
        """The study of that name, new or gone on with.

        Raises `ConfigError` where the storage cannot be used, or the study was begun with other settings, another space
        or another log.
        """
        optuna.logging.set_verbosity(optuna.logging.ERROR)  # failures are told below
        for drawn in self.space.edges():
            self.parse(drawn)  # what no trial could train with is refused before the first
        place = None if storage is None else _storage(storage)
        pruner = optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=1)
        mine = self.fingerprint()
        try:
            study = optuna.create_study(study_name=name, storage=place, pruner=pruner)
        except optuna.exceptions.DuplicatedStudyError:
            assert place is not None  # memory holds no study of before
            study = optuna.load_study(study_name=name, storage=place, pruner=pruner)
            _check_question(study, mine)
            return study
        study.enqueue_trial(self.space.start(self.config.text))
        study.set_user_attr(_KEPT, mine)
        return study

    def run(self, study: optuna.Study, trials: int) -> None:
        """Try until the study has so many finished trials (complete or pruned), those of other processes included."""
        while (left := trials - _count(study, DONE)) > 0:
            if _count(study, (TrialState.RUNNING,)) >= left:
                if not _wait(study, trials):
                    continue
                return
            self.wanted = trials
            study.optimize(self.objective, n_trials=1, catch=(AttentionMixerError, MemoryError, SurplusError))
            if self.interrupted:
                return
            if self.failures >= _FAILURES:
                raise ConfigError(f"{_FAILURES} trials failed one after the other, the last with: {self.reason}")

    def objective(self, trial: optuna.Trial) -> float:
        """Validation error of one trial; the test part is not looked at."""
        # by number, so that no two processes draw alike
        trial.study.sampler = optuna.samplers.TPESampler(seed=1000 * self.config.seed + trial.number)
        states = (*DONE, TrialState.RUNNING)
        others = trial.study.get_trials(deepcopy=False, states=states)
        before = [other for other in others if other.state in DONE or other.number < trial.number]
        if self.wanted is not None and len(before) >= self.wanted:
            # two processes began what one had to
            trial.set_user_attr("failed", "not needed: another process was quicker")
            raise SurplusError
        drawn = self.space.draw(trial)
        began = time.perf_counter()
        try:
            value = self.measure(drawn, [Pruning(trial)])
        except (AttentionMixerError, MemoryError) as error:
            self.failures, self.reason = self.failures + 1, str(error)[:500] or type(error).__name__
            trial.set_user_attr("failed", self.reason)
            logger.warning("trial %d failed: %s", trial.number, self.reason)
            if self.interrupted:
                trial.study.enqueue_trial(drawn)
            raise
        finally:
            trial.set_user_attr("seconds", round(time.perf_counter() - began, 1))
            logger.info("trial %d: %s", trial.number, ", ".join(f"{key}={value}" for key, value in drawn.items()))
        logger.info("trial %d: validation error %.4f", trial.number, value)
        self.failures = 0
        return value

    def parse(self, drawn: dict[str, Any], *more: str) -> RunConfig:
        """The configuration with some settings. Raises `ConfigError` where they make none."""
        return parse([*self.arguments, *as_arguments(drawn), *more], self.program)

    def measure(self, drawn: dict[str, Any], callbacks: Sequence[Callback] = ()) -> float:
        """Train with some settings; the validation error, masked, in units of the training variance."""
        config = self.parse(drawn, *_QUIET)
        settings = config.forecaster()
        data = RadiationDataModule(self.log, settings.window, config.seed)
        task = make_task(data, settings.levels, settings.coordinates)
        torch.manual_seed(config.seed)
        model = models.build(settings.model, task, dict(settings.model_config))
        result = fit(model, data, settings.training, callbacks=callbacks)
        if result.interrupted:
            self.interrupted = True
            raise TrainingError("interrupted")
        if result.validation_mse is not None:
            return result.validation_mse
        # nothing to train, so nothing was measured on the way
        errors = ForecastErrors(data.scaler, task.horizon, task.levels)
        with torch.no_grad():
            for batch in WindowLoader(data.windows("validation"), 256):
                errors.update(model(batch.x, batch.x_mask, batch.known), batch.observed, batch.y_mask)
        value = errors.compute()["mse"]
        if value is None:
            raise TrainingError("the validation part has no observed target value; move data.split")
        return float(value)

    def best(self, study: optuna.Study) -> RunConfig:
        """The configuration of the best trial. Raises `ConfigError` where none was completed."""
        if not _count(study, (TrialState.COMPLETE,)):
            failed = [trial.user_attrs.get("failed") for trial in study.trials if "failed" in trial.user_attrs]
            why = f": {failed[-1]}" if failed else ""
            raise ConfigError(f"no trial was completed{why}")
        return self.parse(study.best_params)

    def fingerprint(self) -> dict[str, str]:
        """What a study must have in common with this search to be gone on with: settings, space and log, by name."""
        settings = leaves(yaml.safe_load(self.config.text))
        kept = {
            key: value for key, value in settings.items() if key not in _FREE and key not in self.space.distributions
        }
        parts = {**kept, **{f"space of {key}": of for key, of in self.space.to_dict().items()}}
        parts |= {f"start of {key}": value for key, value in self.space.start(self.config.text).items()}
        return {"log": fingerprint(self.log, {"tags": self.log.names})} | {
            key: str(value) for key, value in parts.items()
        }


def _check_question(study: optuna.Study, mine: dict[str, str]) -> None:
    """Raise `ConfigError` where a study was begun with something else."""
    for _ in range(100):
        kept = study.user_attrs.get(_KEPT)
        if kept is not None:
            break
        time.sleep(0.1)  # the process that made it is about to say
    else:
        raise ConfigError(f"study {study.study_name!r} was not begun by this command; give another --study")
    odd = sorted(key for key in mine.keys() | kept.keys() if kept.get(key) != mine.get(key))
    if odd:
        names = ", ".join(odd[:5])
        raise ConfigError(
            f"study {study.study_name!r} was begun with another {names}; give the same, or another --study"
        )


def _storage(url: str) -> optuna.storages.RDBStorage:
    """Where trials are kept. Raises `ConfigError` where it cannot be used, without the password."""
    for attempt in range(8):
        try:
            with warnings.catch_warnings():
                # heartbeats have been "experimental" for years, and nothing else finds trials of dead processes
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                return optuna.storages.RDBStorage(
                    url,
                    heartbeat_interval=_SILENT // 2,
                    grace_period=_SILENT,
                    heartbeat_stale_trial_callback=_try_again,
                )
        except (OperationalError, IntegrityError, ProgrammingError) as error:
            # several processes that make the tables and first rows of a new storage at once get in each other's way
            if attempt == 7:
                raise ConfigError(f"the storage {_shown(url)} cannot be used: {error.orig}") from None
            time.sleep(0.2 * (attempt + 1))
        except (SQLAlchemyError, ImportError, ValueError) as error:
            raise ConfigError(f"the storage {_shown(url)} cannot be used: {type(error).__name__}") from None
    raise AssertionError


def _shown(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except SQLAlchemyError:
        return "given"


def _try_again(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
    """The settings of a process that died are tried by another, unless they may be what killed it."""
    tries = int(trial.user_attrs.get("tries", 1))
    if tries < _TRIES:
        study.enqueue_trial(trial.params, user_attrs={"tries": tries + 1})


def _count(study: optuna.Study, states: tuple[TrialState, ...]) -> int:
    return len(study.get_trials(deepcopy=False, states=states))


def _wait(study: optuna.Study, trials: int) -> bool:
    """Whether others finish the trials that are left; ``False`` once one of them failed or fell silent."""
    running = _count(study, (TrialState.RUNNING,))
    while trials - _count(study, DONE) > 0:
        optuna.storages.fail_stale_trials(study)
        if _count(study, (TrialState.RUNNING,)) < running and trials - _count(study, DONE) > _count(
            study, (TrialState.RUNNING,)
        ):
            return False
        time.sleep(1.0)
    return True
