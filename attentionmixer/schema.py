"""What a log must look like for a trained forecaster, and bringing a log into that shape."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .data.known import CalendarCycle
from .data.log import StationLog, Tag
from .data.quality import IGNORED, Flag, parse_flags
from .errors import LogError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Schema:
    """Tag order, units, step and window of a trained forecaster.

    Attributes
    ----------
    tags: the N tags in the model's order. step: time between two rows. lookback, horizon: L and H.
    levels: quantile levels. calendar: cycles the model knows ahead.
    ignored: cells with one of these flags are missing to the model.
    """

    tags: tuple[Tag, ...]
    step: pd.Timedelta
    lookback: int
    horizon: int
    levels: tuple[float, ...]
    calendar: tuple[CalendarCycle, ...] = ()
    ignored: Flag = IGNORED

    @property
    def names(self) -> tuple[str, ...]:
        """Tag names in the model's order."""
        return tuple(tag.name for tag in self.tags)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only."""
        return {
            "tags": [tag.to_dict() for tag in self.tags],
            "step_seconds": self.step.total_seconds(),
            "lookback": self.lookback,
            "horizon": self.horizon,
            "levels": list(self.levels),
            "calendar": list(self.calendar),
            "ignored_flags": [name.lower() for name, flag in Flag.__members__.items() if flag & self.ignored],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """Inverse of `to_dict`."""
        return cls(
            tags=tuple(Tag.from_dict(tag) for tag in data["tags"]),
            step=pd.Timedelta(seconds=data["step_seconds"]),
            lookback=int(data["lookback"]),
            horizon=int(data["horizon"]),
            levels=tuple(float(level) for level in data["levels"]),
            calendar=tuple(data["calendar"]),
            ignored=parse_flags(data["ignored_flags"]),
        )

    def __repr__(self) -> str:
        return f"{len(self.tags)} tags, look-back {self.lookback} and horizon {self.horizon} steps of {self.step}"


def align(log: StationLog, schema: Schema) -> StationLog:
    """The log with the schema's tags in the schema's order and roles, and without the cells the schema ignores.

    Tags are matched by name, never by position. Further tags are ignored with a warning.

    Raises
    ------
    LogError: tags are missing (all are listed), or the step or a unit differs.
    """
    if log.step != schema.step:
        raise LogError(f"the log has a step of {log.step}, the model was trained on {schema.step}; resample the log")
    present = {tag.name: tag for tag in log.tags}
    missing = [name for name in schema.names if name not in present]
    if missing:
        raise LogError(
            f"{len(missing)} of the model's {len(schema.tags)} tags are missing from the log: {', '.join(missing)}. "
            f"The log has: {', '.join(list(present)[:20])}"
        )
    for tag in schema.tags:
        found = present[tag.name].unit
        if tag.unit is not None and found is not None and found != tag.unit:
            raise LogError(f"tag {tag.name!r} is in {found}, but the model was trained on {tag.unit}; convert the log")
    extra = [name for name in present if name not in set(schema.names)]
    if extra:
        logger.warning("%d tag(s) the model does not know are ignored: %s", len(extra), ", ".join(extra[:10]))
    log = log.select(schema.names)
    return log.with_roles({tag.name: tag.role for tag in schema.tags}).without_flagged(schema.ignored)
