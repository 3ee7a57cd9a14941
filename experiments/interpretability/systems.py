"""Systems whose routes are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attentionmixer.data.log import StationLog
from attentionmixer.data.simulate import simulate_ring

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Known:
    """A log and what is true of it.

    Attributes
    ----------
    log: every tag is a node. routes: [to, from] bool, true routes. scored: [to, from] bool, pairs the truth decides.
    lag: [to, from] steps from source to target, 0 where there is no route or no single lag.
    sign: [to, from] +1, −1, or 0 where there is no route or no fixed sign.
    """

    log: StationLog
    routes: NDArray[np.bool_]
    scored: NDArray[np.bool_]
    lag: NDArray[np.int64]
    sign: NDArray[np.int64]


@dataclass(frozen=True)
class System:
    """How a log is made, and the window that is wide enough for its lags."""

    name: str
    make: Callable[[int], Known]
    lookback: int


def sparse_var(seed: int, steps: int = 2000, nodes: int = 10, lags: int = 3, share: float = 0.15) -> Known:
    """x_t = Σ_l A_l x_{t−l} + noise; each pair is a route with probability ``share``, at one lag and of one sign.

    Own coefficient 0.4 at lag 1; others ±0.3 to ±0.6, all scaled down together until the process is stable (spectral
    radius of the companion matrix at most 0.95).
    """
    generator = np.random.default_rng(seed)
    routes = (generator.random((nodes, nodes)) < share) & ~np.eye(nodes, dtype=bool)
    lag = np.where(routes, generator.integers(1, lags + 1, (nodes, nodes)), 0)
    sign = np.where(routes, generator.choice([-1, 1], (nodes, nodes)), 0)
    weight = sign * generator.uniform(0.3, 0.6, (nodes, nodes))
    coefficient = np.stack([np.where(lag == number, weight, 0.0) for number in range(1, lags + 1)])
    coefficient[0] += 0.4 * np.eye(nodes)
    while (radius := _spectral_radius(coefficient)) > 0.95:
        coefficient *= 0.95 / radius
    values = np.zeros((steps + 200, nodes))
    noise = generator.normal(size=values.shape)
    for t in range(lags, len(values)):
        values[t] = noise[t] + sum(coefficient[number] @ values[t - number - 1] for number in range(lags))
    return Known(_log(values[200:]), routes, ~np.eye(nodes, dtype=bool), lag, sign)


def lorenz96(seed: int, steps: int = 2000, nodes: int = 20, forcing: float = 10.0, noise: float = 0.1) -> Known:
    """dx_i/dt = (x_{i+1} − x_{i−2}) x_{i−1} − x_i + F, read every 0.05 with noise of ``noise`` standard deviations.

    Sources of i are i + 1, i − 1 and i − 2; their signs change with the state and there is no single lag. Integrated by
    Runge and Kutta in steps of 0.01. Source: Lorenz, "Predictability: a problem partly solved", ECMWF 1996.
    """
    generator = np.random.default_rng(seed)
    x = forcing + 0.1 * generator.normal(size=nodes)
    rows = []
    for number in range(5 * (steps + 200)):
        x = _runge_kutta(x, forcing, 0.01)
        if number % 5 == 4:
            rows.append(x)
    values = np.array(rows[200:])
    values = values + noise * values.std() * generator.normal(size=values.shape)
    routes = np.zeros((nodes, nodes), dtype=bool)
    for i in range(nodes):
        routes[i, [(i + 1) % nodes, (i - 1) % nodes, (i - 2) % nodes]] = True
    nothing = np.zeros((nodes, nodes), dtype=np.int64)
    return Known(_log(values), routes, ~np.eye(nodes, dtype=bool), nothing, nothing)


def ring(seed: int, days: int = 60) -> Known:
    """Posts of the simulated ring; routes are air masses that pass one post and then another, downwind."""
    run = simulate_ring(posts=16, days=days, seed=seed)
    names = run.log.names
    posts = np.isin(np.array(names, dtype=object), np.array(run.truth.posts, dtype=object))
    nothing = np.zeros((len(names), len(names)), dtype=np.int64)
    routes = run.truth.adjacency(names)
    # downwind the target rises with the source
    return Known(run.log, routes, run.truth.scored(names) & posts[None], nothing, routes.astype(np.int64))


def _spectral_radius(coefficient: Floats) -> float:
    lags, nodes, _ = coefficient.shape
    companion = np.eye(lags * nodes, k=-nodes)
    companion[:nodes] = np.concatenate(list(coefficient), axis=1)
    return float(np.abs(np.linalg.eigvals(companion)).max())


def _runge_kutta(x: Floats, forcing: float, step: float) -> Floats:
    def slope(at: Floats) -> Floats:
        result: Floats = (np.roll(at, -1) - np.roll(at, 2)) * np.roll(at, 1) - at + forcing
        return result

    one = slope(x)
    two = slope(x + step / 2 * one)
    three = slope(x + step / 2 * two)
    four = slope(x + step * three)
    result: Floats = x + step / 6 * (one + 2 * two + 2 * three + four)
    return result


def _log(values: Floats) -> StationLog:
    time = pd.date_range("2024-01-01", periods=len(values), freq="h", tz="UTC", name="time")
    names = [f"x{number:02d}" for number in range(values.shape[1])]
    return StationLog.from_frame(pd.DataFrame(values.astype(np.float32), time, names))


SYSTEMS: Mapping[str, System] = {
    system.name: system
    for system in (
        System("var-500", lambda seed: sparse_var(seed, steps=500), 8),
        System("var-2000", sparse_var, 8),
        System("lorenz96-f10", lorenz96, 8),
        System("lorenz96-f40", lambda seed: lorenz96(seed, forcing=40.0), 8),
        System("lorenz96-f10-500", lambda seed: lorenz96(seed, steps=500), 8),
        System("lorenz96-f10-noisy", lambda seed: lorenz96(seed, noise=0.5), 8),
        System("ring", ring, 24),
    )
}
