"""``python -m experiments.zoo NAME --data DIR``: train a model of the zoo, measure it, and put it on its shelf.

``--docs`` only writes docs/zoo.md from the cards. A model that is on its shelf already is trained again with
``--force``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attentionmixer import zoo
from attentionmixer.data.log import StationLog
from attentionmixer.data.split import split_rows
from attentionmixer.files import read_json, sha256, write_atomically, write_json, write_manifest, write_text
from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.run import environment
from attentionmixer.training.fit import FitConfig, TrainerConfig
from attentionmixer.training.module import OptimizerConfig, RegularizerConfig
from attentionmixer.zoo.card import Card
from experiments.foundation.cells import commit

from .models import ENTRIES, SPLIT, Entry, Trial

ROOT = Path(__file__).resolve().parents[2]
SHELF = ROOT / "attentionmixer" / "zoo" / "models"
FILES = ("model.safetensors", "forecaster.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, describe."""
    parser = argparse.ArgumentParser(prog="python -m experiments.zoo", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all of {', '.join(ENTRIES)}")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the logs")
    parser.add_argument("--force", action="store_true", help="train models again that are there")
    parser.add_argument("--docs", action="store_true", help="only write docs/zoo.md from the cards")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(ENTRIES)):
        parser.error(f"there is no {unknown[0]!r}; there are: {', '.join(ENTRIES)}")
    if not options.docs:
        for name in options.names or ENTRIES:
            if options.force or not (SHELF / name / zoo.CARD).is_file():
                put(ENTRIES[name], options.data)
    print(write_docs())
    return 0


def put(entry: Entry, data: Path) -> None:
    """Train one model and put it on its shelf with its card."""
    code = commit()
    forecaster, trials = train(entry, data)
    rows = [row for trial in trials for row in measure(entry, forecaster, trial)]
    about = environment(["python", "-m", "experiments.zoo", entry.name, "--data", "DIR"])
    about["commit"] = code
    folder = SHELF / entry.name
    forecaster.save(folder)
    step = forecaster.schema.step
    card = Card(
        name=entry.name,
        step=f"{step.total_seconds() / 60:g} min",
        lookback=entry.window.lookback,
        horizon=entry.window.horizon,
        metrics=tuple(rows),
        parameters=forecaster.model.parameter_count,
        command=about["command"],
        environment=about,
        sha256={name: sha256(folder / name) for name in FILES},
        **entry.words,
    )
    write_json(folder / zoo.CARD, card.to_dict())
    write_manifest(folder)
    for row in rows:
        print(entry.name, row, flush=True)


def train(entry: Entry, data: Path) -> tuple[Forecaster, list[Trial]]:
    """The trained model, and the logs to measure it on."""
    log, split, trials = entry.logs(data, entry.window)
    training = FitConfig(
        OptimizerConfig(learning_rate=entry.learning_rate),
        RegularizerConfig("entropy", 1e-3),
        TrainerConfig(
            max_epochs=entry.epochs, patience=3, max_seconds=entry.seconds, logger="none", progress=sys.stderr.isatty()
        ),
    )
    window = replace(entry.window, split=split)
    config = ForecasterConfig("attentionmixer", entry.model, window, training, coordinates=entry.coordinates)
    with tempfile.TemporaryDirectory() as scratch:
        return Forecaster(config).fit(log, Path(scratch)), trials


def measure(entry: Entry, forecaster: Forecaster, trial: Trial) -> list[dict[str, Any]]:
    """Errors on the test part of a log: ours without any training there, and baselines trained on that very log."""
    log: StationLog = trial.log
    rows = split_rows(log, SPLIT)
    window = replace(entry.window, split=SPLIT)
    linear = FitConfig(
        trainer=TrainerConfig(max_epochs=5, logger="none", progress=False), regularizer=RegularizerConfig("none", 0.0)
    )
    contenders = {
        entry.name: forecaster.adapt(log, rows.train_end),
        "persistence": Forecaster(ForecasterConfig("persistence", {}, window)).fit(log),
        "linear": Forecaster(ForecasterConfig("linear", {}, window, linear)).fit(log),
    }
    found = []
    for name, contender in contenders.items():
        errors = contender.evaluate(log, rows.validation_end, rows.test_end).compute()
        found.append(
            {
                "log": trial.name,
                "seen": trial.seen,
                "model": name,
                "mse": errors["mse"],
                "mae": errors["mae"],
                "coverage_90": errors["coverage"]["0.9"],
                "windows": errors["windows"],
            }
        )
    return found


def write_docs() -> Path:
    """docs/zoo.md, from the cards on the shelf."""
    cards = [Card.from_dict(read_json(path)) for path in sorted(SHELF.glob(f"*/{zoo.CARD}"))]
    lines = [
        "# Models that come with the package",
        "",
        "    python -m attentionmixer.zoo list",
        "    python -m attentionmixer.zoo card NAME",
        "    python -m attentionmixer.zoo verify",
        "",
        "In Python a model is made one for your log by `adapt` (nothing is trained: only the scaler is fitted) or by",
        "`finetune` (training goes on from its weights):",
        "",
        "    from attentionmixer import zoo",
        "    from attentionmixer.data import read_log",
        "",
        '    log = read_log("plant.csv", tz="UTC")',
        '    forecaster = zoo.load("radnet-hourly").adapt(log)',
        "    forecaster.predict(log).to_frame()",
        "",
        "Weights are safetensors and JSON inside the wheel; hashes, header and shapes are checked before a weight is",
        "read. Errors below are masked, in units of the variance of the training part of the log named, on its last",
        "15 %. *Linear* and *persistence* are what one would have without the model; linear is trained on that log.",
        "",
    ]
    text = "\n".join([*lines, *(card.to_markdown() for card in cards)])
    path = ROOT / "docs" / "zoo.md"
    write_atomically(path, lambda part: write_text(part, text))
    return path


if __name__ == "__main__":
    sys.exit(main())
