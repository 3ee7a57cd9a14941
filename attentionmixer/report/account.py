"""Section 6: what reading did to the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
from markupsafe import Markup

from ..data.quality import Gap, QualityRecord
from .blocks import Block, Column, Heading, Items, Note, Picture, Section, Table
from .run import Run
from .svg import GRID, PERSISTENCE, Sketch
from .text import as_time, cell, clean, count, duration, fit, moment, percent, shorten, text_width
from .timeaxis import days, time_axis

_SHOWN: Final = 15
_SOURCES: Final = 20
_STATIONS: Final = 40
_WHOLE: Final = "*"


def section(run: Run) -> Section:
    """Rows in and kept, what was masked and why, decisions, gaps, sources."""
    return Section("quality", "Data quality", "Data quality", _blocks(run))


def _blocks(run: Run) -> list[Block]:
    record = run.quality
    blocks: list[Block] = [_rows(record)]
    if record.masked:
        rows = sorted(record.masked.items(), key=lambda item: -item[1])
        blocks.append(
            Table(
                "Values set to missing, by reason",
                [Column("Reason", numeric=False), Column("Values")],
                [[clean(reason), count(number)] for reason, number in rows],
            )
        )
    else:
        blocks.append(Note("No value was set to missing by the reader."))
    blocks.append(Heading("What the reader decided"))
    if record.decisions:
        blocks.append(Items([clean(sentence) for sentence in record.decisions]))
    else:
        blocks.append(Note("No decision is on record.", "empty"))
    blocks.append(Heading("Gaps"))
    blocks += _gaps(run, record.gaps)
    blocks.append(Heading("Sources"))
    if record.sources:
        rest = len(record.sources) - _SOURCES
        more = [f"… and {count(rest)} more"] if rest > 0 else []
        blocks.append(Items([clean(source) for source in record.sources[:_SOURCES]] + more))
    else:
        blocks.append(Note("No source is on record.", "empty"))
    if record.quarantined:
        blocks.append(_quarantined(record))
    return blocks


def _rows(record: QualityRecord) -> Table:
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


def _gaps(run: Run, gaps: Sequence[Gap]) -> list[Block]:
    if not gaps:
        return [Note("No gap: a row came in for every step.")]
    longest = sorted(gaps, key=lambda gap: (-gap.steps, gap.start))
    blocks: list[Block] = []
    drawn = _drawable(longest)
    if drawn:
        stations = list(dict.fromkeys(station for station, *_ in drawn))
        caption = (
            "Where rows are missing (orange). Very short gaps are drawn wider than they are, so that they can be seen."
        )
        if len(stations) > _STATIONS:
            caption += f" Of {len(stations)} stations with gaps, the {_STATIONS} with the longest are drawn."
        blocks.append(Picture(_draw(run, drawn), caption))
    rows = [
        [
            "the whole log" if gap.station == _WHOLE else cell(gap.station),
            moment(gap.start),
            moment(gap.end),
            count(gap.steps),
            duration(gap.steps * run.step_minutes),
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


def _drawable(gaps: Sequence[Gap]) -> list[tuple[str, pd.Timestamp, pd.Timestamp]]:
    drawn = []
    for gap in gaps:
        start, end = as_time(gap.start), as_time(gap.end)
        if start is not None and end is not None and start <= end:
            drawn.append((gap.station, start, end))
    return drawn


def _draw(run: Run, gaps: Sequence[tuple[str, pd.Timestamp, pd.Timestamp]]) -> Markup:
    stations = list(dict.fromkeys(station for station, *_ in gaps))[:_STATIONS]
    labels = ["the whole log" if station == _WHOLE else fit(station, 8.5, 2.4 * 72) for station in stations]
    left = max(0.5, max(text_width(label, 8.5) for label in labels) / 72 + 0.2)
    height = max(0.3, 0.24 * len(stations))
    sketch = Sketch("gaps", height + 0.5, "Timeline of gaps by station; the longest are listed in the table")
    axes = sketch.axes(left, 0.38, 9.0 - left, height)
    first, last = _span(run, gaps)
    least = (last - first) / 400
    for row, station in enumerate(stations):
        axes.axhline(row, color=GRID, linewidth=6, zorder=1, solid_capstyle="butt")
        bars = [(start, max(end - start + run.step, least)) for name, start, end in gaps if name == station]
        axes.broken_barh(
            [(float(days([start])[0]), length / pd.Timedelta(days=1)) for start, length in bars],
            (row - 0.3, 0.6),
            facecolors=PERSISTENCE,
            linewidth=0,
            zorder=2,
        )
        sketch.name(
            axes, -0.09 / (9.0 - left), row, labels[row], transform=axes.get_yaxis_transform(), ha="right", va="center",
            fontsize=8.5,
        )  # fmt: skip
    axes.set_ylim(len(stations) - 0.5, -0.5)
    left_edge, right_edge = days([first, last]).tolist()
    axes.set_xlim(left_edge, right_edge)
    time_axis(axes, first, last)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    return sketch.svg()


def _span(run: Run, gaps: Sequence[tuple[str, pd.Timestamp, pd.Timestamp]]) -> tuple[pd.Timestamp, pd.Timestamp]:
    """The log's whole period where it is known, else that of the gaps."""
    given = [as_time(run.provenance.get(key)) for key in ("data_start", "data_end")]
    known = [time for time in given if time is not None]
    times = [*known, *(start for _, start, _ in gaps), *(end for *_, end in gaps)]
    return min(times), max(times) + run.step


def _quarantined(record: QualityRecord) -> Table:
    shown = record.quarantined[:_SHOWN]
    rows = [
        [clean(row.file), count(row.line), shorten(row.column, 40), shorten(row.text, 60), clean(row.reason)]
        for row in shown
    ]
    labels = ("File", "Line", "Column", "Text", "Reason")
    rest = record.rows_quarantined - len(shown)
    return Table(
        "Quarantined rows",
        [Column(label, numeric=label == "Line") for label in labels],
        rows,
        note=f"{count(rest)} more are not listed." if rest > 0 else "",
        fold=True,
    )
