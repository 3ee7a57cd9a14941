"""Writes the truth down: from rows and post numbers to tag names, times, routes and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .background import PB214_MINUTES, RADON_MEMORY_HOURS, Sites
from .config import RingConfig
from .faults import FaultRows
from .network import Airmass
from .plume import Release
from .truth import (
    CARRIED,
    COOLING,
    PLUME,
    PRESSURE,
    STEERING,
    VENTILATION,
    WASHOUT,
    Arrival,
    Event,
    Fault,
    TrueRoute,
    Truth,
)
from .weather import Array, Weather

_NOTHING_NSVH = 1e-9  # a constant part has a standard deviation of rounding errors, not of exactly zero


def label(
    config: RingConfig,
    *,
    names: Sequence[str],
    times: pd.DatetimeIndex,
    sites: Sites,
    parts: Mapping[str, Array],
    air: Airmass,
    releases: Sequence[Release],
    weather: Weather,
    broken: Sequence[FaultRows],
    clean: NDArray[np.float32],
) -> Truth:
    """The truth about a run; `names` are all tags, posts first."""
    posts = tuple(names[: config.posts])
    # one time past the last row, as exclusive end
    clock = times.append(pd.DatetimeIndex([times[-1] + pd.Timedelta(minutes=config.step_minutes)]))
    carried, weak = _carried_routes(config, posts, air)
    decided = {(route.source, route.target) for route in carried}
    announced = [
        r for r in _plume_leads(config, posts, parts["plume"], releases) if (r.source, r.target) not in decided
    ]
    faults = tuple(
        Fault(posts[f.post], clock[f.first], clock[f.last], f.kind, f.size)  # type: ignore[arg-type]
        for f in broken
    )
    arrays = {name: np.asarray(part, np.float32) for name, part in parts.items()}
    for array in (*arrays.values(), clean):
        array.flags.writeable = False
    return Truth(
        names=tuple(names),
        posts=posts,
        routes=(*_weather_routes(posts, sites, parts), *carried),
        undecided=(*weak, *announced, *_steering(posts)),
        events=_events(posts, clock, parts["washout"], releases, weather),
        faults=faults,
        clean=clean,
        parts=arrays,
    )


def _weather_routes(posts: Sequence[str], sites: Sites, parts: Mapping[str, Array]) -> list[TrueRoute]:
    """Four causes act on every post. A part that is constant (its mechanism is off) makes no route."""
    memory = RADON_MEMORY_HOURS * 60
    washout_memory = PB214_MINUTES / np.log(2)
    routes = []
    for i, post in enumerate(posts):
        rain, cosmic, radon = (float(parts[part][:, i].std()) for part in ("washout", "cosmic", "radon"))
        delay = float(sites.rain_delay_minutes[i])
        for route in (
            TrueRoute("rain", post, delay, 1, WASHOUT, rain, float(washout_memory)),
            TrueRoute("pressure", post, 0.0, -1, PRESSURE, cosmic),
            TrueRoute("temperature", post, 0.0, -1, COOLING, radon, memory),
            TrueRoute("wind speed", post, 0.0, -1, VENTILATION, radon, memory),
        ):
            if route.carried_nsvh > _NOTHING_NSVH:
                routes.append(route)
    return routes


def _carried_routes(config: RingConfig, posts: Sequence[str], air: Airmass) -> tuple[list[TrueRoute], list[TrueRoute]]:
    """(true, too weak to be asked for): direct neighbours for which the wind ever carried anything."""
    true: list[TrueRoute] = []
    weak: list[TrueRoute] = []
    pairs = zip(air.neighbours.source, air.neighbours.target, air.carried_nsvh, air.lag_minutes, strict=True)
    for source, target, carried, lag in pairs:
        if carried > 0:
            route = TrueRoute(posts[source], posts[target], round(float(lag), 1), 1, CARRIED, float(carried))
            enough = config.route_floor_share * config.airmass_nsvh
            (true if carried >= enough else weak).append(route)
    return true, weak


def _plume_leads(
    config: RingConfig, posts: Sequence[str], plume: Array, releases: Sequence[Release]
) -> list[TrueRoute]:
    """Pairs where a plume reached the source at least one step before the target: a hint, yet not a cause."""
    lags: dict[tuple[int, int], list[int]] = {}
    for release in releases:
        hit = np.flatnonzero(release.arrival >= 0)
        for i in hit:
            for j in hit:
                if release.arrival[j] > release.arrival[i]:
                    lags.setdefault((int(i), int(j)), []).append(int(release.arrival[j] - release.arrival[i]))
    return [
        TrueRoute(posts[i], posts[j], float(np.mean(lag)) * config.step_minutes, 1, PLUME, float(plume[:, j].std()))
        for (i, j), lag in sorted(lags.items())
    ]


def _steering(posts: Sequence[str]) -> list[TrueRoute]:
    return [TrueRoute(wind, post, 0.0, 0, STEERING, 0.0) for post in posts for wind in ("wind u", "wind v")]


def _events(
    posts: Sequence[str], clock: Any, washout: Array, releases: Sequence[Release], weather: Weather
) -> tuple[Event, ...]:
    events = []
    for release in releases:
        arrivals = [
            Arrival(posts[i], clock[release.arrival[i]], clock[release.leaving[i]], float(release.peak_nsvh[i]))
            for i in map(int, np.flatnonzero(release.arrival >= 0))
        ]
        arrivals.sort(key=lambda arrival: arrival.start)
        peak = float(release.peak_nsvh.max())
        events.append(Event("plume", clock[release.first], clock[release.last], peak, 0.0, tuple(arrivals)))
    for episode in weather.episodes:
        peak = float(washout[episode.first : episode.last + 1].max())
        events.append(Event("rain", clock[episode.first], clock[episode.last], peak, episode.rain_mm))
    return tuple(sorted(events, key=lambda event: event.start))
