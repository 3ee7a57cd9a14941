"""What really happened in a simulated log: routes, events, faults, and the values without noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import ConfigError

CARRIED, PLUME = "radon carried by wind", "plume by wind"
WASHOUT, PRESSURE, COOLING, VENTILATION = "rain washout", "pressure", "radon by cooling", "radon by ventilation"
STEERING = "wind steers routes"


@dataclass(frozen=True)
class TrueRoute:
    """`source` acts on `target` (tag names).

    Attributes
    ----------
    lag_minutes: delay before it begins to act (mean, where the wind decides).
    sign: +1 or -1; 0 where the source only steers other routes.
    mechanism: what carries it, e.g. ``"rain washout"``.
    carried_nsvh: standard deviation, over the run, of what the mechanism adds to the target.
    memory_minutes: time constant of the response after the lag; 0 = none.
    """

    source: str
    target: str
    lag_minutes: float
    sign: int
    mechanism: str
    carried_nsvh: float
    memory_minutes: float = 0.0


@dataclass(frozen=True)
class Arrival:
    """When an event was seen at a tag (``start <= time < end``), and how high it got there."""

    tag: str
    start: pd.Timestamp
    end: pd.Timestamp
    peak_nsvh: float


@dataclass(frozen=True)
class Event:
    """Something that happened to the network.

    `start` and `end` (exclusive) are those of the release or the rain, not of its traces at the posts: a plume's traces
    are its `arrivals`, in order of time; rain's last for hours after it. `rain_mm` is 0 for a plume.
    """

    kind: Literal["plume", "rain"]
    start: pd.Timestamp
    end: pd.Timestamp
    peak_nsvh: float
    rain_mm: float = 0.0
    arrivals: tuple[Arrival, ...] = ()


@dataclass(frozen=True)
class Fault:
    """An instrument fault at a tag, ``start <= time < end``.

    kind and size: ``stuck`` (nSv/h it stays at), ``spike`` (nSv/h added), ``step`` (a detector swap: factor on the
    level), ``source_check`` (nSv/h added), ``dropout`` (no data; 0), ``start_up`` (factor of the first reading after a
    dropout; it fades within half an hour).
    """

    tag: str
    start: pd.Timestamp
    end: pd.Timestamp
    kind: Literal["stuck", "spike", "step", "source_check", "dropout", "start_up"]
    size: float


@dataclass(frozen=True, eq=False)
class Truth:
    """The truth about a simulated log.

    Attributes
    ----------
    names, posts: tag names in column order, and those of them that are dose rates.
    routes: the true routes into posts.
    undecided: pairs that are neither true nor false: routes too weak to be asked for, posts that a plume merely passes
        one after the other, and wind components, which steer routes without adding anything themselves.
    events, faults: in order of time.
    clean: [T, N] float32, no noise, no faults, nothing missing. Weather tags are as in the log.
    parts: dose rate [T, P] float32 by mechanism; they sum to `clean`.
    """

    names: tuple[str, ...]
    posts: tuple[str, ...]
    routes: tuple[TrueRoute, ...]
    undecided: tuple[TrueRoute, ...]
    events: tuple[Event, ...]
    faults: tuple[Fault, ...]
    clean: NDArray[np.float32]
    parts: Mapping[str, NDArray[np.float32]]

    def adjacency(
        self, names: Sequence[str] | None = None, mechanisms: Sequence[str] | None = None
    ) -> NDArray[np.bool_]:
        """[to, from] True where a route is true, rows and columns in the order of `names` (default: all tags).

        `mechanisms` keeps only those. Raises `ConfigError` on a name or mechanism the simulation does not know.
        """
        known = {route.mechanism for route in self.routes}
        unknown = sorted(set(mechanisms or ()) - known)
        if unknown:
            raise ConfigError(f"no true route has mechanism {unknown[0]!r}; there are: {', '.join(sorted(known))}")
        kept = [route for route in self.routes if mechanisms is None or route.mechanism in mechanisms]
        return self._matrix(kept, names)

    def scored(self, names: Sequence[str] | None = None) -> NDArray[np.bool_]:
        """[to, from] True where the truth decides: into posts, not from a post to itself, not `undecided`.

        A recovery score (AUPRC) is to be taken over these pairs only; what acts on the weather is not simulated.
        """
        names = self.names if names is None else tuple(names)
        undecided = self._matrix(self.undecided, names) & ~self._matrix(self.routes, names)
        is_post = np.array([name in set(self.posts) for name in names], dtype=bool)
        same = np.array([[to == source for source in names] for to in names], dtype=bool).reshape(undecided.shape)
        return np.asarray(is_post[:, None] & ~same & ~undecided)

    def _matrix(self, routes: Sequence[TrueRoute], names: Sequence[str] | None) -> NDArray[np.bool_]:
        names = self.names if names is None else tuple(names)
        unknown = [name for name in names if name not in set(self.names)]
        if unknown:
            raise ConfigError(f"the simulation has no tag {unknown[0]!r}; its tags are: {', '.join(self.names)}")
        if len(set(names)) < len(names):
            raise ConfigError("names repeat; give each tag once")
        at = {name: i for i, name in enumerate(names)}
        matrix = np.zeros((len(names), len(names)), dtype=bool)
        for route in routes:
            if route.source in at and route.target in at:
                matrix[at[route.target], at[route.source]] = True
        return matrix

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only. The arrays (`clean`, `parts`) are left out."""
        return {
            "names": list(self.names),
            "posts": list(self.posts),
            "routes": [dict(route.__dict__) for route in self.routes],
            "undecided": [dict(route.__dict__) for route in self.undecided],
            "events": [
                _plain(event) | {"arrivals": [_plain(arrival) for arrival in event.arrivals]} for event in self.events
            ],
            "faults": [_plain(fault) for fault in self.faults],
        }


def _plain(record: Event | Arrival | Fault) -> dict[str, Any]:
    return {k: v.isoformat() if isinstance(v, pd.Timestamp) else v for k, v in record.__dict__.items()}
