"""``python -m attentionmixer.zoo list|card|verify``: the models that come with the package."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from ..front import front_door
from . import card, names, verify

PROGRAM = "python -m attentionmixer.zoo"


@front_door
def main(arguments: Sequence[str] | None = None) -> int:
    """List the models, show the card of one, or check that files are those that were published."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="The models that come with the package.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="names and sizes").add_argument("--json", action="store_true", help="as JSON")
    showing = verbs.add_parser("card", help="what a model was trained on, how good it is and what it is for")
    showing.add_argument("name")
    showing.add_argument("--json", action="store_true", help="as JSON")
    verbs.add_parser("verify", help="compare files with their hashes").add_argument("name", nargs="*")
    options = parser.parse_args(arguments)
    if options.verb == "list":
        _list(as_json=options.json)
    elif options.verb == "card":
        shown = card(options.name)
        if options.json:
            print(json.dumps(shown.to_dict(), indent=2, ensure_ascii=False))
        else:
            Console().print(Markdown(shown.to_markdown()))
    else:
        for name in options.name or names():
            verify(name)
            print(f"{name}: as published")
    return 0


def _list(*, as_json: bool) -> None:
    cards = [card(name) for name in names()]
    if as_json:
        print(json.dumps([own.to_dict() for own in cards], indent=2, ensure_ascii=False))
        return
    if not cards:
        print("no model came with this installation")
        return
    table = Table()
    table.add_column("model", no_wrap=True)  # it is what one types
    for label in ("what it does", "step", "look-back", "horizon", "parameters"):
        table.add_column(label)
    for own in cards:
        table.add_row(own.name, own.summary, own.step, str(own.lookback), str(own.horizon), f"{own.parameters:,}")
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
