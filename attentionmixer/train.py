"""``python -m attentionmixer.train``: from a log to a forecaster, its measures and a report."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from .config import parse
from .front import front_door, log_to_file
from .run import help_train, train_run
from .training.ranks import is_helper

logger = logging.getLogger(__name__)
PROGRAM = "python -m attentionmixer.train"


@front_door
def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the command line says; prints the path of the report last."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    config = parse(arguments, PROGRAM)
    if is_helper():
        help_train(config)
        return 0
    folder = Path(config.run_dir) if config.run_dir else Path("runs") / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    with log_to_file(folder / "log.txt"):
        report = train_run(config, folder, [PROGRAM, *arguments])
    print(f"run: {folder}\nreport: {report}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
