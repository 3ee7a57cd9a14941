"""What a post measures when the plant does nothing: ground, cosmic rays, the night's radon, and rain.

[T] series of the weather in, [T, P] dose rates in nSv/h out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from .config import RingConfig
from .weather import Array, Weather

PB214_MINUTES, BI214_MINUTES = 26.8, 19.9  # half-lives
PB214_GAMMA_MEV, BI214_GAMMA_MEV = 0.24, 1.47  # mean photon energy per decay, about
STORM_MM, STORM_MINUTES = 14.0, 15.0  # the recorded storm that `washout_nsvh` is calibrated to
REFERENCE_PRESSURE_HPA = 1013.25
RADON_MEMORY_HOURS = 3.0
_CLEAR_NIGHT_K = 5.0  # cooling below the day's mean that makes the night of reference
_VENTILATION_M_S = 4.0  # wind speed that halves what a night can gather
_CALM_M_S = 2.0  # wind speed of the night of reference


@dataclass(frozen=True)
class Sites:
    """[P] what differs from post to post."""

    terrestrial: Array
    cosmic: Array
    radon_swing: Array
    rain_weight: Array
    rain_delay_minutes: Array


def draw_sites(config: RingConfig, rng: np.random.Generator, east_north_km: Array, along_wind_km: Array) -> Sites:
    """Background of each post, lognormal within 50-200 nSv/h; rain reaches the upwind edge first.

    Parameters
    ----------
    east_north_km: [P, 2] position; along_wind_km: [P] coordinate along the prevailing wind.
    """
    posts = len(east_north_km)
    total = config.background_nsvh * np.exp(config.background_spread * rng.standard_normal(posts))
    total = np.clip(total, 50, 200)
    cosmic = np.minimum(config.cosmic_nsvh * (1 + 0.03 * rng.standard_normal(posts)), 0.9 * total)  # altitude
    swing = rng.uniform(config.radon_swing_low, config.radon_swing_high, posts) * total
    weight = np.exp(0.2 * rng.standard_normal(posts))  # roofs, trees, soil under the probe
    delay = (along_wind_km - along_wind_km.min()) / config.front_speed_m_s * 1000 / 60
    return Sites(total - cosmic, cosmic, swing, weight, delay)


def cosmic_part(config: RingConfig, sites: Sites, weather: Weather) -> Array:
    """C · (1 - β (p - p₀)): more air above the post, fewer muons; β about 1.5 % per kPa."""
    kpa = (weather.pressure - REFERENCE_PRESSURE_HPA) / 10
    return np.asarray(np.outer(1 - config.pressure_effect_per_kpa * kpa, sites.cosmic))


def radon_index(config: RingConfig, weather: Weather) -> Array:
    """[T] how much radon the night has gathered under its inversion; 1 = the height of a clear, calm night.

    s = (T̄₂₄ - T) / 5 K, held within 0 and 1, over 1 + (U / 4 m/s)², gathered with a memory of three hours; T̄₂₄ is the
    mean of the last 24 hours. Temperature and wind speed are therefore true causes of every post, both negative.
    """
    window = max(1, round(24 / config.step_hours))
    total = np.concatenate([[0.0], np.cumsum(weather.temperature)])
    row = np.arange(1, config.steps + 1)
    first = np.maximum(0, row - window)
    mean = (total[row] - total[first]) / (row - first)
    stable = np.clip((mean - weather.temperature) / _CLEAR_NIGHT_K, 0, 1)
    stable *= (1 + (_CALM_M_S / _VENTILATION_M_S) ** 2) / (1 + (weather.wind_speed / _VENTILATION_M_S) ** 2)
    keep = np.exp(-config.step_hours / RADON_MEMORY_HOURS)
    return np.asarray(lfilter([1 - keep], [1.0, -keep], stable), np.float64)


def washout_part(config: RingConfig, sites: Sites, weather: Weather, rng: np.random.Generator) -> Array:
    """Radon progeny that rain brings down: [T, P] nSv/h.

    Deposition per minute is proportional to (mm/h)^0.5 (Bottardi et al. 2020), to how rich the cloud is (one factor an
    episode), to the post's weight and to a factor of post and episode (rain cells). It comes with the front.
    """
    base = (weather.rain / config.step_hours) ** config.rain_exponent
    cells = np.ones((config.steps, len(sites.rain_weight)))
    for episode in weather.episodes:
        cloud = config.cloud_radon_median * np.exp(config.cloud_radon_spread * rng.standard_normal())
        local = np.exp(config.rain_cell_spread * rng.standard_normal(cells.shape[1]))
        cells[episode.first : episode.last] = cloud * local
    deposit = base[:, None] * cells * sites.rain_weight
    return decay_on_ground(config, _delay(deposit, sites.rain_delay_minutes / config.step_minutes))


def decay_on_ground(config: RingConfig, deposit: NDArray[np.floating]) -> Array:
    """Mean dose rate over each step from progeny laid down evenly over each step.

    Parameters
    ----------
    deposit: [T, P] in (mm/h)^exponent; 14 mm in 15 minutes must give `washout_nsvh`.

    Pb-214 (26.8 min) feeds Bi-214 (19.9 min), so one deposit gives dose rate h(t) = α e^(-λ₁t) + β e^(-λ₂t). Mean over
    a step of length Δ, with q = e^(-λΔ): (1/λ)(1 - (1-q)/(λΔ)) for the step itself, (1-q)²/(λ²Δ) q^(k-1) for the k-th
    after it: a first-order filter for each exponential, exact for every step length.
    """
    dose: Array = np.zeros(deposit.shape)
    storm = 0.0
    for weight, rate in _ground_exponentials(config.rain_age_minutes):
        x = rate * config.step_minutes
        q = np.exp(-x)
        same, later = (1 - (1 - q) / x) / rate, (1 - q) ** 2 / (rate * x)
        dose += weight * lfilter([same, later - same * q], [1.0, -q], deposit, axis=0)
        storm += weight * (1 - np.exp(-rate * STORM_MINUTES)) / rate
    storm *= (STORM_MM / STORM_MINUTES * 60) ** config.rain_exponent
    return np.asarray(dose * (config.washout_nsvh / storm), np.float64)


def _ground_exponentials(age_minutes: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """((α, λ of Pb-214), (β, λ of Bi-214)), λ per minute.

    Both are equally active inside the cloud; the drop then carries them for `age_minutes` without new radon (Bateman).
    """
    lead, bismuth = np.log(2) / PB214_MINUTES, np.log(2) / BI214_MINUTES
    feed = bismuth / (bismuth - lead)
    lead_now = np.exp(-lead * age_minutes)
    bismuth_now = (1 - feed) * np.exp(-bismuth * age_minutes) + feed * lead_now
    alpha = lead_now * (PB214_GAMMA_MEV + BI214_GAMMA_MEV * feed)
    beta = BI214_GAMMA_MEV * (bismuth_now - lead_now * feed)
    return (float(alpha), float(lead)), (float(beta), float(bismuth))


def _delay(series: Array, steps: Array) -> Array:
    """[T, P] with column p delayed by steps[p] >= 0 (linear between rows; before the first row nothing fell)."""
    out = np.zeros_like(series)
    for column, delay in enumerate(steps):
        whole, part = int(delay), float(delay % 1)
        for shift, share in ((whole, 1 - part), (whole + 1, part)):
            if shift < len(series):
                out[shift:, column] += share * series[: len(series) - shift, column]
    return out
