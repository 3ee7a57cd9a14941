"""How ``predict`` and ``evaluate`` read a log: as the run did, unless the command line says otherwise."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from .config import DataConfig, load_log, parse
from .configcheck import check_config_text
from .data.log import StationLog
from .data.readers.grid import Period
from .errors import ConfigError, RunError

#: Options of reading that a new log most likely shares with the run's own. ``start`` and ``end`` are not among them:
#: they would cut it.
_OPTIONS = {
    "format": "auto, table or radnet",
    "tz": "zone of times that state none, e.g. Europe/Berlin",
    "units": "one unit for all tags, or '{TAG: UNIT, …}'",
    "step": "step of the time grid, e.g. 10min",
    "duplicates": "rows of one step that disagree: error, first, last, mean or nearest",
    "time_column": "the column of times",
    "layout": "wide (a column a tag), long (a row a reading) or auto",
    "tags": "CSV file that describes the tags",
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are `ConfigError` and name the nearest option."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting."""
        unknown = message.partition("unrecognized arguments: ")[2].split(" ")[0].split("=")[0]
        options = [option for action in self._actions for option in action.option_strings]
        near = difflib.get_close_matches(unknown, options, n=1, cutoff=0.4) if unknown.startswith("-") else []
        raise ConfigError(message + (f"; the nearest option is {near[0]!r}" if near else ""))


def add_reading_arguments(parser: argparse.ArgumentParser, *, start: str) -> None:
    """RUN, LOG and the options of reading; ``start`` explains what ``--start`` does."""
    parser.add_argument("run", metavar="RUN", type=Path, help="run directory, as training left it")
    parser.add_argument(
        "log", metavar="LOG", nargs="?", help="file or folder; left out, a run on the simulated network takes its own"
    )
    group = parser.add_argument_group(
        "reading",
        "What is not given is as in the run's config.yaml. Only --start and --end are not taken from there, since they "
        "would cut a new log: without them all of it is read.",
    )
    for name, text in _OPTIONS.items():
        # with an underscore as in training; with a hyphen as is common elsewhere
        spellings = dict.fromkeys((f"--{name}", f"--{name.replace('_', '-')}"))
        group.add_argument(*spellings, dest=name, metavar=name.upper(), default=None, help=text)
    group.add_argument("--stations", nargs="+", metavar="STATION", default=None, help="keep these stations only")
    group.add_argument("--start", default=None, help=start)
    group.add_argument("--end", default=None, help="end (UTC); a mere date includes that day")


def read_for_run(arguments: argparse.Namespace, before: pd.Timedelta | None = None) -> StationLog:
    """The log the arguments name, with ``before`` of what lies ahead of ``--start``.

    Raises `RunError` for a damaged run, `ConfigError` for options that cannot be, `LogError` for the log.
    """
    settings = _data_settings(arguments.run)
    start = first_moment(arguments)
    if start is not None and before is not None:
        start -= before
    given = {name: getattr(arguments, name) for name in (*_OPTIONS, "stations")}
    given = {name: value for name, value in given.items() if value is not None}
    if arguments.log is None:
        return _simulated(arguments, settings, start, given)
    if "units" in given:
        given["units"] = _units(given["units"])
    own = settings or DataConfig()
    # the whole log first: quality rules judge a reading by all that was read, so a part alone could get other flags
    log = load_log(replace(own, path=arguments.log, rows=None, start=None, end=None, **given))
    return _part(log, start, arguments.end)


def first_moment(arguments: argparse.Namespace) -> pd.Timestamp | None:
    """``--start`` as a moment in UTC. Raises `LogError` where it is no date, or not before ``--end``."""
    period = Period.parse(arguments.start, arguments.end)
    return None if period.start is None else pd.Timestamp(period.start, tz="UTC")


def _simulated(
    arguments: argparse.Namespace, settings: DataConfig | None, start: pd.Timestamp | None, given: Mapping[str, Any]
) -> StationLog:
    if settings is None:
        raise ConfigError(f"name the log: {arguments.run} holds no config.yaml that would say how to make one")
    if settings.path is not None:
        raise ConfigError("name the log: this run was not made on the simulated network")
    if given:
        raise ConfigError(f"--{next(iter(given))} is for a log that is read; name the log after the run")
    return _part(load_log(settings), start, arguments.end)


def _part(log: StationLog, start: pd.Timestamp | None, end: str | None) -> StationLog:
    bound = Period.parse(None, end).end
    last = None if bound is None else pd.Timestamp(bound, tz="UTC")
    return log if start is None and last is None else log.between(start, last)


def _units(text: str) -> dict[str, str | None] | str:
    if not text.lstrip().startswith("{"):
        return text
    units = check_config_text(text, "--units")
    if not isinstance(units, Mapping) or not all(value is None or isinstance(value, str) for value in units.values()):
        raise ConfigError(f"--units {text!r} must be one unit, or '{{TAG: UNIT, …}}' with null for a tag without one")
    return {str(name): unit for name, unit in units.items()}


def _data_settings(run: Path) -> DataConfig | None:
    """The section ``data`` of the run's configuration; ``None`` for a forecaster that was saved without one."""
    path = run / "config.yaml"
    if not path.is_file():
        return None
    try:
        return parse([f"--config={path}"], "config.yaml").data
    except ConfigError as error:
        raise RunError(f"the configuration of {run} cannot be used: {error}") from error
