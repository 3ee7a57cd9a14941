"""All evidence on the routes of one model and one log, in one table with a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from ..data.log import StationLog
from ..errors import LogError
from ..forecaster import Forecaster
from .ablation import Budget, Progress, RouteEffects, route_effects
from .deletion import DeletionCurve, deletion_curve
from .response import RouteResponse, route_response
from .stability import Stability, stability

#: Windows in a pass, for effects and for the deletion curve; random orders.
_COST: dict[Budget, tuple[int, int]] = {"fast": (128, 10), "full": (512, 30)}
#: The share of routes at which the verdict is taken.
TOP = 0.1


@dataclass(frozen=True)
class Evidence:
    """What was measured on one part of a log and tested on a later one.

    Attributes
    ----------
    effects, response: of single routes, on the first part. deletion: on the last part, by `RouteEffects.response`.
    stability: of the responses of both halves of the first part. measured, tested: first and last time of each part.
    """

    effects: RouteEffects
    response: RouteResponse
    deletion: DeletionCurve
    stability: Stability
    measured: tuple[pd.Timestamp, pd.Timestamp]
    tested: tuple[pd.Timestamp, pd.Timestamp]

    @property
    def stands(self) -> bool:
        """Whether deleting the strongest tenth surely costs more than deleting random routes (interval above 1)."""
        return bool(self.deletion.low[self._top] > 1)

    @property
    def verdict(self) -> str:
        """One sentence for people."""
        count, curve, at = int(self.effects.open.sum()), self.deletion, self._top
        if not count:
            return "All routes between tags are closed: every tag is forecast from its own past alone."
        if not curve.routes[at]:
            return f"{count} open routes are too few to compare a tenth of them with random ones."
        what = (
            f"without the strongest {curve.routes[at]} of {count} open routes the error rises "
            f"{100 * curve.strongest[at] / curve.error:.1f} %, without as many random ones "
            f"{100 * curve.random[:, at].mean() / curve.error:.1f} %"
        )
        if self.stands:
            return f"The map stands its test: {what}."
        return f"The map does not stand its test, do not rely on it: {what}."

    def to_frame(self) -> pd.DataFrame:
        """One row per open route, the largest response first.

        ``source, target, effect, response, sign, lag_minutes``; sign and lag are missing for known channels.
        """
        frame = self.effects.to_frame()
        at = {name: number for number, name in enumerate(self.response.tags)}
        to, source = frame["target"].map(at).to_numpy(), frame["source"].map(at)
        inside = source.notna().to_numpy()
        columns = source.fillna(0).to_numpy().astype(int)
        frame["sign"] = np.where(inside, self.response.sign[to, columns], np.nan)
        frame["lag_minutes"] = np.where(inside, self.response.lag_minutes[to, columns], np.nan)
        return frame

    def to_graph(self) -> nx.DiGraph[str]:
        """Open routes as a graph whose edges carry the columns of `to_frame`; those that are missing are left out."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.effects.sources)
        frame = self.to_frame()
        facts = frame.drop(columns=["source", "target"])
        for source, target, values in zip(frame["source"], frame["target"], facts.to_numpy(), strict=True):
            known = {name: float(value) for name, value in zip(facts, values, strict=True) if not np.isnan(value)}
            graph.add_edge(source, target, **known)  # type: ignore[arg-type]
        return graph

    def summary(self) -> dict[str, Any]:
        """The numbers behind the verdict, in plain types."""
        curve, at = self.deletion, self._top
        return {
            "verdict": self.verdict,
            "stands": self.stands,
            "open_routes": int(self.effects.open.sum()),
            "advantage": _plain(curve.advantage[at]),
            "advantage_95": [_plain(curve.low[at]), _plain(curve.high[at])],
            "share_deleted": TOP,
            "rank_correlation_of_halves": _plain(self.stability.rank_correlation),
            "measured": [str(time) for time in self.measured],
            "tested": [str(time) for time in self.tested],
            "windows": self.effects.windows,
            "budget": self.effects.budget,
        }

    @property
    def _top(self) -> int:
        return int(np.argmin(np.abs(self.deletion.shares - TOP)))


def evidence(
    forecaster: Forecaster, log: StationLog, budget: Budget = "fast", *, progress: Progress | None = None
) -> Evidence:
    """Measure routes on the first 70 % of the log and test them on the rest.

    Costs three measurements of effects (N + C − 1 passes each; one per open route for the first with ``full``), 2 P
    passes per tag for responses (P parts of the window), and 7 (2 + orders) for the deletion curve; 128 windows and 10
    random orders with ``fast``, 512 and 30 with ``full``. ``progress`` is told after each pass of each step.

    Raises `RunError` where the model has no gates, `LogError` where the log does not fit or is too short.
    """
    if budget not in _COST:
        raise ValueError(f"budget must be fast or full, not {budget!r}")
    windows, orders = _COST[budget]
    lookback, horizon = forecaster.schema.lookback, forecaster.schema.horizon
    cut = round(0.7 * len(log))
    middle = lookback + (cut - lookback) // 2
    if middle - lookback < horizon or len(log) - cut < horizon:
        raise LogError(
            f"the log has {len(log)} rows; evidence needs at least {2 * horizon} after the first {lookback} in its "
            f"first 70 %, and {horizon} in the rest"
        )
    effects = route_effects(forecaster, log, None, cut, windows=windows, budget=budget, progress=progress)
    early = route_effects(forecaster, log, None, middle, windows=windows, budget="fast", progress=progress)
    late = route_effects(forecaster, log, middle, cut, windows=windows, budget="fast", progress=progress)
    answer = route_response(forecaster, log, None, cut, windows=windows // 2, progress=progress)
    curve = deletion_curve(forecaster, log, effects.response, cut, windows=windows, orders=orders, progress=progress)
    times = log.time
    return Evidence(
        effects,
        answer,
        curve,
        stability([early.response, late.response]),
        (times[0], times[cut - 1]),
        (times[cut], times[-1]),
    )


def _plain(value: float) -> float | None:
    """A number, or ``None`` where it is none or infinite: JSON knows neither."""
    return float(value) if np.isfinite(value) else None
