"""The account of a log as blocks of a page: rows, masked readings, decisions, gaps, sources, quarantined rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.colors import LinearSegmentedColormap, Normalize
from numpy.typing import NDArray

from ..data.quality import Gap, QualityRecord
from .blocks import Block, Column, Heading, Items, Note, Picture, Table
from .svg import GRID, PAPER, Sketch
from .text import as_time, cell, clean, count, duration, fit, moment, percent, shorten, text_width
from .timeaxis import days, time_axis

Span = tuple[pd.Timestamp, pd.Timestamp]
_SHOWN: Final = 15
_SOURCES: Final = 20
_STATIONS: Final = 40
_WHOLE: Final = "*"
_COLUMNS: Final = 600
# the palest can still be told from a stretch without gaps
_COLOURS: Final = LinearSegmentedColormap.from_list("missing", ["#f8d4b4", "#d55e00", "#7a3300"])


def row_table(record: QualityRecord) -> Table:
    """Rows read, kept, quarantined and merged."""
    total = record.rows_in
    entries = (
        ("Read", total, ""),
        ("Kept", record.rows_kept, "in the series"),
        ("Quarantined", record.rows_quarantined, "left out, each with its reason"),
        ("Merged", record.rows_merged, "doubles of a row that was kept"),
    )
    return Table(
        "Input rows: read = kept + quarantined + merged",
        [Column("Rows", numeric=False), Column("Number"), Column("Share"), Column("Meaning", numeric=False)],
        [
            [name, count(value), percent(value / total, 2) if total else "–", meaning]
            for name, value, meaning in entries
        ],
    )


def masked_block(record: QualityRecord) -> Block:
    """Readings set to missing, by reason."""
    if not record.masked:
        return Note("No value was set to missing by the reader.")
    rows = sorted(record.masked.items(), key=lambda item: -item[1])
    return Table(
        "Values set to missing, by reason",
        [Column("Reason", numeric=False), Column("Values")],
        [[clean(reason), count(number)] for reason, number in rows],
    )


def decision_blocks(record: QualityRecord) -> list[Block]:
    """What the reader warns of and what it decided, sentence by sentence."""
    blocks: list[Block] = [Note(clean(sentence), "warning") for sentence in record.warnings]
    blocks.append(Heading("What the reader decided"))
    if record.decisions:
        return [*blocks, Items([clean(sentence) for sentence in record.decisions])]
    return [*blocks, Note("No decision is on record.", "empty")]


def source_blocks(record: QualityRecord) -> list[Block]:
    """The files the log was read from."""
    if not record.sources:
        return [Heading("Sources"), Note("No source is on record.", "empty")]
    rest = len(record.sources) - _SOURCES
    more = [f"… and {count(rest)} more"] if rest > 0 else []
    return [Heading("Sources"), Items([clean(source) for source in record.sources[:_SOURCES]] + more)]


def gap_blocks(gaps: Sequence[Gap], step: pd.Timedelta, span: Span | None) -> list[Block]:
    """A band picture of where rows are missing, and a table of the longest gaps.

    ``span``: the log's first and last time; that of the gaps if it is unknown.
    """
    if not gaps:
        return [Note("No gap: a row came in for every step.")]
    longest = sorted(gaps, key=lambda gap: (-gap.steps, gap.start))
    blocks: list[Block] = []
    drawn = _drawable(longest)
    if drawn:
        stations = list(dict.fromkeys(station for station, *_ in drawn))
        caption = "Where rows are missing: the darker, the larger the share of steps without a row; grey: none missing."
        if len(stations) > _STATIONS:
            caption += f" Of {len(stations)} stations with gaps, the {_STATIONS} with the longest are drawn."
        blocks.append(Picture(_draw(drawn, step, span), caption))
    rows = [
        [
            "the whole log" if gap.station == _WHOLE else cell(gap.station),
            moment(gap.start),
            moment(gap.end),
            count(gap.steps),
            duration(gap.steps * step.total_seconds() / 60),
        ]
        for gap in longest[:_SHOWN]
    ]
    rest = longest[_SHOWN:]
    note = f"{count(len(gaps))} gap(s), {count(sum(gap.steps for gap in gaps))} missing steps in all."
    if rest:
        note += f" {count(len(rest))} shorter gap(s) with {count(sum(gap.steps for gap in rest))} steps are not listed."
    labels = [
        Column("Station", numeric=False),
        Column("From (UTC)", numeric=False, tight=True),
        Column("To (UTC)", numeric=False, tight=True),
    ]
    table = Table("Gaps, longest first", [*labels, Column("Steps"), Column("Length")], rows, note=note)
    return [*blocks, table]


def quarantine_table(record: QualityRecord, shown: int = _SHOWN) -> Table:
    """The first ``shown`` quarantined rows, with file, line, column, text and reason."""
    first = record.quarantined[:shown]
    rows = [
        [clean(row.file), count(row.line), shorten(row.column, 40), shorten(row.text, 60), clean(row.reason)]
        for row in first
    ]
    labels = ("File", "Line", "Column", "Text", "Reason")
    rest = record.rows_quarantined - len(first)
    return Table(
        "Quarantined rows",
        [Column(label, numeric=label == "Line") for label in labels],
        rows,
        note=f"{count(rest)} more are not listed." if rest > 0 else "",
        fold=True,
    )


def _drawable(gaps: Sequence[Gap]) -> list[tuple[str, pd.Timestamp, pd.Timestamp]]:
    drawn = []
    for gap in gaps:
        start, end = as_time(gap.start), as_time(gap.end)
        if start is not None and end is not None and start <= end:
            drawn.append((gap.station, start, end))
    return drawn


def _draw(gaps: Sequence[tuple[str, pd.Timestamp, pd.Timestamp]], step: pd.Timedelta, span: Span | None) -> Markup:
    stations = list(dict.fromkeys(station for station, *_ in gaps))[:_STATIONS]
    labels = ["the whole log" if station == _WHOLE else fit(station, 8.5, 2.4 * 72) for station in stations]
    left = max(0.5, max(text_width(label, 8.5) for label in labels) / 72 + 0.2)
    height = max(0.3, 0.24 * len(stations))
    sketch = Sketch("gaps", height + 0.5, "Timeline of gaps by station; the longest are listed in the table")
    axes = sketch.axes(left, 0.38, 9.0 - left, height)
    times = [*(span or ()), *(start for _, start, _ in gaps), *(end for *_, end in gaps)]
    first, last = min(times), max(times) + step
    shares = np.stack([_missing([gap for gap in gaps if gap[0] == station], first, last, step) for station in stations])
    left_edge, right_edge = days([first, last]).tolist()
    axes.imshow(
        np.ma.masked_equal(shares, 0.0),
        interpolation="none",
        aspect="auto",
        cmap=_COLOURS.with_extremes(bad=(0, 0, 0, 0)),
        norm=Normalize(0, 1),
        extent=(left_edge, right_edge, len(stations) - 0.5, -0.5),
        zorder=2,
    )
    for row, label in enumerate(labels):
        axes.axhspan(row - 0.42, row + 0.42, color=GRID, linewidth=0, zorder=1)
        sketch.name(
            axes, -0.09 / (9.0 - left), row, label, transform=axes.get_yaxis_transform(), ha="right", va="center",
            fontsize=8.5,
        )  # fmt: skip
    for row in range(len(stations) - 1):
        # the paper's colour between the strips, so that each is seen as one
        axes.axhline(row + 0.5, color=PAPER, linewidth=2.5, zorder=3)
    axes.set_ylim(len(stations) - 0.5, -0.5)
    axes.set_xlim(left_edge, right_edge)
    time_axis(axes, first, last)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    return sketch.svg()


def _missing(
    gaps: Sequence[tuple[str, pd.Timestamp, pd.Timestamp]], first: pd.Timestamp, last: pd.Timestamp, step: pd.Timedelta
) -> NDArray[np.float64]:
    """Share of the time that is missing in each of at most `_COLUMNS` equal spans."""
    steps = (last - first) / step
    edges = np.linspace(0, steps, min(_COLUMNS, max(1, round(steps))) + 1)
    shares = np.zeros(len(edges) - 1)
    for _, start, end in gaps:
        inside = np.minimum(edges[1:], (end + step - first) / step) - np.maximum(edges[:-1], (start - first) / step)
        shares += np.maximum(inside, 0) / np.diff(edges)
    return np.minimum(shares, 1)
