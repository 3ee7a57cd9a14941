"""``python -m attentionmixer.export RUN LOG --to FILE``: routes with their evidence, for other programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
from rich.console import Console
from rich.progress import Progress

from .data.export import guard_text
from .errors import ConfigError
from .files import write_atomically, write_text
from .forecaster import Forecaster
from .front import front_door
from .interpret.evidence import Evidence, evidence
from .reading import Parser, add_reading_arguments, read_for_run
from .version import package_version


@front_door
def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the evidence, print the verdict, write the file and print its path."""
    parser = Parser(
        prog="python -m attentionmixer.export",
        description="Routes between tags, each with effect, sign and lag, and a verdict on the whole map.",
    )
    add_reading_arguments(parser, start="first time that is read (UTC)")
    parser.add_argument("--what", choices=("routes",), default="routes", help="what is exported (default: %(default)s)")
    parser.add_argument(
        "--to",
        metavar="FILE",
        type=Path,
        default=Path("routes.csv"),
        help=f"FILE{', FILE'.join(WRITERS)}, written over if it is there (default: %(default)s)",
    )
    parser.add_argument(
        "--budget", choices=("fast", "full"), default="fast", help="full closes routes one at a time (default: fast)"
    )
    options = parser.parse_args(arguments)
    write = WRITERS.get(options.to.suffix.lower())
    if write is None:
        raise ConfigError(f"--to {options.to} must end in {', '.join(WRITERS)}")
    forecaster = Forecaster.load(options.run)
    log = read_for_run(options)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("evidence", total=None)
        found = evidence(
            forecaster,
            log,
            options.budget,
            progress=lambda done, total: progress.update(bar, completed=done, total=total),
        )
    facts = {**found.summary(), "attentionmixer": package_version(), "model": forecaster.config.model}
    try:
        write_atomically(options.to, lambda part: write(found, facts, part))
    except OSError as error:
        raise ConfigError(f"--to {options.to} cannot be written: {error.strerror or error}") from error
    print(f"{found.verdict}\n{facts['open_routes']} routes: {options.to}")
    return 0


def _csv(found: Evidence, facts: dict[str, Any], path: Path) -> None:
    frame = found.to_frame()
    for column in ("source", "target"):
        frame[column] = frame[column].map(guard_text)
    # the byte order mark tells Excel that this is UTF-8
    frame.to_csv(path, index=False, encoding="utf-8-sig")


def _parquet(found: Evidence, facts: dict[str, Any], path: Path) -> None:
    frame = found.to_frame()
    frame.attrs.update(facts)  # kept in the file's metadata
    frame.to_parquet(path, index=False)


def _json(found: Evidence, facts: dict[str, Any], path: Path) -> None:
    frame = found.to_frame().astype(object)
    routes = frame.where(pd.notna(frame), None).to_dict("records")
    write_text(path, json.dumps({**facts, "routes": routes}, ensure_ascii=False, indent=1, allow_nan=False))


def _graphml(found: Evidence, facts: dict[str, Any], path: Path) -> None:
    graph = found.to_graph()
    names = {name: f"n{number}" for number, name in enumerate(graph)}
    plain: nx.DiGraph[str] = nx.DiGraph(verdict=_xml_text(facts["verdict"]), stands=facts["stands"])
    # identifiers must be plain; a name may hold anything
    plain.add_nodes_from((key, {"label": _xml_text(name)}) for name, key in names.items())
    plain.add_edges_from((names[source], names[target], edge) for source, target, edge in graph.edges(data=True))
    write_text(path, "\n".join(nx.generate_graphml(plain)) + "\n")


def _xml_text(text: str) -> str:
    """Without characters that XML has no way to hold."""
    return "".join(c if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff") else "\ufffd" for c in text)


#: Suffix → how it is written.
WRITERS: dict[str, Callable[[Evidence, dict[str, Any], Path], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": _json,
    ".graphml": _graphml,
}


if __name__ == "__main__":
    sys.exit(main())
