"""The how-to for a model of one's own does what it says."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from attentionmixer import models
from attentionmixer.errors import ConfigError
from attentionmixer.forecaster import Forecaster

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own-model.md"


def test_the_three_steps_lead_to_a_trained_model_that_can_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(models, "_ARCHITECTURES", dict(models._ARCHITECTURES))
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code) == 4
    script = ModuleType("own_model_script")
    monkeypatch.setitem(sys.modules, script.__name__, script)
    for block in code:
        exec(compile(block, str(PAGE), "exec"), vars(script))
    said = capsys.readouterr().out
    assert re.search(r"^0\.\d+$|^[1-9]\d?\.\d+$", said, re.MULTILINE) and "report: my-run" in said
    loaded = Forecaster.load(tmp_path / "my-run")
    assert loaded.config.model == "recent-mean" and loaded.model.config.steps == 3  # type: ignore[attr-defined]


def test_a_name_that_is_taken_or_a_configuration_without_defaults_is_refused() -> None:
    from dataclasses import dataclass

    @dataclass
    class Bare:
        width: int

    config = models.architecture("gru").config
    with pytest.raises(ConfigError, match="there is a model 'gru' already"):
        models.register("gru", models.architecture("gru").build, config)
    with pytest.raises(ConfigError, match="is no name for a model"):
        models.register("../gru", models.architecture("gru").build, config)
    for wrong in (Bare, int):
        with pytest.raises(ConfigError, match="must be a dataclass whose fields all have defaults"):
            models.register("mine", models.architecture("gru").build, wrong)
    assert "mine" not in models.list()
