"""``python -m attentionmixer.evaluate RUN LOG``: errors and coverage on a log, beside persistence."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from . import models
from .data.log import StationLog
from .data.windows import WindowLoader
from .errors import LogError
from .forecaster import Forecaster
from .front import front_door
from .models.base import Task
from .reading import Parser, add_reading_arguments, first_moment, read_for_run
from .schema import align
from .training.metrics import ForecastErrors


@front_door
def main(arguments: Sequence[str] | None = None) -> int:
    """Print the metrics table, or JSON."""
    parser = Parser(prog="python -m attentionmixer.evaluate", description="Measure a trained run on a log.")
    add_reading_arguments(parser, start="first time that is forecast (UTC); readings before it serve as look-back")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    forecaster = Forecaster.load(options.run)
    schema = forecaster.schema
    start = first_moment(options)
    log = align(read_for_run(options, before=schema.lookback * schema.step), schema)
    first = None if start is None else int(log.time.searchsorted(start))
    result = evaluate(forecaster, log, first)
    if options.json:
        print(json.dumps(result, ensure_ascii=False, allow_nan=False))
    else:
        Console().print(*_tables(result, str(options.run)), sep="\n")
    return 0


def evaluate(forecaster: Forecaster, log: StationLog, first: int | None = None) -> dict[str, Any]:
    """Errors of all windows whose targets lie in rows ``first <= i``, beside those of repeating the last value there.

    Raises `LogError` where there is no such window.
    """
    schema = forecaster.schema
    if first is not None and len(log) - max(first, schema.lookback) < schema.horizon:
        raise LogError(
            f"from the start asked for the log has {max(0, len(log) - first)} steps, up to {log.time[-1]}: no window "
            f"of {schema.lookback} steps of look-back and {schema.horizon} of horizon fits; move the start"
        )
    errors = forecaster.evaluate(log, first)
    repeat = models.build("persistence", Task(len(schema.tags), schema.lookback, schema.horizon))
    persistence = ForecastErrors(forecaster.scaler, schema.horizon, ())
    for batch in WindowLoader(forecaster.windows(log, first), 256):
        persistence.update(repeat(batch.x, batch.x_mask), batch.observed, batch.y_mask)
    beside = persistence.compute()
    tags = {name: {"persistence_mae": values["mae"]} for name, values in persistence.per_tag(log.tags).items()}
    own = {name: values | tags[name] for name, values in errors.per_tag(log.tags).items()}
    return {**errors.compute(), "persistence": {"mse": beside["mse"], "mae": beside["mae"]}, "per_tag": own}


def _tables(result: dict[str, Any], title: str) -> tuple[Table, Table]:
    whole = Table(title=escape(title), caption="errors in training standard deviations", caption_justify="left")
    for column in ("", "model", "persistence"):
        whole.add_column(column, justify="left" if not column else "right")
    for name in ("mse", "mae"):
        whole.add_row(name.upper(), _number(result[name]), _number(result["persistence"][name]))
    for level, share in result["coverage"].items():
        whole.add_row(f"{float(level):.0%} interval covers", "no data" if share is None else f"{share:.1%}", "")
    whole.add_row("windows", f"{result['windows']:,}", "")
    whole.add_row("observed values", f"{result['observed_values']:,}", "")
    tags = Table(caption="mean absolute error in the tag's unit", caption_justify="left")
    for column in ("tag", "unit", "model", "persistence", "values"):
        tags.add_column(column, justify="left" if column in ("tag", "unit") else "right")
    for name, values in result["per_tag"].items():
        numbers = (_number(values["mae"]), _number(values["persistence_mae"]), f"{values['observed_values']:,}")
        tags.add_row(escape(name), escape(values["unit"] or ""), *numbers)
    return whole, tags


def _number(value: float | None) -> str:
    return "no data" if value is None else f"{value:.4g}"


if __name__ == "__main__":
    sys.exit(main())
