"""``python -m experiments.foundation --data DIR``: run what is missing, then write the page."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from . import table
from .cells import DATA, VARIANTS, Cell, variants

#: Configuration → seeds. `OPTIONAL` ones are run only where ``--only`` names them.
SEEDS = {"radnet": 5, "radnet-1h": 5, "radnet-2011": 3, "etth1": 3, "paper": 3}
OPTIONAL = ("paper",)


def main(arguments: Sequence[str] | None = None) -> int:
    """Cells that are current are skipped, so an interrupted run goes on where it stopped.

    Returns 1 where a cell failed: the others are run all the same.
    """
    usual = [config for config in SEEDS if config not in OPTIONAL]
    parser = argparse.ArgumentParser(prog="python -m experiments.foundation", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with radnet/ and ett/")
    parser.add_argument("--only", nargs="+", choices=list(DATA), default=usual, help=f"default: {' '.join(usual)}")
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--seeds", type=int, help="number of seeds (default: 5 for radnet and radnet-1h, else 3)")
    parser.add_argument("--force", action="store_true", help="run cells again that are current")
    parser.add_argument("--table", action="store_true", help="only write the page from the cells that are there")
    options = parser.parse_args(arguments)
    failed: list[Cell] = []
    if not options.table:
        if options.data is None:
            parser.error("--data is needed to run cells")
        cells = [
            Cell(config, variant, seed)
            for config in options.only
            for seed in range(options.seeds or SEEDS[config])
            for variant in variants(config)
            if variant in options.variants
        ]
        for number, cell in enumerate(cells, start=1):
            if cell.is_current() and not options.force:
                continue
            began = time.perf_counter()
            try:
                metrics = cell.measure(options.data)["metrics"]
            except subprocess.CalledProcessError as error:
                failed.append(cell)
                print(
                    f"{number}/{len(cells)} {cell} FAILED: exit status {error.returncode}", file=sys.stderr, flush=True
                )
                continue
            print(
                f"{number}/{len(cells)} {cell.config}, {cell.variant}, seed {cell.seed}: "
                f"validation {metrics['validation']['mse']:.4f}, test {metrics['test']['mse']:.4f}, "
                f"{time.perf_counter() - began:.0f} s",
                flush=True,
            )
            table.write()
    print(table.write())
    if failed:
        print(f"{len(failed)} of {len(cells)} cells failed; run again to try only these", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
