"""Releases from the plant, carried over the posts by the wind: a Gaussian puff model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .config import RingConfig
from .weather import Array, Weather

ARRIVAL_NSVH = 1.0  # a post counts as hit from this dose rate on
_HORIZONTAL, _VERTICAL = 0.22, 0.12  # σ over distance travelled: Briggs, open country, class A across, B upwards
_LID_M = 300.0  # the inversion that stops the cloud from growing upwards
_GAMMA_REACH_M = 150.0  # photons reach a post from this far beside the cloud
_FOLLOWED_HOURS = 8.0
_PUFFS = 60
_FINE_MINUTES = 2.0


@dataclass(frozen=True)
class Release:
    """One release: rows in which the plant emits, the highest peak at any post, [P] rows and peaks of arrival.

    arrival, leaving: [P] first row at or above `ARRIVAL_NSVH` and one past the last; -1 where a post was not hit.
    """

    first: int
    last: int
    arrival: NDArray[np.intp]
    leaving: NDArray[np.intp]
    peak_nsvh: Array


def release_plumes(
    config: RingConfig, weather: Weather, east_north_km: Array, rng: np.random.Generator
) -> tuple[Array, tuple[Release, ...]]:
    """[T, P] nSv/h from all releases, and the releases.

    A release lasts `plume_minutes` (median) and swells and fades as sin². It is cut into 60 puffs, each moved by the
    wind of the moment. A puff that has travelled s gives a post at distance r from its centre, ground level,

        dose rate ∝ share · exp(-½ r²/σ²) / (σ² σ_z),  σ² = (0.22 s)² + (150 m)²,  σ_z = min(0.12 s, 300 m) + 30 m,

    and a release is scaled so that its highest ten-minute (step) mean at any post is the peak that was drawn.
    """
    steps, posts = config.steps, len(east_north_km)
    dose: Array = np.zeros((steps, posts))
    count = rng.poisson(config.plumes_per_30_days * steps * config.step_hours / 720)
    starts = np.sort(rng.integers(0, steps, count))
    minutes = config.plume_minutes * np.exp(0.35 * rng.standard_normal(count))
    peaks = config.plume_peak_nsvh * np.exp(0.6 * rng.standard_normal(count))
    # kilometres a parcel is carried from row 0 on; one more row, so that the last step has an end
    path = np.zeros((steps + 1, 2))
    path[1:] = np.cumsum(np.stack([weather.wind_u, weather.wind_v], 1) * config.step_minutes * 60 / 1000, axis=0)
    releases = []
    for start, length, peak in zip(starts, minutes, peaks, strict=True):
        cloud = _one_release(config, path, east_north_km, int(start), float(length))
        highest = cloud.max(initial=0.0)
        if highest <= 0:
            continue
        cloud *= peak / highest
        rows = slice(int(start), int(start) + len(cloud))
        dose[rows] += cloud
        hit = cloud >= ARRIVAL_NSVH
        seen = hit.any(axis=0)
        arrival = np.where(seen, start + hit.argmax(axis=0), -1)
        leaving = np.where(seen, start + len(cloud) - hit[::-1].argmax(axis=0), -1)
        last = min(steps, int(start) + max(1, int(np.ceil(length / config.step_minutes))))
        releases.append(Release(int(start), last, arrival, leaving, cloud.max(axis=0)))
    return dose, tuple(releases)


def _one_release(config: RingConfig, path: Array, posts_km: Array, start: int, minutes: float) -> Array:
    """[rows, P] unscaled step means of one release that begins with row `start`."""
    followed = _FOLLOWED_HOURS * 60 + minutes
    rows = min(len(path) - 1 - start, int(np.ceil(followed / config.step_minutes)))
    per_row = max(1, round(config.step_minutes / _FINE_MINUTES))
    moment = (np.arange(rows * per_row) + 0.5) / per_row  # [F] in steps since the start
    birth = (np.arange(_PUFFS) + 0.5) / _PUFFS * minutes / config.step_minutes  # [K]
    share = np.sin(np.pi * (np.arange(_PUFFS) + 0.5) / _PUFFS) ** 2
    grid = np.arange(rows + 1)
    x, y = path[start : start + rows + 1].T
    east = np.interp(moment, grid, x)[:, None] - np.interp(birth, grid, x)  # [F, K] km from the plant
    north = np.interp(moment, grid, y)[:, None] - np.interp(birth, grid, y)
    travelled = 1000 * np.hypot(east, north)
    sigma2 = (_HORIZONTAL * travelled) ** 2 + _GAMMA_REACH_M**2
    sigma_z = np.minimum(_VERTICAL * travelled, _LID_M) + 30.0
    strength = np.where(moment[:, None] > birth, share, 0.0) / (sigma2 * sigma_z)
    cloud = np.empty((rows * per_row, len(posts_km)))
    for post, (post_east, post_north) in enumerate(posts_km):
        r2 = 1e6 * ((east - post_east) ** 2 + (north - post_north) ** 2)
        cloud[:, post] = (strength * np.exp(-0.5 * r2 / sigma2)).sum(axis=1)
    return np.asarray(cloud.reshape(rows, per_row, -1).mean(axis=1))
