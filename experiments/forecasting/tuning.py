"""One recipe for each contender, found by the same number of trials on the validation part of one log.

    python -m experiments.forecasting.tuning --data DIR
    python -m experiments.forecasting.tuning --data DIR --only gru --trials 12 --seconds 150

Trials are kept in ``results/forecasting/tuning/NAME.json``; a search that was broken off goes on. The best one becomes
``recipes/NAME.yaml``. The test part is not looked at.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna
import yaml

from attentionmixer.files import read_json, write_atomically, write_json, write_text
from attentionmixer.run import environment

from .cell import RESULTS, Cell, one_core, prepare, train
from .contenders import CONTENDERS, DEFAULTS, RECIPES, merged
from .problems import PROBLEMS
from .scoring import score
from .spaces import SPACES, STARTS, draw, nested

PROBLEM = "radnet-2019"
#: One core each, so that trials may stand side by side; 150 s on one core are less than 90 s on two.
TRIALS, SECONDS, SEED = 12, 150.0, 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Search for those that have no recipe of these settings yet."""
    parser = argparse.ArgumentParser(prog="python -m experiments.forecasting.tuning", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the logs")
    parser.add_argument("--only", nargs="+", choices=list(SPACES), default=list(SPACES))
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="most seconds a trial may train")
    parser.add_argument("--trial", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.trial is not None:
        print(json.dumps(try_recipe(options.only[0], options.trial, options.seconds, options.data)))
        return 0
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for name in options.only:
        search(name, options.trials, options.seconds, options.data)
    return 0


def search(name: str, trials: int, seconds: float, data: Path) -> None:
    """Fill up the trials of one contender and write its recipe."""
    path = RESULTS / "tuning" / f"{name}.json"
    settings = {"problem": PROBLEM, "seconds": seconds, "space": describe(name), "start": STARTS[name], "seed": SEED}
    kept = read_json(path) if path.is_file() else {}
    if kept.get("settings") != json.loads(json.dumps(settings)):
        kept = {"settings": settings, "trials": []}
    study = optuna.create_study()
    distributions = _distributions(name)
    for done in kept["trials"]:
        state = optuna.trial.TrialState.FAIL if done["value"] is None else optuna.trial.TrialState.COMPLETE
        study.add_trial(
            optuna.trial.create_trial(
                params=done["parameters"], distributions=distributions, value=done["value"], state=state
            )
        )
    if not kept["trials"]:
        study.enqueue_trial(STARTS[name])
    while len(kept["trials"]) < trials:
        # a sampler for each trial: a search that goes on draws what one that never stopped would have drawn
        study.sampler = optuna.samplers.TPESampler(seed=1000 * SEED + len(kept["trials"]))
        trial = study.ask()
        recipe = draw(trial, name)
        outcome = _apart(name, recipe, seconds, data)
        value = outcome.get("value")
        study.tell(trial, value, state=optuna.trial.TrialState.FAIL if value is None else None)
        kept["trials"].append({"parameters": trial.params, **outcome})
        kept["environment"] = environment(["python", "-m", "experiments.forecasting.tuning", "--data", "DIR"])
        write_json(path, kept)
        print(f"{name} {len(kept['trials'])}/{trials}: {outcome}", flush=True)
    good = [trial for trial in kept["trials"] if trial["value"] is not None]
    best = min(good, key=lambda trial: trial["value"])
    found = {
        "recipe": nested(best["parameters"]),
        "found": {
            "by": "python -m experiments.forecasting.tuning --data DIR",
            "problem": PROBLEM,
            "validation_mse": best["value"],
            "start_validation_mse": kept["trials"][0]["value"],
            "trials": len(kept["trials"]),
            "seconds_per_trial": seconds,
            "date": kept["environment"]["date"][:10],
        },
    }
    text = yaml.safe_dump(found, sort_keys=False)
    write_atomically(RECIPES / f"{name}.yaml", lambda part: write_text(part, text))


def _apart(name: str, recipe: dict[str, Any], seconds: float, data: Path) -> dict[str, Any]:
    """Try a recipe in a process of its own, so that no trial sees what another left."""
    command = [sys.executable, "-m", __spec__.name if __spec__ else "experiments.forecasting.tuning"]
    command += [f"--data={data}", f"--seconds={seconds:g}", f"--trial={json.dumps(recipe)}", "--only", name]
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=said, text=True, check=False, env=one_core())
        if done.returncode:
            said.seek(0)
            tail = said.read().strip().splitlines()[-1:]
            return {"value": None, "failed": tail[0][:300] if tail else f"exit {done.returncode}"}
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def try_recipe(name: str, recipe: dict[str, Any], seconds: float, data: Path) -> dict[str, Any]:
    """Validation error of one recipe."""
    logging.disable(logging.WARNING)
    cell = Cell(PROBLEMS[PROBLEM], CONTENDERS[name], SEED, seconds)
    whole = merged(DEFAULTS, recipe)
    module = prepare(cell.problem, whole, data)
    model, result = train(cell, whole, module, intervals=False)
    return {
        "value": score(model, module, "validation")["mse"],
        "seconds": round(result.seconds, 1),
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "parameters_count": model.parameter_count,
    }


def describe(name: str) -> dict[str, Any]:
    """The space in plain types."""
    return {key: list(of) for key, of in SPACES[name].items()}


def _distributions(name: str) -> dict[str, optuna.distributions.BaseDistribution]:
    return {
        key: optuna.distributions.FloatDistribution(*of, log=True)
        if isinstance(of, tuple)
        else optuna.distributions.CategoricalDistribution(of)
        for key, of in SPACES[name].items()
    }


if __name__ == "__main__":
    sys.exit(main())
