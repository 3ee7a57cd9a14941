"""From the kept cells to a Markdown page."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .cells import DATA, RESULTS, VARIANTS

#: 97.5 % points of Student's t for n − 1 degrees of freedom.
_T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def load(config: str, variant: str) -> dict[int, dict[str, Any]]:
    """Seed → result, for the cells that are there."""
    found = {}
    for path in sorted((RESULTS / config).glob(f"{variant.replace(' ', '-')}-seed*.json")):
        found[int(path.stem.rpartition("seed")[2])] = json.loads(path.read_text(encoding="utf-8"))
    return found


def page() -> str:
    """The whole page."""
    lines = ["# First figures", ""]
    first = next((cell for c in DATA for cell in load(c, "attentionmixer").values()), None)
    if first is None:
        return "\n".join([*lines, "No cell has been run yet.", ""])
    lines += [
        "Errors are masked, over all channels, in units of the training variance; targets and forecasts are clipped at",
        "± 20 training standard deviations. Mean ± standard deviation over seeds. Settings were chosen on validation",
        "data. Made by `python -m experiments.foundation --data DIR`; every cell keeps its own versions and date under",
        "`experiments/results/foundation/`.",
        "",
    ]
    for config in DATA:
        lines += _section(config)
    return "\n".join(lines)


def _section(config: str) -> list[str]:
    cells = {variant: load(config, variant) for variant in VARIANTS}
    ours = cells["attentionmixer"]
    if not ours:
        return []
    one = next(iter(ours.values()))
    environment, base = one["environment"], one["metrics"]["baselines"]
    linear, persistence = base["linear"]["mse"], base["persistence"]["mse"]
    packages = ", ".join(f"{name} {version}" for name, version in environment["packages"].items())
    lines = [
        f"## {config}",
        "",
        f"Seeds {', '.join(map(str, sorted(ours)))}; {environment['cpu']}, {environment['cores']} cores; "
        f"Python {environment['python']}, {packages}; {environment['date'][:10]}.",
        "",
        "| model | validation MSE | test MSE | test MAE | against linear | against persistence | 90 % covers "
        "| open routes | seconds | peak MB | parameters |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ("persistence", "linear"):
        parts = base[name]
        test = parts["test"]
        lines.append(
            f"| {name} | {parts['validation']['mse']:.4f} | {test['mse']:.4f} | {test['mae']:.4f} | "
            f"{_percent(test['mse'], linear)} | {_percent(test['mse'], persistence)} | "
            f"{test['coverage']['0.9']:.1%} | – | – | – | – |"
        )
    for variant, results in reversed(cells.items()):
        if results:
            lines.append(_row(variant, [r["metrics"] for r in results.values()], linear, persistence))
    return [*lines, "", *_paired(cells), ""]


def _row(variant: str, metrics: Sequence[dict[str, Any]], linear: float, persistence: float) -> str:
    test = [m["test"]["mse"] for m in metrics]
    mean = statistics.fmean(test)
    opened = [m["routes"]["open"] for m in metrics if m["routes"]["open"] is not None]
    return (
        f"| {variant} | {_spread([m['validation']['mse'] for m in metrics])} | {_spread(test)} | "
        f"{_spread([m['test']['mae'] for m in metrics])} | {_percent(mean, linear)} | {_percent(mean, persistence)} | "
        f"{_spread([100 * m['coverage']['0.9'] for m in metrics], 1)} % | "
        f"{f'{statistics.fmean(opened):.0%}' if opened else '–'} | "
        f"{statistics.fmean(m['train']['seconds'] for m in metrics):.0f} | "
        f"{max(m['train']['peak_rss_mb'] for m in metrics):.0f} | {metrics[0]['parameters']:,} |"
    )


def _paired(cells: dict[str, dict[int, dict[str, Any]]]) -> list[str]:
    """Difference of the full model to its ablation, seed by seed."""
    ours, temporal = cells["attentionmixer"], cells["temporal only"]
    seeds = sorted(ours.keys() & temporal.keys())
    if len(seeds) < 2:
        return []
    lines = []
    for part in ("validation", "test"):
        ratios = [ours[s]["metrics"][part]["mse"] / temporal[s]["metrics"][part]["mse"] - 1 for s in seeds]
        mean = statistics.fmean(ratios)
        half = _T.get(len(seeds), 2.26) * statistics.stdev(ratios) / math.sqrt(len(seeds))
        lines.append(
            f"Mixing against temporal only, {part} MSE, paired over {len(seeds)} seeds: {mean:+.1%} "
            f"(95 % interval {mean - half:+.1%} to {mean + half:+.1%})."
        )
    return ["  \n".join(lines)]


def _spread(values: Sequence[float], digits: int = 4) -> str:
    mean = statistics.fmean(values)
    return f"{mean:.{digits}f} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else f"{mean:.{digits}f}"


def _percent(value: float, reference: float) -> str:
    return f"{value / reference - 1:+.1%}"


def write() -> Path:
    """Write the page; returns its path."""
    path = RESULTS.with_suffix(".md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(), encoding="utf-8")
    return path
