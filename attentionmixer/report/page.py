"""`write_report`: the sections put together as one HTML file."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

from ..errors import RunError
from . import account, accuracy, card, spatial, temporal, trend_view
from .run import Run, load_run
from .shell import fill
from .svg import drawing_style
from .text import duration, moment
from .verdict import judge

logger = logging.getLogger(__name__)


def write_report(run_dir: Path, output: Path | None = None) -> Path:
    """Write the report of a run: one HTML file that needs no network and prints to A4.

    Parameters
    ----------
    run_dir: the run directory; nothing else is read.
    output: the file to write; ``report.html`` in the run directory if not given. It is written under a temporary name
        and renamed, so that it is whole or absent.

    Returns
    -------
    The path of the file.

    Raises
    ------
    RunError: the directory is no finished run, a file in it is damaged, or `output` cannot be written.
    """
    run_dir = Path(run_dir)
    target = run_dir / "report.html" if output is None else Path(output)
    page = render(load_run(run_dir))
    _write(target, page)
    logger.info("report written to %s", target)
    return target


def render(run: Run) -> str:
    """The page of a run as text. The same run gives the same page."""
    with drawing_style():
        sections = [
            trend_view.section(run),
            accuracy.section(run),
            spatial.section(run),
            temporal.section(run),
            account.section(run),
            card.model_card(run),
            card.reproduce(run),
        ]
    stations = len({tag.station for tag in run.tags if tag.station is not None})
    made = moment(run.environment.get("date") or run.provenance.get("created"))
    facts = [
        str(run.model.get("name", "model")),
        f"{len(run.tags)} tag{'s' if len(run.tags) != 1 else ''}",
        *([f"{stations} station{'s' if stations != 1 else ''}"] if stations else []),
        f"step {duration(run.step_minutes)}",
        f"{duration(run.ahead(run.horizon))} ahead",
        f"made {made} UTC",
    ]
    return fill("report of a training run", run.name, " · ".join(facts), judge(run), sections)


def _write(target: Path, page: str) -> None:
    if target.is_dir():
        raise RunError(f"{target} is a directory; give the name of a file, such as {target / 'report.html'}")
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(page)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise RunError(f"{target} cannot be written: {error}; give another place with --output") from error
