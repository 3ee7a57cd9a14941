"""How ``predict`` and ``evaluate`` read a log: as the run did, unless the command line says otherwise."""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path
from typing import Any, NoReturn

import yaml

from .configcheck import check_config_text
from .data.log import StationLog
from .data.readers import read_log
from .data.simulate import RingConfig, simulate_ring
from .errors import ConfigError, RunError

#: What a new log most likely shares with the log of the run. ``start`` and ``end`` are not here: they would cut it.
_SHARED = ("format", "tz", "units", "step", "stations", "duplicates", "time_column", "layout", "roles", "tags")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are `ConfigError` and name the nearest option."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting."""
        unknown = message.partition("unrecognized arguments: ")[2].split(" ")[0].split("=")[0]
        options = [option for action in self._actions for option in action.option_strings]
        near = difflib.get_close_matches(unknown, options, n=1, cutoff=0.4) if unknown else []
        raise ConfigError(message + (f"; the nearest option is {near[0]!r}" if near else ""))


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN, LOG and the options of `read_log`."""
    parser.add_argument("run", metavar="RUN", type=Path, help="run directory, as training left it")
    parser.add_argument(
        "log", metavar="LOG", nargs="?", help="file or folder; may be left out where the run used the simulated network"
    )
    group = parser.add_argument_group("reading", "default: as in the run's config.yaml, except start and end")
    for name in ("format", "tz", "units", "step", "duplicates", "time-column", "layout", "tags"):
        group.add_argument(f"--{name}", default=None)
    group.add_argument("--stations", nargs="+", default=None)
    group.add_argument("--start", default=None, help="first time (UTC)")
    group.add_argument("--end", default=None, help="end (UTC); a mere date includes that day")


def read_for_run(arguments: argparse.Namespace) -> StationLog:
    """The log the arguments name. Raises `RunError` for a damaged run, `ConfigError` and `LogError` for the rest."""
    settings = _data_settings(arguments.run)
    if arguments.log is None:
        if settings.get("path") is not None:
            raise ConfigError("name the log: this run was not made on the simulated network")
        log = simulate_ring(RingConfig(**settings.get("simulation", {}))).log
        return log if arguments.start is None and arguments.end is None else log.between(arguments.start, arguments.end)
    options: dict[str, Any] = {name: settings.get(name) for name in _SHARED}
    given = {name: getattr(arguments, name) for name in _SHARED if hasattr(arguments, name)}
    options.update({name: value for name, value in given.items() if value is not None})
    if options.get("tags") is None:
        options.pop("tags", None)
    fallback = {"format": "auto", "layout": "auto"}
    options = {name: fallback.get(name) if value is None else value for name, value in options.items()}
    return read_log(arguments.log, start=arguments.start, end=arguments.end, **options)


def _data_settings(run: Path) -> dict[str, Any]:
    path = run / "config.yaml"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path} cannot be read; is {run} the directory of a finished run?") from error
    tree = check_config_text(text, str(path))
    if not isinstance(tree, dict) or not isinstance(tree.get("data"), dict):
        raise RunError(f"{path} holds no section `data`: {yaml.safe_dump(tree)[:80]!r}")
    data: dict[str, Any] = tree["data"]
    return data
