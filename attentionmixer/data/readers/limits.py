"""Limits on what is read, so that a damaged or hostile file ends in an error and never in a machine without memory."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import LogError

_WHAT = {
    "bytes": "byte(s) of uncompressed content",
    "rows": "row(s)",
    "columns": "column(s)",
    "line": "byte(s) in one line",
    "cell": "byte(s) in one cell",
    "members": "file(s) in one archive",
}


@dataclass(frozen=True)
class Limits:
    """The largest source that is read.

    Attributes
    ----------
    bytes
        of one source after decompression, and of its values in memory
    rows
        rows of one source
    columns
        columns of one source
    line
        bytes of one line of text
    cell
        bytes of one cell of text
    members
        files in one archive

    Raises
    ------
    LogError: a limit is not at least 1.
    """

    bytes: int = 4 << 30
    rows: int = 50_000_000
    columns: int = 20_000
    line: int = 4 << 20
    cell: int = 64 << 10
    members: int = 10_000

    def __post_init__(self) -> None:
        for what in _WHAT:
            if getattr(self, what) < 1:
                raise LogError(f"limits.{what} must be at least 1, not {getattr(self, what)}")

    def check(self, what: str, found: int, where: str) -> None:
        """Raise `LogError` where ``found`` is over the limit ``what``; ``where`` names the source for people."""
        limit = int(getattr(self, what))
        if found > limit:
            raise LogError(
                f"{where} holds {found:,} {_WHAT[what]} or more; the limit is {limit:,}. If that is what it should "
                f"hold, raise it: limits=Limits({what}=…) or --data.limits.{what}"
            )
