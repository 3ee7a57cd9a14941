"""One reader under libFuzzer; `fuzz_readers.py` starts this, since libFuzzer ends the process it runs in.

python tests/fuzz/process.py READER -max_total_time=60 FOLDER …
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import random
import resource
import shlex
import sys
import traceback
import warnings
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import atheris

HERE = Path(__file__).resolve().parent
PACKAGE = "attentionmixer"
#: How much address space an input may ask for, in bytes, and after how many inputs that is counted anew: what atheris
#: and libFuzzer keep of each input is no fault of the next.
ASKED = 1 << 30
OFTEN = 256


class AtOnce(futures.Executor):
    """Runs what is submitted before it returns: threads for inputs of a few bytes cost more than the reading."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers

    def submit(self, work: Any, /, *arguments: Any, **named: Any) -> futures.Future[Any]:
        """A future that is done."""
        future: futures.Future[Any] = futures.Future()
        try:
            future.set_result(work(*arguments, **named))
        except BaseException as error:
            future.set_exception(error)
        return future


class Findings:
    """What broke a promise: the first input of each kind is written down, and the run goes on to find others."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: set[tuple[str, str]] = set()

    @contextmanager
    def of(self, content: bytes) -> Iterator[None]:
        """Keep ``content`` where what is done with it raises."""
        try:
            yield
        except MemoryError:
            # libFuzzer keeps the input and ends: nothing that comes after can be trusted
            raise
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            ours = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if f"{PACKAGE}/" in f.filename]
            kind = type(error).__name__, (ours or [f"{frames[-1].filename}:{frames[-1].lineno}"])[-1]
            if kind in self.seen:
                return
            self.seen.add(kind)
            path = Path(f"{self.name}-crash-{hashlib.sha1(content).hexdigest()[:12]}")
            path.write_bytes(content)
            sys.stderr.write(f"finding: {path}\n{''.join(traceback.format_exception(error))}\n")


def main(name: str, *options: str) -> None:
    """Fuzz one reader. libFuzzer ends the process."""
    sys.path[:0] = [str(HERE), str(HERE.parents[1])]
    pool, futures.ThreadPoolExecutor = futures.ThreadPoolExecutor, AtOnce  # type: ignore[misc, assignment]
    with atheris.instrument_imports(include=["attentionmixer.data"], enable_loader_override=False):
        import targets

        from attentionmixer.data import readers

        # those too that are loaded only when a file calls for them
        for module in pkgutil.walk_packages(readers.__path__, f"{readers.__name__}."):
            importlib.import_module(module.name)
    futures.ThreadPoolExecutor = pool  # type: ignore[misc]
    from mutators import MUTATORS

    # what damage makes a library say is of no interest, but a warning that the package causes is a fault
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", module=r"attentionmixer(\..*)?")

    findings = Findings(name)

    inputs = count()

    def once(content: bytes) -> None:
        if next(inputs) % OFTEN == 0:
            _limit_address_space()
        with findings.of(content):
            targets.read_any(name, content)

    def mutator(content: bytes, longest: int, seed: int) -> bytes:
        return MUTATORS[name](bytes(content), longest, random.Random(seed), atheris.Mutate)

    # libFuzzer starts itself again to merge, with the first argument as the program
    program = shlex.join([sys.executable, str(HERE / "process.py"), name])
    atheris.Setup([program, *options], once, **({"custom_mutator": mutator} if name in MUTATORS else {}))
    atheris.Fuzz()


def _limit_address_space() -> None:
    """Make an allocation without measure a `MemoryError`, also where the memory would never be touched."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ASKED, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(*sys.argv[1:])
