"""``python -m attentionmixer.data check | convert | describe | fetch``: know a log before something is made of it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import ConfigError, LogError
from ..front import BAD_INPUT, DONE, front_door
from ..reading import Parser
from .command.check import Check, refusal
from .command.options import add_log_arguments, format_of, read_arguments
from .command.printable import printable
from .command.show import console, show
from .export import EPOCHS, export_log
from .quality import screen

#: Exit code of ``check`` for a log that can be read and holds something to look at.
WITH_FINDINGS = 3


@front_door
def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the first word names. Returns 0, 2 for what cannot be read or done, and 3 for a log with findings."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options, unknown = _parser(fetching="fetch" in arguments[:1]).parse_known_args(arguments)
    if unknown:
        # the command's own parser knows which of its options is nearest
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _parser(*, fetching: bool) -> Parser:
    parser = Parser(prog="python -m attentionmixer.data", description="Look at, convert and fetch logs.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)

    check = commands.add_parser(
        "check", help="say what was understood, decided and refused", description=_check.__doc__
    )
    add_log_arguments(check)
    check.add_argument("--json", action="store_true", help="one JSON document on standard output")
    check.set_defaults(run=_check, parser=check)

    convert = commands.add_parser("convert", help="write the gridded log as a file", description=_convert.__doc__)
    add_log_arguments(convert)
    convert.add_argument("out", metavar="OUT", type=Path, help="OUT.parquet keeps everything, OUT.csv values and times")
    convert.add_argument("--epoch", choices=EPOCHS, help="CSV: times as whole numbers since 1970 instead of ISO 8601")
    convert.add_argument("--force", action="store_true", help="write over OUT if it is there")
    convert.set_defaults(run=_convert, parser=convert)

    describe = commands.add_parser("describe", help="write a page about the log", description=_describe.__doc__)
    add_log_arguments(describe)
    describe.add_argument("--out", metavar="FILE", type=Path, default=Path("log.html"), help="default: %(default)s")
    describe.add_argument("--force", action="store_true", help="write over FILE if it is there")
    describe.set_defaults(run=_describe, parser=describe)

    fetch = commands.add_parser("fetch", help="fetch the files of a network into a folder")
    if fetching:
        # only this command speaks to a network
        from .fetch import command

        command.add_arguments(fetch)
        fetch.set_defaults(run=command.run, parser=fetch)
    return parser


def _check(options: argparse.Namespace) -> int:
    """Say what was understood, decided and refused. Exit code 0: clean; 3: readable, with findings; 2: refused."""
    try:
        check = Check.of(screen(read_arguments(options)), format_of(options))
    except LogError as error:
        if not options.json:
            raise
        print(json.dumps(refusal(error), indent=2))
        return BAD_INPUT
    if options.json:
        print(json.dumps(check.to_dict(), indent=2, allow_nan=False))
    else:
        show(check, console())
    return WITH_FINDINGS if check.findings else DONE


def _convert(options: argparse.Namespace) -> int:
    """Write the log on its regular UTC grid, as OUT.parquet (everything) or OUT.csv (values and times)."""
    _refuse_to_overwrite(options.out, options.force)
    log = read_arguments(options)
    _write(options.out, lambda: export_log(log, options.out, epoch=options.epoch))
    print(f"{log!r}\nlog: {printable(str(options.out))}")
    return DONE


def _describe(options: argparse.Namespace) -> int:
    """Write one HTML page that opens offline: trends, gaps, quality rules by day, what was decided and refused."""
    # drawing takes a second to load, and only this command draws
    from ..report.log_page import write_log_page

    _refuse_to_overwrite(options.out, options.force)
    check = Check.of(screen(read_arguments(options)), format_of(options))
    _write(options.out, lambda: write_log_page(check, options.out))
    print(f"page: {printable(str(options.out))}")
    return DONE


def _refuse_to_overwrite(out: Path, force: bool) -> None:
    if out.exists() and not force:
        raise ConfigError(f"{out} is there already; write over it with --force, or give another name")


def _write(out: Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise ConfigError(f"{out} cannot be written: {error.strerror or error}") from error


if __name__ == "__main__":
    sys.exit(main())
