"""Options of `read_log` on a command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data.command import options
from attentionmixer.data.command.options import add_log_arguments, log_options, read_arguments
from attentionmixer.data.readers import READERS
from attentionmixer.errors import ConfigError
from attentionmixer.reading import Parser


def parse(*words: str) -> Any:
    parser = Parser()
    add_log_arguments(parser)
    return parser.parse_args(list(words))


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `read_log` is called with."""
    seen: dict[str, Any] = {}

    def read_log(source: Any, **given: Any) -> None:
        seen.update(given, source=source)

    monkeypatch.setattr(options, "read_log", read_log)
    return seen


def test_every_option_of_every_reader_can_be_given() -> None:
    known = {name for reader in READERS.values() for name in reader.options}
    assert known - {"limits"} <= set(log_options())
    for name in ("tz", "units", "convert", "step", "stations", "date_order", "resample", "hold", "ignore", "jitter"):
        assert hasattr(parse("log.csv"), f"log_{name}")


def test_what_is_not_given_is_not_handed_over(handed_over: dict[str, Any]) -> None:
    read_arguments(parse("log.csv"))
    assert handed_over == {"source": "log.csv", "format": "auto"}


def test_values_come_as_the_kind_their_reader_takes(handed_over: dict[str, Any]) -> None:
    read_arguments(
        parse(
            *("a.csv", "b.csv", "--format", "table", "--tz", "Europe/Berlin", "--date-order", "dmy"),
            *("--units", "{no: nSv/h, '007': null, b c: cpm}", "--convert", "{µR/h: 8.7 nSv/h}"),
            *("--resample", "mean", "--jitter", "0.1", "--skip", "2", "--header", "no", "--ignore", "x", "y z"),
            *("--ages", "--time_column", "t"),
        )
    )
    assert handed_over == {
        "source": ["a.csv", "b.csv"],
        "format": "table",
        "tz": "Europe/Berlin",
        "date_order": "dmy",
        "units": {"no": "nSv/h", "007": None, "b c": "cpm"},
        "convert": {"µR/h": "8.7 nSv/h"},
        "resample": "mean",
        "jitter": 0.1,
        "skip": 2,
        "header": False,
        "ignore": ["x", "y z"],
        "ages": True,
        "time_column": "t",
    }


def test_one_unit_for_all_is_text_and_coordinates_are_numbers(handed_over: dict[str, Any]) -> None:
    read_arguments(parse("a.csv", "--units", "µSv/h", "--coordinates", "{A: [48.1, 11.5]}"))
    assert handed_over["units"] == "µSv/h"
    assert handed_over["coordinates"] == {"A": [48.1, 11.5]}


def test_limits_are_handed_over_as_one(handed_over: dict[str, Any]) -> None:
    read_arguments(parse("a.csv", "--limits.rows", "10"))
    assert handed_over["limits"].rows == 10
    assert handed_over["limits"].columns == 20_000


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--convert", "8.7"), r"--convert '8.7' must be written '\{NAME: VALUE"),
        (("--units", "{a: "), r"--units .* must be written"),
        (("--roles", "[a]"), r"--roles .* must be written"),
        (("--skip", "two"), "--skip 'two' is not a number"),
        (("--header", "maybe"), "--header 'maybe' must be yes or no"),
        (("--stations",), "--stations names nothing"),
        (("--sepparator", ";"), "nearest option is '--separator'"),
    ],
)
def test_a_value_of_another_kind_is_refused_by_name(words: tuple[str, ...], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_arguments(parse("log.csv", *words))


def test_the_help_names_the_formats_that_take_an_option() -> None:
    parser = Parser()
    add_log_arguments(parser)
    text = " ".join(parser.format_help().split())
    assert "--date-order DATE_ORDER" in text
    assert "default 50,000,000" in text


def test_an_option_of_another_format_is_refused_when_the_log_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,A [nSv/h]\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n", encoding="utf-8")
    with pytest.raises(Exception, match="does not take coordinates"):
        read_arguments(parse(str(tmp_path / "a.csv"), "--coordinates", "{A: [1, 2]}"))
