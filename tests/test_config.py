"""Configurations: files, command lines, and what neither may say."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from attentionmixer import train
from attentionmixer.config import config_path, load_log, parse
from attentionmixer.errors import ConfigError, LogError

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
        ("model: {name: transfomer}\n", "attentionmixer, attentionmixer-paper, persistence"),
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


def test_every_option_of_reading_is_a_setting(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = "".join(f"{day:02d}/05/2024 00:00;{day},5;{day}\n" for day in range(1, 10))
    log.write_text("# a remark\nwhen;A [uR/h];V7\n" + rows, encoding="utf-8")
    options = '{"separator": ";", "date_order": "dmy", "comment": "#"}'
    config = parse(
        [
            f"--data.path={log}",
            "--data.tz=Europe/Berlin",
            '--data.convert={"A": "8.7 nSv/h"}',
            '--data.units={"V7": null, "A": "uR/h"}',
            '--data.resample={"V7": "last"}',
            '--data.ages=["V7"]',
            f"--data.options={options}",
        ],
        "test",
    )
    read = load_log(config.data)
    assert read.names == ("A", "V7", "V7 age") and read.tags[0].unit == "nSv/h"
    assert float(read.values[-1, 0]) == pytest.approx(9.5 * 8.7)
    # the day that began at 22:00 UTC lies in the step that ends at midnight
    assert str(read.time[0]) == "2024-05-01 00:00:00+00:00"


def test_an_option_given_twice_is_refused(tmp_path: Path) -> None:
    config = parse([f"--data.path={tmp_path}", "--data.tz=UTC", '--data.options={"tz": "UTC"}'], "test")
    with pytest.raises(ConfigError, match=r"data\.options repeats data\.tz"):
        load_log(config.data)


def test_quality_rules_and_limits_are_settings(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    values = [f"{70 + h % 7}.{h % 10},{80 + h % 5}.{h % 9}" for h in range(96)]
    values[30] = "9000,80.1"
    rows = [f"2024-05-{1 + h // 24:02d}T{h % 24:02d}:00Z,{cells}\n" for h, cells in enumerate(values)]
    log.write_text("time,A [nSv/h],B [nSv/h]\n" + "".join(rows), encoding="utf-8")
    assert load_log(parse([f"--data.path={log}"], "test").data).quality.flags == {"spike": 1}
    off = parse([f"--data.path={log}", "--data.quality.rules=[]"], "test")
    assert load_log(off.data).quality.flags == {}
    few = parse([f"--data.path={log}", "--data.limits.rows=10"], "test")
    with pytest.raises(LogError, match="limit is 10"):
        load_log(few.data)
    assert "no quality rule 'spikes'; did you mean 'spike'" in refused(['--data.quality.rules=["spikes"]'])
    assert "no quality flag sticky" in refused(['--data.ignored_flags=["sticky"]'])


@pytest.mark.parametrize("key", ["data.quality", "data.limits", "data.quality.stuck"])
def test_a_text_in_the_place_of_settings_is_refused(key: str) -> None:
    assert key in refused([f"--{key}=os.system"])
