"""``python -m attentionmixer.report RUN [--output FILE]``"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import AttentionMixerError
from ..files import MANIFEST, verify_manifest, write_manifest
from . import write_report


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a report and print its path. Returns 0, or 2 where the run or the output cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m attentionmixer.report",
        description="Write the report of a finished run as one HTML file that opens offline and prints to A4.",
    )
    parser.add_argument("run", metavar="RUN", type=Path, help="run directory, as written by training")
    parser.add_argument("--output", metavar="FILE", type=Path, help="file to write (default: report.html in RUN)")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        whole = _is_whole(options.run)
        path = write_report(options.run, options.output)
        if whole:
            write_manifest(options.run)
    except AttentionMixerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(path)
    return 0


def _is_whole(folder: Path) -> bool:
    """Whether a run is what its manifest says, so that the manifest may be written again for a new report."""
    try:
        verify_manifest(folder)
    except AttentionMixerError:
        return False
    return (folder / MANIFEST).is_file()


if __name__ == "__main__":
    sys.exit(main())
