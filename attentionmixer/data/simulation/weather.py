"""Weather over the ring: one pressure system, one wind, one rain gauge, one thermometer.

All slow quantities are Ornstein-Uhlenbeck processes, smoothed once so that ten-minute changes are as small as real
ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from .config import RingConfig

Array = NDArray[np.float64]

_DRY_HOURS = 1.0  # two bursts closer than this are one episode


@dataclass(frozen=True)
class Episode:
    """One rain episode: rows ``first <= i < last`` and how much fell."""

    first: int
    last: int
    rain_mm: float


@dataclass(frozen=True)
class Weather:
    """[T] series; a row stands for its step. `wind_u` blows to the east, `wind_v` to the north (m/s); rain in mm."""

    wind_u: Array
    wind_v: Array
    wind_speed: Array
    rain: Array
    pressure: Array
    temperature: Array
    episodes: tuple[Episode, ...]


def simulate_weather(config: RingConfig, rng: dict[str, np.random.Generator]) -> Weather:
    """Weather of the whole run from the streams ``synoptic``, ``wind``, ``rain`` and ``temperature``."""
    times = config.times()
    hour = np.asarray(times.hour + times.minute / 60, np.float64) + config.longitude_deg / 15  # solar time
    day = np.asarray(times.day_of_year, np.float64)

    high = smooth_noise(rng["synoptic"], config, hours=40, smooth_hours=4)  # above 0: high pressure, fair weather
    pressure = 1013.25 + config.pressure_spread_hpa * high
    wind_u, wind_v = _wind(config, rng["wind"], hour, high)
    rain, episodes = _rain(config, rng["rain"], high)

    summer = np.cos(2 * np.pi * (day - 200) / 365.25)
    swing = (4.5 + 1.5 * summer) * np.clip(1 + 0.4 * high, 0.2, 2.0)  # clear skies: warm days, cold nights
    temperature = config.temperature_mean_c + 9 * summer + swing * np.cos(2 * np.pi * (hour - 14.5) / 24)
    temperature += 2.5 * smooth_noise(rng["temperature"], config, hours=48, smooth_hours=4)
    return Weather(wind_u, wind_v, np.hypot(wind_u, wind_v), rain, pressure, temperature, episodes)


def smooth_noise(rng: np.random.Generator, config: RingConfig, hours: float, smooth_hours: float) -> Array:
    """[T] stationary Gaussian noise, mean 0 and variance 1: an OU process of time constant `hours`, then a low pass.

    Two AR(1) filters in a row with a = exp(-Δ/τ₁), b = exp(-Δ/τ₂) have the output variance
    (1 + ab) / ((1 - ab)(1 - a²)(1 - b²)) for unit input.
    """
    a, b = np.exp(-config.step_hours / hours), np.exp(-config.step_hours / smooth_hours)
    burn_in = int(8 * hours / config.step_hours) + 1
    noise = rng.standard_normal(config.steps + burn_in)
    series = lfilter([1.0], [1.0, -(a + b), a * b], noise)[burn_in:]
    variance = (1 + a * b) / ((1 - a * b) * (1 - a**2) * (1 - b**2))
    return np.asarray(series / np.sqrt(variance), np.float64)


def direction_from(wind_u: Array, wind_v: Array) -> Array:
    """Direction the wind comes from, in degrees (0 = north, 90 = east), for people.

    It is not a tag of the log: 350° and 10° average to 180°, so it can be neither resampled nor forecast as a number.
    """
    return np.asarray(np.degrees(np.arctan2(-np.asarray(wind_u), -np.asarray(wind_v))) % 360, np.float64)


def prevailing_unit(config: RingConfig) -> tuple[float, float]:
    """Unit vector (east, north) along which the prevailing wind blows."""
    angle = np.radians(config.prevailing_from_deg)
    return float(-np.sin(angle)), float(-np.cos(angle))


def _wind(config: RingConfig, rng: np.random.Generator, hour: Array, high: Array) -> tuple[Array, Array]:
    """Prevailing wind, stronger in the afternoon and in lows, plus two independent OU components."""
    strength = np.clip(1 + 0.2 * np.cos(2 * np.pi * (hour - 14) / 24) - 0.15 * high, 0.2, None)
    strength *= config.wind_speed_m_s
    east, north = prevailing_unit(config)
    wind_u = strength * east + config.wind_spread_m_s * smooth_noise(rng, config, hours=9, smooth_hours=0.5)
    wind_v = strength * north + config.wind_spread_m_s * smooth_noise(rng, config, hours=9, smooth_hours=0.5)
    return wind_u, wind_v


def _rain(config: RingConfig, rng: np.random.Generator, high: Array) -> tuple[Array, tuple[Episode, ...]]:
    """Intermittent rain: episodes start at random, e times more often per standard deviation of falling pressure.

    Durations and intensities are lognormal (short episodes are heavier); inside an episode the intensity is an
    exponentiated AR(1) process with a memory of 20 minutes.
    """
    steps, step_hours = config.steps, config.step_hours
    per_step = config.rain_events_per_30_days / 720 * step_hours
    starts = np.flatnonzero(rng.random(steps) < per_step * np.exp(-high - 0.5))
    lengths = config.rain_hours * np.exp(0.8 * rng.standard_normal(len(starts)))
    mean_mm_per_hour = config.rain_mm_per_hour * np.exp(0.7 * rng.standard_normal(len(starts)))
    mean_mm_per_hour *= (config.rain_hours / lengths) ** 0.3
    texture = lfilter([1.0], [1.0, -np.exp(-step_hours * 3)], rng.standard_normal(steps))
    texture = np.exp(0.6 * texture * np.sqrt(1 - np.exp(-step_hours * 6)) - 0.18)

    rain = np.zeros(steps)
    episodes: list[Episode] = []
    free_from = 0
    for start, length, intensity in zip(starts, lengths, mean_mm_per_hour, strict=True):
        if start < free_from:
            continue
        last = min(steps, int(start) + max(1, round(length / step_hours)))
        rain[start:last] = intensity * step_hours * texture[start:last]
        episodes.append(Episode(int(start), last, float(rain[start:last].sum())))
        free_from = last + int(np.ceil(_DRY_HOURS / step_hours))
    return rain, tuple(episodes)
