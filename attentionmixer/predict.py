"""``python -m attentionmixer.predict RUN LOG``: what will be read next, as a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from .errors import ConfigError
from .files import write_atomically
from .forecaster import Forecaster
from .front import front_door
from .reading import Parser, add_reading_arguments, read_for_run


@front_door
def main(arguments: Sequence[str] | None = None) -> int:
    """Write the forecast and print its path."""
    parser = Parser(
        prog="python -m attentionmixer.predict", description="Forecast the steps after the log's last reading."
    )
    add_reading_arguments(parser)
    parser.add_argument("--output", type=Path, default=Path("forecast.csv"), help="FILE.csv or FILE.parquet")
    parser.add_argument(
        "--all", action="store_true", help="back-to-back forecasts over the whole log, not only the next"
    )
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".csv", ".parquet"):
        raise ConfigError(f"--output {options.output} must end in .csv or .parquet")
    forecaster = Forecaster.load(options.run)
    log = read_for_run(options)
    forecast = forecaster.forecasts(log, stride=forecaster.schema.horizon) if options.all else forecaster.predict(log)
    frame = forecast.to_frame()
    write_atomically(options.output, lambda part: _write(frame, part, options.output.suffix))
    print(f"{forecast!r}\nforecast: {options.output}")
    return 0


def guard_text(text: str) -> str:
    """Text that a spreadsheet would run as a formula, made harmless by a leading apostrophe."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _write(frame: pd.DataFrame, path: Path, kind: str) -> None:
    if kind == ".parquet":
        frame.to_parquet(path, index=False)
        return
    frame = frame.copy()
    for column in ("origin", "time"):
        frame[column] = frame[column].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    for column in ("tag", "unit"):
        frame[column] = frame[column].map(guard_text)
    # the byte order mark tells Excel that this is UTF-8
    frame.to_csv(path, index=False, encoding="utf-8-sig")


if __name__ == "__main__":
    sys.exit(main())
