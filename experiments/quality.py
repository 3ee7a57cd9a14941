"""Do the quality rules find instrument faults, and do they leave plumes and rain alone?

Simulated rings with known faults, beside a naive limit (5 robust standard deviations from the tag's median); then the
share of real logs that is flagged; then the time it takes.

    python -m experiments.quality --data DIR
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attentionmixer.data.log import StationLog
from attentionmixer.data.quality import IGNORED, Flag, count_flags, screen
from attentionmixer.data.readers import read_log
from attentionmixer.data.simulate import Simulation, simulate_ring
from attentionmixer.run import environment

RESULTS = Path(__file__).resolve().parent / "results"
#: None of these seeds was looked at while the rules' settings were chosen.
SEEDS = (100, 101, 102, 103, 104)
SETTINGS: dict[str, dict[str, Any]] = {
    "10 min": {"days": 365},
    "10 min, rounded to 10 nSv/h": {"days": 365, "rounding_nsvh": 10.0},
    "1 h, rounded to 1 nSv/h": {"days": 365, "step_minutes": 60, "rounding_nsvh": 1.0},
}
#: Fault of the simulator → flags that are right for it.
OWED = {
    "stuck": Flag.STUCK,
    "spike": Flag.SPIKE | Flag.WRAP,
    "start_up": Flag.STARTUP,
    "step": Flag.SWAP,
    "source_check": Flag.SPIKE | Flag.WRAP | Flag.NEIGHBOUR,
}
STATIONS = ("AZ_PHOENIX", "LA_BATON_ROUGE", "MT_KALISPELL", "MA_BOSTON", "FL_JACKSONVILLE")
Mask = NDArray[np.bool_]


@dataclass
class Score:
    """Counts over all seeds of one setting and one method."""

    events: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OWED, 0))
    found: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OWED, 0))
    flagged: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OWED, 0))
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OWED, 0))
    sound: dict[str, list[int]] = field(default_factory=lambda: {k: [0, 0] for k in ("all", "plume", "rain")})


def naive(log: StationLog) -> Mask:
    """|x - median| > 5 · 1.4826 · MAD, tag by tag."""
    off = np.abs(log.values - np.nanmedian(log.values, axis=0))
    return np.asarray(off > 5 * 1.4826 * np.nanmedian(off, axis=0))


def rules(log: StationLog) -> Callable[[Flag], Mask]:
    """Cells with any of some flags."""
    flags = screen(log).flags
    return cache(lambda wanted: np.asarray((flags & np.uint16(wanted)) != 0))


def score(simulation: Simulation, marked: Callable[[Flag], Mask], total: Score) -> None:
    """Add what one method marked in one simulation. Weather tags are left out."""
    log, posts = simulation.log, simulation.config.posts
    there = ~np.isnan(log.values[:, :posts])
    places: dict[str, Mask] = {kind: np.zeros(there.shape, dtype=bool) for kind in OWED}
    broken = np.zeros(there.shape, dtype=bool)
    for fault in simulation.truth.faults:
        if fault.kind not in OWED:
            continue
        first, last = log.time.searchsorted([fault.start, fault.end])
        column = simulation.truth.posts.index(fault.tag)
        hit = marked(OWED[fault.kind])[:, :posts]
        # a swap is a moment, and going back to the old detector is another; a stuck run begins with the true reading
        # that it repeats
        start = first - (fault.kind == "stuck")
        stretches = [(first - 3, first + 4), (last - 3, last + 4)] if fault.kind == "step" else [(start, last)]
        for a, b in stretches:
            span = slice(max(0, a), b)
            if there[span, column].any():
                total.events[fault.kind] += 1
                total.found[fault.kind] += bool((hit & there)[span, column].any())
            places[fault.kind][span, column] = True
        broken[max(0, start) : last, column] = True
    # a source check that lasts one step is a spike to everybody who was not told
    places["spike"] |= places["source_check"]
    for kind, owed in OWED.items():
        hit = marked(owed)[:, :posts] & there
        total.flagged[kind] += int(hit.sum())
        total.right[kind] += int((hit & places[kind]).sum())
    ignored = marked(IGNORED)[:, :posts]
    parts = simulation.truth.parts
    masks = {"all": np.ones_like(there), "plume": parts["plume"] > 1, "rain": parts["washout"] > 2}
    for name, mask in masks.items():
        cells = there & ~broken & mask
        total.sound[name][0] += int((ignored & cells).sum())
        total.sound[name][1] += int(cells.sum())


def simulated() -> dict[str, dict[str, Score]]:
    """Setting → method → score."""
    out: dict[str, dict[str, Score]] = {}
    for name, settings in SETTINGS.items():
        ours, simple = Score(), Score()
        for seed in SEEDS:
            simulation = simulate_ring(seed=seed, **settings)
            score(simulation, rules(simulation.log), ours)
            limit = naive(simulation.log)
            score(simulation, lambda _, limit=limit: limit, simple)
        out[name] = {"rules": ours, "naive limit": simple}
    return out


def real(folder: Path) -> list[dict[str, Any]]:
    """Share of cells flagged in logs of working instruments."""
    japan, soft = folder / "japan-nra", folder / "softsensor"
    logs: dict[str, Callable[[], StationLog]] = {
        f"RadNet {s}": lambda s=s: read_log(sorted((folder / "radnet").glob(f"{s}_*.csv"))) for s in STATIONS
    }
    logs["Japan, daily means"] = lambda: read_log(
        japan / "japan_daily_984x822_wide.csv.gz", tz="UTC", units="nSv/h", tags=japan / "japan_daily_stations.csv"
    )
    for name in ("ETTh1", "ETTh2"):
        logs[name] = lambda name=name: read_log(folder / "ett" / f"{name}.csv", tz="UTC")
    logs["Debutanizer"] = lambda: read_log(soft / "Debutanizer_Data.txt", step="6min", start_time="2000-01-01")
    names = ["u1", "u2", "u3", "u4", "u5", "y1", "y2"]
    logs["SRU"] = lambda: read_log(soft / "SRU_data.txt", step="1min", start_time="2000-01-01", skip=1, names=names)
    rows = []
    for name, read in logs.items():
        log = read()
        flags = screen(log).flags
        ignored = int(((flags & np.uint16(IGNORED)) != 0).sum())
        rows.append(
            {
                "log": name,
                "shape": log.shape,
                "cells": int((~np.isnan(log.values)).sum()),
                "ignored": ignored,
                "flags": count_flags(flags),
            }
        )
    return rows


def speed() -> dict[str, Any]:
    """Processor time of one screening of a year of 10-minute readings, best of three."""
    log = simulate_ring(days=365, posts=64, seed=SEEDS[0]).log
    seconds = []
    for _ in range(3):
        began = time.process_time()
        screen(log)
        seconds.append(time.process_time() - began)
    return {"shape": log.shape, "seconds": min(seconds), "per_10_million": min(seconds) / log.values.size * 1e7}


def page(about: dict[str, Any], scores: dict[str, dict[str, Score]], logs: list[dict[str, Any]], pace: Any) -> str:
    """The result as Markdown."""
    packages = ", ".join(f"{name} {about['packages'][name]}" for name in ("attentionmixer", "numpy", "pandas"))
    lines = [
        "# Quality rules",
        "",
        f"Simulated rings of 16 posts and a year, seeds {', '.join(map(str, SEEDS))}; settings of the rules were",
        "chosen on other seeds and on the real logs below. *Found*: events with at least one flag owed to their kind.",
        "*Right*: flagged cells that lie in such an event. A source check is a true high reading, so nothing is owed;",
        "one that lasts a single step counts as a spike. The naive limit is 5 robust standard deviations from the",
        f"tag's median; it cannot say what is wrong. Made by `{about['command']}`;",
        f"Python {about['python']}, {packages}; {about['date'][:10]}.",
        "",
        "| setting | method | fault | events | found | flagged cells | right |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting, methods in scores.items():
        for method, s in methods.items():
            for kind in OWED:
                found = _share(s.found[kind], s.events[kind])
                right = f"{s.flagged[kind]:,} | {_share(s.right[kind], s.flagged[kind])}"
                cells = "– | –" if kind == "source_check" else right
                lines.append(f"| {setting} | {method} | {kind} | {s.events[kind]} | {found} | {cells} |")
    lines += [
        "",
        "Cells without any fault that are set aside (flags that training ignores):",
        "",
        "| setting | method | all | in plumes (> 1 nSv/h) | in rain (> 2 nSv/h) |",
        "|---|---|---|---|---|",
    ]
    for setting, methods in scores.items():
        for method, s in methods.items():
            cells = " | ".join(f"{n:,} of {of:,} ({n / max(1, of):.4%})" for n, of in s.sound.values())
            lines.append(f"| {setting} | {method} | {cells} |")
    if logs:
        lines += [
            "",
            "## Real logs",
            "",
            "| log | steps × tags | readings | set aside | flags |",
            "|---|---|---|---|---|",
        ]
        for row in logs:
            flags = ", ".join(f"{name} {count:,}" for name, count in row["flags"].items()) or "none"
            share = f"{row['ignored']:,} ({row['ignored'] / row['cells']:.4%})"
            lines.append(
                f"| {row['log']} | {row['shape'][0]:,} × {row['shape'][1]} | {row['cells']:,} | {share} | {flags} |"
            )
    lines += [
        "",
        "## Time",
        "",
        f"{pace['shape'][0]:,} steps × {pace['shape'][1]} tags: {pace['seconds']:.2f} s of one core "
        f"({pace['per_10_million']:.2f} s per 10 million cells); {about['cpu']}, {about['cores']} cores.",
    ]
    return "\n".join(lines) + "\n"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write quality.json and quality.md."""
    parser = argparse.ArgumentParser(prog="python -m experiments.quality", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with radnet/, japan-nra/, ett/ and softsensor/")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for quality.json and quality.md")
    options = parser.parse_args(arguments)
    about = environment(["python", "-m", "experiments.quality", *(["--data", "DIR"] if options.data else [])])
    scores = simulated()
    logs = real(options.data) if options.data else []
    pace = speed()
    kept = {
        "environment": about,
        "seeds": SEEDS,
        "settings": SETTINGS,
        "simulated": {a: {b: vars(s) for b, s in methods.items()} for a, methods in scores.items()},
        "real": logs,
        "speed": pace,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "quality.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    (options.out / "quality.md").write_text(page(about, scores, logs, pace), encoding="utf-8")
    print(page(about, scores, logs, pace))
    return 0


if __name__ == "__main__":
    sys.exit(main())
