"""`Forecaster`: the trained thing. A model, its scaler and the schema of the log it was trained on."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from . import models
from .data.datamodule import RadiationDataModule, WindowConfig
from .data.known import known_channels, known_names, with_future
from .data.log import StationLog
from .data.quality import Flag, QualityRecord
from .data.scaling import TagScaler
from .data.split import SplitConfig
from .data.windows import WindowBatch, WindowLoader, Windows
from .errors import LogError, RunError
from .forecast import Forecast
from .models.base import ForecastModel
from .routemap import RouteMap
from .saved import Saved, read_saved, write_saved
from .schema import Schema, align
from .training.fit import FitConfig, FitResult, TrainerConfig, fit
from .training.metrics import ForecastErrors
from .training.module import OptimizerConfig, RegularizerConfig
from .training.provenance import provenance
from .training.routes import collect_routes
from .training.task import make_task, places, stations

logger = logging.getLogger(__name__)

_Part = TypeVar("_Part")
#: For weights that are good already: few passes, small steps, nothing closed.
GENTLE = FitConfig(
    OptimizerConfig(learning_rate=3e-4), RegularizerConfig("none", 0.0), TrainerConfig(max_epochs=2, logger="none")
)
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


@dataclass(frozen=True)
class ForecasterConfig:
    """What to train and how.

    Attributes
    ----------
    model: name of an architecture (see `attentionmixer.models.names`). model_config: its settings.
    window: windows, split and scaling. training: optimiser, regularizer, trainer, seed.
    levels: quantile levels of the forecasts, ascending. coordinates: let the model know where stations are.
    """

    model: str = "attentionmixer"
    model_config: Mapping[str, Any] = field(default_factory=dict)
    window: WindowConfig = field(default_factory=WindowConfig)
    training: FitConfig = field(default_factory=FitConfig)
    levels: tuple[float, ...] = LEVELS
    coordinates: bool = True


class Forecaster:
    """Fits on a log, forecasts, shows its routes, saves and loads.

    >>> forecaster = Forecaster().fit(log)          # doctest: +SKIP
    >>> forecaster.predict(log).to_frame()          # doctest: +SKIP
    >>> forecaster.save("model")                    # doctest: +SKIP
    """

    def __init__(self, config: ForecasterConfig | None = None) -> None:
        self.config = config or ForecasterConfig()
        self.data: RadiationDataModule | None = None
        self.result: FitResult | None = None
        self.provenance: dict[str, Any] = {}
        self.quality = QualityRecord()
        self._model: ForecastModel | None = None
        self._scaler: TagScaler | None = None
        self._schema: Schema | None = None

    # --- parts -------------------------------------------------------------------------------------------------------

    @property
    def model(self) -> ForecastModel:
        """The trained model."""
        return self._fitted(self._model)

    @property
    def scaler(self) -> TagScaler:
        """The scaler fitted on the training part."""
        return self._fitted(self._scaler)

    @property
    def schema(self) -> Schema:
        """Tags, step, look-back and horizon."""
        return self._fitted(self._schema)

    # --- verbs -------------------------------------------------------------------------------------------------------

    def fit(
        self,
        log: StationLog,
        folder: Path | None = None,
        *,
        resume: bool = False,
        start: Mapping[str, Tensor] | None = None,
    ) -> Forecaster:
        """Train on the log's training part, choose weights on its validation part; the test part is not looked at.

        Parameters
        ----------
        log: the plant's log. folder: where training may write logs and its checkpoint. resume: go on from there.
        start: weights to begin with (see `finetune`); fresh ones if not given.

        Returns itself. Raises `LogError`, `ConfigError` or `TrainingError`.
        """
        config = self.config
        data = RadiationDataModule(log, config.window, config.training.seed)
        window = config.window
        task = make_task(data, config.levels, config.coordinates)
        torch.manual_seed(config.training.seed)
        model = models.build(config.model, task, dict(config.model_config))
        if start is not None:
            _check_start(model, start)
            model.load_state_dict(start)
        self.result = fit(model, data, config.training, folder, resume, warm_start=start is None)
        self.data, self.quality = data, log.quality
        self._model, self._scaler = model.eval(), data.scaler
        self._schema = Schema(
            log.tags,
            log.step,
            window.lookback,
            window.horizon,
            config.levels,
            tuple(window.calendar),
            window.ignored,
        )
        self.provenance = provenance(data, self.result, model, config.training.seed)
        return self

    def adapt(self, log: StationLog, rows: int | None = None) -> Forecaster:
        """This forecaster for the tags of another log: the same weights, its own scaler and schema. Nothing is trained.

        Parameters
        ----------
        log: of the same step. rows: the scaler is fitted on that many first rows; on all if not given.

        Raises `LogError` where the step differs, and `RunError` where weights belong to the tags they were trained on.
        """
        own = self.schema
        if log.step != own.step:
            raise LogError(f"the log has a step of {log.step}, the model was trained on {own.step}; resample the log")
        other = Forecaster(self._settings())
        data_config = other.config.window
        log = log.without_flagged(data_config.ignored)
        task = replace(
            self.model.task,
            variates=len(log.tags),
            known=len(known_names(log, own.calendar)),
            # a row of zeros says that a tag has no place
            static=(places(log) or ((0.0, 0.0, 0.0),) * len(log.tags)) if self.model.task.static else (),
            stations=stations(log),
        )
        other._model = models.build(self.config.model, task, models.config_dict(self.model)).eval()
        weights = self.model.state_dict()
        _check_start(other._model, weights)
        other._model.load_state_dict(weights)
        other._scaler = TagScaler.fit(log, len(log) if rows is None else rows, data_config.scaling)
        other._schema = replace(own, tags=log.tags)
        other.provenance = {"adapted from": self.provenance}
        other.quality = log.quality
        return other

    def reconfigured(self, **settings: Any) -> Forecaster:
        """This forecaster with other settings of its model that leave the weights as they are, such as ``sparse``.

        Raises `RunError` where the weights do not fit the settings, and what `models.build` raises.
        """
        mine = self._settings()
        other = Forecaster(replace(mine, model_config={**mine.model_config, **settings}))
        other._model = models.build(mine.model, self.model.task, dict(other.config.model_config)).eval()
        _check_start(other._model, self.model.state_dict())
        other._model.load_state_dict(self.model.state_dict())
        other._scaler, other._schema, other.quality = self.scaler, self.schema, self.quality
        other.provenance = dict(self.provenance)
        return other

    def finetune(
        self, log: StationLog, training: FitConfig | None = None, split: SplitConfig | None = None
    ) -> Forecaster:
        """A new forecaster for a log, trained from these weights on; they are good for its tags, or for any (`adapt`).

        Parameters
        ----------
        log: of the same step. training: optimiser, trainer, seed; a few gentle epochs if not given.
        split: where the log's training, validation and test parts end.

        Raises what `adapt` and `fit` raise.
        """
        if log.step != self.schema.step:
            raise LogError(
                f"the log has a step of {log.step}, the model was trained on {self.schema.step}; resample the log"
            )
        other = Forecaster(self._settings(training or GENTLE, split))
        other.fit(log, start=self.model.state_dict())
        other.provenance["started from"] = self.provenance
        return other

    def predict(self, log: StationLog, ahead: StationLog | None = None) -> Forecast:
        """Forecast the H steps after the last observed reading.

        Parameters
        ----------
        log: at least L steps; other columns are ignored with a warning, their order does not matter.
        ahead: the next H values of tags that are known ahead, where the model uses such tags.

        Raises `LogError` where tags are missing, the step or a unit differs, or the log is too short.
        """
        log = align(log, self.schema)
        observed = [i for i, tag in enumerate(log.tags) if tag.seen and tag.role != "known"]
        seen = np.flatnonzero(~np.isnan(log.values[:, observed]).all(axis=1))
        if seen.size == 0:
            raise LogError("the log has no observed value, so there is nothing to forecast from")
        last = int(seen[-1]) + 1
        if last < self.schema.lookback:
            raise LogError(
                f"a forecast needs {self.schema.lookback} steps of {self.schema.step} up to the last reading "
                f"({log.time[last - 1]}), but the log has {last}"
            )
        window = log.rows(last - self.schema.lookback, last)
        recent = with_future(window, self.schema.horizon, log if ahead is None else ahead)
        return self.forecasts(recent, self.schema.lookback, len(recent), aligned=True)

    def forecasts(
        self,
        log: StationLog,
        first: int | None = None,
        last: int | None = None,
        stride: int = 1,
        *,
        aligned: bool = False,
    ) -> Forecast:
        """Forecasts from many origins: all windows whose targets lie in rows ``first <= i < last``.

        ``stride`` H gives back-to-back forecasts. With ``aligned`` the log is known to fit the schema.
        """
        if not aligned:
            log = align(log, self.schema)
        parts, starts = [], []
        for batch, output in self._outputs(log, first, last, stride):
            parts.append(self._engineering(output))
            starts.append(batch.start)
        if not parts:
            raise LogError(f"the log has {len(log)} rows; a forecast needs {self.schema.lookback} before it")
        values = torch.cat(parts).numpy()
        rows = torch.cat(starts).numpy() + self.schema.lookback - 1
        return Forecast(log.time[rows], log.step, log.tags, values[..., 0], self.schema.levels, values[..., 1:])

    def evaluate(self, log: StationLog, first: int | None = None, last: int | None = None) -> ForecastErrors:
        """Errors and coverage over all windows whose targets lie in rows ``first <= i < last``."""
        log = align(log, self.schema)
        errors = ForecastErrors(self.scaler, self.schema.horizon, self.schema.levels)
        for batch, output in self._outputs(log, first, last):
            errors.update(output, batch.observed, batch.y_mask)
        return errors

    def windows(self, log: StationLog, first: int | None = None, last: int | None = None) -> Windows:
        """All windows of an aligned log whose targets lie in rows ``first <= i < last``."""
        known = known_channels(log, self.scaler, self.schema.calendar)
        scored, seen = (torch.tensor([getattr(tag, kind) for tag in log.tags]) for kind in ("scored", "seen"))
        first = self.schema.lookback if first is None else first
        last = len(log) if last is None else last
        lookback, horizon = self.schema.lookback, self.schema.horizon
        if len(log) < lookback + horizon:
            raise LogError(
                f"the log has {len(log)} rows; one window needs {lookback} of look-back and {horizon} of horizon"
            )
        return Windows(log.tensor(), self.scaler, lookback, horizon, first, last, scored, known, seen)

    def routes(
        self, log: StationLog, first: int | None = None, last: int | None = None, windows: int = 256
    ) -> list[RouteMap]:
        """Mean routes over up to ``windows`` windows, evenly spread over the rows: one map per axis and round.

        Weight alone is weak evidence of influence: see the notes of the maps.
        """
        log = align(log, self.schema)
        everything = self.windows(log, first, last)
        stride = max(1, len(everything) // windows)
        loader = WindowLoader(everything, 32, stride=stride)
        return collect_routes(self.model, loader, self.schema.names, known_names(log, self.schema.calendar), log.step)

    # --- files -------------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write ``model.safetensors`` and ``forecaster.json``; nothing in them can run code.

        What was saved there before stays whole until the new ``forecaster.json`` is in place: from then on its weights
        are those with the hash it states, under their temporary name until they are renamed. So a crash at any moment
        leaves the old forecaster or the new one. Raises `RunError` where the disk is full.
        """
        parts = Saved(
            self.config.model,
            models.config_dict(self.model),
            self.model.task,
            self.schema,
            self.scaler,
            self.provenance,
            self.quality,
        )
        write_saved(parts, self.model.state_dict(), Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> Forecaster:
        """Read what `save` wrote. Raises `RunError` where a file is missing, damaged or does not fit.

        Sizes and the header of the weights are checked before the model is built or a weight is read.
        """
        parts, weights = read_saved(Path(folder))
        forecaster = cls(ForecasterConfig(model=parts.model, model_config=parts.config))
        forecaster._schema, forecaster._scaler = parts.schema, parts.scaler
        forecaster.provenance, forecaster.quality = parts.provenance, parts.quality
        forecaster._model = models.build(parts.model, parts.task, parts.config).eval()
        forecaster._model.load_state_dict(weights)
        return forecaster

    def __repr__(self) -> str:
        if self._schema is None:
            return f"Forecaster({self.config.model}, not fitted)"
        return f"Forecaster({self.config.model}, {self.schema!r}, {self.model.parameter_count:,} parameters)"

    # --- inner -------------------------------------------------------------------------------------------------------

    def _settings(self, training: FitConfig | None = None, split: SplitConfig | None = None) -> ForecasterConfig:
        """What this forecaster was made with; a loaded one knows it from its parts."""
        schema, task = self.schema, self.model.task
        names = tuple(name.lower() for name, flag in Flag.__members__.items() if flag & schema.ignored)
        window = WindowConfig(
            lookback=schema.lookback,
            horizon=schema.horizon,
            split=split or SplitConfig(),
            scaling=self.scaler.config,
            calendar=schema.calendar,
            ignored_flags=names,
        )
        settings = models.config_dict(self.model)
        return ForecasterConfig(
            self.config.model, settings, window, training or FitConfig(), schema.levels, bool(task.static)
        )

    @torch.no_grad()
    def _outputs(
        self, log: StationLog, first: int | None, last: int | None, stride: int = 1
    ) -> Iterator[tuple[WindowBatch, Tensor]]:
        loader = WindowLoader(self.windows(log, first, last), 256, stride=stride)
        for batch in loader:
            yield batch, self.model(batch.x, batch.x_mask, batch.known)

    def _engineering(self, output: Tensor) -> Tensor:
        return self.scaler.inverse(output, tag_dim=2)

    @staticmethod
    def _fitted(part: _Part | None) -> _Part:
        if part is None:
            raise RunError("this forecaster is not fitted yet: call fit(log) or Forecaster.load(folder)")
        return part


def _check_start(model: ForecastModel, weights: Mapping[str, Tensor]) -> None:
    """Raise `RunError` where weights do not fit a model for other tags."""
    wanted = model.state_dict()
    if odd := sorted(wanted.keys() ^ weights.keys()):
        raise RunError(
            f"the weights do not fit this model and log: only one of the two has {', '.join(map(repr, odd[:3]))}"
        )
    own = [name for name, value in wanted.items() if value.shape != weights[name].shape]
    if own:
        raise RunError(
            f"the model's {', '.join(map(repr, own[:3]))} belong to the tags it was trained on, so it fits no others; "
            "one that does has no embedding, gates or linear path of its own for a tag (tag_embedding=false, "
            "gates=false, cross_lags=0)"
        )
