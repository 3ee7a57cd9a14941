"""``python -m attentionmixer.tune``: search settings on the validation part, and leave the best as a configuration."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from .config import load_log, parse
from .errors import ConfigError
from .files import write_atomically, write_text
from .front import front_door, log_to_file
from .report.tuning_page import write_tuning_page
from .tuning.space import Space
from .tuning.study import Search
from .tuning.table import trial_table

logger = logging.getLogger(__name__)
PROGRAM = "python -m attentionmixer.tune"


@front_door
def main(arguments: Sequence[str] | None = None) -> int:
    """Search as the command line says; prints the paths of the best configuration and of the report last."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Search settings on the validation part. All settings of attentionmixer.train are taken as well, "
        "and are where the search begins (python -m attentionmixer.train --help lists them).",
        allow_abbrev=False,
    )
    parser.add_argument("--trials", type=int, default=20, help="finished trials, those of other processes included")
    parser.add_argument("--storage", help="where trials are kept, e.g. sqlite:///study.db; in memory if not given")
    parser.add_argument("--study", help="name of the study (default: the model's)")
    parser.add_argument("--space", help="YAML file: setting: [values] or {low, high, log, step}")
    options, rest = parser.parse_known_args(list(sys.argv[1:] if arguments is None else arguments))
    if options.trials < 1:
        raise ConfigError(f"--trials must be at least 1, not {options.trials}")
    config = parse(rest, PROGRAM)
    if config.resume:
        raise ConfigError("a search is gone on with by its --storage and --study, not by --resume")
    space = Space.default(config.model_name) if options.space is None else Space.load(options.space)
    space = space.holding(config.text)  # a setting that is unknown is refused before anything is read
    stamp = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    folder = Path(config.run_dir) if config.run_dir else Path("runs") / f"tune-{stamp}"
    _check_folder(folder)
    with log_to_file(folder / "log.txt"):
        search = Search(rest, PROGRAM, config, load_log(config.data), space)
        study = search.open(options.storage, options.study or config.model_name)
        search.run(study, options.trials)
        best = search.best(study)
        table = trial_table(study)
        write_atomically(folder / "best.yaml", lambda part: write_text(part, best.text))
        write_atomically(folder / "trials.csv", lambda part: write_text(part, table))
        report = write_tuning_page(study, space.distributions, folder / "tuning.html")
    print(f"best: {folder / 'best.yaml'}\nreport: {report}")
    return 0


def _check_folder(folder: Path) -> None:
    """Raise `ConfigError` where the results would lie among those of something else."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"--run_dir {folder} is a file; name a directory")
    if (folder / "config.yaml").exists():
        raise ConfigError(f"--run_dir {folder} holds a training run; name another directory for the search")
    folder.mkdir(parents=True, exist_ok=True)


if __name__ == "__main__":
    sys.exit(main())
