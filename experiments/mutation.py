"""Would the tests of the readers and of the quality rules notice a fault in the code?

A random sample of mutants (`experiments.mutants`), drawn file by file in proportion to what each file has. Each mutant
is put into a private copy of the tree, where a forked process runs the tests that execute the changed statement; it is
killed when one of them fails. No mutant is left out because it survived.

    python -m experiments.mutation --data DIR

`--only readers/nra --tests tests/data/readers/nra` looks at a part, `--page` writes the page anew from the JSON file,
into which reasons for survivors that behave like the original may have been written by hand (`"equivalent": "..."`).
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np
import pytest

from attentionmixer.run import environment
from experiments.mutants import Mutant, mutants, mutated

REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
ROOMS = ("attentionmixer/data/readers", "attentionmixer/data/quality")
TESTS = ("tests/data/readers", "tests/data/quality", "tests/data/test_broken_logs.py", "tests/data/test_frozen.py")
#: What a mutant's process finds loaded already; the package itself is loaded by each anew.
LIBRARIES = (
    "attentionmixer.train attentionmixer.data.quality.config hypothesis.strategies openpyxl sqlalchemy pyarrow.csv"
)
#: Not mutated and costly to load: kept by all, with the registry of units made.
KEPT = ("attentionmixer.errors", "attentionmixer.data.units")
TIMEOUT = 60
MEMORY = 8 << 30
TERMINAL = os.dup(2)
STRANGE = 99
"""Exit code of a process that did not test what it should."""


@dataclass
class Cover:
    """What the tests execute."""

    seconds: dict[str, float] = field(default_factory=dict)
    """Test → how long it takes, in s."""
    lines: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    """File and line → tests that execute it."""
    failed: set[str] = field(default_factory=set)
    """Tests that fail without any mutant; none of them is used."""

    def tests(self, mutant: Mutant) -> set[str]:
        """Tests that execute the changed statement.

        What runs on import no test executes: then all that do anything in its file, and all beside it, since reading
        a constant or a setting executes no line.
        """
        if mutant.scope:
            first, last = mutant.span
            found = [self.lines.get((mutant.file, line), set()) for line in range(first, last + 1)]
        else:
            found = [tests for (file, _), tests in self.lines.items() if file == mutant.file]
            beside = Path("tests", *Path(mutant.file).parts[1:]).parents
            found.append({test for test in self.seconds if Path(test.split("::")[0]).parent in beside})
        return set().union(*found) - self.failed


class Tracer:
    """Pytest plugin that notes for each test which lines of the rooms it executes."""

    def __init__(self, root: Path) -> None:
        self.cover = Cover()
        self._root = f"{root}{os.sep}"
        self._rooms = tuple(f"{root / room}{os.sep}" for room in ROOMS)
        self._hit: set[tuple[str, int]] = set()

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(self._rooms) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._hit.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._hit.clear()
        start = time.monotonic()
        sys.settrace(self._call)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.cover.seconds[item.nodeid] = time.monotonic() - start
            for file, line in self._hit:
                self.cover.lines.setdefault((file.removeprefix(self._root), line), set()).add(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.cover.failed.add(report.nodeid)


@dataclass
class Selection:
    """Pytest plugin that runs some tests only, the shortest first."""

    cover: Cover
    tests: set[str]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = self.of(items)

    def of(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """The tests to run, in order."""
        return sorted((i for i in items if i.nodeid in self.tests), key=lambda i: self.cover.seconds[i.nodeid])


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    mutant: Mutant
    outcome: str
    """`killed`, `timeout` (killed by running too long), `survived` or `not executed` (a survivor that no test runs)."""
    tests: int
    """How many tests execute the changed statement."""

    @property
    def survived(self) -> bool:
        return self.outcome in {"survived", "not executed", "not tested"}


def sample(rooms: Mapping[str, list[Mutant]], size: int, seed: int) -> list[Mutant]:
    """At least one mutant of each file, and else in proportion to the mutants it has."""
    total = sum(map(len, rooms.values()))
    generator = np.random.default_rng(seed)
    drawn = []
    for found in rooms.values():
        wanted = min(len(found), max(1, round(size * len(found) / total)))
        drawn += [found[i] for i in generator.choice(len(found), wanted, replace=False)]
    return [drawn[i] for i in generator.permutation(len(drawn))]


def copy_tree(to: Path) -> Path:
    """A private copy of what the tests need."""
    for name in ("attentionmixer", "configs", "tests", "data"):
        shutil.copytree(REPOSITORY / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.cfg", "README.md"):
        shutil.copy2(REPOSITORY / name, to / name)
    for room in ROOMS:
        shutil.copytree(to / room, to / "pristine" / room)
    return to


def load_libraries() -> None:
    """Load other people's libraries once, and forget the package: every forked process loads its own copy of that."""
    for name in LIBRARIES.split():
        importlib.import_module(name)
    importlib.import_module(KEPT[1]).parse_unit("nSv/h")
    for name in [name for name in sys.modules if name.split(".")[0] == "attentionmixer" and name not in KEPT]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()


def run_tests(root: Path, files: Sequence[str], *plugins: object, stop: bool) -> int:
    """Run tests of a copy of the tree in this (forked) process; the exit code is pytest's."""
    os.chdir(root)
    log = os.open(root / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    sys.path[:] = [str(root), *(p for p in sys.path if p and Path(p).resolve() != REPOSITORY)]
    importlib.invalidate_caches()
    from hypothesis import Phase, settings

    # the first counterexample is enough, and every run sees the same ones
    settings.register_profile(
        "mutation", derandomize=True, deadline=None, database=None, phases=(Phase.explicit, Phase.generate)
    )
    settings.load_profile("mutation")
    options = [
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        f"--rootdir={root}",
        f"--basetemp={root / 'tmp'}",
    ]
    code = int(pytest.main([*options, *(["-x"] if stop else []), *files], plugins=list(plugins)))
    home = getattr(sys.modules.get("attentionmixer"), "__file__", None) or str(root)
    return code if Path(home).is_relative_to(root) and code != pytest.ExitCode.NO_TESTS_COLLECTED else STRANGE


def fork(work: Any) -> int:
    """Start a process that does some work and ends with its exit code."""
    process = os.fork()
    if process:
        return process
    code = STRANGE
    try:
        os.setsid()
        code = work()
    finally:
        os._exit(code)


class Session:
    """Pytest plugin that, once all tests are collected, traces them and tries mutants, each in a process of its own.

    A mutant whose fault lies in a function is put in by giving the loaded function other code, which saves loading the
    package and collecting the tests anew. A fault in what runs on import is left to a process that loads everything.
    """

    def __init__(self, roots: Sequence[Path], drawn: Sequence[Mutant], home: Path) -> None:
        self.roots, self.drawn, self.home = roots, drawn, home

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        root = self.roots[0]

        def traced() -> int:
            tracer = Tracer(root)
            session.config.pluginmanager.register(tracer)
            run_items(session, session.items)
            self.home.write_bytes(pickle.dumps(tracer.cover))
            return 0

        os.waitpid(fork(traced), 0)
        cover: Cover = pickle.loads(self.home.read_bytes())
        say(f"{len(cover.seconds)} tests traced; failing: {sorted(cover.failed)}")

        def start(mutant: Mutant, tests: set[str], root: Path) -> Callable[[], int]:
            def work() -> int:
                put_in(mutant, self.roots[0])
                session.config.option.maxfail = 1
                # two processes must not share a folder for temporary files
                session.config._tmp_path_factory._given_basetemp = root / "tmp"  # type: ignore[attr-defined]
                return run_items(session, Selection(cover, tests).of(session.items))

            return work

        verdicts = list(judge(self.drawn, self.roots, cover, start))
        self.home.write_bytes(pickle.dumps((cover, verdicts)))
        return True


def run_items(session: pytest.Session, items: Sequence[pytest.Item]) -> int:
    """Run collected tests; stops at the first failure where the session's `maxfail` is 1."""
    for number, item in enumerate(items):
        following = items[number + 1] if number + 1 < len(items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed and session.config.option.maxfail == 1:
            return 1
    return 0


def put_in(mutant: Mutant, root: Path) -> None:
    """Give the loaded function that holds a mutant's fault its faulty code."""
    file = root / mutant.file
    outer = mutant.scope.split(".<locals>")[0]
    module = importlib.import_module(mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    code: CodeType = compile(mutated(file.read_text(encoding="utf-8"), mutant.number), str(file), "exec", 0, True)
    holder: Any = module
    for name in outer.split("."):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
        holder = vars(holder)[name]
    while not isinstance(holder, FunctionType):
        inner = ("__wrapped__", "__func__", "fget", "func")
        holder = next(getattr(holder, name) for name in inner if getattr(holder, name, None) is not None)
    while code.co_filename != holder.__code__.co_filename:
        holder = vars(holder)["__wrapped__"]
    holder.__code__ = code


def load_anew(cover: Cover) -> Callable[[Mutant, set[str], Path], Callable[[], int]]:
    """Put mutants into the files of a copy of the tree, and run their tests there."""

    def start(mutant: Mutant, tests: set[str], root: Path) -> Callable[[], int]:
        def work() -> int:
            sys.dont_write_bytecode = True
            place = root / mutant.file
            place.write_text(mutated(place.read_text(encoding="utf-8"), mutant.number), encoding="utf-8")
            return run_tests(root, sorted({t.split("::")[0] for t in tests}), Selection(cover, tests), stop=True)

        return work

    return start


def judge(
    drawn: Sequence[Mutant],
    roots: Sequence[Path],
    cover: Cover,
    start: Callable[[Mutant, set[str], Path], Callable[[], int]],
) -> Iterator[Verdict]:
    """Try all mutants, as many at a time as there are copies of the tree."""
    waiting, free = list(drawn), list(roots)
    running: dict[int, tuple[Path, Mutant, int, float]] = {}
    while waiting or running:
        while waiting and free:
            mutant = waiting.pop()
            tests = cover.tests(mutant)
            if not tests:
                yield tell(Verdict(mutant, "not executed", 0))
                continue
            root = free.pop()
            running[fork(start(mutant, tests, root))] = root, mutant, len(tests), time.monotonic()
        for process, (root, mutant, tests_run, since) in list(running.items()):
            late = time.monotonic() - since > TIMEOUT
            if late:
                os.killpg(process, signal.SIGKILL)
            ended, status = os.waitpid(process, 0 if late else os.WNOHANG)
            if not ended:
                continue
            code = os.waitstatus_to_exitcode(status)
            shutil.copy2(root / "pristine" / mutant.file, root / mutant.file)
            del running[process]
            free.append(root)
            yield tell(Verdict(mutant, "timeout" if late else outcome_of(code), tests_run))
        time.sleep(0.02)


def outcome_of(code: int) -> str:
    """What an exit code says: any that a failing test can lead to is a kill."""
    return {0: "survived", STRANGE: "not tested"}.get(code, "killed")


def say(text: str) -> None:
    """Write to the terminal, also from where pytest has the output."""
    os.write(TERMINAL, f"{text}\n".encode())


def tell(verdict: Verdict) -> Verdict:
    """Say which mutant survived."""
    m = verdict.mutant
    say(f"{verdict.outcome} {m.file}:{m.line} {m.operator}: {m.before} -> {m.after}" if verdict.survived else ".")
    return verdict


def wilson(share: float, size: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share found in a sample."""
    z = 1.959964
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return middle - half, middle + half


def score(rows: Sequence[Mapping[str, Any]], population: Mapping[str, int]) -> tuple[float, float, float]:
    """Share of mutants killed, each file weighing what it has, and its interval."""
    seen, killed = Counter(r["file"] for r in rows), Counter(r["file"] for r in rows if r["killed"])
    total = sum(population[file] for file in seen)
    share = sum(population[file] / total * killed[file] / seen[file] for file in seen)
    return share, *wilson(share, len(rows))


def page(results: Mapping[str, Any]) -> str:
    """The results in words and tables."""
    rows, population, about = results["mutants"], results["population"], results["environment"]

    def line(name: str, part: Sequence[Mapping[str, Any]], *, weighed: bool = True) -> str:
        killed = sum(r["killed"] for r in part)
        late = sum(r["outcome"] == "timeout" for r in part)
        share, low, high = (
            score(part, population) if weighed else (killed / len(part), *wilson(killed / len(part), len(part)))
        )
        there = f"{sum(population[file] for file in {r['file'] for r in part}):,}" if weighed else "–"
        cells = (name, there, len(part), killed, late, len(part) - killed, f"{share:.1%}", f"{low:.0%} to {high:.0%}")
        return f"| {' | '.join(map(str, cells))} |"

    head = ["| part | mutants | tried | killed | of these by time-out | survived | score | 95 % |", "|" + "---|" * 8]
    short = {file: file.removeprefix("attentionmixer/data/") for file in population}
    rooms = {file: short[file].split("/")[0] for file in population}
    text = ["# Mutation testing", "", str(page.__globals__["__doc__"]).split("\n\n    python")[0].strip(), ""]
    text += [
        f"Made by `{about['command']}` on {about['date'][:10]}, Python {about['python']}; "
        f"{results['tests']:,} tests, seed {results['seed']}, time-out {TIMEOUT} s. "
        "Scores of parts weigh each file by the mutants it has, those of kinds do not; intervals are Wilson's.",
        *([results["remark"]] if results.get("remark") else []),
        "",
        *head,
        line("**all**", rows),
        *(line(room, [r for r in rows if rooms[r["file"]] == room]) for room in sorted(set(rooms.values()))),
        "",
    ]
    equal = [r for r in rows if r.get("equivalent")]
    if equal:
        share, low, high = score([r for r in rows if not r.get("equivalent")], population)
        text += [
            f"{len(equal)} survivors were read and found to behave like the original (their reasons are below). They "
            f"count as survivors above; without them the score is {share:.1%} ({low:.0%} to {high:.0%}).",
            "",
        ]
    text += ["## By kind of fault", "", *head]
    text += [
        line(kind, [r for r in rows if r["operator"] == kind], weighed=False)
        for kind in sorted({r["operator"] for r in rows})
    ]
    text += ["", "## By file", "", *head]
    text += [
        line(f"`{short[file]}`", [r for r in rows if r["file"] == file]) for file in sorted({r["file"] for r in rows})
    ]
    text += ["", "## Survivors", "", "| where | fault | before | after | why it is no fault |", "|---|---|---|---|---|"]
    for r in sorted((r for r in rows if not r["killed"]), key=lambda r: (r["file"], r["line"])):
        before, after = (f"`{r[side][:90].replace('|', '¦').replace('`', ' ')}`" for side in ("before", "after"))
        kind = r["operator"] + (" (no test runs it)" if r["outcome"] == "not executed" else "")
        text.append(f"| `{short[r['file']]}:{r['line']}` | {kind} | {before} | {after} | {r.get('equivalent') or ''} |")
    return "\n".join(text) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the real logs, which some tests read")
    parser.add_argument("--sample", type=int, default=480, help="mutants to try (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=20, help="of the sample (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="mutants tried at a time (default: %(default)s)")
    parser.add_argument("--only", default="", help="files whose path has this in it (default: all)")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="tests to run (default: all of these rooms)")
    parser.add_argument("--to", type=Path, default=RESULTS / "mutation.json", help="file of the results")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    if not options.page:
        if options.data is not None:
            os.environ["ATTENTIONMIXER_DATA"] = str(options.data.resolve())
        command = ["python", "-m", "experiments.mutation", "--sample", str(options.sample), "--seed", str(options.seed)]
        about = environment([*command, *(["--data", "DIR"] if options.data else [])])
        options.to.write_text(json.dumps({"environment": about, **measure(options)}, indent=1) + "\n", encoding="utf-8")
    results = json.loads(options.to.read_text(encoding="utf-8"))
    options.to.with_suffix(".md").write_text(page(results), encoding="utf-8")
    return 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Draw, try, and put together what came out."""
    with tempfile.TemporaryDirectory(
        prefix="mutation-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    ) as folder:
        root = copy_tree(Path(folder) / "0" / "tree")
        files = sorted(file for room in ROOMS for file in (root / room).rglob("*.py") if options.only in str(file))
        found = {
            str(f.relative_to(root)): mutants(str(f.relative_to(root)), f.read_text(encoding="utf-8")) for f in files
        }
        rooms = {file: of_file for file, of_file in found.items() if of_file}
        drawn = sample(rooms, options.sample, options.seed)
        roots = [root]
        for worker in range(1, options.workers):
            roots.append(shutil.copytree(root, Path(folder) / str(worker) / "tree"))
        load_libraries()
        begun = time.monotonic()
        home = Path(folder) / "verdicts.pickle"
        session = Session(roots, [m for m in drawn if m.scope], home)
        os.waitpid(fork(lambda: run_tests(root, options.tests, session, stop=False)), 0)
        cover, verdicts = pickle.loads(home.read_bytes())
        say(f"{len(verdicts)} faults in functions tried in {time.monotonic() - begun:.0f} s")
        again = [v.mutant for v in verdicts if v.outcome == "not tested"]
        verdicts = [v for v in verdicts if v.outcome != "not tested"]
        verdicts += judge([*(m for m in drawn if not m.scope), *again], roots, cover, load_anew(cover))
        rows = [
            {**asdict(v.mutant), "outcome": v.outcome, "killed": not v.survived, "tests": v.tests} for v in verdicts
        ]
    return {
        "seed": options.seed,
        "tests": len(cover.seconds),
        "tests that failed without a mutant": sorted(cover.failed),
        "seconds": round(time.monotonic() - begun),
        "population": {file: len(of_file) for file, of_file in rooms.items()},
        "mutants": sorted(rows, key=lambda r: (r["file"], r["number"])),
    }


if __name__ == "__main__":
    sys.exit(main())
