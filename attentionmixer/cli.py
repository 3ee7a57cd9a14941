"""One console script over the front doors: ``attentionmixer data``, ``train``, ``predict`` and the others."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Sequence

from .version import package_version

COMMANDS = {
    "data": ("attentionmixer.data.__main__", "check, convert, describe and fetch logs"),
    "train": ("attentionmixer.train", "train on a log and write a run with a report"),
    "tune": ("attentionmixer.tune", "search settings on the validation part"),
    "predict": ("attentionmixer.predict", "forecast from new data"),
    "evaluate": ("attentionmixer.evaluate", "measure a run on other data"),
    "export": ("attentionmixer.export", "routes with their evidence, for other programs"),
    "report": ("attentionmixer.report.__main__", "write the report of a run again"),
    "zoo": ("attentionmixer.zoo.__main__", "models that come with the package"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Hand the rest of the command line to the front door it names."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help"):
        lines = [f"  {command:<10}{text}" for command, (_, text) in COMMANDS.items()]
        print(
            "usage: attentionmixer COMMAND …\n\n" + "\n".join(lines) + "\n\nattentionmixer COMMAND --help explains one."
        )
        return 0
    if name == "--version":
        print(f"attentionmixer {package_version()}")
        return 0
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        print(f"error: there is no command {name!r}{hint} There are: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    door = importlib.import_module(COMMANDS[name][0])
    code: int = door.main(arguments[1:])
    return code


if __name__ == "__main__":
    sys.exit(main())
