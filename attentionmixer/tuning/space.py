"""What a search may try: a setting by its dotted name, and the values it may take."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import optuna
import yaml
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from .. import models
from ..configcheck import check_config_text
from ..errors import ConfigError

_LEARNING: dict[str, Any] = {
    "optimizer.learning_rate": {"low": 3e-4, "high": 1e-2, "log": True},
    "optimizer.huber_delta": [0.5, 1.0],
    "trainer.max_epochs": {"low": 1, "high": 8},
}
#: For settings of a model by their name, whichever the architecture.
_MODEL: dict[str, Any] = {
    "width": [32, 64, 128],
    "hidden": [64, 128, 256],
    "rounds": [1, 2, 3],
    "layers": [1, 2, 3],
    "patch": [1, 6, 12, 24],
    "kernel": [3, 5, 7],
    "dropout": [0.0, 0.1, 0.2, 0.3],
    "norm_epsilon": [0.01, 0.1, 1.0],
    "warm_start": [False, True],
    "decomposition": [False, True],
    "lags": [3, 6, 12, 24, 48],
    "anchor": ["last", "mean"],
    "neighbours": [2, 4, 8],
    "season": [24, 144, 168],
}
_KEYS = {"low", "high", "log", "step"}
#: What may be searched: anything else would change the question, and the easiest question would win.
_OPEN = ("model.", "optimizer.", "regularizer.", "trainer.", "data.lookback", "data.batch_size", "data.calendar")
_CLOSED = ("model.name", "trainer.callbacks", "trainer.logger", "trainer.progress")


@dataclass(frozen=True)
class Space:
    """Settings and the values they may take, in order."""

    distributions: Mapping[str, BaseDistribution]

    @classmethod
    def load(cls, path: str | Path) -> Space:
        """The space of a YAML file: ``setting: [choices]`` or ``setting: {low, high, log, step}``.

        Raises `ConfigError` where the file is no such mapping.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the space {path} cannot be read: {error}") from error
        tree = check_config_text(text, str(path))
        if not isinstance(tree, Mapping) or not tree:
            raise ConfigError(
                f"{path} must name settings and what they may be: optimizer.learning_rate: [0.001, 0.003]"
            )
        return cls.of(tree)

    @classmethod
    def of(cls, tree: Mapping[str, Any]) -> Space:
        """The space a mapping describes. Raises `ConfigError` that names the setting."""
        for key in map(str, tree):
            if not key.startswith(_OPEN) or key.startswith(_CLOSED):
                raise ConfigError(
                    f"{key!r} cannot be searched: trials would not answer the same question; there are: model.*, "
                    "optimizer.*, regularizer.*, trainer.*, data.lookback, data.batch_size, data.calendar"
                )
        return cls({str(key): _distribution(str(key), value) for key, value in tree.items()})

    @classmethod
    def default(cls, model: str) -> Space:
        """What is usually worth trying for an architecture: how it learns, its size, and what it knows of a window."""
        own = {field.name for field in fields(models.architecture(model).config)}
        tree = {f"model.{name}": values for name, values in _MODEL.items() if name in own}
        if model == "attentionmixer":
            tree["regularizer.strength"] = [0.005, 0.02, 0.05]
        trained = not {"lags", "season"} & own and model != "persistence"
        tree |= _LEARNING if trained else {}
        if not tree:
            raise ConfigError(f"model {model!r} has nothing to search; name settings with --space FILE")
        return cls.of(tree)

    def draw(self, trial: optuna.Trial) -> dict[str, Any]:
        """One value for each setting."""
        drawn: dict[str, Any] = {}
        for key, of in self.distributions.items():
            if isinstance(of, CategoricalDistribution):
                drawn[key] = trial.suggest_categorical(key, of.choices)
            elif isinstance(of, IntDistribution):
                drawn[key] = trial.suggest_int(key, of.low, of.high, step=of.step, log=of.log)
            else:
                assert isinstance(of, FloatDistribution)
                drawn[key] = trial.suggest_float(key, of.low, of.high, step=of.step, log=of.log)
        return drawn

    def start(self, text: str) -> dict[str, Any]:
        """Where a resolved configuration (YAML) lies in a space that was widened to hold it."""
        there = leaves(yaml.safe_load(text))
        return {key: there[key] for key in self.distributions}

    def holding(self, text: str) -> Space:
        """The same space, widened where a resolved configuration (YAML) lies outside, so that a search can begin there.

        Raises `ConfigError` for a setting that the configuration does not know, naming the nearest.
        """
        there = leaves(yaml.safe_load(text))
        wide: dict[str, BaseDistribution] = {}
        for key, of in self.distributions.items():
            if key not in there:
                near = difflib.get_close_matches(key, there, n=1, cutoff=0.4)
                hint = f"; the nearest is {near[0]!r}" if near else ""
                raise ConfigError(f"the space names {key!r}, which is no setting{hint}")
            wide[key] = _widened(of, there[key])
        return Space(wide)

    def edges(self) -> list[dict[str, Any]]:
        """Each choice and each end of a range by itself, to be tried on a parser before anything is trained."""
        return [
            {key: value}
            for key, of in self.distributions.items()
            for value in (of.choices if isinstance(of, CategoricalDistribution) else (of.low, of.high))  # type: ignore[attr-defined]
        ]

    def to_dict(self) -> dict[str, str]:
        """For comparing spaces."""
        return {key: optuna.distributions.distribution_to_json(of) for key, of in self.distributions.items()}


def as_arguments(values: Mapping[str, Any]) -> list[str]:
    """Drawn values as arguments of the training command."""
    return [f"--{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in values.items()]


def _distribution(key: str, value: Any) -> BaseDistribution:
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        if all(isinstance(choice, bool | int | float | str) for choice in value):
            return CategoricalDistribution([_number(choice) for choice in value])
    elif isinstance(value, Mapping) and {"low", "high"} <= set(value) <= _KEYS:
        low, high, step, log = value["low"], value["high"], value.get("step"), bool(value.get("log", False))
        try:
            if isinstance(low, int) and isinstance(high, int):
                return IntDistribution(low, high, log=log, step=step or 1)
            return FloatDistribution(float(low), float(high), log=log, step=step)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"the space of {key!r} makes no sense: {error}") from error
    raise ConfigError(
        f"the space of {key!r} must be a list of values or {{low, high, log, step}}, not {str(value)[:60]}"
    )


def _number(choice: Any) -> Any:
    """``1e-3`` is a text to YAML, and a number to everybody else."""
    try:
        return float(choice) if isinstance(choice, str) else choice
    except ValueError:
        return choice


def _widened(of: BaseDistribution, value: Any) -> BaseDistribution:
    if isinstance(of, CategoricalDistribution):
        there = any(choice == value and isinstance(choice, bool) == isinstance(value, bool) for choice in of.choices)
        return of if there else CategoricalDistribution([*of.choices, value])
    assert isinstance(of, IntDistribution | FloatDistribution)
    if not isinstance(value, int | float) or isinstance(value, bool) or of._contains(value):
        return of
    low, high = min(of.low, value), max(of.high, value)
    if isinstance(of, IntDistribution):
        return IntDistribution(int(low), int(high), log=of.log)
    return FloatDistribution(low, high, log=of.log and low > 0)


def leaves(tree: Any, name: str = "") -> dict[str, Any]:
    """Dotted name → value of all settings of a tree."""
    if not isinstance(tree, Mapping) or not tree:
        return {name: tree}
    return {
        key: leaf
        for part, branch in tree.items()
        for key, leaf in leaves(branch, f"{name}.{part}" if name else str(part)).items()
    }
