"""What ``check`` knows of a log: `Check`, and the JSON document it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from ..log import StationLog
from .findings import Finding, find, flagged_tags, quarantined_by_reason

#: Version of the JSON document. It grows when a field is renamed, removed or means something else.
VERSION: Final = 1
CLEAN: Final = "clean"
FINDINGS: Final = "findings"
REFUSED: Final = "refused"


@dataclass(frozen=True)
class Check:
    """A log that could be read, the name of its format, and what was found in it."""

    log: StationLog
    format: str
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, log: StationLog, format: str) -> Check:
        """The findings of a log that was screened."""
        return cls(log, format, find(log))

    @property
    def status(self) -> str:
        """``clean`` or ``findings``."""
        return FINDINGS if self.findings else CLEAN

    def to_dict(self) -> dict[str, Any]:
        """The JSON document described in docs/data-commands.md; plain JSON types only."""
        log, record = self.log, self.log.quality
        flagged = flagged_tags(log)
        missing = np.isnan(log.values).sum(axis=0)
        return {
            "version": VERSION,
            "status": self.status,
            "format": self.format,
            "sources": list(record.sources),
            "rows": {
                "in": record.rows_in,
                "kept": record.rows_kept,
                "quarantined": record.rows_quarantined,
                "merged": record.rows_merged,
            },
            "time": {
                "first": _iso(log.time[0]),
                "last": _iso(log.time[-1]),
                "steps": len(log),
                "step_seconds": log.step.total_seconds(),
                "zone": "UTC",
                "stamp": log.sampling.stamp,
                "interval_seconds": log.sampling.interval,
            },
            "tags": [
                {
                    **tag.to_dict(),
                    "readings": len(log) - int(missing[i]),
                    "missing": int(missing[i]),
                    "flags": {flag: tags[tag.name] for flag, tags in flagged.items() if tag.name in tags},
                }
                for i, tag in enumerate(log.tags)
            ],
            "decisions": list(record.decisions),
            "warnings": list(record.warnings),
            "findings": [
                {"kind": f.kind, "what": f.what, "count": f.count, "where": list(f.where)} for f in self.findings
            ],
            "quarantined": {
                "by_reason": quarantined_by_reason(record),
                "rows": [dict(row.__dict__) for row in record.quarantined],
            },
            "masked": dict(record.masked),
            "flags": flagged,
            "gaps": [dict(gap.__dict__) for gap in record.gaps],
        }


def refusal(error: Exception) -> Mapping[str, Any]:
    """The JSON document about a log that could not be read."""
    return {"version": VERSION, "status": REFUSED, "error": str(error)}


def _iso(time: pd.Timestamp) -> str:
    return time.tz_localize(None).isoformat() + "Z"
