"""Exports of process historians: tables in which each value has its quality beside it.

Three forms: a row a value (tag, time, value, quality); a column a tag with its quality in a column beside it; and a
pair of columns a tag, each tag with its own times (PI DataLink, compressed data).

Rules, each counted in the log's quality record:

- a value whose quality is not good becomes missing, with what its source says of it; ``keep=`` keeps uncertain or
  substituted ones, flagged as doubtful;
- words in place of a number are bad states of the historian (missing), states of a digital tag (numbers in a stated
  order, held until the next one), or nothing known (quarantined);
- a blank beside a blank is just missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ....errors import LogError
from ...log import StationLog
from ..account import Account
from ..assemble import Assembly, assemble
from ..clock import ClockRules
from ..source import Source
from .file import TextRules, load, sniff
from .header import find_plan
from .quality import Quality
from .rows import TagRules, lay_out
from .states import Reading

__all__ = ["read", "sniff"]

_KEEP = {"uncertain": Quality.UNCERTAIN, "questionable": Quality.UNCERTAIN, "substituted": Quality.SUBSTITUTED}


def read(
    sources: Sequence[Source],
    assembly: Assembly | None = None,
    *,
    tz: str | None = None,
    time_column: str | None = None,
    date_order: Literal["dmy", "mdy"] | None = None,
    time_format: str | None = None,
    keep: Sequence[str] = (),
    qualities: Mapping[str, str] | None = None,
    states: Mapping[str, Mapping[str, float]] | None = None,
    stepped: Sequence[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    names: Sequence[str] | None = None,
    skip: int = 0,
    ignore: Sequence[str] = (),
) -> StationLog:
    """One log from one or more exports with the same columns.

    Parameters
    ----------
    sources: the files; their rows are put one after another. assembly: the options all readers share.
    tz, time_column, date_order, time_format: as for tables: zone of times without offset, the column of times, and how
        dates are written where that is not plain.
    keep: levels of quality whose values stay, flagged as doubtful: ``"uncertain"`` (or ``"questionable"``),
        ``"substituted"``.
    qualities: what words or numbers in columns of quality mean, ``{"0": "good", "16": "uncertain"}``; levels are
        ``good``, ``uncertain``, ``substituted`` and ``bad``.
    states: numbers of a digital tag's states, ``{"XV101": {"CLOSED": 0, "OPEN": 1}}``, in any case.
    stepped: tags whose value holds until the next one, beside those that a column Step marks and digital ones.
    separator, decimal, names, skip, ignore: how the text is written: as for tables.

    Raises
    ------
    LogError: a file is no such export, or cannot be read one way only; the message says what to declare.
    """
    unknown = [level for level in ([keep] if isinstance(keep, str) else keep) if level not in _KEEP]
    if unknown:
        raise LogError(f"keep={unknown[0]!r} is no level of quality that can be kept; choose {', '.join(_KEEP)}")
    levels = frozenset(_KEEP[level] for level in ([keep] if isinstance(keep, str) else keep))
    rules = TextRules(separator, decimal, names, skip, tuple(ignore))
    files = [load(source, rules) for source in sources]
    first = files[0]
    for other in files[1:]:
        if set(other.table.column_names) != set(first.table.column_names):
            odd = set(other.table.column_names) ^ set(first.table.column_names)
            raise LogError(
                f"{first.name} and {other.name} cannot be one log: only one of them has the column(s) "
                f"{', '.join(sorted(odd)[:5])}; read them one by one"
            )
        if other.decimal != first.decimal:
            raise LogError(f"{first.name} and {other.name} have different decimal marks; declare decimal=")
    plan = find_plan(first.table.column_names, time_column)
    account = Account([file.name for file in files], sum(len(file.refused) for file in files))
    for file in files:
        for sentence in file.decisions:
            account.decide(sentence)
        account.quarantine(file.refused, len(file.refused), "the line does not fit the header")
    if plan.remarks:
        account.decide(f"column(s) that change no value were passed over: {', '.join(plan.remarks)}")
    if not plan.has_quality:
        account.decide("no column of quality was found; only words in place of values say that one is not good")
    clock = ClockRules(tz, date_order, time_format)
    reading = Reading(keep=levels, decimal=first.decimal)
    series = lay_out(files, plan, clock, TagRules(qualities, states, stepped), reading, account)
    return assemble(series, account, assembly or Assembly())
