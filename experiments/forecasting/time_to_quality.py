"""How long does ours train until it is as good as the best peer is in the end?

    python -m experiments.forecasting.time_to_quality --data DIR

Every peer is trained once as in `core`; ours is trained with one budget of time after the other, each a whole training
whose learning rate has fallen to zero by the end. All on one core, one after the other, in one run. Quality is the
validation error on radnet-2019. Trainings are kept in ``results/forecasting/time-to-quality.json`` as they come.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attentionmixer.files import read_json, write_atomically, write_json, write_text

from .__main__ import measure_to
from .cell import RESULTS, Cell
from .contenders import CONTENDERS
from .problems import PROBLEMS
from .suites import SUITES

PROBLEM = "radnet-2019"
BUDGETS = (5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 300.0)
OURS = ("attentionmixer", "temporal only")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is missing, then write ``results/time-to-quality.md``."""
    parser = argparse.ArgumentParser(prog="python -m experiments.forecasting.time_to_quality", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the logs")
    parser.add_argument("--force", action="store_true", help="begin anew")
    options = parser.parse_args(arguments)
    path = RESULTS / "time-to-quality.json"
    kept: dict[str, Any] = {} if options.force or not path.is_file() else read_json(path)
    suite = SUITES["core"]
    wanted = [(name, suite.seconds) for name in suite.contenders_of(PROBLEM) if name not in OURS]
    wanted += [("attentionmixer", budget) for budget in BUDGETS]
    for name, seconds in wanted:
        key = f"{name} {seconds:g}"
        if key in kept:
            continue
        cell = Cell(PROBLEMS[PROBLEM], CONTENDERS[name], 0, seconds)
        with tempfile.TemporaryDirectory() as scratch:
            to = Path(scratch) / "result.json"
            said = measure_to(cell, options.data, to)
            if said is not None:
                print(f"{key} FAILED: {said}", file=sys.stderr)
                return 1
            result = read_json(to)
        kept[key] = {
            "name": name,
            "budget": seconds,
            "seconds": result["train"]["seconds"],
            "validation_mse": result["validation"]["mse"],
            "settings_hash": result["settings_hash"],
            "environment": result["environment"],
            "commit": result["commit"],
        }
        write_json(path, kept)
        print(f"{key}: {kept[key]['validation_mse']:.4f} after {kept[key]['seconds']:.0f} s", flush=True)
    page = RESULTS.parent / "time-to-quality.md"
    text = table(list(kept.values()))
    write_atomically(page, lambda part: write_text(part, text))
    print(page)
    return 0


def table(trainings: Sequence[dict[str, Any]]) -> str:
    """For each peer: its error and seconds, and ours when it first got there."""
    ours = sorted((one for one in trainings if one["name"] == "attentionmixer"), key=lambda one: one["seconds"])
    peers = sorted((one for one in trainings if one["name"] != "attentionmixer"), key=lambda one: one["validation_mse"])
    lines = [
        "# Time to quality",
        "",
        "Made by `python -m experiments.forecasting.time_to_quality --data DIR`: radnet-2019, 24 h ahead, one core,",
        "seed 0. Seconds until ours, trained anew with one budget after the other, has the validation error that a",
        "peer ends with.",
        "",
        "| peer | validation error | seconds | ours | seconds | share of the peer's time |",
        "|---|---|---|---|---|---|",
    ]
    for peer in peers:
        there = next((one for one in ours if one["validation_mse"] <= peer["validation_mse"]), None)
        found = (
            "not reached | | "
            if there is None
            else f"{there['validation_mse']:.4f} | {there['seconds']:.0f} | {there['seconds'] / peer['seconds']:.2f} "
        )
        lines.append(f"| {peer['name']} | {peer['validation_mse']:.4f} | {peer['seconds']:.0f} | {found}|")
    lines += [
        "",
        "All budgets of ours: "
        + "; ".join(f"{one['seconds']:.0f} s {one['validation_mse']:.4f}" for one in ours)
        + ".",
    ]
    about = ours[-1]["environment"] if ours else peers[-1]["environment"]
    lines += ["", f"{about.get('cpu', '')}, {about['date'][:10]}, torch {about.get('packages', {}).get('torch', '')}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
