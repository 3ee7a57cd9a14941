"""Chronological split of a log: training, then validation, then test."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ..errors import ConfigError, LogError
from .log import StationLog, utc


@dataclass(frozen=True)
class SplitConfig:
    """Where training ends and test begins.

    Attributes
    ----------
    train
        share of the rows, or (above 1, all three) number of rows, to learn from
    validation
        share or number of rows to choose the epoch on
    test
        share or number of rows to measure on; what is left over is not used
    validation_start
        date that overrides the shares (UTC without a zone); needs test_start as well
    test_start
        date at which the test part begins
    end
        date at which the test part ends; the log's end if not given
    """

    train: float = 0.7
    validation: float = 0.15
    test: float = 0.15
    validation_start: str | None = None
    test_start: str | None = None
    end: str | None = None


@dataclass(frozen=True)
class Split:
    """Row numbers: training [0, train_end), validation [train_end, validation_end), test [validation_end, test_end)."""

    train_end: int
    validation_end: int
    test_end: int

    def parts(self) -> dict[str, tuple[int, int]]:
        """First and last row of each part."""
        return {
            "train": (0, self.train_end),
            "validation": (self.train_end, self.validation_end),
            "test": (self.validation_end, self.test_end),
        }


def split_rows(log: StationLog, config: SplitConfig) -> Split:
    """Row numbers of the split. Raises `ConfigError` for shares or dates that make no sense."""
    if (config.validation_start is None) != (config.test_start is None):
        raise ConfigError("data.split needs both validation_start and test_start, or neither")
    if config.end is not None and config.test_start is None:
        raise ConfigError("data.split.end needs validation_start and test_start as well; with shares it has no meaning")
    if config.validation_start is not None and config.test_start is not None:
        end = len(log) if config.end is None else int(log.time.searchsorted(utc(config.end)))
        split = Split(_row(log, config.validation_start), _row(log, config.test_start), end)
    else:
        split = _from_shares(len(log), config)
    if not 0 < split.train_end < split.validation_end < split.test_end <= len(log):
        raise ConfigError(
            f"the split leaves a part empty: training ends at row {split.train_end}, validation at "
            f"{split.validation_end}, test at {split.test_end} of {len(log)}; "
            f"the log spans {log.time[0]} to {log.time[-1]}"
        )
    return split


def check_windows(log: StationLog, split: Split, lookback: int, horizon: int) -> None:
    """Fail before training where a part is too short for one window.

    Training needs L + H rows. Validation and test need H rows, since their look-back may reach into the part before.
    Raises `LogError` saying rows there, rows needed and the longest horizon that would fit.
    """
    parts = split.parts()
    room = {name: last - first for name, (first, last) in parts.items()}
    longest = min(room["train"] - lookback, room["validation"], room["test"])
    for name, rows in room.items():
        needed = lookback + horizon if name == "train" else horizon
        if rows < needed:
            fits = (
                f"the longest horizon that fits is {longest}"
                if longest > 0
                else f"no horizon fits a look-back of {lookback}"
            )
            raise LogError(
                f"the {name} part has {rows} rows of {log.step}, but a look-back of {lookback} "
                f"and a horizon of {horizon} need {needed}; {fits}. The log has {len(log)} rows: give a longer one, "
                "or lower data.lookback or data.horizon"
            )


def _row(log: StationLog, moment: str | pd.Timestamp) -> int:
    """First row at or after a moment."""
    return int(log.time.searchsorted(utc(moment)))


def _from_shares(rows: int, config: SplitConfig) -> Split:
    """Split by shares or by counts of rows."""
    shares = (config.train, config.validation, config.test)
    if min(shares) <= 0:
        raise ConfigError(f"data.split shares must be above 0, not {shares}")
    if min(shares) > 1:
        first, second, third = (int(share) for share in shares)
    elif sum(shares) <= 1 + 1e-9:
        # a millionth of a row: in binary 0.7 + 0.1 is less than 0.8, which must not cost a row
        first = int(rows * config.train + 1e-6)
        second = int(rows * (config.train + config.validation) + 1e-6) - first
        third = int(rows * sum(shares) + 1e-6) - first - second
    else:
        raise ConfigError(f"data.split shares add up to {sum(shares):g}, which is more than 1: {shares}")
    if first + second + third > rows:
        raise LogError(f"data.split asks for {first + second + third} rows, but the log has {rows}")
    return Split(first, first + second, first + second + third)
