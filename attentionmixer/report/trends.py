"""Which tags to show as trends, and their stitched test forecasts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..data.log import Tag
from ..errors import RunError
from .run import Run

RULE: Final = (
    "Shown are at most five tags. Among the dose rates: the one forecast best, the one forecast worst (by skill "
    "against repeating the last value) and the one with the largest excursion; then the best and worst of the others."
)
RULE_WITHOUT_DOSE: Final = (
    "No tag is a dose rate. Shown are the tag forecast best, the one forecast worst (by skill against repeating the "
    "last value) and the one with the largest excursion."
)
_INTERVALS: Final = ((0.05, 0.95), (0.25, 0.75))
_NEEDED: Final = ("origin", "time", "tag", "horizon", "point", "observed")
_WINDOW: Final = pd.Timedelta(days=14)
_STEPS: Final = 1500  # more than this can't be told apart in a drawing


@dataclass(frozen=True)
class Choice:
    """A tag that is shown, with the reasons."""

    tag: Tag
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Trend:
    """Back-to-back test forecasts of one tag on its regular grid (columns as in ``forecasts.parquet``, NaN = none).

    `recent` and `excursion` are the parts shown; `peak` is the time of the largest excursion.
    """

    choice: Choice
    frame: pd.DataFrame
    recent: slice
    excursion: slice
    peak: pd.Timestamp

    @property
    def recent_frame(self) -> pd.DataFrame:
        """The last days with data."""
        return self.frame.loc[self.recent]

    @property
    def excursion_frame(self) -> pd.DataFrame:
        """The days around the largest excursion."""
        return self.frame.loc[self.excursion]

    def covered(self, low: float, high: float) -> float | None:
        """Share of observed values inside the interval between two quantile levels, over the whole test period."""
        lower, upper = f"q{low:g}", f"q{high:g}"
        if lower not in self.frame or upper not in self.frame:
            return None
        seen = self.frame[["observed", lower, upper]].dropna()
        if seen.empty:
            return None
        return float(seen["observed"].between(seen[lower], seen[upper]).mean())


def load_trends(run: Run) -> list[Trend]:
    """Trends of the tags that `RULE` names; empty if there is no forecast of an observed value.

    Raises
    ------
    RunError: ``forecasts.parquet`` is damaged or lacks a column.
    """
    if run.forecasts is None:
        return []
    columns = _columns(run)
    choices = choose(run, _excursions(run))
    if not choices:
        return []
    names = [choice.tag.name for choice in choices]
    frame = _read(run, columns, names)
    trends = []
    for choice in choices:
        trend = _trend(run, choice, frame[frame["tag"] == choice.tag.name])
        if trend is not None:
            trends.append(trend)
    return trends


def choose(run: Run, excursions: dict[str, float]) -> list[Choice]:
    """The tags to show by `RULE`. `excursions` maps each tag with test data to the size of its largest excursion."""
    tags = [tag for tag in run.tags if tag.name in excursions]
    skills = {tag.name: run.metrics.skill("persistence", tag=tag.name) for tag in tags}
    doses = [tag for tag in tags if tag.quantity == "dose_rate"]
    others = [tag for tag in tags if tag.quantity != "dose_rate"]
    reasons: dict[str, list[str]] = {}
    for group, kind, with_excursion in (
        (doses, "dose rate", True),
        (others, "other tag" if doses else "tag", not doses),
    ):
        ranked = sorted((tag for tag in group if skills[tag.name] is not None), key=lambda t: skills[t.name] or 0.0)
        picks = [(ranked[-1], f"the {kind} forecast best"), (ranked[0], f"the {kind} forecast worst")] if ranked else []
        if len(ranked) == 1:
            picks = [(ranked[0], f"the only {kind} with a skill")]
        if with_excursion and group:
            largest = max(group, key=lambda tag: excursions[tag.name])
            picks.append((largest, f"the {kind} with the largest excursion"))
        for tag, reason in picks:
            reasons.setdefault(tag.name, []).append(reason)
    by_name = {tag.name: tag for tag in tags}
    return [Choice(by_name[name], tuple(why)) for name, why in reasons.items()]


# --- reading ---------------------------------------------------------------------------------------------------------


def _columns(run: Run) -> list[str]:
    try:
        present = pq.read_schema(run.forecasts).names
    except (OSError, pa.ArrowException) as error:
        raise RunError(f"{run.forecasts} cannot be read: {error}; train again, or copy the run again") from error
    missing = [name for name in _NEEDED if name not in present]
    if missing:
        raise RunError(f"{run.forecasts} lacks the column(s) {', '.join(missing)}; train again to write it anew")
    wanted = [*_NEEDED, "persistence", *(f"q{level:g}" for pair in _INTERVALS for level in pair)]
    return [name for name in wanted if name in present]


def _read(
    run: Run, columns: Sequence[str], tags: Iterable[str] | None = None, categories: Sequence[str] | None = None
) -> pd.DataFrame:
    filters = None if tags is None else [("tag", "in", list(tags))]
    try:
        table = pq.read_table(run.forecasts, columns=list(columns), filters=filters, read_dictionary=categories)
        frame = table.to_pandas()
        for column in frame.columns.intersection(["origin", "time"]):
            frame[column] = pd.to_datetime(frame[column], utc=True)
        for column in frame.columns.difference(["origin", "time", "tag", "horizon"]):
            frame[column] = pd.to_numeric(frame[column]).astype(np.float64)
    except (OSError, pa.ArrowException, ValueError, TypeError) as error:
        raise RunError(f"{run.forecasts} is damaged: {error}; train again, or copy the run again") from error
    return frame


def _excursions(run: Run) -> dict[str, float]:
    """Tag → largest departure from its median, in units of its spread (from the median to the 90 % quantile of all)."""
    # names as categories: a large network repeats them millions of times
    frame = _read(run, ["tag", "observed"], categories=["tag"])
    sizes = {}
    for name, observed in frame.groupby("tag", observed=True, sort=False)["observed"]:
        values = observed.to_numpy()
        values = values[np.isfinite(values)]
        if len(values):
            distance = np.abs(values - np.median(values))
            spread = float(np.quantile(distance, 0.9))
            sizes[str(name)] = float(distance.max()) / spread if spread > 0 else 0.0
    return sizes


def _trend(run: Run, choice: Choice, rows: pd.DataFrame) -> Trend | None:
    rows = rows.sort_values(["time", "horizon"]).drop_duplicates("time").set_index("time")
    observed = rows["observed"].dropna()
    if observed.empty:
        return None
    grid = pd.date_range(rows.index[0], rows.index[-1], freq=run.step)
    frame = rows.reindex(grid) if rows.index.isin(grid).all() else rows
    peak = pd.Timestamp(observed.index[int((observed - observed.median()).abs().argmax())])
    length = min(_WINDOW, run.step * _STEPS)
    last = pd.Timestamp(observed.index[-1])
    shown = min(length, last - rows.index[0])
    around = max(run.step * max(12, run.horizon), min(pd.Timedelta(days=1.5), shown / 8))
    return Trend(
        choice,
        frame,
        recent=slice(last - length, last),
        excursion=slice(peak - around, peak + around),
        peak=peak,
    )


# --- in figures ------------------------------------------------------------------------------------------------------


def summary(frame: pd.DataFrame, rows: int = 14) -> list[tuple[pd.Timestamp, dict[str, Any]]]:
    """`frame` in at most `rows` + 1 equal spans of time: number, least, mean and greatest observed value, mean absolute
    error, and how many values lay outside the 90 % interval (``None`` where nothing was observed)."""
    span = frame.index[-1] - frame.index[0]
    lengths = [pd.Timedelta(text) for text in ("10min", "30min", "1h", "2h", "6h", "12h", "1D", "2D", "7D", "30D")]
    length = next((x for x in lengths if x * rows >= span), lengths[-1])
    result = []
    for start, part in frame.groupby(pd.DatetimeIndex(frame.index).floor(length)):
        observed: NDArray[np.float64] = part["observed"].to_numpy()
        seen = np.isfinite(observed)
        values: dict[str, Any] = {"n": int(seen.sum())}
        if seen.any():
            values |= {"min": observed[seen].min(), "mean": observed[seen].mean(), "max": observed[seen].max()}
            error = np.abs(observed - part["point"].to_numpy())
            values["mae"] = float(np.nanmean(error)) if np.isfinite(error).any() else None
            values["outside"] = _outside(part[seen])
        result.append((pd.Timestamp(start), values))
    return result


def _outside(part: pd.DataFrame) -> int | None:
    if "q0.05" not in part or "q0.95" not in part:
        return None
    return int(((part["observed"] < part["q0.05"]) | (part["observed"] > part["q0.95"])).sum())
