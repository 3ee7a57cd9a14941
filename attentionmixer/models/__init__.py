"""Architectures, one a file, behind one interface."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from typing import Any, Protocol

from ..errors import ConfigError
from ..nn.encoder import EncoderConfig
from .attentionmixer import AttentionMixer, AttentionMixerConfig
from .base import ForecastModel, Task
from .deepfilter import DeepFilter, DeepFilterConfig
from .graph import Graph, GraphConfig
from .gru import GRU, RecurrentConfig
from .itransformer import ITransformer
from .linear import Linear, LinearConfig
from .lstm import LSTM
from .paper import Paper, PaperConfig
from .patchtst import PatchTST, PatchTSTConfig
from .persistence import Persistence, PersistenceConfig
from .ridge_var import RidgeVAR, RidgeVARConfig
from .seasonal_naive import SeasonalNaive, SeasonalNaiveConfig
from .tcn import TCN, TCNConfig
from .transformer import Transformer
from .tsmixer import TSMixer, TSMixerConfig


class _Builder(Protocol):
    def __call__(self, task: Task, config: Any) -> ForecastModel: ...


@dataclass(frozen=True)
class Architecture:
    """A name, what builds it and its configuration class."""

    name: str
    build: _Builder
    config: type


_ARCHITECTURES = {
    architecture.name: architecture
    for architecture in (
        Architecture("attentionmixer", AttentionMixer, AttentionMixerConfig),
        Architecture("attentionmixer-paper", Paper, PaperConfig),
        Architecture("persistence", Persistence, PersistenceConfig),
        Architecture("seasonal_naive", SeasonalNaive, SeasonalNaiveConfig),
        Architecture("linear", Linear, LinearConfig),
        Architecture("ridge_var", RidgeVAR, RidgeVARConfig),
        Architecture("gru", GRU, RecurrentConfig),
        Architecture("lstm", LSTM, RecurrentConfig),
        Architecture("tcn", TCN, TCNConfig),
        Architecture("transformer", Transformer, EncoderConfig),
        Architecture("itransformer", ITransformer, EncoderConfig),
        Architecture("patchtst", PatchTST, PatchTSTConfig),
        Architecture("tsmixer", TSMixer, TSMixerConfig),
        Architecture("deepfilter", DeepFilter, DeepFilterConfig),
        Architecture("graph", Graph, GraphConfig),
    )
}


def names() -> tuple[str, ...]:
    """Names of all architectures."""
    return tuple(_ARCHITECTURES)


def architecture(name: str) -> Architecture:
    """The architecture of that name. Raises `ConfigError` listing those there are."""
    try:
        return _ARCHITECTURES[name]
    except KeyError:
        raise ConfigError(f"unknown model {name!r}; there are: {', '.join(_ARCHITECTURES)}") from None


def register(name: str, build: _Builder, config: type) -> None:
    """Make a model of one's own known by a name, as those of the package are; see docs/own-model.md.

    Parameters
    ----------
    name: new, letters, digits, ``-`` and ``_``. build: takes a `Task` and a configuration; mostly the model's class.
    config: a dataclass whose fields have defaults.

    Raises `ConfigError` where the name is taken or ``config`` is no such dataclass.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise ConfigError(f"{name!r} is no name for a model: use letters, digits, - and _")
    if name in _ARCHITECTURES:
        raise ConfigError(f"there is a model {name!r} already; choose another name")
    if not is_dataclass(config) or any(f.default is MISSING and f.default_factory is MISSING for f in fields(config)):
        raise ConfigError(f"the configuration of {name!r} must be a dataclass whose fields all have defaults")
    _ARCHITECTURES[name] = Architecture(name, build, config)


def build(name: str, task: Task, config: Mapping[str, Any] | Any = None) -> ForecastModel:
    """A model with fresh weights.

    Parameters
    ----------
    name: one of `names`. task: what it is for. config: its configuration object, a mapping of fields, or ``None``.
    """
    kind = architecture(name)
    if isinstance(config, Mapping):
        known = {field.name for field in fields(kind.config)}
        unknown = sorted(set(config) - known)
        if unknown:
            raise ConfigError(f"model {name!r} has no setting {unknown[0]!r}; it has: {', '.join(sorted(known))}")
    try:
        if config is None or isinstance(config, Mapping):
            config = kind.config(**(config or {}))
        return kind.build(task, config)
    except ValueError as error:
        raise ConfigError(f"model {name!r}: {error}") from error


def config_dict(model: ForecastModel) -> dict[str, Any]:
    """The configuration of a model as plain types."""
    return asdict(model.config)  # type: ignore[call-overload]


#: `attentionmixer.models.list()` reads better from outside.
list = names

__all__ = ["Architecture", "ForecastModel", "Task", "architecture", "build", "config_dict", "list", "names", "register"]
