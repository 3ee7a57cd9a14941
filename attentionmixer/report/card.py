"""Sections 7 and 8: the model card, and how to make the run again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .blocks import Block, Column, Facts, Heading, Items, Listing, Note, Section, Table
from .grouping import by_station
from .run import Run
from .text import NO_DATA, clean, clean_lines, count, duration, fixed, moment, number, percent, shorten
from .verdict import ADVISORY


def model_card(run: Run) -> Section:
    """What the model is, what it was made from, what it is for and what it is not for."""
    blocks: list[Block] = [
        Facts(_facts(run)),
        _periods(run),
        _tags(run),
        Heading("Intended use"),
        Items(
            [
                "Short-term forecasts of the tags listed above, with intervals, for those who watch the plant.",
                "Showing which tags and which past hours a forecast rests on, as a starting point for questions.",
                ADVISORY,
            ]
        ),
        Heading("Limits"),
        Items(_limits(run)),
    ]
    return Section("card", "Model card", "Model card", blocks)


def _facts(run: Run) -> list[tuple[str, str]]:
    provenance, metrics, environment = run.provenance, run.metrics, run.environment
    parameters = metrics.number("parameters")
    if parameters is None and isinstance(provenance.get("parameters"), int | float):
        parameters = float(provenance["parameters"])
    steps, minutes = run.lookback, run.step_minutes
    config = ", ".join(f"{key} {value}" for key, value in _config(run).items())
    effective = [
        f"{fixed(value, 1)} ({axis})"
        for axis in ("spatial", "temporal")
        if (value := metrics.number("routes", "effective", axis)) is not None
    ]
    memory = metrics.number("train", "peak_rss_mb")
    speed = metrics.number("train", "windows_per_second")
    return [
        ("Model", clean(str(run.model.get("name", NO_DATA)))),
        ("Parameters", count(parameters)),
        ("Window", f"{count(steps)} steps of {duration(minutes)} ({duration(steps * minutes)})"),
        ("Horizon", f"{count(run.horizon)} steps ({duration(run.horizon * minutes)})"),
        ("Effective sources per estimate", ", ".join(effective) or NO_DATA),
        ("Open routes", percent(metrics.number("routes", "open"), 1)),
        (
            "Trained",
            f"{moment(provenance.get('created'))} UTC, version {clean(str(provenance.get('version', NO_DATA)))}",
        ),
        ("Seed", clean(str(provenance.get("seed", NO_DATA)))),
        ("Training time", _with(metrics.number("train", "seconds"), _seconds)),
        ("Epochs", count(metrics.number("train", "epochs"))),
        ("Training speed", NO_DATA if speed is None else f"{number(speed)} windows per second"),
        ("Peak memory", NO_DATA if memory is None else f"{count(memory)} MB"),
        ("Machine", _machine(environment)),
        ("Settings", clean(config) or NO_DATA),
    ]


def _with(value: float | None, show: Any) -> str:
    return NO_DATA if value is None else str(show(value))


def _seconds(value: float) -> str:
    return duration(value / 60) if value >= 60 else f"{number(value, 2)} s"


def _machine(environment: Mapping[str, Any]) -> str:
    parts = [str(environment[key]) for key in ("cpu", "platform") if environment.get(key)]
    if environment.get("cores"):
        parts.insert(1 if environment.get("cpu") else 0, f"{environment['cores']} cores")
    return clean(", ".join(parts)) or NO_DATA


def _config(run: Run) -> Mapping[str, Any]:
    config = run.model.get("config")
    return config if isinstance(config, Mapping) else {}


def _periods(run: Run) -> Table:
    entries = (
        ("Training", "train", "weights and scaling"),
        ("Validation", "validation", "early stopping and choice of settings"),
        ("Test", "test", "the errors in this report, nothing else"),
        ("All data", "data", ""),
    )
    rows = [
        [name, moment(run.provenance.get(f"{key}_start")), moment(run.provenance.get(f"{key}_end")), use]
        for name, key, use in entries
    ]
    labels = ("Period", "From (UTC)", "To (UTC)", "Used for")
    return Table("Data span and split", [Column(label, numeric=False, tight="UTC" in label) for label in labels], rows)


def _tags(run: Run) -> Table:
    roles = {
        "target": "forecast and scored",
        "estimate": "estimated from the others, and scored",
        "input": "read, not scored",
        "known": "known ahead",
    }
    rows = []
    for station, tags in by_station(run.tags):
        for tag in tags:
            place = "–" if tag.coordinates is None else ", ".join(fixed(degree, 4) for degree in tag.coordinates)
            quantity = clean(tag.quantity.replace("_", " "))
            rows.append(
                [
                    clean(tag.name),
                    shorten(tag.unit or "–", 16),
                    quantity,
                    clean(station or "–"),
                    place,
                    roles.get(tag.role, tag.role),
                ]
            )
    labels = ("Tag", "Unit", "Quantity", "Station", "Latitude, longitude", "Role")
    return Table(f"{len(rows)} tags", [Column(label, numeric=False) for label in labels], rows, fold=True)


def _limits(run: Run) -> list[str]:
    end = moment(run.provenance.get("train_end"))
    return [
        f"It was trained on readings up to {end} UTC. After a change of detector, site, operating state or time step "
        "it must be trained again.",
        f"It knows the {count(len(run.tags))} tags it was trained on, by name, and says nothing about other tags.",
        "Events unlike any in the training period, a release above all, are outside what was measured here.",
        "Intervals were checked as an average over the test period; in single hours, such as rain, they may hold less.",
        "Route weights are not causes and were not tested for faithfulness in this report.",
        "All figures come from one training run.",
    ]


# --- making it again -------------------------------------------------------------------------------------------------


def reproduce(run: Run) -> Section:
    """Command, configuration, versions and the hash of the weights."""
    environment = run.environment
    blocks: list[Block] = []
    command = environment.get("command")
    if command:
        text = (
            command
            if isinstance(command, str)
            else " ".join(map(str, command))
            if isinstance(command, list)
            else str(command)
        )
        blocks.append(Listing("Command", clean_lines(text)))
    else:
        blocks.append(Note("The command is not on record: environment.json is missing or does not name it.", "empty"))
    if run.config is None:
        blocks.append(Note("The run holds no config.yaml, so its configuration is unknown.", "empty"))
    else:
        blocks.append(Listing("config.yaml: the full configuration", clean_lines(run.config), fold=True))
    blocks.append(_hash(run))
    if environment:
        blocks += _environment(environment)
    else:
        blocks.append(Note("The run holds no environment.json, so its versions are unknown.", "empty"))
    return Section("reproduce", "How to reproduce", "Reproduce", blocks)


def _hash(run: Run) -> Block:
    if run.weights_sha256 is None:
        return Note("The run holds no model.safetensors, so there is no hash of its weights.", "empty")
    if run.promised_sha256 is not None and run.promised_sha256 != run.weights_sha256:
        return Note(
            f"model.safetensors is not the file that the run wrote: its SHA-256 is {run.weights_sha256}, manifest.json "
            f"promises {clean(run.promised_sha256)}.",
            "warning",
        )
    return Listing("SHA-256 of the weights", f"{run.weights_sha256}  model.safetensors")


def _environment(environment: Mapping[str, Any]) -> list[Block]:
    packages = environment.get("packages")
    known = {key: value for key, value in environment.items() if key not in ("packages", "command")}
    facts = [(_term(str(key)), clean(_plain(value))) for key, value in known.items() if value]
    blocks: list[Block] = [Facts(facts)] if facts else []
    if isinstance(packages, Mapping) and packages:
        blocks.append(
            Table(
                f"{len(packages)} packages",
                [Column("Package", numeric=False), Column("Version", numeric=False)],
                [[clean(str(name)), clean(str(version))] for name, version in sorted(packages.items())],
                fold=True,
            )
        )
    return blocks


def _term(key: str) -> str:
    words = clean(key).replace("_", " ")
    return words.upper() if key in ("cpu", "gpu") else words[:1].upper() + words[1:]


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
