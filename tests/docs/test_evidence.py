"""The page on evidence does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.training.fit import FitConfig, TrainerConfig

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence.md"


def test_the_commands_of_the_page_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code) == 1
    quick = ForecasterConfig(
        model_config={"width": 8, "heads": 2},
        training=FitConfig(trainer=TrainerConfig(max_epochs=1, logger="none", progress=False, accelerator="cpu")),
    )
    plain = Forecaster.__init__
    monkeypatch.setattr(Forecaster, "__init__", lambda self, config=None: plain(self, config or quick))
    names: dict[str, object] = {}
    exec(compile(code[0], str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert "effect" in said and "advantage" in said and "lag_minutes" in said and "'closed':" in said


def test_all_that_the_package_offers_is_on_the_page() -> None:
    import attentionmixer.interpret as room

    text = PAGE.read_text(encoding="utf-8")
    verbs = [name for name in room.__all__ if name[0].islower() and name not in ("close", "closed", "open_routes")]
    assert verbs and all(f"`{verb}`" in text for verb in verbs)
