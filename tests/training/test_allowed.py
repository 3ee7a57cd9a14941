"""Classes a configuration may name."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from lightning.pytorch.callbacks import Callback, LearningRateMonitor

from attentionmixer.errors import ConfigError
from attentionmixer.training.allowed import ALLOWED_CALLBACKS, instantiate_callback

MONITOR = "lightning.pytorch.callbacks.LearningRateMonitor"


def test_a_listed_class_is_made_with_its_arguments() -> None:
    callback = instantiate_callback({"class_path": MONITOR, "init_args": {"logging_interval": "step"}})
    assert isinstance(callback, LearningRateMonitor)
    assert callback.logging_interval == "step"
    assert isinstance(instantiate_callback({"class_path": MONITOR, "init_args": None}), LearningRateMonitor)


@pytest.mark.parametrize("path", ALLOWED_CALLBACKS)
def test_every_listed_class_exists(path: str) -> None:
    arguments = {"scheduling": {0: 2}} if path.endswith("Scheduler") else {}
    assert isinstance(instantiate_callback({"class_path": path, "init_args": arguments}), Callback)


@pytest.mark.parametrize(
    "path", ["os.system", "subprocess.Popen", "lightning.pytorch.callbacks.LambdaCallback", "", None, MONITOR + "x"]
)
def test_nothing_else_is_made(path: Any) -> None:
    with pytest.raises(ConfigError, match="is not allowed; allowed: lightning"):
        instantiate_callback({"class_path": path, "init_args": {}})


def test_a_module_that_is_not_listed_is_not_even_imported() -> None:
    assert "antigravity" not in sys.modules
    with pytest.raises(ConfigError):
        instantiate_callback({"class_path": "antigravity.Callback"})
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("spec", [{}, {"init_args": {}}])
def test_a_class_must_be_named(spec: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="None, which is not allowed"):
        instantiate_callback(spec)


def test_unknown_keys_and_arguments_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown keys"):
        instantiate_callback({"class_path": MONITOR, "args": {}})
    with pytest.raises(ConfigError, match="LearningRateMonitor"):
        instantiate_callback({"class_path": MONITOR, "init_args": {"colour": "red"}})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Timer", "00:01"),
        ("LearningRateMonitor", {"logging_interval": "never"}),
        ("GradientAccumulationScheduler", {"scheduling": {}}),
        ("GradientAccumulationScheduler", {}),
    ],
)
def test_arguments_that_the_class_itself_refuses_are_a_configuration_error(name: str, arguments: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        instantiate_callback({"class_path": f"lightning.pytorch.callbacks.{name}", "init_args": arguments})


def test_a_list_that_holds_a_listed_class_is_not_that_class() -> None:
    with pytest.raises(ConfigError, match="not allowed"):
        instantiate_callback({"class_path": [MONITOR]})
