"""Who takes part: models of the package, variants of ours, and models that others wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from attentionmixer import models
from attentionmixer.models import ForecastModel, Task

RECIPES = Path(__file__).resolve().parent / "recipes"
#: Settings of a training where no recipe says otherwise.
DEFAULTS: dict[str, Any] = {
    "steps": 800,
    "calendar": False,
    "model": {},
    "optimizer": {"learning_rate": 2e-3, "huber_delta": 1.0},
    "regularizer": {"name": "none", "strength": 0.0},
}


@dataclass(frozen=True)
class Contender:
    """A model as it stands in the tables.

    Attributes
    ----------
    name: in the tables. architecture: what `build` makes.
    tuned_as: the contender whose recipe it uses; its own if not given.
    changes: settings of the model that differ from that recipe. random: whether a seed changes it.
    """

    name: str
    architecture: str
    tuned_as: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    random: bool = True

    @property
    def origin(self) -> str:
        """Whose code it is."""
        return self.architecture.partition(":")[0] if ":" in self.architecture else "attentionmixer"

    def recipe(self) -> dict[str, Any]:
        """Settings that were found by tuning, over the defaults."""
        path = RECIPES / f"{self.tuned_as or self.name}.yaml"
        found = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return merged(DEFAULTS, found["recipe"] if found else {}, {"model": dict(self.changes)})

    def build(self, task: Task, settings: Mapping[str, Any]) -> ForecastModel:
        """A fresh model."""
        library, _, name = self.architecture.rpartition(":")
        if library == "neuralforecast":
            from .peers.neuralforecast import build as build_neural

            return build_neural(name, task, settings)
        if library == "lightgbm":
            from .peers.lightgbm import LightGBM, LightGBMConfig

            return LightGBM(task, LightGBMConfig(**settings))
        return models.build(name, task, settings)


def merged(*trees: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of all trees; later ones win."""
    result: dict[str, Any] = {}
    for tree in trees:
        for key, value in tree.items():
            here = result.get(key)
            result[key] = merged(here, value) if isinstance(here, Mapping) and isinstance(value, Mapping) else value
    return result


CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender("attentionmixer", "attentionmixer"),
        Contender("temporal only", "attentionmixer", "attentionmixer", {"spatial": False}),
        Contender("spatial only", "attentionmixer", "attentionmixer", {"temporal": False}),
        Contender("attentionmixer-paper", "attentionmixer-paper"),
        Contender(
            "paper, shared query and key", "attentionmixer-paper", "attentionmixer-paper", {"shared_query_key": True}
        ),
        Contender("persistence", "persistence", random=False),
        Contender("seasonal_naive", "seasonal_naive", random=False),
        Contender("linear", "linear"),
        Contender("ridge_var", "ridge_var", random=False),
        *(
            Contender(name, name)
            for name in "gru lstm tcn transformer itransformer patchtst tsmixer deepfilter graph".split()
        ),
        Contender("lightgbm", "lightgbm:lightgbm", random=False),
        Contender("nf-itransformer", "neuralforecast:iTransformer"),
        Contender("nf-patchtst", "neuralforecast:PatchTST"),
        Contender("nf-tsmixer", "neuralforecast:TSMixer"),
        Contender("nf-timexer", "neuralforecast:TimeXer"),
        Contender("nf-nhits", "neuralforecast:NHITS"),
        Contender("nf-softs", "neuralforecast:SOFTS"),
    )
}
