"""Configurations: YAML files and command lines become frozen dataclasses, and nothing else.

jsonargparse does the work. Added here: files named in short (``radnet``), a check of every file before it is parsed
(see `configcheck`) and errors that name the nearest key.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from jsonargparse import ArgumentError, ArgumentParser

from . import models
from .configcheck import GROUPS, MAX_CONFIG_BYTES, check_config_text, check_group_argument
from .data.datamodule import WindowConfig
from .data.log import Resample, Role, StationLog
from .data.quality.config import QualityConfig
from .data.quality.screen import screen
from .data.readers import read_log
from .data.readers.limits import Limits
from .data.simulate import RingConfig, simulate_ring
from .errors import ConfigError
from .forecaster import LEVELS, ForecasterConfig
from .training.fit import FitConfig, TrainerConfig
from .training.module import OptimizerConfig, RegularizerConfig

DEFAULT_CONFIG = "quickstart"
_TINY = 1e-12
#: Smallest and largest value that can be meant, both allowed.
_RANGES: dict[str, tuple[float, float]] = {
    "seed": (0, 2**32 - 1),
    "data.scaling.clip": (_TINY, math.inf),
    "optimizer.learning_rate": (_TINY, 1e3),
    "optimizer.warmup": (0, 1),
    "optimizer.weight_decay": (0, math.inf),
    "optimizer.huber_delta": (_TINY, math.inf),
    "optimizer.gate_rate": (0, math.inf),
    "optimizer.average_decay": (0, 1),
    "regularizer.strength": (0, math.inf),
    "regularizer.warmup": (0, 1),
    "regularizer.prior_km": (_TINY, math.inf),
    "trainer.max_epochs": (0, math.inf),
    "trainer.patience": (0, math.inf),
    "trainer.max_seconds": (_TINY, math.inf),
    "trainer.gradient_clip": (0, math.inf),
    "baselines.epochs": (0, math.inf),
    "baselines.learning_rate": (_TINY, 1e3),
}


@dataclass(frozen=True)
class DataConfig(WindowConfig):
    """Where the log comes from, and how it is cut into windows.

    Attributes
    ----------
    path
        file, folder or database of the log; without one a network is simulated
    format
        format of the files: ``auto`` looks at their content; or the name of a reader
    tz
        time zone of times that state none, e.g. Europe/Berlin
    units
        unit per tag, or one for all; overrides what headers say
    convert
        what one unit of a quantity that is no dose rate stands for: ``{µR/h: 8.7 nSv/h}`` or ``{cpm: LND-7317}``
    step
        step of the time grid, e.g. 10min; found from the times if not given
    start
        first time (UTC)
    end
        end (UTC); a mere date includes that day
    stations
        keep these stations only
    duplicates
        rows of one step that disagree: ``error``, ``first``, ``last``, ``mean``, ``nearest``
    resample
        irregular readings, for all tags or by tag: ``mean``, ``last``, ``sum``, ``interpolate``
    hold
        longest time a held or interpolated value may bridge, e.g. 2h
    ages
        tags whose age of value, in minutes, is a further input
    time_column
        the column of times
    layout
        ``wide`` (a column a tag), ``long`` (a row a reading) or ``auto``
    roles
        role per tag: ``target``, ``estimate`` (from the other tags alone), ``input`` or ``known`` (ahead)
    tags
        CSV file that describes the tags (name, unit, quantity, station, latitude, longitude, role, resample)
    options
        what else the reader of the format takes, e.g. ``{separator: ;, date_order: dmy}``; see docs/readers.md
    limits
        how large a source may be
    quality
        rules that flag suspect readings; flagged readings are missing to the model (see ``ignored_flags``)
    rows
        use only the first rows of the log
    simulation
        the simulated network
    coordinates
        let the model know where stations are
    """

    path: str | None = None
    format: str = "auto"
    tz: str | None = None
    units: dict[str, str | None] | str | None = None
    convert: dict[str, str] | None = None
    step: str | None = None
    start: str | None = None
    end: str | None = None
    stations: list[str] | None = None
    duplicates: str | None = None
    resample: dict[str, Resample] | Resample | None = None
    hold: str | None = None
    ages: list[str] | None = None
    time_column: str | None = None
    layout: str = "auto"
    roles: dict[str, Role] | None = None
    tags: str | None = None
    options: dict[str, Any] | None = None
    limits: Limits = field(default_factory=Limits)
    quality: QualityConfig = field(default_factory=QualityConfig)
    rows: int | None = None
    simulation: RingConfig = field(default_factory=RingConfig)
    coordinates: bool = True


@dataclass(frozen=True)
class BaselineConfig:
    """Training of the ``linear`` baseline.

    Attributes
    ----------
    epochs
        most epochs
    learning_rate
        highest learning rate
    """

    epochs: int = 5
    learning_rate: float = 1e-3


@dataclass(frozen=True)
class RunConfig:
    """One complete experiment."""

    data: DataConfig
    model_name: str
    model: Mapping[str, Any]
    optimizer: OptimizerConfig
    regularizer: RegularizerConfig
    trainer: TrainerConfig
    baselines: BaselineConfig
    levels: tuple[float, ...]
    seed: int
    run_dir: str | None
    resume: bool
    text: str
    """The resolved configuration as YAML."""

    def forecaster(self) -> ForecasterConfig:
        """The part that trains."""
        training = FitConfig(self.optimizer, self.regularizer, self.trainer, self.seed)
        return ForecasterConfig(self.model_name, self.model, self.data, training, self.levels, self.data.coordinates)

    def linear(self) -> ForecasterConfig:
        """The ``linear`` baseline on the same windows."""
        optimizer = OptimizerConfig(learning_rate=self.baselines.learning_rate, huber_delta=self.optimizer.huber_delta)
        trainer = TrainerConfig(
            max_epochs=self.baselines.epochs,
            accelerator=self.trainer.accelerator,
            logger="none",
            progress=False,
        )
        training = FitConfig(optimizer, RegularizerConfig("none", 0.0), trainer, self.seed)
        return ForecasterConfig("linear", {}, self.data, training, self.levels, False)


#: Settings of `DataConfig` that `read_log` takes under the same name.
_READING = (
    *("tz", "units", "convert", "step", "start", "end", "stations", "duplicates", "resample", "hold", "ages"),
    *("time_column", "layout", "roles", "tags"),
)


def load_log(config: DataConfig) -> StationLog:
    """The log a configuration asks for, simulated or read from ``path``, with the flags of the quality rules."""
    if config.path is None:
        log = simulate_ring(config.simulation).log
    else:
        given = {name: getattr(config, name) for name in _READING}
        given = {name: value for name, value in given.items() if value is not None}
        twice = sorted(given.keys() & (config.options or {}).keys())
        if twice:
            raise ConfigError(f"data.options repeats data.{', data.'.join(twice)}; give each once")
        log = read_log(config.path, format=config.format, limits=config.limits, **given, **(config.options or {}))
    log = log if config.rows is None else log.rows(0, min(config.rows, len(log)))
    return screen(log, config.quality)


def parse(arguments: Sequence[str], program: str) -> RunConfig:
    """A `RunConfig` from a command line. ``--help`` and ``--print_config`` print and exit.

    Raises `ConfigError` for unknown keys (naming the nearest), wrong values and files that are not allowed.
    """
    arguments = _with_config_paths(arguments)
    name = _model_name(arguments)
    parser = _parser(program, name)
    try:
        config = parser.parse_args(list(arguments))
    except ArgumentError as error:
        raise ConfigError(_explain(str(error), parser)) from error
    objects = parser.instantiate(config)
    _check_ranges(objects)
    kept = config.clone()
    for key in ("config", "run_dir", "resume"):
        kept.pop(key, None)
    settings = {key: value for key, value in vars(config.model).items() if key != "name"}
    levels = tuple(sorted(objects.levels))
    if not all(0 < level < 1 for level in levels) or len(set(levels)) < max(2, len(levels)):
        raise ConfigError(f"levels must be at least two different numbers between 0 and 1, not {list(levels)}")
    return RunConfig(
        data=objects.data,
        model_name=name,
        model=settings,
        optimizer=objects.optimizer,
        regularizer=objects.regularizer,
        trainer=objects.trainer,
        baselines=objects.baselines,
        levels=levels,
        seed=objects.seed,
        run_dir=objects.run_dir,
        resume=objects.resume,
        text=parser.dump(kept, skip_unset=False, skip_validation=True),
    )


def config_path(name: str) -> Path:
    """The file of a configuration: a path, or the name of one that comes with the package."""
    path = Path(name)
    if path.is_file():
        return path
    folder = Path(str(resources.files("attentionmixer.configs")))
    packaged = folder / f"{path.stem}.yaml"
    if packaged.is_file() and path.suffix in ("", ".yaml"):
        return packaged
    there = sorted(entry.stem for entry in folder.glob("*.yaml"))
    near = difflib.get_close_matches(path.stem, there, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ConfigError(f"there is no configuration {name!r}{hint} Those that come with the package: {', '.join(there)}")


def _read_checked(path: Path) -> Any:
    """A configuration file as a tree, checked. Raises `ConfigError` that names the file."""
    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError(f"{path} is larger than {MAX_CONFIG_BYTES:,} bytes, which no configuration needs")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not UTF-8 text: byte {error.start} is 0x{error.object[error.start]:02x}"
        ) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    tree = check_config_text(text, str(path))
    if tree is None:
        raise ConfigError(f"{path} is empty")
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{path} must hold settings (key: value), not {str(tree)[:60]!r}")
    if "config" in tree:  # the parser would open that file, and nothing would have checked it
        raise ConfigError(f"{path} names another configuration under 'config'; name both on the command line")
    for group in GROUPS:
        section: Any = tree
        for key in group.split("."):
            section = section.get(key, {}) if isinstance(section, Mapping) else {}
        if section is None:
            raise ConfigError(f"{path}: {group!r} is empty; give it settings (key: value), or leave it out")
    return tree


def _parser(program: str, model: str) -> ArgumentParser:
    parser = ArgumentParser(
        prog=program,
        usage="%(prog)s [--config FILE_OR_NAME] [--run_dir DIR] [--resume] [--SETTING VALUE …]",
        description="Train on a log (or, without --data.path, on a simulated network) and write a run with a report.",
        exit_on_error=False,
        allow_abbrev=False,
        parser_mode="yaml",
    )
    parser.add_argument("--config", action="config", help="YAML file, or the name of one that comes with the package")
    parser.add_argument("--run_dir", type=str | None, default=None, help="where the run goes (default: runs/<date>)")
    parser.add_argument("--resume", action="store_true", help="continue the interrupted training in --run_dir")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    parser.add_argument("--levels", type=list[float], default=list(LEVELS), help="quantile levels of the forecasts")
    parser.add_class_arguments(DataConfig, "data")
    names: Any = Literal[models.names()]
    parser.add_argument("--model.name", type=names, default=model, help="architecture")
    parser.add_class_arguments(models.architecture(model).config, "model", instantiate=False)
    parser.add_class_arguments(OptimizerConfig, "optimizer")
    parser.add_class_arguments(RegularizerConfig, "regularizer")
    parser.add_class_arguments(TrainerConfig, "trainer")
    parser.add_class_arguments(BaselineConfig, "baselines")
    return parser


def _with_config_paths(arguments: Sequence[str]) -> list[str]:
    """Arguments with short names of configurations replaced by checked paths; the quick start if none is named."""
    result: list[str] = []
    named = False
    pending = False
    for number, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        if pending or (flag == "--config" and equals):
            path = config_path(argument if pending else value)
            _read_checked(path)
            result.append(str(path) if pending else f"--config={path}")
            named, pending = True, False
            continue
        pending = argument == "--config"
        if flag.lstrip("-") in GROUPS:
            following = value if equals else arguments[number + 1] if number + 1 < len(arguments) else ""
            check_group_argument(flag.lstrip("-"), following)
        elif not pending and "class_path" in argument:
            check_config_text(value or argument, "the command line")
        result.append(argument)
    if pending:
        raise ConfigError("--config needs a file, or the name of a configuration that comes with the package")
    return result if named else [f"--config={config_path(DEFAULT_CONFIG)}", *result]


def _model_name(arguments: Sequence[str]) -> str:
    """The architecture the arguments end up with: its settings decide which keys exist."""
    name = "attentionmixer"
    for number, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        following = value if equals else arguments[number + 1] if number + 1 < len(arguments) else ""
        if flag == "--config":
            tree = _read_checked(Path(following))
            section = tree.get("model") if isinstance(tree, Mapping) else None
            name = str(section.get("name", name)) if isinstance(section, Mapping) else name
        elif flag == "--model":
            section = check_config_text(following, "--model")
            name = str(section.get("name", name)) if isinstance(section, Mapping) else name
        elif flag == "--model.name":
            name = following
    return models.architecture(name).name


def _check_ranges(objects: Any) -> None:
    """Refuse numbers that no training could use; without this they end in a fault, or in a run that means nothing."""
    for key, (low, high) in _RANGES.items():
        value: Any = objects
        for name in key.split("."):
            value = getattr(value, name)
        if value is not None and not low <= value <= high:
            wanted = f"at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:.10g}"
            raise ConfigError(f"{key} must be {wanted}, not {value}")


def _explain(message: str, parser: ArgumentParser) -> str:
    """The message of the parser on one screen, with the nearest key for one that does not exist."""
    message = message.strip()
    keys = [key for key in parser.get_defaults().keys() if key != "config"]  # noqa: SIM118 (a namespace, not a dict)
    key = ""
    if found := re.search(r"--([\w.]+)", message) if "nrecognized" in message else None:
        key = found.group(1)
    elif found := re.search(r"Group '([\w.]+)' does not accept option '([\w.]+)'", message):
        key = ".".join(found.groups())
    elif found := re.search(r"Option '([\w.]+)' is not accepted", message):
        key = found.group(1)
    if key:
        near = difflib.get_close_matches(key, keys, n=1, cutoff=0.4)
        tail = key.rsplit(".", 1)[-1]
        near = near or [k for k in keys if k.rsplit(".", 1)[-1] == tail]
        hint = f"; the nearest is {near[0]!r}" if near else ""
        return f"there is no setting {key!r}{hint}. --help lists all"
    lines = message.splitlines()
    return "\n".join(lines[:12])
