"""What all front doors share: exit codes, and where messages go."""

from __future__ import annotations

import functools
import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.logging import RichHandler

from .data.command.printable import printable
from .errors import AttentionMixerError, ConfigError

DONE, FAULT, BAD_INPUT = 0, 1, 2
Main = Callable[[Sequence[str] | None], int]


def front_door(main: Callable[[Sequence[str] | None], int]) -> Callable[..., int]:
    """Decorator: 0 when done, 2 with one screen of text for bad input or configuration, 1 with a traceback else."""

    @functools.wraps(main)
    def run(arguments: Sequence[str] | None = None) -> int:
        _messages_to_screen()
        try:
            return main(arguments)
        except AttentionMixerError as error:
            # a message can hold any text of a log
            lines = [printable(line) for line in str(error).split("\n")]
            print("error: " + "\n".join(lines), file=sys.stderr)
            return BAD_INPUT
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return FAULT
        except Exception:
            traceback.print_exc()
            print(
                "this is a fault of attentionmixer, not of your input; please report the lines above", file=sys.stderr
            )
            return FAULT

    return run


@contextmanager
def log_to_file(path: Path) -> Iterator[None]:
    """Write everything that is logged, libraries' warnings included, to a file as well."""
    if path.parent.exists() and not path.parent.is_dir():
        yield  # the run itself says what is wrong with the folder
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(path, encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise ConfigError(f"{str(path.parent)!r} cannot be written to: {error}") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def _messages_to_screen() -> None:
    """Our own messages from INFO on go to the screen; those of libraries from ERROR on, the rest to the run's log."""
    ours = logging.getLogger("attentionmixer")
    if any(isinstance(handler, RichHandler) for handler in ours.handlers):
        return
    logging.getLogger().setLevel(logging.INFO)
    screen = RichHandler(console=Console(stderr=True), show_path=False, show_time=False, markup=False)
    ours.addHandler(screen)
    for name in ("lightning", "lightning.pytorch", "lightning.fabric", "lightning.pytorch.utilities.rank_zero"):
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
