"""Feed readers with damaged files, for as long as wanted.

    python tests/fuzz/fuzz_readers.py --seconds 60 --jobs 2                every reader, two at a time
    python tests/fuzz/fuzz_readers.py --reader eurdep --seconds 3600 --into new
    python tests/fuzz/fuzz_readers.py --reader eurdep --merge new          add to the corpus what adds coverage
    python tests/fuzz/fuzz_readers.py --seconds 610 --keep experiments/results/fuzzing.json

``--into`` keeps the inputs that reach new code in a folder for each reader. An input that breaks a promise of
``targets.py`` is written to ``READER-crash-…`` in the working directory (``READER-timeout-…`` or ``READER-oom-…`` for
one that takes too long or too much memory), and the exit code is 1. It is 2 without atheris, which is for Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS, DICTIONARIES = HERE / "corpus", HERE / "dictionaries"
#: Longest input in bytes, longest time for one in seconds, and most resident memory of a process in MB: the libraries'
#: 350, what an input may ask for (`process.py`), and what adds up.
LENGTH, PATIENCE, MEMORY = 4096, 20, 6000
#: A process is renewed after so many seconds at most, since what atheris and libFuzzer keep of each run adds up.
SLICE = 100
#: One thread each, and one heap that is not laid out in advance: inputs are tiny, and what they may ask for is limited.
SINGLE = {
    "OMP_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
}


@dataclass(frozen=True)
class Outcome:
    """What a run of one reader came to; ``findings`` are inputs that broke a promise, each in its own way."""

    reader: str
    executions: int
    seconds: int
    peak_rss_mb: int
    findings: int

    def __str__(self) -> str:
        rate = self.executions / max(1, self.seconds)
        numbers = f"{self.executions:,} | {self.seconds:,} | {rate:,.0f} | {self.peak_rss_mb} | {self.findings}"
        return f"| {self.reader} | {numbers} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", action="append", help="name of a reader; may be repeated; all if not given")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--jobs", type=int, default=2, help="readers at a time")
    parser.add_argument("--into", type=Path, help="folder for inputs that reach new code")
    parser.add_argument("--merge", type=Path, help="in place of fuzzing: take inputs of this folder into the corpus")
    parser.add_argument("--keep", type=Path, help="put the outcomes into this JSON file, and a page (.md) beside it")
    parsed = parser.parse_args(arguments)
    if find_spec("atheris") is None:
        sys.stderr.write("atheris is not installed, and there is no fuzzing without it: pip install atheris (Linux)\n")
        return 2
    names = parsed.reader or sorted(folder.name for folder in CORPUS.iterdir())
    if unknown := [name for name in names if not (CORPUS / name).is_dir()]:
        parser.error(f"there is no corpus for {', '.join(unknown)}")
    with ThreadPoolExecutor(max(1, parsed.jobs)) as pool:
        if parsed.merge is not None:
            return max(pool.map(lambda name: _merge(name, parsed.merge / name), names))
        outcomes = list(pool.map(lambda name: _fuzz(name, parsed.seconds, parsed.into), names))
    print("| reader | executions | seconds | per second | peak memory, MB | findings |\n|---|---|---|---|---|---|")
    for outcome in outcomes:
        print(outcome)
    if parsed.keep is not None:
        keep(outcomes, parsed.keep)
    return int(any(outcome.findings for outcome in outcomes))


def keep(outcomes: Sequence[Outcome], path: Path) -> None:
    """Put outcomes in place of older ones of the same readers, with date, versions and commit; write the page anew."""
    kept = json.loads(path.read_text()) if path.is_file() else {}
    code = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    about = {
        "date": time.strftime("%Y-%m-%d"),
        "python": sys.version.split()[0],
        "atheris": version("atheris"),
        "commit": code.stdout.strip(),
    }
    kept |= {outcome.reader: {**asdict(outcome), **about} for outcome in outcomes}
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    lines = [
        "# Fuzzing of the readers",
        "",
        "Damaged files are given to each reader, mutated by coverage (atheris, libFuzzer) from the corpus in",
        "`tests/fuzz/corpus`. A finding is anything but a log whose account balances or a `LogError`: another",
        "exception, a warning the package causes, a broken promise (`tests/fuzz/targets.py`), more than",
        f"{PATIENCE} s for one input, or more than 1 GiB asked for by one. Peak memory is that of the process,",
        "libraries and the fuzzer's own tables included. Made by",
        "`python tests/fuzz/fuzz_readers.py --seconds 610 --keep experiments/results/fuzzing.json`.",
        "",
        "| reader | inputs | seconds | peak MB | findings | date | Python, atheris | commit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in sorted(kept.items()):
        stack = f"{row['python']}, {row['atheris']}"
        figures = f"{row['executions']:,} | {row['seconds']:,} | {row['peak_rss_mb']:,} | {row['findings']}"
        lines.append(f"| {name} | {figures} | {row['date']} | {stack} | {row['commit']} |")
    path.with_suffix(".md").write_text("\n".join(lines) + "\n")


def _fuzz(name: str, seconds: int, into: Path | None) -> Outcome:
    """Fuzz one reader in processes of its own, and take the numbers from what libFuzzer writes."""
    options: dict[str, object] = {
        "max_len": LENGTH,
        "timeout": PATIENCE,
        "rss_limit_mb": MEMORY,
        "print_final_stats": 1,
        "artifact_prefix": f"{name}-",
        "dict": DICTIONARIES / f"{name}.dict",
    }
    runs = passed = peak = findings = 0
    with ExitStack() as stack:
        found = Path(stack.enter_context(tempfile.TemporaryDirectory())) if into is None else into / name
        found.mkdir(parents=True, exist_ok=True)
        while passed < seconds:
            began = time.monotonic()
            # the first folder is written to, the other is only read
            done = _start(name, {"max_total_time": min(SLICE, seconds - passed), **options}, found, CORPUS / name)
            stated = {key: int(value) for key, value in re.findall(r"stat::(\w+):\s+(\d+)", done.stderr)}
            runs += stated.get("number_of_executed_units", 0)
            peak = max(peak, stated.get("peak_rss_mb", 0))
            findings += len(re.findall(r"^finding: ", done.stderr, re.MULTILINE))
            for report in re.findall(r"^finding: .*?\n\n", done.stderr, re.MULTILINE | re.DOTALL):
                sys.stderr.write(report)
            all_before = bool(done.returncode) and _was_it_all_before(name, done.stderr)
            passed += max(1, round(time.monotonic() - began))
            if done.returncode and not all_before:
                findings += 1
                sys.stderr.write(f"--- {name}: exit {done.returncode}\n{done.stderr[-6000:]}\n")
                break
    return Outcome(name, runs, passed, peak, findings)


def _was_it_all_before(name: str, said: str) -> bool:
    """Whether the input a process ended at breaks no promise by itself; it is thrown away then.

    What atheris and libFuzzer keep grows within one process until any input may find no memory left.
    """
    written = re.search(r"Test unit written to (.+)$", said, re.MULTILINE)
    if written is None:
        return False
    path = Path(written[1])
    alone = _start(name, {"timeout": PATIENCE, "rss_limit_mb": MEMORY, "artifact_prefix": "again-"}, path)
    if alone.returncode or "finding: " in alone.stderr:
        return False
    path.unlink()
    return True


def _merge(name: str, found: Path) -> int:
    """Take the smallest inputs that add coverage into the corpus, each under the hash of its content."""
    done = _start(name, {"merge": 1, "max_len": LENGTH, "timeout": PATIENCE}, CORPUS / name, found)
    if done.returncode:
        sys.stderr.write(f"--- {name}\n{done.stderr[-6000:]}\n")
    return done.returncode


def _start(name: str, options: dict[str, object], *folders: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "process.py"), name, *(f"-{key}={value}" for key, value in options.items())]
    command += map(str, folders)
    return subprocess.run(
        command, env=os.environ | SINGLE, capture_output=True, text=True, errors="replace", check=False
    )


if __name__ == "__main__":
    sys.exit(main())
