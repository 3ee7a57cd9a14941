"""Reading a large wide log: how much time and memory does `read_log` take beside the libraries it stands on?

A year of 10-minute dose rates of 1,700 stations (52,560 x 1,700, nSv/h with one decimal, 3 % blank), made on the fly,
as CSV and as Parquet. Every reader reads the same file, with its default options, in a process of its own that has
loaded its libraries before; readers alternate, in an order that turns round in every repetition. The first round, which
warms the page cache, is not counted.

Not equal: `read_log` also checks and places every row on a UTC grid, reads units, screens every value and keeps
float32; the others hand over a table of float64.

    python -m experiments.ingestion
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

RESULTS = Path(__file__).resolve().parent / "results"
ROWS, STATIONS, BLANK, SEED = 52_560, 1_700, 0.03, 0
READERS = {
    "csv": ("pyarrow", "attentionmixer", "pandas (c)", "pandas (pyarrow)", "polars"),
    "parquet": ("pyarrow", "attentionmixer", "pandas", "polars"),
}


def make(folder: Path, rows: int) -> None:
    """Write ``log.csv`` and ``log.parquet``."""
    rng = np.random.default_rng(SEED)
    times = pd.date_range("2024-01-01", periods=rows, freq="10min", tz="UTC")
    columns = {}
    for station, level in enumerate(rng.uniform(60, 180, STATIONS)):
        values = np.round(level + 5 * rng.standard_normal(rows), 1)
        columns[f"S{station:04d} [nSv/h]"] = pa.array(values, mask=rng.random(rows) < BLANK)
    typed = pa.table({"time": pa.array(times.as_unit("us")), **columns})
    pq.write_table(typed, folder / "log.parquet")
    texts = pa.array(times.strftime("%Y-%m-%dT%H:%M:%SZ").to_numpy(dtype=object), pa.string())
    plain = pv.WriteOptions(quoting_style="none", quoting_header="none")
    pv.write_csv(typed.set_column(0, "time", texts), folder / "log.csv", plain)


def reader(name: str, kind: str) -> Callable[[Path], Any]:
    """The function that reads a file, with its libraries loaded."""
    is_csv = kind == "csv"
    if name == "attentionmixer":
        from attentionmixer.data import read_log
        from attentionmixer.data.units import parse_unit

        parse_unit("nSv/h")
        return read_log
    if name == "polars":
        import polars

        chosen: Callable[[Path], Any] = polars.read_csv if is_csv else polars.read_parquet
        return chosen
    if name == "pyarrow":
        return pv.read_csv if is_csv else pq.read_table
    if not is_csv:
        return pd.read_parquet
    engine: Any = "c" if name == "pandas (c)" else "pyarrow"
    return lambda path: pd.read_csv(path, engine=engine)


def measure(name: str, kind: str, path: Path) -> dict[str, float]:
    """Seconds, processor seconds, and the most resident memory (MB) above what the process held before."""
    read = reader(name, kind)
    before, used, began = memory("VmRSS"), os.times(), time.perf_counter()
    held = read(path)
    seconds, now = time.perf_counter() - began, os.times()
    peak = memory("VmHWM") - before
    del held
    return {"seconds": seconds, "cpu": now.user + now.system - used.user - used.system, "peak": peak}


def memory(key: str) -> float:
    """A line of this process's status in MB; Linux only."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError(f"/proc/self/status has no {key}")


def run(folder: Path, rounds: int) -> list[dict[str, Any]]:
    """All readers in turn, a process each; the first round is dropped."""
    kept: dict[tuple[str, str], list[dict[str, float]]] = {}
    for number in range(rounds + 1):
        for kind, names in READERS.items():
            for name in names if number % 2 else reversed(names):
                command = [sys.executable, "-m", "experiments.ingestion", "--read", name, kind, str(folder)]
                answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                found = json.loads(answer.splitlines()[-1])
                print(number, kind, name, found, flush=True)
                if number:
                    kept.setdefault((kind, name), []).append(found)
    rows = []
    for (kind, name), found in sorted(kept.items(), key=lambda item: READERS[item[0][0]].index(item[0][1])):
        base = kept[kind, "pyarrow"]
        middle = {key: statistics.median(one[key] for one in found) for key in ("seconds", "cpu", "peak")}
        ratios = [one["seconds"] / other["seconds"] for one, other in zip(found, base, strict=True)]
        effort = statistics.median(one["cpu"] / other["cpu"] for one, other in zip(found, base, strict=True))
        spread = {"ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios)}
        rows.append({"kind": kind, "reader": name, **middle, **spread, "cpu_ratio": effort, "rounds": found})
    return sorted(rows, key=lambda row: str(row["kind"]))


def page(about: dict[str, Any], rows: list[dict[str, Any]], sizes: dict[str, float], steps: int) -> str:
    """The result as Markdown."""
    packages = ", ".join(f"{name} {value}" for name, value in about["packages"].items())
    array = steps * STATIONS * 4 / 1e6
    load = f"load average {about['load'][0]:.1f} at the start and {about['load'][1]:.1f} at the end"
    lines = [
        "# Reading a large log",
        "",
        f"{steps:,} steps x {STATIONS:,} stations of simulated dose rates, {BLANK:.0%} blank; the log's float32 array",
        f"is {array:.0f} MB. Each reader with its default options, in processes of their own, alternating",
        "(`experiments/ingestion.py`). Medians; the ratio is to pyarrow's reader in the same round. Peak: resident",
        "memory above what the process held before.",
        f"{about['cpu']}, {about['cores']} cores ({load}); Python {about['python']}; {packages}; {about['date'][:10]}.",
        f"Made by `{about['command']}`.",
        "",
    ]
    for kind in READERS:
        lines += [
            f"## {kind} ({sizes[kind]:.0f} MB)",
            "",
            "| reader | seconds | x pyarrow (min to max) | processor s | x pyarrow | peak MB | x array | rounds |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r['reader']} | {r['seconds']:.2f} | {r['ratio']:.2f} ({r['ratio_min']:.2f} to {r['ratio_max']:.2f}) | "
            f"{r['cpu']:.2f} | {r['cpu_ratio']:.2f} | {r['peak']:.0f} | {r['peak'] / array:.2f} | {len(r['rounds'])} |"
            for r in rows
            if r["kind"] == kind
        ]
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Make the files, read them in turn, and write experiments/results/ingestion.{json,md}."""
    parser = argparse.ArgumentParser(prog="python -m experiments.ingestion", description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS, help="10-minute steps")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for ingestion.json and ingestion.md")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", nargs=3, metavar=("READER", "KIND", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        name, kind, folder = options.read
        print(json.dumps(measure(name, kind, Path(folder) / f"log.{kind}")))
        return 0
    if options.make:
        make(options.make, options.rows)
        return 0
    from attentionmixer.run import environment

    load = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as temporary:
        # in a process of its own, so that this one stays small
        made = [sys.executable, "-m", "experiments.ingestion", "--rows", str(options.rows), "--make", temporary]
        subprocess.run(made, check=True)
        sizes = {kind: (Path(temporary) / f"log.{kind}").stat().st_size / 1e6 for kind in READERS}
        rows = run(Path(temporary), options.rounds)
    command = ["python", "-m", "experiments.ingestion", "--rows", str(options.rows), "--rounds", str(options.rounds)]
    about = environment(command) | {"load": [*load, os.getloadavg()[0]]}
    about["packages"]["polars"] = version("polars")
    options.out.mkdir(parents=True, exist_ok=True)
    kept = {"environment": about, "sizes": sizes, "rows": rows}
    (options.out / "ingestion.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    text = page(about, rows, sizes, options.rows)
    (options.out / "ingestion.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
