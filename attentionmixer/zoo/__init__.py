"""Models that come with the package: weights, what they were trained on, and how good they are.

>>> import attentionmixer.zoo as zoo
>>> zoo.list()                                      # doctest: +SKIP
>>> forecaster = zoo.load("radnet-hourly")          # doctest: +SKIP
>>> forecaster.adapt(log).predict(log)              # doctest: +SKIP
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from ..errors import ConfigError, RunError
from ..files import read_json, sha256, verify_manifest
from ..forecaster import Forecaster
from .card import Card

CARD = "card.json"
_MODELS = Path(str(resources.files(__package__))) / "models"


def names() -> tuple[str, ...]:
    """Names of all models that came with this installation."""
    return tuple(sorted(path.parent.name for path in _MODELS.glob(f"*/{CARD}")))


def card(name: str) -> Card:
    """What a model was made of, how good it is and what it is for. Raises `ConfigError` for an unknown name."""
    return Card.from_dict(read_json(_folder(name) / CARD))


def load(name: str) -> Forecaster:
    """A trained forecaster; `Forecaster.adapt` or `finetune` makes it one for your own log.

    Raises `ConfigError` for an unknown name, and `RunError` where a file is not the one that was published. Hashes,
    header and shapes are checked before a weight is read; nothing is ever unpickled.
    """
    verify(name)
    return Forecaster.load(_folder(name))


def verify(name: str) -> Card:
    """Raise `RunError` where a file of a model is not what its card says; returns the card."""
    folder, own = _folder(name), card(name)
    verify_manifest(folder)
    for file, wanted in own.sha256.items():
        path = folder / Path(file).name
        if not path.is_file():
            raise RunError(f"{path} is missing; install the package again")
        if sha256(path) != wanted:
            raise RunError(f"{path} is not the file that was published: its hash is not the one of its card")
    return own


def _folder(name: str) -> Path:
    if name not in names():
        there = ", ".join(names()) or "none"
        raise ConfigError(f"there is no model {name!r} in the zoo; there are: {there}")
    return _MODELS / name


#: `zoo.list()` reads better from outside.
list = names

__all__ = ["Card", "card", "list", "load", "names", "verify"]
