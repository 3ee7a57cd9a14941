"""From the kept cells to a Markdown page."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import t as student

from attentionmixer.files import read_json, write_atomically, write_text

from .cells import DATA, RESULTS, variants

Results = dict[int, dict[str, Any]]


def load(config: str, variant: str) -> Results:
    """Seed → result, for the cells that are there."""
    paths = (RESULTS / config).glob(f"{variant.replace(' ', '-')}-seed*.json")
    found = {int(path.stem.rpartition("seed")[2]): read_json(path) for path in paths}
    return dict(sorted(found.items()))


def page() -> str:
    """The whole page."""
    lines = [
        "# First figures",
        "",
        "Errors are masked, over all channels, in units of the training variance; targets and forecasts are clipped at",
        "± 20 training standard deviations. Mean ± standard deviation over seeds; seconds of training are the median,",
        "peak MB the largest. Settings were chosen on validation data. Made by",
        "`python -m experiments.foundation --data DIR`; every cell keeps its own command, versions and date under",
        "`experiments/results/foundation/`.",
        "",
    ]
    sections = [line for config in DATA for line in _section(config)]
    return "\n".join([*lines, *(sections or ["No cell has been run yet.", ""])])


def _section(config: str) -> list[str]:
    cells = {variant: load(config, variant) for variant in variants(config)}
    ours = next(iter(cells.values()))
    if not ours:
        return []
    bases = [result["metrics"]["baselines"] for result in ours.values()]
    linear, persistence = (statistics.fmean(b[name]["mse"] for b in bases) for name in ("linear", "persistence"))
    lines = [
        f"## {config}",
        "",
        f"Seeds {_listed(ours)}; {_made([result for results in cells.values() for result in results.values()])}.",
        "",
        "| model | validation MSE | test MSE | test MAE | against linear | against persistence | 90 % covers "
        "| open routes | seconds | peak MB | parameters |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ("persistence", "linear"):
        parts = [base[name] for base in bases]
        lines.append(
            _errors(name, parts, [p["test"]["coverage"] for p in parts], linear, persistence) + "– | – | – | – |"
        )
    for variant, results in reversed(cells.items()):
        if results:
            name = variant if results.keys() == ours.keys() else f"{variant} (only seeds {_listed(results)})"
            lines.append(_row(name, [r["metrics"] for r in results.values()], linear, persistence))
    return [*lines, "", *_paired(cells), *_mixed(cells), ""]


def _mixed(cells: dict[str, Results]) -> list[str]:
    """A warning where persistence, which has nothing random in it, was not measured alike in all cells."""
    seen = [r["metrics"]["baselines"]["persistence"] for results in cells.values() for r in results.values()]
    odd = sum(base != seen[0] for base in seen)
    if not odd:
        return []
    return [
        "",
        f"**Not one and the same code or data:** persistence differs in {odd} of {len(seen)} cells (`--force`).",
    ]


def _made(results: Sequence[dict[str, Any]]) -> str:
    """Hardware, versions, dates and code behind some cells. Where cells differ, all values are listed."""
    about = [result["environment"] for result in results]
    stacks = (", ".join([f"Python {e['python']}", *(f"{k} {v}" for k, v in e["packages"].items())]) for e in about)
    commits = [result.get("commit", "not recorded") for result in results]
    return "; ".join(
        [
            _listed({f"{e['cpu']}, {e['cores']} cores" for e in about}, " / "),
            _listed(set(stacks), " / "),
            _listed({e["date"][:10] for e in about}),
            f"code: {_listed({f'{name} ({commits.count(name)} cells)' for name in commits})}",
        ]
    )


def _errors(
    name: str, parts: Sequence[dict[str, Any]], coverage: Sequence[dict[str, float]], linear: float, persistence: float
) -> str:
    """The columns that all models have, over seeds."""
    test = [p["test"]["mse"] for p in parts]
    mean = statistics.fmean(test)
    return (
        f"| {name} | {_spread([p['validation']['mse'] for p in parts])} | {_spread(test)} | "
        f"{_spread([p['test']['mae'] for p in parts])} | {_percent(mean, linear)} | {_percent(mean, persistence)} | "
        f"{_spread([100 * c['0.9'] for c in coverage], 1)} % | "
    )


def _row(name: str, metrics: Sequence[dict[str, Any]], linear: float, persistence: float) -> str:
    opened = [m["routes"]["open"] for m in metrics if m["routes"]["open"] is not None]
    return (
        _errors(name, metrics, [m["coverage"] for m in metrics], linear, persistence)
        + f"{f'{statistics.fmean(opened):.0%}' if opened else '–'} | "
        f"{statistics.median(m['train']['seconds'] for m in metrics):.0f} | "
        f"{max(m['train']['peak_rss_mb'] for m in metrics):.0f} | {metrics[0]['parameters']:,} |"
    )


def _paired(cells: dict[str, Results]) -> list[str]:
    """Difference of the full model to its ablation, seed by seed, with Student's interval."""
    ours, temporal = cells.get("attentionmixer", {}), cells.get("temporal only", {})
    seeds = sorted(ours.keys() & temporal.keys())
    if len(seeds) < 2:
        return []
    lines = []
    for part in ("validation", "test"):
        ratios = [ours[s]["metrics"][part]["mse"] / temporal[s]["metrics"][part]["mse"] - 1 for s in seeds]
        mean = statistics.fmean(ratios)
        half = float(student.ppf(0.975, len(seeds) - 1)) * statistics.stdev(ratios) / math.sqrt(len(seeds))
        lines.append(
            f"Mixing against temporal only, {part} MSE, paired over {len(seeds)} seeds: {mean:+.1%} "
            f"(95 % interval {mean - half:+.1%} to {mean + half:+.1%})."
        )
    return ["  \n".join(lines)]


def _listed(values: Iterable[Any], separator: str = ", ") -> str:
    return separator.join(map(str, sorted(values)))


def _spread(values: Sequence[float], digits: int = 4) -> str:
    """Mean ± standard deviation; the mean alone where nothing varies, as for a method without a seed."""
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(set(values)) > 1 else mean


def _percent(value: float, reference: float) -> str:
    return f"{value / reference - 1:+.1%}"


def write() -> Path:
    """Write the page; returns its path."""
    path = RESULTS.with_suffix(".md")
    text = page()
    write_atomically(path, lambda part: write_text(part, text))
    return path
