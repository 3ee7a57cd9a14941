"""Configurations: files, command lines, and what neither may say."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from attentionmixer import train
from attentionmixer.config import config_path, load_log, parse
from attentionmixer.errors import ConfigError

PACKAGED = sorted((Path(__file__).resolve().parents[1] / "configs").glob("*.yaml"))


def written(folder: Path, text: str | bytes) -> str:
    path = folder / "c.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def refused(arguments: list[str]) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(arguments, "test")
    return str(caught.value)


@pytest.mark.parametrize("path", PACKAGED, ids=lambda path: path.stem)
def test_every_configuration_of_the_package_is_found_by_name_and_parses(path: Path) -> None:
    assert config_path(path.stem).read_bytes() == path.read_bytes()
    config = parse([f"--config={path.stem}"], "test")
    tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert config.data.lookback == tree["data"]["lookback"]
    assert config.model_name == tree.get("model", {}).get("name", "attentionmixer")


def test_a_printed_configuration_read_back_is_the_same(
    tiny_arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*tiny_arguments, "--regularizer.name=entropy", "--data.roles={rain: known}", "--seed=7"]
    with pytest.raises(SystemExit) as stop:
        train.main([*arguments, "--print_config"])
    assert stop.value.code == 0
    printed = written(tmp_path, capsys.readouterr().out)
    assert parse(["--config", printed], "test").text == parse(arguments, "test").text


def test_the_command_line_overrides_the_file_whose_keys_override_the_defaults(tmp_path: Path) -> None:
    file = written(tmp_path, "seed: 5\ndata: {lookback: 30, horizon: 3}\n")
    config = parse(["--config", file, "--data.horizon", "2"], "test")
    assert (config.seed, config.data.lookback, config.data.horizon, config.data.batch_size) == (5, 30, 2, 64)


@pytest.mark.parametrize(
    "arguments", [["--model={name: linear}"], ["--model", "{name: linear}"], ["--model.name=linear"]]
)
def test_the_architecture_is_the_one_named_in_whatever_form(arguments: list[str], tmp_path: Path) -> None:
    config = parse(["--config", written(tmp_path, "seed: 1\n"), *arguments], "test")
    assert config.model_name == "linear"
    assert yaml.safe_load(config.text)["model"]["name"] == "linear"


@pytest.mark.parametrize("arguments", [["--data.lokback", "3"], ["--data.lokback=3"]])
def test_an_unknown_key_names_the_nearest(arguments: list[str]) -> None:
    assert "'data.lookback'" in refused(arguments)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("data: {lokback: 3}\n", "'data.lookback'"),
        ("data: {lookback: many}\n", "data.lookback"),
        ("model: {name: transformer}\n", "attentionmixer, paper, linear, persistence"),
        ("trainer: {callbacks: [{class_path: os.system}]}\n", "not allowed"),
        ("a: &a [1]\nb: *a\n", "anchors or aliases"),
        ("data: !!python/object/apply:os.system ['true']\n", "not valid YAML"),
        ("x: " + "a" * 1_100_000, "larger than"),
        (b"\xff\xfedata", "not UTF-8"),
        ("[" * 5000, "nested deeper"),
        ("x: 2024-13-45\n", "month must be in 1..12"),
        ("seed: " + "9" * 5000, "cannot be read"),
        ("model:\n", "'model' is empty"),
        ("data:\n  split:\n", "'data.split' is empty"),
        ("1: 2\n", "must be a string"),
        ("- a\n", "must hold settings"),
        ("", "is empty"),
        ("seed: 1\nseed: 2\n", "gives 'seed' twice, in lines 1 and 2"),
        ("data: {lookback: 3}\ndata: {lookback: 4}\n", "gives 'data' twice"),
    ],
)
def test_what_a_file_may_not_hold_is_refused_with_a_reason(text: str | bytes, says: str, tmp_path: Path) -> None:
    assert says in refused(["--config", written(tmp_path, text)])


def test_a_configuration_may_not_open_another_file(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("secret", encoding="utf-8")
    error = refused(["--config", written(tmp_path, "config: other.yaml\n")])
    assert "names another configuration" in error
    assert "secret" not in error


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("--seed=-1", "seed"),
        ("--seed=99999999999999999999", "seed"),
        ("--optimizer.learning_rate=-1", "optimizer.learning_rate"),
        ("--optimizer.huber_delta=0", "optimizer.huber_delta"),
        ("--optimizer.average_decay=1.5", "between 0 and 1"),
        ("--regularizer.prior_km=0", "regularizer.prior_km"),
        ("--data.scaling.clip=-1", "data.scaling.clip"),
        ("--trainer.max_epochs=-1", "trainer.max_epochs"),
        ("--baselines.epochs=-1", "baselines.epochs"),
        ("--levels=[0.5]", "at least two"),
        ("--levels=[0.5,0.5]", "different"),
        ("--config", "needs a file"),
        ("--config=quickstrat", "did you mean 'quickstart'"),
        ("--data=" + "[" * 5000, "nested deeper"),
    ],
)
def test_values_that_no_training_could_use_are_refused_by_name(argument: str, says: str) -> None:
    assert says in refused([argument])


def test_a_number_that_is_none_is_refused_in_a_file_too(tmp_path: Path) -> None:
    file = written(tmp_path, "optimizer: {learning_rate: .nan}\n")
    assert "optimizer.learning_rate" in refused(["--config", file])


def test_rows_cut_the_log_at_its_start(tiny_arguments: tuple[str, ...]) -> None:
    whole = load_log(parse(tiny_arguments, "test").data)
    cut = load_log(parse([*tiny_arguments, "--data.rows=100"], "test").data)
    assert len(cut) == 100
    assert cut.time[0] == whole.time[0]
