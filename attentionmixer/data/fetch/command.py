"""``python -m attentionmixer.data fetch``: the part of the command line that fetches."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from ...errors import LogError
from . import PROVIDERS, Client, Listener, Outcome, Provider, ServiceDown, Wanted, download
from .client import utc_now

if TYPE_CHECKING:
    import datetime as dt

#: Makes the client of a provider, which tells its remarks to the function handed in.
ClientMaker = Callable[[Provider, Callable[[str], None]], Client]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``fetch``."""
    titles = "; ".join(f"{name}: {provider.title}" for name, provider in PROVIDERS.items())
    parser.add_argument("provider", metavar="PROVIDER", choices=sorted(PROVIDERS), help=titles)
    parser.add_argument(
        "--station",
        action="append",
        default=[],
        metavar="NAME",
        help="a station, as 'AZ: PHOENIX' (radnet) or 055620080 (odl); may be given again for more. "
        "odl without a station fetches the last hour of all of them",
    )
    parser.add_argument("--from", dest="start", metavar="DATE", help="first year, month or day: 2019, 2019-05-31")
    parser.add_argument("--to", dest="end", metavar="DATE", help="last year, month or day, included")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to fetch into; made if needed")
    parser.add_argument("--refresh", action="store_true", help="fetch again what is there, too")


def run(
    arguments: argparse.Namespace,
    *,
    make_client: ClientMaker | None = None,
    now: Callable[[], dt.datetime] = utc_now,
) -> int:
    """Fetch as the command line says, and print what became of each file.

    Parameters
    ----------
    arguments: as parsed by a parser with `add_arguments`.
    make_client, now: the client to use and the time (UTC), for tests and other front doors.

    Returns
    -------
    0, also where the provider has no data for a station and period; this is printed.

    Raises
    ------
    LogError: a station or period that cannot be, a folder that cannot be used, or a file that could not be fetched.
    """
    provider = PROVIDERS[arguments.provider]
    with Screen() as screen:
        client = (make_client or _client)(provider, screen.remarks)
        moment = now()
        wanted = provider.plan(arguments.station, arguments.start, arguments.end, moment, client.base)
        screen.expect(len(wanted))
        fault = None
        try:
            download(wanted, arguments.out, client, refresh=arguments.refresh, listener=screen, now=now)
        except ServiceDown as error:
            done = len(screen.outcomes)
            fault = f"{error} ({done} of {len(wanted)} file(s) were done before)"
    failed = [outcome.detail for outcome in screen.outcomes if outcome.state == "failed"]
    if fault is None and failed:
        fault = f"{len(failed)} of {len(wanted)} file(s) could not be fetched:\n" + "\n".join(failed)
    for line in summary(screen.outcomes, arguments.out):
        print(line)
    if fault is not None:
        raise LogError(fault)
    return 0


def summary(outcomes: Sequence[Outcome], folder: Path) -> list[str]:
    """One line a file, and one for all."""
    lines = []
    for outcome in outcomes:
        if outcome.state == "failed":
            continue  # told as the error
        what = outcome.wanted.what if outcome.path is None else outcome.path.name
        size = "" if outcome.path is None else f"  {outcome.rows:,} readings, {outcome.bytes:,} bytes"
        lines.append(f"{outcome.state:<9}{what}{size}{f'  ({outcome.detail})' if outcome.detail else ''}")
    files = sum(outcome.path is not None for outcome in outcomes)
    empty = [outcome for outcome in outcomes if outcome.state == "no data"]
    lines.append(f"{files} file(s) in {folder}" if files else f"no file was written to {folder}")
    if empty and len(empty) == len(outcomes):
        lines.append("no data for this station and period: nothing is wrong with the service, it has no such readings")
    return lines


class Screen(Listener):
    """A progress bar on standard error, with remarks above it."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: TaskID | None = None
        self._count = 0
        self.outcomes: list[Outcome] = []

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._progress.stop()

    def expect(self, count: int) -> None:
        """How many files there will be."""
        self._count = count

    def starts(self, wanted: Wanted) -> None:
        """A bar for this file."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        number = f"{len(self.outcomes) + 1}/{self._count} " if self._count > 1 else ""
        self._task = self._progress.add_task(f"{number}{wanted.what}", total=None)

    def receives(self, done: int, total: int | None) -> None:
        """The bar grows."""
        if self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    def remarks(self, text: str) -> None:
        """A line above the bar."""
        self._progress.console.print(text, markup=False, highlight=False)

    def ends(self, outcome: Outcome) -> None:
        """Kept for the summary."""
        self.outcomes.append(outcome)


def _client(provider: Provider, tell: Callable[[str], None]) -> Client:
    return Client(provider.base, tell=tell)
