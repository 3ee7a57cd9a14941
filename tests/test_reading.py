"""How ``predict`` and ``evaluate`` find and read their log."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pandas as pd
import pytest

from attentionmixer.data.log import StationLog
from attentionmixer.data.simulate import simulate_ring
from attentionmixer.errors import ConfigError, LogError, RunError
from attentionmixer.forecaster import Forecaster
from attentionmixer.reading import Parser, add_reading_arguments, first_moment, read_for_run


@pytest.fixture(scope="module")
def log() -> StationLog:
    """The log of the tiny run."""
    return simulate_ring(posts=3, days=4).log


@pytest.fixture
def run_of_a_table(tmp_path: Path) -> Path:
    """A run directory, as far as reading is concerned, of a table with times of Berlin, of one month and cut short."""
    folder = tmp_path / "run"
    folder.mkdir()
    settings = "{path: old.csv, tz: Europe/Berlin, units: {b: mm}, start: '2019-03-01', end: '2019-03-31', rows: 3}"
    (folder / "config.yaml").write_text(f"data: {settings}\n", encoding="utf-8")
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of another year, whose times state no zone."""
    rows = [f"2021-01-01 {hour:02d}:00,{hour},0.5" for hour in range(24)]
    path = tmp_path / "new.csv"
    path.write_text("time,a [nSv/h],b\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def parsed(*arguments: object) -> argparse.Namespace:
    parser = Parser(prog="test")
    add_reading_arguments(parser, start="first time")
    return parser.parse_args([str(argument) for argument in arguments])


def read(*arguments: object) -> StationLog:
    return read_for_run(parsed(*arguments))


# --- a log that is named ---------------------------------------------------------------------------------------------


def test_a_new_log_is_read_as_the_runs_was_but_not_cut_to_its_period(run_of_a_table: Path, table: Path) -> None:
    log = read(run_of_a_table, table)
    assert log.time[0] == pd.Timestamp("2020-12-31T23:00Z")
    assert len(log) == 24
    assert [tag.unit for tag in log.tags] == ["nSv/h", "mm"]


def test_the_command_line_overrides_what_the_run_did(run_of_a_table: Path, table: Path) -> None:
    log = read(run_of_a_table, table, "--tz", "UTC", "--units", "{a: µSv/h, b: null}")
    assert log.time[0] == pd.Timestamp("2021-01-01T00:00Z")
    assert [tag.unit for tag in log.tags] == ["nSv/h", None]
    assert log.values[3].tolist() == [3000.0, 0.5]  # dose rates are brought to nSv/h


def test_start_and_end_cut_and_an_end_that_is_a_date_includes_the_day(run_of_a_table: Path, table: Path) -> None:
    start = ("--tz", "UTC", "--start", "2021-01-01T20:00Z")
    assert len(read(run_of_a_table, table, *start, "--end", "2021-01-01")) == 4
    assert len(read(run_of_a_table, table, *start, "--end", "2021-01-01T23:00Z")) == 3


def test_the_time_column_is_named_in_either_spelling(run_of_a_table: Path, table: Path) -> None:
    table.write_text(table.read_text(encoding="utf-8").replace("time,", "when,"), encoding="utf-8")
    for option in ("--time_column", "--time-column"):
        assert len(read(run_of_a_table, table, option, "when")) == 24


@pytest.mark.parametrize("units", ["{a: [1]}", "{a: 3}", "{a: nSv/h", "{a: x, a: y}"])
def test_units_that_are_no_mapping_of_texts_are_refused(units: str, run_of_a_table: Path, table: Path) -> None:
    with pytest.raises(ConfigError, match="--units"):
        read(run_of_a_table, table, "--units", units)


def test_a_saved_forecaster_without_a_configuration_reads_a_named_log(
    tiny: tuple[Forecaster, StationLog], table: Path, tmp_path: Path
) -> None:
    tiny[0].save(tmp_path / "model")
    assert len(read(tmp_path / "model", table, "--tz", "UTC", "--units", "{b: mm}")) == 24
    with pytest.raises(ConfigError, match=r"name the log: .*model holds no config\.yaml"):
        read(tmp_path / "model")


# --- the run's own simulated network ---------------------------------------------------------------------------------


def test_without_a_log_a_run_on_the_simulated_network_takes_its_own(tiny_run: Path, log: StationLog) -> None:
    again = read(tiny_run)
    assert again.names == log.names
    assert again.values.tobytes() == log.values.tobytes()


def test_the_simulated_log_is_cut_by_the_same_rules(tiny_run: Path) -> None:
    part = read(tiny_run, "--start", "2023-01-02", "--end", "2023-01-03")
    assert part.time[0] == pd.Timestamp("2023-01-02T00:00Z")
    assert part.time[-1] == pd.Timestamp("2023-01-03T23:50Z")


def test_a_run_on_a_file_needs_a_log(run_of_a_table: Path) -> None:
    with pytest.raises(ConfigError, match="name the log"):
        read(run_of_a_table)


def test_options_of_reading_without_a_log_are_refused_and_not_ignored(tiny_run: Path) -> None:
    for option in (["--tz", "UTC"], ["--stations", "P01"], ["--format", "radnet"]):
        with pytest.raises(ConfigError, match=f"{option[0]} is for a log that is read"):
            read(tiny_run, *option)


# --- periods ---------------------------------------------------------------------------------------------------------


def test_what_lies_before_the_start_is_kept_where_asked_for(tiny_run: Path) -> None:
    arguments = parsed(tiny_run, "--start", "2023-01-02T12:00+01:00")
    log = read_for_run(arguments, before=pd.Timedelta("4h"))
    assert first_moment(arguments) == pd.Timestamp("2023-01-02T11:00Z")
    assert log.time[0] == pd.Timestamp("2023-01-02T07:00Z")


@pytest.mark.parametrize(
    "period", [["--start", "soon"], ["--end", "31.12.2021"], ["--start=2024-01-02", "--end=2024-01-01"]]
)
def test_a_period_that_cannot_be_is_refused(period: list[str], tiny_run: Path) -> None:
    with pytest.raises(LogError, match=r"is not a date|period asked for is empty"):
        read(tiny_run, *period)


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "log", "--formt", "table"], "'--format'"),
        (["run", "log", "--form", "table"], "'--format'"),
        (["run", "log", "more"], "unrecognized arguments: more"),
        ([], "RUN"),
        (["run", "log", "--tz"], "expected one argument"),
    ],
)
def test_mistakes_on_the_command_line_are_configuration_errors(arguments: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parsed(*arguments)


@pytest.mark.parametrize(
    "text",
    [
        "data: {simulation: {nosuch: 1}}\n",
        "data: {simulation: {posts: -1}}\n",
        "data: [1]\n",
        "data: {stations: 5}\n",
        "data: {path: *x}\n",
        "",
    ],
)
def test_a_configuration_of_a_run_that_cannot_be_used_is_named(text: str, tiny_run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    (copy / "config.yaml").write_text(text, encoding="utf-8")
    with pytest.raises((RunError, ConfigError), match="copy"):
        read(copy)
