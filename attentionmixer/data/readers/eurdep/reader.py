"""EURDEP 2.0 and 2.1: the messages in which European networks exchange dose rates and activities.

Rules, each said in the log's quality record:

- the time of a reading is the end of its interval, in UTC;
- a series is a locality and a nuclide; what sets it apart from the usual one stands behind, e.g. the sample;
- a value marked with ``<`` or ``>`` is missing, with its reason;
- values marked as not validated, and those of test messages, are kept and flagged as doubtful;
- fields that are not taken are named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....errors import LogError
from ...log import StationLog
from ..account import Account
from ..assemble import Assembly, assemble
from ..encoding import decode
from ..source import Source
from .readings import Readings
from .records import Records

__all__ = ["read", "sniff"]

_BEGIN = re.compile(r"^[ \t]*\\BEGIN[_ ]EURDEP[ \t]*;", re.IGNORECASE | re.MULTILINE)


def sniff(head: bytes) -> bool:
    """Whether a file that begins like this holds EURDEP 2.x messages."""
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin-1"
    text = head.removeprefix(b"\xef\xbb\xbf").decode(encoding, errors="replace")
    return not text.lstrip().startswith("<") and _BEGIN.search(text) is not None


def read(
    sources: Sequence[Source],
    assembly: Assembly | None = None,
    *,
    uncertainty: bool = False,
    meteo: bool = False,
    apparatus: bool = False,
    unvalidated: bool = True,
) -> StationLog:
    """One log from any number of files with any number of messages.

    Parameters
    ----------
    sources: the files; networks, nuclides and periods may be mixed.
    assembly: the options all readers share. ``duplicates="last"`` takes the last report of an interval, which is what
        networks mean when they correct a value; reports that disagree are refused otherwise.
    uncertainty: add a tag ``"… uncertainty"`` (1 σ, absolute) for each series; what states no σ is missing and counted.
    meteo: read the weather records (section METEO) as well.
    apparatus: keep the instruments of one locality apart; the code of the apparatus stands last in the tag.
    unvalidated: keep values that are marked as not validated, flagged `Flag.DOUBTFUL`; else they are missing.

    Returns
    -------
    A log with tags such as ``"IS0002 T-GAMMA"`` (locality and nuclide); a time is the end of its interval.

    Raises
    ------
    LogError: a file is no whole EURDEP message, a record has no list of fields, there is no reading, or readings
        contradict each other; the message names file and line.
    """
    records = Records(meteo=meteo)
    decisions: list[str] = []
    for number, source in enumerate(sources):
        text, decision = _text(source)
        decisions += [*source.notes, *([decision] if decision else [])]
        before = len(records.rows)
        records.add(number, source.name, text)
        source.limits.check("rows", len(records.rows) - before, source.name)
    names = [source.name for source in sources]
    account = Account(names, len(records.rows) + records.refused_count)
    for sentence in (*decisions, *records.sentences()):
        account.decide(sentence)
    if not account.rows_in:
        raise LogError(
            f"{', '.join(names[:5])} hold(s) no reading; the {records.messages} message(s) are whole, so this is no "
            "error page: ask for another period, or for the section that holds the readings"
        )
    if not records.rows:
        first = records.refused[0]
        raise LogError(
            f"none of the {records.refused_count:,} record(s) can be read; first: {first.file} line {first.line}: "
            f"{first.column} {first.reason}"
        )
    account.quarantine(
        records.refused, records.refused_count, "the record does not fit its list of fields, or names no series"
    )
    series = Readings(records, names, account).series(uncertainty, apparatus, unvalidated)
    return assemble(series, account, assembly or Assembly())


def _text(source: Source) -> tuple[str, str | None]:
    raw, decision = decode(source.read(), source.name)
    text = raw.decode()
    if text.lstrip()[:20].lower().startswith(("<!doctype", "<html", "<?xml", "<head", "<body")):
        raise LogError(f"{source.name} is a web page or XML, no EURDEP message: an error page came; fetch it again")
    if "\0" in text:
        raise LogError(f"{source.name} holds binary data, no EURDEP message")
    return text, decision
