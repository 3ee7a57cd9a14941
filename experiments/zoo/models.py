"""What is trained for the zoo: logs, settings and the words of the card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attentionmixer.config import load_log, parse
from attentionmixer.data.datamodule import WindowConfig
from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.readers import read_log
from attentionmixer.data.scaling import ScalingConfig
from attentionmixer.data.split import SplitConfig

from .stations import pool

#: Nothing of a model of the zoo belongs to a tag, so that it fits any.
ANY_TAG = {"tag_embedding": False, "gates": False, "cross_lags": 0}
SMALL = {"width": 32, "rounds": 1}
BASE = {"width": 64, "rounds": 2}
SPLIT = SplitConfig()
RADNET = ("AZ: PHOENIX", "LA: BATON ROUGE", "MT: KALISPELL")


@dataclass(frozen=True)
class Trial:
    """A log on which a model is measured. ``seen``: whether its stations were part of training."""

    name: str
    log: StationLog
    seen: bool


@dataclass(frozen=True)
class Entry:
    """A model of the zoo.

    ``logs`` gives the log to train on, its split, and the logs to measure on; ``words`` are those of the card.
    Training ends after ``epochs`` passes or ``seconds``.
    """

    name: str
    model: dict[str, Any]
    window: WindowConfig
    coordinates: bool
    logs: Callable[[Path, WindowConfig], tuple[StationLog, SplitConfig, list[Trial]]]
    words: dict[str, Any]
    epochs: int = 6
    seconds: float = 240.0
    learning_rate: float = 2e-3


def radnet(folder: Path, window: WindowConfig) -> tuple[StationLog, SplitConfig, list[Trial]]:
    """Stations one after the other; two are left out of training for good."""
    years = (("2011-01-01", "2014-12-31"), ("2019-01-01", "2021-12-31"))
    logs, trials = [], []
    for station in RADNET:
        for start, end in years:
            if station.startswith("MT") and start < "2015":
                continue
            log = of_station(folder, station, start, end)
            logs.append(log)
            trials.append(Trial(f"{station} {start[:4]}-{end[:4]}", log, True))
    names = [name.removeprefix(f"{logs[-1].tags[0].station} ") for name in logs[-1].names]
    made, split = pool(logs, names, SPLIT, window.lookback + window.horizon)
    trials.append(Trial("MA: BOSTON 2011-2014", of_station(folder, "MA: BOSTON", "2011-01-01", "2014-12-31"), False))
    trials.append(
        Trial("FL: JACKSONVILLE 2020", of_station(folder, "FL: JACKSONVILLE", "2020-01-01", "2020-12-31"), False)
    )
    return made, split, trials


def of_station(folder: Path, station: str, start: str, end: str) -> StationLog:
    """Dose rate and eight energy windows of one station; the dose is missing throughout where it was not published."""
    log = read_log(folder / "radnet", stations=[station], start=start, end=end)
    wanted = [f"{station} dose", *(f"{station} R{number:02d}" for number in range(2, 10))]
    values = np.full((len(log), len(wanted)), np.nan, dtype=np.float32)
    tags = []
    for i, name in enumerate(wanted):
        if name in log.names:
            at = log.names.index(name)
            values[:, i] = log.values[:, at]
            tags.append(log.tags[at])
        else:
            tags.append(Tag(name, "nSv/h", "dose_rate", station))
    return StationLog(values, log.time, tags)


def japan(folder: Path, window: WindowConfig) -> tuple[StationLog, SplitConfig, list[Trial]]:
    """Every second station is left out of training."""
    log = whole_japan(folder)
    half, other = log.select(log.names[::2]), log.select(log.names[1::2])
    return half, SPLIT, [Trial("411 stations of training", half, True), Trial("411 other stations", other, False)]


def whole_japan(folder: Path) -> StationLog:
    """All stations."""
    place = folder / "japan-nra"
    settings = [
        "--config=japan-daily",
        f"--data.path={place / 'japan_daily_984x822_wide.csv.gz'}",
        f"--data.tags={place / 'japan_daily_stations.csv'}",
    ]
    return load_log(parse(settings, "experiments.zoo").data)


def ring(folder: Path, window: WindowConfig) -> tuple[StationLog, SplitConfig, list[Trial]]:
    """A year of one simulated ring; another ring, of other posts under other weather, to measure on."""

    def simulated(seed: int, posts: int, days: int) -> StationLog:
        settings = [f"--data.simulation.{k}={v}" for k, v in (("seed", seed), ("posts", posts), ("days", days))]
        return load_log(parse(["--config=ring", *settings], "experiments.zoo").data)

    first = simulated(11, 16, 240)
    others = [Trial("another ring of 16 posts", simulated(12, 16, 60), False)]
    others.append(Trial("a ring of 7 posts", simulated(13, 7, 60), False))
    return first, SPLIT, [Trial("the ring of training", first, True), *others]


_LIMITS = (
    "Errors were measured on the logs named below and no others; on yours, measure first (`attentionmixer.evaluate`).",
    "It forecasts; it raises no alarm, and no alarm may rest on it alone.",
)
ENTRIES: dict[str, Entry] = {}


def _add(entry: Entry) -> None:
    ENTRIES[entry.name] = entry


def _sizes(name: str, sizes: Sequence[tuple[str, dict[str, Any]]], **settings: Any) -> None:
    for suffix, size in sizes:
        words = {**settings["words"], "title": f"{settings['words']['title']}{', ' + suffix if suffix else ''}"}
        _add(Entry(name + (f"-{suffix}" if suffix else ""), {**ANY_TAG, **size}, **{**settings, "words": words}))


_sizes(
    "radnet-hourly",
    [("small", SMALL), ("", BASE)],
    window=WindowConfig(lookback=96, horizon=24, batch_size=64),
    coordinates=False,
    logs=radnet,
    words={
        "title": "Hourly gamma dose and count rates of a station",
        "summary": "Forecasts the dose rate and eight energy windows of any one gamma monitor 24 hours ahead.",
        "data": "US EPA RadNet fixed monitors: Phoenix and Baton Rouge 2011-2014 and 2019-2021, Kalispell 2019-2021",
        "licence": "US public domain",
        "span": "2011-01-01 to 2021-12-31",
        "split": "each station 70/15/15 in order of time; Boston and Jacksonville are no part of training at all",
        "inputs": "nine tags of one station in this order: dose rate, R02 … R09 count rates; missing ones may be blank",
        "intended_use": "a first forecast for a station without history of its own, and a start for finetuning",
        "limits": (
            *_LIMITS,
            "Five stations of one make of monitor are few; a detector of another kind has other energy windows.",
        ),
    },
)
_sizes(
    "japan-daily",
    [("small", SMALL)],
    window=WindowConfig(lookback=24, horizon=24, batch_size=16),
    coordinates=True,
    logs=japan,
    words={
        "title": "Daily mean dose rates of a country-wide network",
        "summary": "Forecasts daily mean dose rates of any number of stations 24 days ahead.",
        "data": "Japanese monitoring posts, daily means: every second one of 822",
        "licence": "Japanese government open data",
        "span": "2021-04-10 to 2023-12-19",
        "split": "70/15/15 in order of time",
        "inputs": "dose rates of any number of stations, daily; coordinates where they are known",
        "intended_use": "a baseline for slow changes, and a start for finetuning",
        "limits": (*_LIMITS, "Trained where snow, rain and decay rule slow changes; other climates may differ."),
    },
)
_sizes(
    "ring-10min",
    [("small", SMALL), ("", BASE)],
    window=WindowConfig(lookback=72, horizon=12, batch_size=64, scaling=ScalingConfig("robust")),
    coordinates=True,
    logs=ring,
    words={
        "title": "A ring of posts round a plant, with the weather",
        "summary": "Forecasts dose rates of any number of posts two hours ahead, with the weather known ahead.",
        "data": "simulated (docs/simulator.md): one ring of 16 posts over 240 days",
        "licence": "the package's own",
        "span": "240 days of one simulated year",
        "split": "70/15/15 in order of time",
        "inputs": "dose rates each 10 min; rain, wind speed, wind u, wind v, pressure, temperature as tags known ahead",
        "intended_use": "a start for finetuning on the log of a real ring",
        "limits": (*_LIMITS, "It has seen simulated weather, faults and plumes only."),
    },
)
