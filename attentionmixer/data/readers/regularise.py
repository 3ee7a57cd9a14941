"""Irregular readings on a regular grid: a declared rule per tag, or a default that is reported.

A grid time t stands for the interval (t - step, t], so that nothing is used before it was there:

- ``mean``, ``sum``: of the readings in the interval; missing where there are none;
- ``last``: the last reading at or before t, held until the next one;
- ``interpolate``: on the straight line between the readings around t, if they are near enough to each other.

The *age* of a value is the time from its last reading to t.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ..log import Resample, Tag
from ..quality import Flag, Flags, Gap
from .account import Account
from .columns import Column, TagTable, read_tag_table
from .duplicates import merge_duplicates
from .grid import NICE, Grid, Ints, check_size, find_gaps, parse_step, span
from .series import Series, Values

_STATES = 10
_NEAR = 2.0
_MINUTE = 60_000_000_000
_NO_VALUE = np.uint16(Flag.STATE | Flag.SENTINEL | Flag.ZERO | Flag.CENSORED | Flag.NOT_FINITE)


@dataclass(frozen=True)
class Rules:
    """Resampling rule per column (``None``: chosen from its values), and how long a reading is held (ns)."""

    names: tuple[str, ...]
    rule: tuple[Resample | None, ...]
    hold: int | None

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        resample: Mapping[str, Resample] | Resample | None,
        tags: TagTable | None,
        hold: str | None,
    ) -> Rules:
        """What is declared: by ``resample`` first, then by the table of tags, then by the source."""
        table = read_tag_table(tags)
        given = resample if isinstance(resample, Mapping) else {}
        for name in (*given.values(), *([resample] if isinstance(resample, str) else [])):
            if name not in get_args(Resample):
                raise LogError(f"resample={name!r} is unknown; choose {', '.join(get_args(Resample))}")
        known = {key for column in columns for key in (column.name, column.header)}
        strange = [name for name in given if name not in known]
        if strange:
            raise LogError(f"resample names what is not in the log: {', '.join(strange[:10])}")
        rules: list[Resample | None] = []
        for column in columns:
            keys = (column.name, column.header)
            listed = next((table[k].get("resample") for k in keys if k in table), None)
            asked = next((given[k] for k in keys if k in given), None)
            rules.append(asked or (resample if isinstance(resample, str) else None) or listed or column.resample)
        return cls(tuple(c.name for c in columns), tuple(rules), None if hold is None else parse_step(hold))

    @property
    def declared(self) -> bool:
        """Whether any rule is."""
        return any(rule is not None for rule in self.rule)

    def dress(self, column: int, tag: Tag) -> Tag:
        """The tag with the declared rule of its column."""
        rule = self.rule[column]
        return tag if rule is None else replace(tag, resample=rule)


@dataclass(frozen=True)
class Regular:
    """Result of `regularise`: ``values`` and ``flags`` [T, N], ``ages`` [T, N] in minutes; ``kept`` counts rows."""

    grid: Grid
    values: Values
    flags: Flags | None
    ages: NDArray[np.float32]
    kept: int
    gaps: list[Gap]


def regularise(series: Series, rules: Rules, step: str | None, duplicates: str, account: Account) -> Regular:
    """Readings at any times on a regular grid.

    Raises `LogError` where rows of one time disagree, or the grid would be far larger than the log.
    """
    _, moment = np.unique(series.time, return_inverse=True)
    merge = merge_duplicates(
        series.group * (int(moment.max()) + 1) + moment,
        series.values,
        duplicates,
        distance=np.zeros(len(moment), dtype=np.int64),
        describe=series.where,
    )
    account.merge(merge.merged, merge.identical, duplicates)
    for reason, count in series.masked(merge.keep).items():
        account.mask(reason, count)
    time, group = series.time[merge.keep], series.group[merge.keep]
    flags_in = series.flags_of(merge.keep)
    width = parse_step(step) if step is not None else _usual_step(time, group)
    first = -(-int(time.min()) // width) * width
    steps = (-(-int(time.max()) // width) * width - first) // width + 1
    if steps < 2:
        raise LogError(f"all rows fall into one step of {span(width)}; give a shorter step=")
    check_size(steps, len(series.columns), series.values.shape, span(width))
    grid = Grid(first, width, steps, -(-(time - first) // width), 0, "0 s", None)
    values = np.full((steps, len(series.columns)), np.nan, dtype=np.float32)
    flags = np.zeros(values.shape, dtype=np.uint16)
    ages = np.full(values.shape, np.nan, dtype=np.float32)
    chosen: dict[str, list[str]] = {}
    width_of_group = len(series.value_names)
    order = np.lexsort((time, group))
    bounds = np.searchsorted(group[order], np.arange(len(series.columns) // width_of_group + 1))
    for column, name in enumerate(rules.names):
        rows = order[bounds[column // width_of_group] : bounds[column // width_of_group + 1]]
        cells = merge.values[rows, column % width_of_group].astype(np.float64)
        there = ~np.isnan(cells)
        why = None if flags_in is None else flags_in[rows, column % width_of_group]
        if why is not None:
            np.bitwise_or.at(flags[:, column], grid.position[rows], why)
        rule = rules.rule[column] or _sensible(cells[there], series.columns[column].unit)
        if rules.rule[column] is None:
            chosen.setdefault(rule, []).append(name)
        # a reading that is known to be bad ends the time for which the last good one is held
        used = there | (why != 0) if rule == "last" and why is not None else there
        with np.errstate(over="ignore"):  # what overflows becomes infinite, and is masked and counted later
            values[:, column] = _place(rule, grid, time[rows][used], cells[used], grid.position[rows][used], rules.hold)
        # a flag that says why there is no value has no place beside one, made of the step's other readings
        flags[~np.isnan(values[:, column]), column] &= ~_NO_VALUE
        at = time[rows][there]
        last = np.searchsorted(at, grid.time_of(np.arange(steps)), side="right") - 1
        held = last >= 0
        age = grid.time_of(np.flatnonzero(held)) - at[last[held]]
        ages[held, column] = age / _MINUTE
        if rule == "last" and rules.hold is not None:
            flags[np.flatnonzero(held)[age > rules.hold], column] |= np.uint16(Flag.STALE)
    account.decide(f"readings were put on a grid of {span(width)}; a step stands for the {span(width)} before it")
    for taken, names in chosen.items():
        shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        account.decide(f"no rule was declared for {shown}: {_SAID[taken]} was taken; resample= states another")
    cell = group * steps + grid.position
    filled = np.unique(cell)
    account.merge_into_steps(len(cell) - len(filled))
    present = np.zeros(steps, dtype=bool)
    present[grid.position] = True
    gaps = find_gaps(present, first, width)
    return Regular(grid, values, flags if flags.any() else None, ages, len(filled), gaps)


def add_ages(
    values: Values,
    tags: Sequence[Tag],
    flags: Flags | None,
    ages: NDArray[np.float32] | None,
    wanted: bool | Sequence[str],
    step: int,
) -> tuple[Values, list[Tag], Flags | None]:
    """The log with a further tag ``"NAME age"`` [min] behind the others for each tag asked for (``True``: all).

    Without ``ages`` a value is as old as its grid time: 0 where there is one, growing where none came.
    """
    if wanted is False:
        return values, list(tags), flags
    names = [tag.name for tag in tags]
    chosen = names if wanted is True else list(wanted)
    strange = [name for name in chosen if name not in names]
    if strange:
        raise LogError(f"ages names what is not in the log: {', '.join(strange[:10])}")
    at = [names.index(name) for name in chosen]
    if ages is None:
        rows = np.arange(len(values))[:, None]
        last = np.maximum.accumulate(np.where(np.isnan(values[:, at]), -1, rows), axis=0)
        more = np.where(last < 0, np.nan, (rows - last) * (step / _MINUTE)).astype(np.float32)
    else:
        more = ages[:, at]
    made = [Tag(f"{tags[i].name} age", "min", "age", tags[i].station, role="input", resample="last") for i in at]
    if flags is not None:
        flags = np.hstack([flags, np.zeros(more.shape, dtype=np.uint16)])
    return np.hstack([values, more]), [*tags, *made], flags


#: Rules that are taken where none is declared.
_SAID = {
    "mean": "the mean of each step",
    "last": "the last value, held",
}


def _sensible(seen: NDArray[np.float64], unit: str | None) -> Resample:
    """States (few whole numbers without a unit) are held; everything else is averaged."""
    if unit is None and len(seen) and (seen == np.round(seen)).all() and len(np.unique(seen)) <= _STATES:
        return "last"
    return "mean"


def _place(
    rule: Resample, grid: Grid, time: Ints, seen: NDArray[np.float64], bins: Ints, hold: int | None
) -> NDArray[np.float64]:
    """One tag's readings (sorted by time) on the grid."""
    out = np.full(grid.steps, np.nan)
    if not len(seen):
        return out
    if rule in ("mean", "sum"):
        count = np.bincount(bins, minlength=grid.steps)
        total = np.bincount(bins, weights=seen, minlength=grid.steps)
        there = count > 0
        out[there] = total[there] / count[there] if rule == "mean" else total[there]
        return out
    at = grid.time_of(np.arange(grid.steps))
    last = np.searchsorted(time, at, side="right") - 1
    held = last >= 0
    if rule == "last":
        out[held] = seen[last[held]]
        return out
    following = np.searchsorted(time, at, side="left")
    both = held & (following < len(time))
    a, b = last[both], following[both]
    span_ns = time[b] - time[a]
    usual = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    near = span_ns <= (hold if hold is not None else _NEAR * max(usual, grid.step))
    share = np.divide(at[both] - time[a], span_ns, out=np.zeros(len(a)), where=span_ns > 0)
    line = seen[a] + share * (seen[b] - seen[a])
    out[np.flatnonzero(both)[near]] = line[near]
    return out


def _usual_step(time: Ints, group: Ints) -> int:
    """The round step nearest to how often the typical series reports."""
    order = np.lexsort((time, group))
    apart = np.diff(time[order])
    own = apart[(np.diff(group[order]) == 0) & (apart > 0)]
    of = group[order][1:][(np.diff(group[order]) == 0) & (apart > 0)]
    if not len(own):
        own, of = np.diff(np.unique(time)), np.zeros(len(np.unique(time)) - 1, dtype=np.int64)
    if not len(own):
        raise LogError("only one time has rows; a log needs at least 2")
    starts = np.flatnonzero(np.concatenate(([True], of[1:] != of[:-1])))
    medians = [float(np.median(part)) for part in np.split(own, starts[1:])]
    usual = float(np.median(medians))
    return min(NICE, key=lambda nice: abs(np.log(nice / usual)))
