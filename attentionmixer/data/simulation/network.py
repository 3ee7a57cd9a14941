"""Where the posts stand, and how the wind carries radon from one to the next: the true post-to-post routes.

The load c of the air at post j obeys a structural equation with direct routes only:

    c_j(t) = e_j(t) + Σ_i w_ij(t) exp(-lag_ij(t) / τ) c_i(t - lag_ij(t))

e_j is what rises from the ground near j (independent AR(1) processes), the sum is what the wind brings from direct
neighbours upwind. Nothing else ties posts to each other, weather and plumes apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from .config import RingConfig
from .weather import Array, Weather

_KM_PER_DEGREE = 111.2
_SECTOR_DEG, _SECTOR_EDGE_DEG = 25.0, 60.0  # spread of air that left a post, and where it ends
_ELSEWHERE = 0.35  # weight of air that no post has seen, beside 1 for a post straight upwind
_LONGEST_LAG_HOURS = 4.0


@dataclass(frozen=True)
class Neighbours:
    """[E] direct neighbours, each in both directions: from `source` to `target`, both post numbers."""

    source: NDArray[np.intp]
    target: NDArray[np.intp]
    east_km: Array
    north_km: Array


@dataclass(frozen=True)
class Airmass:
    """[T, P] load of the air in nSv/h, and per neighbour pair [E] what the route carried.

    carried_nsvh: standard deviation of w · c; lag_minutes: mean lag, weighted by what was carried (NaN if nothing was).
    """

    load: Array
    neighbours: Neighbours
    carried_nsvh: Array
    lag_minutes: Array


def lay_out(config: RingConfig, rng: np.random.Generator) -> Array:
    """[P, 2] km east and north of the plant: about 30 % of the posts at the fence, the others in villages.

    Angles are even, with a few degrees and 8 % of the radius of jitter: no place is exactly on a circle.
    """
    fence = max(1, round(0.3 * config.posts))
    rings = []
    for count, radius in ((fence, config.fence_radius_km), (config.posts - fence, config.village_radius_km)):
        if count == 0:
            continue
        spacing = 2 * np.pi / count
        angle = rng.uniform(0, spacing) + spacing * (np.arange(count) + rng.uniform(-0.2, 0.2, count))
        distance = radius * (1 + 0.08 * rng.uniform(-1, 1, count))
        rings.append(np.stack([distance * np.sin(angle), distance * np.cos(angle)], axis=1))
    return np.concatenate(rings)


def coordinates(config: RingConfig, east_north_km: Array) -> list[tuple[float, float]]:
    """(latitude, longitude) in degrees, on a flat map round the plant."""
    latitude = config.latitude_deg + east_north_km[:, 1] / _KM_PER_DEGREE
    stretch = _KM_PER_DEGREE * np.cos(np.radians(config.latitude_deg))
    longitude = config.longitude_deg + east_north_km[:, 0] / stretch
    return [(round(float(a), 5), round(float(b), 5)) for a, b in zip(latitude, longitude, strict=True)]


def direct_neighbours(config: RingConfig, east_north_km: Array) -> Neighbours:
    """Pairs with no third post inside the circle whose diameter joins them (Gabriel graph).

    Pairs nearer than half a step of the mean wind are left out: no log of this step could show who was first.
    """
    step = east_north_km[None, :, :] - east_north_km[:, None, :]  # [from, to, 2]
    squared = (step**2).sum(-1)
    # a third post k lies inside the circle over ij exactly when |ik|² + |kj|² < |ij|²
    blocked = np.zeros(squared.shape, dtype=bool)
    for k in range(len(squared)):
        through = squared[:, k, None] + squared[None, k, :] < squared
        through[k, :] = through[:, k] = False
        blocked |= through
    shortest_km = config.wind_speed_m_s * config.step_minutes * 60 / 1000 / 2
    source, target = np.nonzero(~blocked & (squared > shortest_km**2))
    between = step[source, target]
    return Neighbours(source, target, between[:, 0], between[:, 1])


def carry(config: RingConfig, weather: Weather, east_north_km: Array, rng: np.random.Generator) -> Airmass:
    """Radon carried by the wind from post to post.

    w_ij = k_ij / (0.35 + Σ_i k_ij) with k_ij = exp(-½ (θ/25°)²) for θ < 60°, else 0; θ is the angle between the wind
    and the line from i to j. The lag is the distance along the wind over its speed, rounded to steps, at least one
    step; beyond four hours nothing arrives.
    """
    near = direct_neighbours(config, east_north_km)
    steps, posts = config.steps, len(east_north_km)
    weight_te, lag_te = _weights_and_lags(config, weather, near, posts)

    keep = np.exp(-config.step_minutes / config.airmass_minutes)
    fresh = rng.standard_normal((steps + 200, posts))
    local = config.airmass_nsvh * np.sqrt(1 - keep**2) * lfilter([1.0], [1.0, -keep], fresh, axis=0)[200:]

    longest = int(lag_te.max(initial=1))
    load = np.zeros((steps + longest, posts))  # the first rows are air from before the log began
    load[longest:] = local
    flat = load.reshape(-1)
    where_te = (np.arange(steps)[:, None] + longest - lag_te) * posts + near.source
    carried_te = np.empty_like(weight_te)
    # one row after the other, because what arrives now may be passed on in the next step
    for row in range(steps):
        carried = np.multiply(weight_te[row], flat[where_te[row]], out=carried_te[row])
        load[longest + row] += np.bincount(near.target, carried, posts)

    size = np.abs(carried_te).sum(axis=0)
    total_lag = (np.abs(carried_te) * lag_te).sum(axis=0) * config.step_minutes
    lag_minutes = np.divide(total_lag, size, out=np.full(len(size), np.nan), where=size > 0)
    return Airmass(load[longest:], near, carried_te.std(axis=0), lag_minutes)


def _weights_and_lags(
    config: RingConfig, weather: Weather, near: Neighbours, posts: int
) -> tuple[Array, NDArray[np.intp]]:
    """[T, E] weight (mixing on the way included) and lag in steps."""
    speed = np.maximum(weather.wind_speed, 0.1)[:, None]
    # km along the wind from source to target; negative: the target is upwind of the source
    along = (weather.wind_u[:, None] * near.east_km + weather.wind_v[:, None] * near.north_km) / speed
    angle = np.degrees(np.arccos(np.clip(along / np.hypot(near.east_km, near.north_km), -1, 1)))
    minutes = along * 1000 / speed / 60
    hears = (angle < _SECTOR_EDGE_DEG) & (minutes < _LONGEST_LAG_HOURS * 60)
    weight = np.where(hears, np.exp(-0.5 * (angle / _SECTOR_DEG) ** 2), 0.0)
    total = np.full((config.steps, posts), _ELSEWHERE)
    for edge, target in enumerate(near.target):
        total[:, target] += weight[:, edge]
    weight /= total[:, near.target]
    weight *= np.exp(-np.where(hears, minutes, 0.0) / config.airmass_mixing_minutes)
    lag = np.where(hears, np.maximum(1, np.rint(minutes / config.step_minutes)), 1).astype(np.intp)
    return weight, lag
