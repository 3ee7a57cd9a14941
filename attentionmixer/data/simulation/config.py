"""Every number the simulated ring depends on, and the random generators that are seeded from it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
import pandas as pd

from ...errors import ConfigError

# One generator a mechanism, so that switching one off leaves the others as they were. New names go to the END:
# a generator is known by its place in this list.
STREAMS = (
    "layout",
    "synoptic",
    "wind",
    "rain",
    "temperature",
    "sites",
    "airmass",
    "plume",
    "counts",
    "faults",
    "drops",
)

_SHARES = ("missing_rate", "radon_swing_low", "radon_swing_high", "pressure_effect_per_kpa")
_POSITIVE = (
    "fence_radius_km",
    "village_radius_km",
    "wind_speed_m_s",
    "rain_hours",
    "rain_mm_per_hour",
    "background_nsvh",
    "rain_exponent",
    "cloud_radon_median",
    "front_speed_m_s",
    "airmass_minutes",
    "airmass_mixing_minutes",
    "plume_peak_nsvh",
    "plume_minutes",
    "counts_per_s_per_usvh",
)
_NOT_NEGATIVE = (
    "seed",
    "wind_spread_m_s",
    "pressure_spread_hpa",
    "rain_events_per_30_days",
    "cosmic_nsvh",
    "background_spread",
    "washout_nsvh",
    "rain_age_minutes",
    "cloud_radon_spread",
    "rain_cell_spread",
    "airmass_nsvh",
    "route_floor_share",
    "plumes_per_30_days",
    "rounding_nsvh",
    "response_minutes",
    "stuck_per_post_year",
    "spikes_per_post_year",
    "swaps_per_post_year",
    "source_checks_per_post_year",
    "outages_per_post_year",
)


@dataclass(frozen=True)
class RingConfig:
    """What the simulated ring is like. Units are in the names or below; formulas and sources in docs/simulator.md.

    Attributes
    ----------
    posts, days, step_minutes, seed, start:
        Size of the log. `start` is a date in UTC; `days` may be a fraction.
    latitude_deg, longitude_deg, fence_radius_km, village_radius_km:
        Where the (invented) plant stands, and the two rings: about 30 % of the posts at the fence.
    prevailing_from_deg, wind_speed_m_s, wind_spread_m_s:
        Direction the wind mostly comes FROM (0 = north, 90 = east), mean speed, standard deviation of each component.
    pressure_spread_hpa, temperature_mean_c:
        Standard deviation of pressure; mean temperature of the year.
    rain_events_per_30_days, rain_hours, rain_mm_per_hour:
        Mean number of rain episodes, median duration and median intensity of one.
    weather_role:
        ``"input"`` (observed up to now) or ``"known"`` (as if a perfect forecast came with the log).
    background_nsvh, background_spread, cosmic_nsvh, pressure_effect_per_kpa:
        Median background of a post, its spread in log units (limits 50 and 200 nSv/h), the cosmic part of it, and the
        share of that part lost per kPa.
    radon_swing_low, radon_swing_high:
        Range over posts of the rise in a clear, calm night, as a share of the post's background.
    washout_nsvh, rain_exponent, rain_age_minutes:
        Rise after 14 mm in 15 minutes; exponent of intensity; age of the progeny when the rain reaches the ground.
    cloud_radon_median, cloud_radon_spread, rain_cell_spread, front_speed_m_s:
        How rich a cloud is, relative to that storm (median and spread in log units); spread of rain between posts
        within an episode (log units); speed at which a front crosses the ring.
    airmass_nsvh, airmass_minutes, airmass_mixing_minutes, route_floor_share:
        Standard deviation and persistence of the radon that rises near a post, the time in which the wind's load mixes
        away, and what a post-to-post route has to carry (standard deviation, as a share of `airmass_nsvh`) to be
        counted as true.
    plumes_per_30_days, plume_peak_nsvh, plume_minutes:
        Releases from the plant: mean number, median of the highest peak at any post, median duration.
    counts_per_s_per_usvh, noise, rounding_nsvh, response_minutes:
        Sensitivity of the counters; counting noise on or off; rounding of readings (0 = none); time constant of the
        instrument (0 = none).
    faults, stuck_per_post_year, spikes_per_post_year, swaps_per_post_year, source_checks_per_post_year,
    outages_per_post_year:
        Instrument faults: all on or off, and mean numbers.
    missing_rate:
        Share of single cells lost on the way, over all tags.

    Raises
    ------
    ConfigError: a value is out of its range.
    """

    posts: int = 16
    days: float = 60.0
    step_minutes: int = 10
    seed: int = 0
    start: str = "2023-01-01"

    latitude_deg: float = 52.0
    longitude_deg: float = 20.5
    fence_radius_km: float = 1.2
    village_radius_km: float = 7.0

    prevailing_from_deg: float = 245.0
    wind_speed_m_s: float = 3.5
    wind_spread_m_s: float = 1.3
    pressure_spread_hpa: float = 8.0
    temperature_mean_c: float = 10.0
    rain_events_per_30_days: float = 14.0
    rain_hours: float = 2.5
    rain_mm_per_hour: float = 1.2
    weather_role: Literal["input", "known"] = "input"

    background_nsvh: float = 100.0
    background_spread: float = 0.3
    cosmic_nsvh: float = 38.0
    pressure_effect_per_kpa: float = 0.015
    radon_swing_low: float = 0.02
    radon_swing_high: float = 0.14

    washout_nsvh: float = 90.0
    rain_exponent: float = 0.5
    rain_age_minutes: float = 30.0
    cloud_radon_median: float = 0.3
    cloud_radon_spread: float = 0.5
    rain_cell_spread: float = 0.15
    front_speed_m_s: float = 20.0

    airmass_nsvh: float = 3.0
    airmass_minutes: float = 30.0
    airmass_mixing_minutes: float = 120.0
    route_floor_share: float = 0.2

    plumes_per_30_days: float = 2.0
    plume_peak_nsvh: float = 150.0
    plume_minutes: float = 80.0

    counts_per_s_per_usvh: float = 10.0
    noise: bool = True
    rounding_nsvh: float = 0.0
    response_minutes: float = 0.0

    faults: bool = True
    stuck_per_post_year: float = 2.0
    spikes_per_post_year: float = 6.0
    swaps_per_post_year: float = 0.5
    source_checks_per_post_year: float = 4.0
    outages_per_post_year: float = 4.0
    missing_rate: float = 0.005

    def __post_init__(self) -> None:
        _check_numbers(self)
        if self.posts < 2:
            raise ConfigError(f"posts = {self.posts}: a ring needs at least 2 posts")
        if self.step_minutes < 1:
            raise ConfigError(f"step_minutes = {self.step_minutes}: use at least 1 minute")
        if self.steps < 2:
            raise ConfigError(
                f"days = {self.days} holds {self.steps} step(s) of {self.step_minutes} min; use more days"
            )
        if self.fence_radius_km >= self.village_radius_km:
            raise ConfigError("fence_radius_km must be smaller than village_radius_km")
        if self.radon_swing_low > self.radon_swing_high:
            raise ConfigError("radon_swing_low must not be above radon_swing_high")
        if abs(self.latitude_deg) > 80:
            raise ConfigError(f"latitude_deg = {self.latitude_deg}: the flat map used here holds up to 80 degrees")
        if self.weather_role not in ("input", "known"):
            raise ConfigError(f"weather_role = {self.weather_role!r}: use 'input' or 'known'")
        self.first_time()

    @property
    def steps(self) -> int:
        """Rows of the log, T."""
        return int(self.days * 1440 // self.step_minutes)

    @property
    def step_hours(self) -> float:
        """Time between two rows, in hours."""
        return self.step_minutes / 60

    def first_time(self) -> pd.Timestamp:
        """`start` as a UTC timestamp. Raises `ConfigError` if it is not a date."""
        try:
            stamp = pd.Timestamp(self.start)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"start = {self.start!r} is not a date; write it as 2023-01-01") from error
        if pd.isna(stamp):
            raise ConfigError(f"start = {self.start!r} is not a date; write it as 2023-01-01")
        return stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp.tz_convert("UTC")

    def times(self) -> pd.DatetimeIndex:
        """[T] regular UTC index."""
        return pd.date_range(self.first_time(), periods=self.steps, freq=pd.Timedelta(minutes=self.step_minutes))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only."""
        return asdict(self)


def generators(seed: int) -> dict[str, np.random.Generator]:
    """One independent generator a mechanism, all from one seed."""
    children = np.random.SeedSequence(seed).spawn(len(STREAMS))
    return {name: np.random.default_rng(child) for name, child in zip(STREAMS, children, strict=True)}


def _check_numbers(config: RingConfig) -> None:
    for field in fields(config):
        name, value, like = field.name, getattr(config, field.name), field.default
        if isinstance(like, bool):
            if not isinstance(value, bool):
                raise ConfigError(f"{name} = {value!r}: use true or false")
        elif isinstance(like, int | float):
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ConfigError(f"{name} = {value!r}: it must be a finite number")
            if name in ("posts", "step_minutes", "seed") and value != int(value):
                raise ConfigError(f"{name} = {value!r}: it must be a whole number")
    for name in _POSITIVE:
        if getattr(config, name) <= 0:
            raise ConfigError(f"{name} = {getattr(config, name)}: it must be above 0")
    for name in _NOT_NEGATIVE:
        if getattr(config, name) < 0:
            raise ConfigError(f"{name} = {getattr(config, name)}: it must not be below 0")
    for name in _SHARES:
        if not 0 <= getattr(config, name) < 1:
            raise ConfigError(f"{name} = {getattr(config, name)}: it must be at least 0 and below 1")
