"""The options of `read_log` on a command line: one for each option that any reader takes."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import yaml

from ...errors import ConfigError
from ..log import StationLog
from ..readers import READERS, pick_reader, read_log
from ..readers.assemble import Assembly
from ..readers.limits import Limits
from ..readers.source import expand

_HELP = {
    "ages": "add the age of the value as a further input: names of tags, or nothing for all",
    "comment": "what a line of remarks begins with",
    "convert": "what one unit stands for where it is no dose rate: '{µR/h: 8.7 nSv/h}' or '{cpm: LND-7317}'",
    "date_order": "dmy or mdy, where dates read both ways",
    "decimal": "decimal mark: . or ,",
    "duplicates": "rows of one step that disagree: error, first, last, mean or nearest",
    "encoding": "encoding of text, e.g. cp932",
    "end": "end (UTC); a mere date includes that day",
    "header": "yes or no: whether the first line names the columns",
    "hold": "longest time a held or interpolated value may bridge, e.g. 2h",
    "ignore": "columns to leave out",
    "jitter": "how far, in steps, a time may lie off the grid",
    "layout": "wide (a column a tag), long (a row a reading) or auto",
    "names": "names of the columns of a file without a line of names",
    "resample": "mean, last, sum or interpolate for all tags, or '{TAG: RULE, …}'",
    "roles": "'{TAG: target | estimate | input | known, …}'",
    "separator": "separator of columns, or whitespace",
    "skip": "lines to pass over before the header",
    "start": "first time that is read (UTC)",
    "start_time": "time of the first row of a table without times; needs --step",
    "stations": "keep these stations only",
    "step": "step of the time grid, e.g. 10min",
    "tags": "CSV file that describes the tags",
    "time_column": "the column of times",
    "time_format": "how times are written, e.g. '%%d-%%b-%%Y %%H:%%M'",
    "tz": "zone of times that state no offset, e.g. Europe/Berlin",
    "units": "one unit for all tags, or '{TAG: UNIT, …}', null for a tag without one",
}
# the parts of "Mapping[str, str | None] | str | None"
_BETWEEN_KINDS = re.compile(r"\s*\|(?![^\[]*\])\s*")
_WORDS = {"yes": True, "true": True, "no": False, "false": False}


def add_log_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser ``LOG …`` and an option for all that `read_log` and its readers take.

    A name may be spelled with hyphens or underscores. An option that only some formats take says so in its help; with a
    log of another format it is refused when the log is read.
    """
    parser.add_argument("logs", metavar="LOG", nargs="+", help="file, folder or database; several are read as one log")
    group = parser.add_argument_group("reading", "Options of `attentionmixer.data.read_log`.")
    formats = ", ".join(READERS)
    group.add_argument("--format", default="auto", help=f"auto looks at the content; or one of {formats}")
    for name, annotation in log_options().items():
        group.add_argument(
            *dict.fromkeys((f"--{name.replace('_', '-')}", f"--{name}")),
            dest=f"log_{name}",
            metavar=name.upper(),
            default=None,
            help=_help(name),
            nargs="*" if "Sequence[str]" in annotation else None,
        )
    bounds = parser.add_argument_group("limits", "What a log may take at most; more is refused before it is read.")
    for bound in fields(Limits):
        bounds.add_argument(
            f"--limits.{bound.name}",
            dest=f"limit_{bound.name}",
            metavar="N",
            type=int,
            default=None,
            help=f"default {getattr(Limits(), bound.name):,}",
        )


def log_options() -> dict[str, str]:
    """Each option that some reader takes, with its annotation, as far as a command line can state it."""
    found = {field.name: str(field.type) for field in fields(Assembly)}
    for reader in READERS.values():
        parameters = inspect.signature(reader.read).parameters
        for name in reader.own_options:
            found.setdefault(name, str(parameters[name].annotation))
    return {name: annotation for name, annotation in sorted(found.items()) if "Limits" not in annotation}


def read_arguments(arguments: argparse.Namespace) -> StationLog:
    """The log that parsed arguments name.

    Raises
    ------
    ConfigError: an option's text is not of its kind. LogError: the log cannot be read.
    """
    given: dict[str, Any] = {}
    for name, annotation in log_options().items():
        value = getattr(arguments, f"log_{name}")
        if value is not None:
            given[name] = _value(name, annotation, value)
    limits = _limits(arguments)
    if limits is not None:
        given["limits"] = limits
    logs: Sequence[str] = arguments.logs
    return read_log(logs[0] if len(logs) == 1 else logs, format=arguments.format, **given)


def format_of(arguments: argparse.Namespace) -> str:
    """Name of the format that parsed arguments name or, with ``auto``, that the log's content has."""
    return pick_reader(expand(arguments.logs, _limits(arguments)), arguments.format).name


def _limits(arguments: argparse.Namespace) -> Limits | None:
    given = {bound.name: getattr(arguments, f"limit_{bound.name}") for bound in fields(Limits)}
    stated = {name: value for name, value in given.items() if value is not None}
    return Limits(**stated) if stated else None


def _help(name: str) -> str:
    takers = [key for key, reader in READERS.items() if name in reader.options]
    text = _HELP.get(name, "see docs/readers.md")
    return text if len(takers) == len(READERS) else f"{text} ({', '.join(takers)})"


def _value(name: str, annotation: str, value: str | list[str]) -> Any:
    option = f"--{name.replace('_', '-')}"
    kinds = set(_BETWEEN_KINDS.split(annotation)) - {"None"}
    if isinstance(value, list):
        if value:
            return value
        if "bool" not in kinds:
            raise ConfigError(f"{option} names nothing")
        return True
    mapping = next((kind for kind in kinds if kind.startswith("Mapping[")), None)
    if mapping is not None:
        if len(kinds) > 1 and not value.lstrip().startswith("{"):
            return value
        return _mapping(option, mapping, value)
    if "bool" in kinds:
        if value.lower() not in _WORDS:
            raise ConfigError(f"{option} {value!r} must be yes or no")
        return _WORDS[value.lower()]
    number = next((kind for kind in (int, float) if kind.__name__ in kinds), None)
    if number is None:
        return value
    try:
        return number(value)
    except ValueError as error:
        raise ConfigError(f"{option} {value!r} is not a number") from error


def _mapping(option: str, kind: str, text: str) -> dict[str, Any]:
    # as texts, whatever YAML would make of a tag named "no" or "007"; both loaders are safe ones
    loader = yaml.SafeLoader if "float" in kind else yaml.BaseLoader
    try:
        found = yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        raise ConfigError(f"{option} {text!r} must be written '{{NAME: VALUE, …}}'") from error
    if not isinstance(found, Mapping):
        raise ConfigError(f"{option} {text!r} must be written '{{NAME: VALUE, …}}'")
    return {str(name): None if value in ("null", "~", "") else value for name, value in found.items()}
