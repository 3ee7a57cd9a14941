"""What each route is worth: the forecast without it, beside the forecast with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.known import known_names
from ..data.log import StationLog
from ..forecaster import Forecaster
from ..schema import align
from .closing import closed, mask_of, open_routes
from .scoring import spread, window_errors

Budget = Literal["fast", "full"]
#: Told after every pass: (passes done, passes in all).
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RouteEffects:
    """Effect of closing each route, on its own target.

    Attributes
    ----------
    targets, sources: names of rows and columns; known channels come last among the sources.
    open: [to, from] routes that were open and so could be closed.
    effect: [to, from] rise of the target's mean squared error, as a share of it: 0.1 = 10 % worse without the route.
        0 where the route was closed before.
    response: [to, from] root mean square change of the target's point forecast, in scaled units.
    windows, passes: windows forecast in each pass, and passes.
    budget: ``fast``: in one pass each target loses one route. ``full``: one route of one target at a time.
    """

    targets: tuple[str, ...]
    sources: tuple[str, ...]
    open: NDArray[np.bool_]
    effect: NDArray[np.float64]
    response: NDArray[np.float64]
    windows: int
    passes: int
    budget: Budget

    def to_frame(self) -> pd.DataFrame:
        """One row per open route, ``source, target, effect, response``; the largest response first."""
        to, source = np.nonzero(self.open)
        frame = pd.DataFrame(
            {
                "source": np.array(self.sources, dtype=object)[source],
                "target": np.array(self.targets, dtype=object)[to],
                "effect": self.effect[to, source],
                "response": self.response[to, source],
            }
        )
        return frame.sort_values("response", ascending=False, kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        return (
            f"RouteEffects({int(self.open.sum())} open routes of {len(self.sources)} sources and {len(self.targets)} "
            f"targets, {self.windows} windows, {self.budget})"
        )


def route_effects(
    forecaster: Forecaster,
    log: StationLog,
    first: int | None = None,
    last: int | None = None,
    *,
    windows: int = 256,
    budget: Budget = "fast",
    progress: Progress | None = None,
) -> RouteEffects:
    """Close every open route in turn and measure what its target loses.

    effect_ij = MSE_i(without j → i) / MSE_i − 1;  response_ij = √ mean (ŷ_i − ŷ_i(without j → i))².

    With ``fast`` each pass closes one route of every target, so a pass says something of N routes, and N + C − 1 passes
    say all; what a target loses through third tags whose routes are closed in the same pass is counted to it. With
    ``full`` routes are closed one at a time, N times as long.

    Parameters
    ----------
    forecaster: with gates. log: to forecast; rows ``first <= i < last`` are the targets. windows: at most so many,
    evenly spread. progress: told after each pass.

    Raises `RunError` where the model has no gates, `LogError` where the log does not fit.
    Source: leave-one-out effects; why weights alone do not say it: Jain and Wallace, NAACL 2019.
    """
    if budget not in ("fast", "full"):
        raise ValueError(f"budget must be fast or full, not {budget!r}")
    model = forecaster.model
    opened = open_routes(model)
    log = align(log, forecaster.schema)
    loader = spread(forecaster, log, first, last, windows)
    sources = (*forecaster.schema.names, *known_names(log, forecaster.schema.calendar))
    whole = window_errors(model, loader)
    base = whole.mse_by_tag
    effect, response = torch.zeros(opened.shape, dtype=torch.float64), torch.zeros(opened.shape, dtype=torch.float64)
    passes = list(_one_per_target(opened) if budget == "fast" else _one_by_one(opened))
    for done, routes in enumerate(passes, start=1):
        with closed(model, routes):
            without = window_errors(model, loader)
        to, source = routes.nonzero(as_tuple=True)
        rise = without.mse_by_tag / base - 1
        moved = (without.point - whole.point).double().square().mean(dim=(0, 1)).sqrt()
        # a tag never observed in these rows has no error to rise
        effect[to, source] = torch.nan_to_num(rise, nan=0.0)[to].double().cpu()
        response[to, source] = moved[to].cpu()
        if progress is not None:
            progress(done, len(passes))
    return RouteEffects(
        forecaster.schema.names,
        sources,
        opened.cpu().numpy(),
        effect.numpy(),
        response.numpy(),
        len(whole.square),
        len(passes) + 1,
        budget,
    )


def _one_per_target(opened: Tensor) -> Iterator[Tensor]:
    """Masks that hold at most one route of each target, and together each open route once."""
    rank = opened.long().cumsum(dim=1)
    for number in range(1, int(rank.max()) + 1 if opened.any() else 1):
        yield opened & (rank == number)


def _one_by_one(opened: Tensor) -> Iterator[Tensor]:
    for to, source in opened.nonzero().tolist():
        yield mask_of(opened, torch.tensor([[to, source]]))
