"""`Forecaster`: the trained thing. A model, its scaler and the schema of the log it was trained on."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from . import models
from .data.datamodule import RadiationDataModule, WindowConfig
from .data.known import known_channels, known_names, with_future
from .data.log import StationLog
from .data.quality import QualityRecord
from .data.scaling import TagScaler
from .data.windows import WindowBatch, WindowLoader, Windows
from .errors import ConfigError, LogError, RunError
from .files import (
    commit,
    drop_manifest,
    part_of,
    read_json,
    sealed_text,
    sha256,
    verify_manifest,
    verify_seal,
    write_part,
    write_text,
)
from .forecast import Forecast
from .models.base import ForecastModel, Task
from .routemap import RouteMap
from .schema import Schema, align
from .tensorfile import OnPaper, check_fits, read_header, read_tensors, write_tensors
from .training.fit import FitConfig, FitResult, fit
from .training.metrics import ForecastErrors
from .training.provenance import provenance
from .training.routes import collect_routes
from .training.task import make_task

logger = logging.getLogger(__name__)

FORMAT = 1
WEIGHTS, DESCRIPTION = "model.safetensors", "forecaster.json"
#: No saved model is larger; one that claims to be would take the machine's memory or hours to build.
MAX_SETTING = 65_536
MAX_ROUNDS = 128
MAX_WINDOW = 2**31
_Part = TypeVar("_Part")
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

    def fit(self, log: StationLog, folder: Path | None = None, *, resume: bool = False) -> Forecaster:
        """Train on the log's training part, choose weights on its validation part; the test part is not looked at.

        Parameters
        ----------
        log: the plant's log. folder: where training may write logs and its checkpoint. resume: go on from there.

        Returns itself. Raises `LogError`, `ConfigError` or `TrainingError`.
        """
        config = self.config
        data = RadiationDataModule(log, config.window, config.training.seed)
        window = config.window
        task = make_task(data, config.levels, config.coordinates)
        torch.manual_seed(config.training.seed)
        model = models.build(config.model, task, dict(config.model_config))
        self.result = fit(model, data, config.training, folder, resume)
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
        folder = Path(folder)
        _finish_save(folder)
        weights = {name: value.contiguous() for name, value in self.model.state_dict().items()}
        weights_part = write_part(folder / WEIGHTS, lambda part: write_tensors(part, weights))
        description = {
            "format": FORMAT,
            "model": {
                "name": self.config.model,
                "config": models.config_dict(self.model),
                "task": asdict(self.model.task),
            },
            "schema": self.schema.to_dict(),
            "scaler": self.scaler.to_dict(),
            "provenance": self.provenance,
            "quality": self.quality.to_dict(),
            "weights_sha256": sha256(weights_part),
        }
        try:
            write_part(folder / DESCRIPTION, lambda part: write_text(part, sealed_text(description)))
        except BaseException:
            weights_part.unlink()
            raise
        drop_manifest(folder)
        commit(folder / DESCRIPTION)
        commit(folder / WEIGHTS)

    @classmethod
    def load(cls, folder: str | Path) -> Forecaster:
        """Read what `save` wrote. Raises `RunError` where a file is missing, damaged or does not fit.

        Sizes and the header of the weights are checked before the model is built or a weight is read.
        """
        folder = Path(folder)
        verify_manifest(folder, (DESCRIPTION, WEIGHTS))
        path = folder / DESCRIPTION
        data = read_json(path)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise RunError(f"{path} is not of format {FORMAT}; it needs another version")
        try:
            name, config = data["model"]["name"], dict(data["model"]["config"])
            task = Task(**_task_fields(data["model"]["task"]))
            forecaster = cls(ForecasterConfig(model=name, model_config=config))
            forecaster._schema = Schema.from_dict(data["schema"])
            forecaster._scaler = TagScaler.from_dict(data["scaler"])
            forecaster.provenance = dict(data["provenance"])
            forecaster.quality = QualityRecord.from_dict(data["quality"])
            _check_size(task, config)
            with OnPaper():
                expected = models.build(name, task, config).state_dict()
        except (LogError, ConfigError) as error:
            raise RunError(f"{path} is damaged: {error}") from error
        except (LookupError, AttributeError, TypeError, ValueError, RuntimeError, ArithmeticError) as error:
            raise RunError(f"{path} is damaged: {error!r}") from error
        _check_agreement(task, forecaster.schema, forecaster.scaler, path)
        weights = _load_weights(folder, expected, data.get("weights_sha256"))
        verify_seal(path)
        forecaster._model = models.build(name, task, config).eval()
        forecaster._model.load_state_dict(weights)
        return forecaster

    def __repr__(self) -> str:
        if self._schema is None:
            return f"Forecaster({self.config.model}, not fitted)"
        return f"Forecaster({self.config.model}, {self.schema!r}, {self.model.parameter_count:,} parameters)"

    # --- inner -------------------------------------------------------------------------------------------------------

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


def _task_fields(task: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(task)
    fields["levels"] = tuple(fields["levels"])
    fields["static"] = tuple(tuple(row) for row in fields["static"])
    fields["stations"] = tuple(fields.get("stations", ()))
    return fields


def _check_agreement(task: Task, schema: Schema, scaler: TagScaler, path: Path) -> None:
    """Raise `RunError` where the parts of ``forecaster.json`` speak of different tags, windows or quantiles."""
    wanted = (task.variates, task.variates, task.lookback, task.horizon, task.levels)
    there = (len(schema.tags), len(scaler.location), schema.lookback, schema.horizon, schema.levels)
    names = ("tags", "tags of the scaler", "look-back", "horizon", "levels")
    for name, one, other in zip(names, wanted, there, strict=True):
        if one != other:
            raise RunError(f"{path} is damaged: {name} is {other}, but the model was built for {one}")
    for name, numbers in scaler.named_buffers():
        # in float32: what is finite in the file need not be so here
        if not bool(numbers.isfinite().all()) or (name in ("scale", "deviation") and not bool((numbers > 0).all())):
            raise RunError(f"{path} is damaged: the scaler's {name} is no possible number for some tag")


def _check_size(task: Task, config: Mapping[str, Any]) -> None:
    """Raise `ValueError` for a size that is none, or that no saved model has: building it would take all memory."""
    sizes = {name: getattr(task, name) for name in ("variates", "lookback", "horizon", "known")}
    for name, size in sizes.items():
        if type(size) is not int or size < (name != "known"):
            raise ValueError(f"{name} is {str(size)[:40]!r}, which is no possible number of them")
    settings = {name: value for name, value in config.items() if type(value) is int}
    for name, size in {**sizes, "levels": len(task.levels), **settings}.items():
        most = MAX_ROUNDS if name == "rounds" else MAX_SETTING
        if size > most:
            raise ValueError(f"{name} is {size:,}; no saved model has more than {most:,}")
    if len(task.static) not in (0, task.variates):
        raise ValueError(f"{len(task.static):,} tags have a place, but there are {task.variates:,}")
    steps = task.lookback + task.horizon * (1 + len(task.levels))
    window = task.variates * steps * max([1, *settings.values()])
    if window > MAX_WINDOW:
        raise ValueError(
            f"one window of {task.variates:,} tags, look-back {task.lookback:,} and horizon {task.horizon:,} would "
            f"take {window:,} numbers; no saved model takes more than {MAX_WINDOW:,}"
        )


def _finish_save(folder: Path) -> None:
    """Rename the weights of a save that was cut off just before."""
    try:
        digest = read_json(folder / DESCRIPTION)["weights_sha256"]
    except (RunError, LookupError, TypeError):
        return  # nothing of ours is there that could be lost
    if _find_weights(folder, digest) != folder / WEIGHTS:
        commit(folder / WEIGHTS)


def _find_weights(folder: Path, digest: str) -> Path:
    """Where the weights with that hash lie: in their place, or under the temporary name if a save was cut off."""
    path = folder / WEIGHTS
    part = part_of(path)
    if part.is_file() and sha256(part) == digest and not (path.is_file() and sha256(path) == digest):
        return part
    return path


def _load_weights(folder: Path, expected: Mapping[str, Tensor], digest: str | None) -> dict[str, Tensor]:
    path = folder / WEIGHTS if digest is None else _find_weights(folder, digest)
    header = read_header(path)
    check_fits(path, header, expected)
    if digest is not None and sha256(path) != digest:
        raise RunError(f"{path} was changed after it was written: its hash is not the one in {DESCRIPTION}")
    weights = read_tensors(path, header)
    for name, value in weights.items():
        if not bool(value.isfinite().all()):
            raise RunError(f"{path} is damaged: {name!r} holds values that are no numbers")
    return weights
