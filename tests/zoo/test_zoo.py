"""Models that come with the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attentionmixer import zoo
from attentionmixer.data.log import StationLog
from attentionmixer.errors import ConfigError, RunError
from attentionmixer.files import sha256, write_json, write_manifest
from attentionmixer.forecaster import Forecaster
from attentionmixer.run import environment
from attentionmixer.zoo.__main__ import main
from attentionmixer.zoo.card import Card


def make_card(folder: Path, **changes: Any) -> Card:
    content = {
        "name": "small",
        "title": "A small one",
        "summary": "Forecasts a little.",
        "data": "made up",
        "licence": "none",
        "span": "four days",
        "split": "70/15/15",
        "step": "10 min",
        "lookback": 24,
        "horizon": 4,
        "inputs": "dose rates",
        "intended_use": "tests",
        "limits": ("knows nothing",),
        "metrics": (
            {"log": "ring", "seen": True, "model": "small", "mse": 0.5, "mae": 0.3, "coverage_90": 0.91, "windows": 84},
            {
                "log": "ring",
                "seen": True,
                "model": "persistence",
                "mse": 1.0,
                "mae": 0.6,
                "coverage_90": None,
                "windows": 84,
            },
        ),
        "parameters": 4241,
        "command": "python -m experiments.zoo small",
        "environment": environment([]),
        "sha256": {name: sha256(folder / name) for name in ("model.safetensors", "forecaster.json")},
    }
    return Card(**{**content, **changes})  # type: ignore[arg-type]


@pytest.fixture
def shelf(tiny: tuple[Forecaster, StationLog], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A zoo of one small model; returns its folder."""
    folder = tmp_path / "small"
    tiny[0].save(folder)
    write_json(folder / "card.json", make_card(folder).to_dict())
    write_manifest(folder)
    monkeypatch.setattr(zoo, "_MODELS", tmp_path)
    return folder


def test_a_model_is_listed_described_and_loaded(shelf: Path, tiny: tuple[Forecaster, StationLog]) -> None:
    assert zoo.list() == zoo.names() == ("small",)
    assert zoo.card("small") == make_card(shelf)
    forecaster, log = tiny
    np.testing.assert_array_equal(zoo.load("small").predict(log).point, forecaster.predict(log).point)


@pytest.mark.parametrize("name", ["other", "../small", "", "small/.."])
def test_a_name_that_is_not_on_the_shelf_is_no_path(shelf: Path, name: str) -> None:
    for verb in (zoo.card, zoo.load, zoo.verify):
        with pytest.raises(ConfigError, match="in the zoo; there are: small"):
            verb(name)


@pytest.mark.parametrize("file", ["model.safetensors", "forecaster.json", "card.json"])
def test_one_flipped_byte_is_noticed_before_anything_is_read(shelf: Path, file: str) -> None:
    content = bytearray((shelf / file).read_bytes())
    content[len(content) // 2] ^= 1
    (shelf / file).write_bytes(content)
    with pytest.raises(RunError):
        zoo.load("small")


@pytest.mark.parametrize("file", ["model.safetensors", "forecaster.json"])
def test_files_that_were_exchanged_with_their_manifest_are_noticed_by_the_card(shelf: Path, file: str) -> None:
    (shelf / file).write_bytes((shelf / file).read_bytes() + b" ")
    write_manifest(shelf)
    with pytest.raises(RunError, match="is not the file that was published"):
        zoo.verify("small")


def test_a_missing_file_is_named(shelf: Path) -> None:
    (shelf / "model.safetensors").unlink()
    (shelf / "manifest.json").unlink()
    with pytest.raises(RunError, match=r"model\.safetensors is missing; install the package again"):
        zoo.load("small")


@pytest.mark.parametrize("change", [{"licence": None}, {"more": 1}])
def test_a_card_with_too_little_or_too_much_is_damaged(shelf: Path, change: dict[str, Any]) -> None:
    content = {k: v for k, v in {**make_card(shelf).to_dict(), **change}.items() if v is not None}
    with pytest.raises(RunError, match=f"a model card is damaged at: {next(iter(change))}"):
        Card.from_dict(content)
    with pytest.raises(RunError, match="damaged at: everything"):
        Card.from_dict([])


def test_the_command_lists_shows_and_verifies(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert "small" in capsys.readouterr().out
    assert main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "small"
    assert main(["card", "small"]) == 0
    shown = capsys.readouterr().out
    assert "A small one" in shown and "knows nothing" in shown and "0.5000" in shown
    assert main(["verify"]) == 0
    assert capsys.readouterr().out == "small: as published\n"
    (shelf / "model.safetensors").write_bytes(b"")
    assert main(["verify", "small"]) == 2
    assert main(["card", "large"]) == 2
    assert "there is no model 'large' in the zoo" in capsys.readouterr().err


def test_an_empty_shelf_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(zoo, "_MODELS", tmp_path)
    assert main(["list"]) == 0
    assert capsys.readouterr().out == "no model came with this installation\n"
    with pytest.raises(ConfigError, match="there are: none"):
        zoo.load("small")


def test_a_card_is_a_page_with_all_it_knows(shelf: Path) -> None:
    page = make_card(shelf).to_markdown()
    assert "| ring | yes | small | 0.5000 | 0.3000 | 91% | 84 |" in page
    assert "| ring | yes | persistence | 1.0000 | 0.6000 | – | 84 |" in page
    assert "| Licence of the data | none |" in page and "SHA-256" in page


@pytest.mark.parametrize("name", zoo.names())
def test_what_is_published_is_whole(name: str) -> None:
    card = zoo.verify(name)
    forecaster = zoo.load(name)
    assert card.name == name and forecaster.model.parameter_count == card.parameters
    assert (forecaster.schema.lookback, forecaster.schema.horizon) == (card.lookback, card.horizon)
    assert {row["model"] for row in card.metrics} >= {"persistence", "linear", name}
