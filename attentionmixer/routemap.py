"""`RouteMap`: routes with names, for people."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .errors import RunError
from .files import read_json
from .nn.routes import Axis


@dataclass(frozen=True)
class RouteMap:
    """Mean strength of every route of one round, with named ends.

    Attributes
    ----------
    axis: ``spatial`` (from tag to tag) or ``temporal`` (from a part of the window to a part of the window).
    round: 1 for the first round; 0 for the linear path across variates.
    targets, sources: names of the rows and columns of ``strength``.
    strength: [to, from] mean weight over windows, heads and the other axis; exactly 0 where a route was removed.
    lag_minutes: [from] age of each source at the end of the window, for temporal maps (NaN: no age); else ``None``.
    windows: number of windows averaged.
    note: what the reader must know to read it right.
    row_effective: mean of exp(entropy) over the single rows of all windows, if it was measured.
    """

    axis: Axis
    round: int
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    strength: NDArray[np.float32]
    lag_minutes: NDArray[np.float32] | None = None
    windows: int = 0
    note: str = ""
    row_effective: float | None = None

    def __post_init__(self) -> None:
        if self.strength.shape != (len(self.targets), len(self.sources)):
            raise ValueError(f"strength is {self.strength.shape}, names are {len(self.targets)} × {len(self.sources)}")

    @property
    def effective(self) -> float:
        """How many sources a target listens to: mean exp(entropy) of the rows, of the mean map if no other is known."""
        if self.row_effective is not None:
            return self.row_effective
        total = self.strength.sum(axis=1, keepdims=True)
        share = np.divide(self.strength, total, out=np.zeros_like(self.strength), where=total > 0)
        entropy = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=1)
        return float(np.exp(entropy).mean())

    def strongest(self, count: int = 20, *, own: bool = False) -> pd.DataFrame:
        """The strongest routes; ``own=True`` also lists those from a node to itself."""
        frame = self.to_frame()
        if not own:
            frame = frame[frame["source"] != frame["target"]]
        return frame.nlargest(count, "strength").reset_index(drop=True)

    def to_frame(self) -> pd.DataFrame:
        """One row per route: ``source, target, axis, round, strength`` and, for temporal maps, ``lag_minutes``."""
        to, source = np.indices(self.strength.shape).reshape(2, -1)
        frame = pd.DataFrame(
            {
                "source": np.array(self.sources, dtype=object)[source],
                "target": np.array(self.targets, dtype=object)[to],
                "axis": self.axis,
                "round": self.round,
                "strength": self.strength.reshape(-1),
            }
        )
        if self.lag_minutes is not None:
            frame["lag_minutes"] = self.lag_minutes[source]
        return frame

    def to_graph(self, count: int | None = None) -> nx.DiGraph[str]:
        """Directed graph of all routes that are not removed, or of the ``count`` strongest."""
        graph: nx.DiGraph[str] = nx.DiGraph(axis=self.axis, round=self.round)
        graph.add_nodes_from(dict.fromkeys(self.targets + self.sources))
        frame = self.to_frame() if count is None else self.strongest(count)
        for row in frame[frame["strength"] > 0].itertuples(index=False):
            graph.add_edge(row.source, row.target, strength=float(row.strength))  # type: ignore[arg-type]
        return graph

    def save(self, path: Path) -> None:
        """Write as JSON."""
        data = {
            "axis": self.axis,
            "round": self.round,
            "targets": list(self.targets),
            "sources": list(self.sources),
            "strength": self.strength.tolist(),
            "lag_minutes": None
            if self.lag_minutes is None
            else [None if np.isnan(m) else float(m) for m in self.lag_minutes],
            "windows": self.windows,
            "note": self.note,
            "row_effective": self.row_effective,
        }
        path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> RouteMap:
        """Read what `save` wrote. Raises `RunError` where the file is damaged."""
        try:
            data: dict[str, Any] = read_json(path)
            lags = data["lag_minutes"]
            strength = np.asarray(data["strength"], dtype=np.float64)
            if not bool((np.abs(strength) <= np.finfo(np.float32).max).all()):
                raise ValueError("a strength is beyond what a number can be")
            return cls(
                axis=data["axis"],
                round=int(data["round"]),
                targets=tuple(data["targets"]),
                sources=tuple(data["sources"]),
                strength=strength.astype(np.float32),
                lag_minutes=None
                if lags is None
                else np.array([np.nan if m is None else m for m in lags], dtype=np.float32),
                windows=int(data["windows"]),
                note=str(data["note"]),
                row_effective=data["row_effective"],
            )
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise RunError(f"the route map {path} cannot be read: {error}") from error

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(str(r.source))}</td><td>→</td><td>{html.escape(str(r.target))}</td>"
            f"<td>{r.strength:.3f}</td></tr>"
            for r in self.strongest(15).itertuples()
        )
        title = f"{self.axis} routes, round {self.round}, {self.windows} windows"
        head = "<tr><th>source</th><th></th><th>target</th><th>strength</th></tr>"
        return f"<table><caption>{title}</caption>{head}{rows}</table>"

    def __repr__(self) -> str:
        return (
            f"RouteMap({self.axis}, round {self.round}, {len(self.sources)} → {len(self.targets)}, "
            f"{self.effective:.1f} effective sources)"
        )
