"""``python -m experiments.interpretability``: run what is missing, then write the page.

One JSON file per cell (system, method, seed) in ``results/interpretability/``; cells that are there are skipped.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from attentionmixer.files import read_json, write_atomically, write_json, write_text
from attentionmixer.run import environment
from experiments.foundation.cells import commit

from . import classical, ours
from .scoring import score
from .systems import SYSTEMS, Known, System

RESULTS = Path(__file__).resolve().parents[1] / "results" / "interpretability"
CLASSICAL = ("lagged correlation", "ridge VAR", "Granger")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cells that are missing, seed by seed, and write ``results/interpretability.md``."""
    parser = argparse.ArgumentParser(prog="python -m experiments.interpretability", description=__doc__)
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    methods = [*CLASSICAL, *ours.VARIANTS]
    parser.add_argument("--methods", nargs="+", choices=methods, default=methods)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="only write the page from the cells that are there")
    options = parser.parse_args(arguments)
    for seed in range(options.seeds if not options.table else 0):
        for name in options.systems:
            known: Known | None = None
            for method in options.methods:
                path = RESULTS / name / f"{method.replace(' ', '-').replace('=', '')}-seed{seed}.json"
                if path.is_file():
                    continue
                known = SYSTEMS[name].make(seed) if known is None else known
                result = measure(SYSTEMS[name], known, method, seed)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_json(path, result)
                best = max(result["readings"].items(), key=lambda item: item[1]["auprc"])
                print(f"{name}, {method}, seed {seed}: {best[0]} {best[1]['auprc']:.3f}", flush=True)
    print(write_page())
    return 0


def measure(system: System, known: Known, method: str, seed: int) -> dict[str, Any]:
    """One cell."""
    torch.manual_seed(seed)
    if method in ours.VARIANTS:
        found = ours.measure(system, known, method, seed)
    else:
        # what is missing is carried on: the classical methods know no gaps
        values = pd.DataFrame(known.log.values).ffill().bfill().to_numpy(np.float64)
        values = values[: int(0.7 * len(values))]
        found = {"readings": {"strength": score(_classical(method, values, system.lookback), known)}}
    about = environment(["python", "-m", "experiments.interpretability"]) | {"threads": torch.get_num_threads()}
    return {"system": system.name, "method": method, "seed": seed, "commit": commit(), "environment": about, **found}


def _classical(method: str, values: classical.Floats, lags: int) -> classical.Floats:
    if method == "lagged correlation":
        return classical.lagged_correlation(values, lags)
    return classical.ridge_var(values, lags) if method == "ridge VAR" else classical.granger(values, lags)


def write_page() -> Path:
    """Medians over seeds, for each system."""
    cells = [read_json(path) for path in sorted(RESULTS.glob("*/*.json"))]
    lines = [
        "# Do maps find the routes there are?",
        "",
        "Made by `python -m experiments.interpretability`. Median over seeds (smallest to largest) of the area under",
        "the precision-recall curve, over the pairs that the truth decides; the base rate is what a random map gets.",
        "Every method sees the first 70 % of the log; ours is trained one step ahead. Readings of one training:",
        "`attention` is the mean weight, `linear path` the strength of the closed-form path, `response` and `effect`",
        "what closing a route changes (`attentionmixer.interpret`), `pulse` the largest answer to a raised source.",
        "",
    ]
    for name in SYSTEMS:
        own = [cell for cell in cells if cell["system"] == name]
        if own:
            lines += [f"## {name}", "", *_table(own), ""]
    if cells:
        where = {(c["environment"].get("cpu", ""), c["environment"]["date"][:10], c["commit"]) for c in cells}
        lines += ["Measured: " + "; ".join(sorted(", ".join(map(str, one)) for one in where)) + "."]
    path = RESULTS.parent / "interpretability.md"
    write_atomically(path, lambda part: write_text(part, "\n".join(lines) + "\n"))
    return path


def _table(cells: Sequence[dict[str, Any]]) -> list[str]:
    base = statistics.median(next(iter(cell["readings"].values()))["base"] for cell in cells)
    rows = [
        f"Base rate {base:.2f}.",
        "",
        "| method | reading | seeds | AUPRC | AUROC | test error | open | lag | sign |",
    ]
    rows.append("|---|---|---|---|---|---|---|---|---|")
    order = [*CLASSICAL, *ours.VARIANTS]
    for method in sorted({cell["method"] for cell in cells}, key=order.index):
        own = [cell for cell in cells if cell["method"] == method]
        for number, reading in enumerate(own[0]["readings"]):
            auprc = [cell["readings"][reading]["auprc"] for cell in own]
            auroc = statistics.median(cell["readings"][reading]["auroc"] for cell in own)
            spread = f"{statistics.median(auprc):.3f} ({min(auprc):.2f}-{max(auprc):.2f})"
            facts = ["" if number else _median(own, *key) for key in _FACTS]
            rows.append(f"| {method} | {reading} | {len(own)} | {spread} | {auroc:.3f} | {' | '.join(facts)} |")
    return rows


_FACTS = (("test_mse",), ("open_share",), ("lags", "lag_right"), ("lags", "sign_right"))


def _median(cells: Sequence[dict[str, Any]], *keys: str) -> str:
    values = []
    for cell in cells:
        found: Any = cell
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            values.append(found)
    return f"{statistics.median(values):.3g}" if values else ""


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    sys.exit(main())
