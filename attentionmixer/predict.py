"""``python -m attentionmixer.predict RUN LOG``: what will be read next, as a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from .data.export import guard_text
from .errors import ConfigError
from .files import write_atomically
from .forecaster import Forecaster
from .front import front_door
from .reading import Parser, add_reading_arguments, read_for_run

KINDS = (".csv", ".parquet")


@front_door
def main(arguments: Sequence[str] | None = None) -> int:
    """Write the forecast and print its path."""
    parser = Parser(
        prog="python -m attentionmixer.predict", description="Forecast the steps after the log's last reading."
    )
    add_reading_arguments(parser, start="first time that is read (UTC)")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        default=Path("forecast.csv"),
        help="FILE.csv or FILE.parquet, written over if it is there (default: %(default)s)",
    )
    parser.add_argument(
        "--all", action="store_true", help="back-to-back forecasts over the whole log, not only the next"
    )
    options = parser.parse_args(arguments)
    kind = options.output.suffix.lower()
    if kind not in KINDS:
        raise ConfigError(f"--output {options.output} must end in .csv or .parquet")
    forecaster = Forecaster.load(options.run)
    log = read_for_run(options)
    forecast = forecaster.forecasts(log, stride=forecaster.schema.horizon) if options.all else forecaster.predict(log)
    frame = forecast.to_frame()
    try:
        write_atomically(options.output, lambda part: _write(frame, part, kind))
    except OSError as error:
        raise ConfigError(f"--output {options.output} cannot be written: {error.strerror or error}") from error
    print(f"{forecast!r}\nforecast: {options.output}")
    return 0


def _write(frame: pd.DataFrame, path: Path, kind: str) -> None:
    if kind == ".parquet":
        frame.to_parquet(path, index=False)
        return
    frame = frame.copy()
    for column in ("origin", "time"):
        # a step may be shorter than a second
        fraction = ".%f" if bool((frame[column] != frame[column].dt.floor("s")).any()) else ""
        frame[column] = frame[column].dt.strftime(f"%Y-%m-%dT%H:%M:%S{fraction}Z")
    for column in ("tag", "unit"):
        frame[column] = frame[column].map(guard_text)
    # the byte order mark tells Excel that this is UTF-8
    frame.to_csv(path, index=False, encoding="utf-8-sig")


if __name__ == "__main__":
    sys.exit(main())
