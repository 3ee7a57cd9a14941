"""From the kept cells to a tidy table (CSV) and a page (Markdown)."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attentionmixer.files import read_json, write_atomically, write_text

from .cell import RESULTS
from .compare import Difference, difference
from .contenders import CONTENDERS
from .problems import PROBLEMS
from .suites import Suite

Results = dict[str, list[dict[str, Any]]]
DOCS = RESULTS.parents[2] / "docs"
#: Suites that the documents show; the quick one is a check.
DOCUMENTED = ("core", "full")
OURS = ("attentionmixer", "temporal only", "spatial only")
_COLUMNS = (
    "suite problem contender seed mse mae r2 rmse coverage_90 validation_mse seconds epochs peak_rss_mb parameters "
    "windows observed_values date commit cpu"
).split()


def load(suite: Suite, problem: str) -> Results:
    """Contender → its results, seeds in order."""
    found: Results = {}
    for path in sorted((RESULTS / suite.name / problem).glob("*.json")):
        result = read_json(path)
        found.setdefault(result["contender"], []).append(result)
    order = list(CONTENDERS)
    for results in found.values():
        results.sort(key=lambda result: result["seed"])
    return dict(sorted(found.items(), key=lambda item: order.index(item[0])))


def write(suite: Suite) -> Path:
    """Write ``results/forecasting-SUITE.csv`` and ``.md``; returns the page's path."""
    everything = {problem: load(suite, problem) for problem in PROBLEMS}
    everything = {problem: results for problem, results in everything.items() if results}
    base = RESULTS.parent / f"forecasting-{suite.name}"
    table, text = tidy(suite, everything), page(suite, everything)
    write_atomically(base.with_suffix(".csv"), lambda part: write_text(part, table))
    write_atomically(base.with_suffix(".md"), lambda part: write_text(part, text))
    write_docs()
    return base.with_suffix(".md")


def write_docs() -> None:
    """docs/benchmarks.md: the pages of the suites that mean something, one after the other."""
    pages = [RESULTS.parent / f"forecasting-{name}.md" for name in DOCUMENTED]
    texts = [path.read_text(encoding="utf-8") for path in pages if path.is_file()]
    if texts:
        text = "\n".join(["<!-- made by python -m experiments.forecasting; not to be edited -->", "", *texts])
        write_atomically(DOCS / "benchmarks.md", lambda part: write_text(part, text))


def tidy(suite: Suite, everything: Mapping[str, Results]) -> str:
    """One row a cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for problem, contenders in everything.items():
        for name, results in contenders.items():
            for r in results:
                test, cost, about = r["test"], r["train"], r["environment"]
                writer.writerow(
                    [
                        *(suite.name, problem, name, r["seed"]),
                        *(_plain(test.get(key)) for key in ("mse", "mae", "r2", "rmse")),
                        _plain(test["coverage"].get("0.9")),
                        _plain(r["validation"]["mse"]),
                        *(round(cost["seconds"], 1), cost["epochs"], round(cost["peak_rss_mb"]), r["parameters"]),
                        *(test["windows"], test["observed_values"], about["date"][:10], r["commit"], about["cpu"]),
                    ]
                )
    return out.getvalue()


def page(suite: Suite, everything: Mapping[str, Results]) -> str:
    """The whole page."""
    limit = "without a limit of time" if suite.seconds is None else f"at most {suite.seconds:g} s each"
    lines = [
        f"# Forecasting benchmark: {suite.name}",
        "",
        "Errors on the test part, masked, in units of the training variance, over all scored tags and steps ahead; the",
        "same windows, masks, scaler and evaluator for all. Mean ± standard deviation over seeds. Settings of every",
        "learned model were found by the same number of trials on the validation part of radnet-2019",
        f"(`experiments/forecasting/recipes`) and are used on all problems alike; training took {limit}.",
        "What is fixed in our space (warm start, 24 lags across tags) was settled before on validation errors of",
        "several of these logs: work that the peers did not get here.",
        "*Against the best other*: relative difference of the squared error of our model, paired, with a 95 % interval",
        "over blocks of time and over seeds (`experiments/forecasting/compare.py`); where it holds 0, it is a tie.",
        f"Made by `python -m experiments.forecasting --suite {suite.name} --data DIR`.",
        "",
        *_missing(suite),
        *_summary(everything),
    ]
    for problem, results in everything.items():
        lines += _section(problem, results)
    return "\n".join(lines)


def _missing(suite: Suite) -> list[str]:
    """What a suite that has not been run to its end still owes."""
    cells = list(suite.cells((), ()))
    left = [cell for cell in cells if not cell.is_current(suite.name)]
    if not left:
        return []
    return [
        f"**Not run to its end: {len(left)} of {len(cells)} cells are missing** or were measured with other settings; "
        "what is compared below is what is there.",
        "",
    ]


def rivals(results: Results) -> Results:
    """All that are not ours."""
    return {name: own for name, own in results.items() if name not in OURS}


def against_best(results: Results) -> tuple[str, Difference] | None:
    """The best other model by mean test error, and the difference of ours to it."""
    others = rivals(results)
    if not others or "attentionmixer" not in results:
        return None
    best = min(others, key=lambda name: _mean(others[name]))
    return best, difference(results["attentionmixer"], others[best])


def _summary(everything: Mapping[str, Results]) -> list[str]:
    rows = []
    for problem, results in everything.items():
        found = against_best(results)
        if found is None:
            continue
        best, gap = found
        rows.append(
            f"| {problem} | {_number(_mean(results['attentionmixer']))} | {best} | {_number(_mean(results[best]))} | "
            f"{gap.mean:+.1%} ({gap.low:+.1%} to {gap.high:+.1%}) | {gap.verdict} |"
        )
    if not rows:
        return []
    head = [
        "| problem | attentionmixer | best other | its MSE | against the best other | verdict |",
        "|---|---|---|---|---|---|",
    ]
    return ["## At a glance", "", *head, *rows, ""]


def _section(problem: str, results: Results) -> list[str]:
    single = any("rmse" in own[0]["test"] for own in results.values())
    more = " R² | RMSE |" if single else ""
    first = next(iter(results.values()))[0]["test"]
    lines = [
        f"## {problem}",
        "",
        f"{first['windows']:,} test windows, {first['observed_values']:,} observed values.",
        "",
        f"| model | test MSE | test MAE |{more} against ours | 90 % covers | validation MSE | seeds | seconds | "
        "peak MB | parameters |",
        "|---" * (9 + 2 * single) + "|",
    ]
    ours = results.get("attentionmixer")
    for name, own in sorted(results.items(), key=lambda item: _mean(item[1])):
        gap = "–" if ours is None or own is ours else _gap(difference(own, ours))
        cells = [name, _spread(own, "mse"), _spread(own, "mae")]
        if single:
            cells += [_spread(own, "r2"), _spread(own, "rmse", 5)]
        cells += [
            gap,
            f"{100 * statistics.fmean(r['test']['coverage']['0.9'] for r in own):.0f} %",
            _number(statistics.fmean(r["validation"]["mse"] for r in own)),
            str(len(own)),
            f"{statistics.median(r['train']['seconds'] for r in own):.0f}",
            f"{max(r['train']['peak_rss_mb'] for r in own):.0f}",
            f"{own[0]['parameters']:,}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", _made([r for own in results.values() for r in own]), ""]


def _made(results: Sequence[dict[str, Any]]) -> str:
    about = [r["environment"] for r in results]
    stacks = {", ".join([f"Python {e['python']}", *(f"{k} {v}" for k, v in e["packages"].items())]) for e in about}
    parts = [
        {f"{e['cpu']}, {e['cores']} cores, {e['device']}" for e in about},
        stacks,
        {e["date"][:10] for e in about},
        {f"code {r['commit']}" for r in results},
    ]
    return "; ".join(" / ".join(sorted(part)) for part in parts) + "."


def _gap(gap: Difference) -> str:
    return f"{gap.mean:+.1%} ({gap.low:+.1%} to {gap.high:+.1%})"


def _mean(results: Sequence[dict[str, Any]]) -> float:
    return statistics.fmean(r["test"]["mse"] for r in results)


def _number(value: float) -> str:
    """Four decimals, or six where that would leave one or two digits."""
    return f"{value:.{4 if abs(value) >= 0.01 else 6}f}"


def _spread(results: Sequence[dict[str, Any]], key: str, digits: int = 4) -> str:
    values = [r["test"][key] for r in results if r["test"].get(key) is not None]
    if not values:
        return "–"
    digits = 6 if key == "mse" and statistics.fmean(values) < 0.01 else digits
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(set(values)) > 1 else mean


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
