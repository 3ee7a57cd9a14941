"""``python -m experiments.forecasting --suite SUITE --data DIR``: run what is missing, then write the page."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from attentionmixer.files import read_json, write_json

from . import page
from .cell import Cell, one_core
from .contenders import CONTENDERS
from .problems import PROBLEMS
from .suites import SUITES


def main(arguments: Sequence[str] | None = None) -> int:
    """Cells that are current are skipped, so an interrupted run goes on where it stopped. 1 where a cell failed."""
    parser = argparse.ArgumentParser(prog="python -m experiments.forecasting", description=__doc__)
    parser.add_argument("--suite", choices=list(SUITES), default="quick")
    parser.add_argument("--data", type=Path, help="folder of the logs; without it only what is simulated is run")
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=[], help="default: those of the suite")
    parser.add_argument("--models", nargs="+", choices=list(CONTENDERS), default=[], help="default: those of the suite")
    parser.add_argument("--seeds", type=int, help="number of seeds (default: that of the suite)")
    parser.add_argument("--minutes", type=float, help="begin no cell after so many minutes")
    parser.add_argument("--jobs", type=int, default=1, help="cells side by side, one thread each")
    parser.add_argument("--table", action="store_true", help="only write the page from the cells that are there")
    options = parser.parse_args(arguments)
    suite = SUITES[options.suite]
    failed: list[str] = []
    if not options.table:
        cells = list(suite.cells(tuple(options.problems), tuple(options.models), options.seeds))
        missing = [cell for cell in cells if not cell.problem.is_there(options.data)]
        if missing:
            names = sorted({cell.problem.name for cell in missing})
            parser.error(f"the files of {', '.join(names)} are not in {options.data}; give --data DIR or --problems")
        todo = [cell for cell in cells if not cell.is_current(suite.name)]
        failed = run(todo, suite.name, options.data, len(cells) - len(todo), options.minutes, options.jobs)
    print(page.write(suite))
    if failed:
        print(f"{len(failed)} cells failed: {'; '.join(failed)}; run again to try only these", file=sys.stderr)
    return 1 if failed else 0


def run(
    todo: Sequence[Cell], suite: str, data: Path | None, done: int, minutes: float | None = None, jobs: int = 1
) -> list[str]:
    """Measure cells, ``jobs`` at a time; returns the names of those that failed."""
    failed: list[str] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=Console(stderr=True)) as progress,
        ThreadPoolExecutor(max(1, jobs)) as pool,
    ):
        bar = progress.add_task("cells", total=done + len(todo), completed=done)

        def one(cell: Cell) -> None:
            if minutes is not None and (progress.tasks[0].elapsed or 0) > 60 * minutes:
                return
            name = f"{cell.problem.name}, {cell.contender.name}, seed {cell.seed}"
            progress.update(bar, description=name)
            said = measure(cell, suite, data)
            if said is None:
                result = read_json(cell.path(suite))
                progress.console.print(
                    f"{name}: validation {result['validation']['mse']:.4f}, test {result['test']['mse']:.4f}, "
                    f"{result['train']['seconds']:.0f} s",
                    highlight=False,
                )
            else:
                failed.append(name)
                progress.console.print(f"{name} FAILED: {said}", highlight=False, markup=False)
            progress.advance(bar)

        list(pool.map(one, todo))
    return failed


def measure(cell: Cell, suite: str, data: Path | None) -> str | None:
    """Measure one cell in a process of its own and keep the result; what went wrong, or ``None``."""
    with tempfile.TemporaryDirectory() as scratch:
        to = Path(scratch) / "result.json"
        said = measure_to(cell, data, to)
        if said is None:
            cell.path(suite).parent.mkdir(parents=True, exist_ok=True)
            write_json(cell.path(suite), read_json(to))
    return said


def measure_to(cell: Cell, data: Path | None, to: Path) -> str | None:
    """Measure one cell in a process of its own, on one core, into a file; what went wrong, or ``None``."""
    done = subprocess.run(cell.command(data, to), capture_output=True, text=True, check=False, env=one_core())
    if done.returncode or not to.is_file():
        return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
    return None


if __name__ == "__main__":
    sys.exit(main())
