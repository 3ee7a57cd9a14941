"""A simulated ring of radiation posts round a plant, with known truth.

>>> simulation = simulate_ring(posts=6, days=2, seed=1)
>>> simulation.log.shape
(288, 12)

It serves the quick start, the tests, and experiments that need to know what is true: which tag acts on which, when a
plume arrived, which instrument failed. It describes no real site. Formulas, sources and what is left out are in
docs/simulator.md.
"""

from __future__ import annotations

import difflib
import logging
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..errors import ConfigError
from .log import Resample, StationLog, Tag
from .quality import QualityRecord
from .simulation import background, faults, network, plume
from .simulation.config import RingConfig, generators
from .simulation.labels import label
from .simulation.truth import Arrival, Event, Fault, TrueRoute, Truth
from .simulation.weather import Array, Weather, direction_from, prevailing_unit, simulate_weather

__all__ = [
    "Arrival",
    "Event",
    "Fault",
    "RingConfig",
    "Simulation",
    "TrueRoute",
    "Truth",
    "direction_from",
    "simulate_ring",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated log, the truth about it, and the configuration it came from."""

    log: StationLog
    truth: Truth
    config: RingConfig

    def __repr__(self) -> str:
        truth = self.truth
        return (
            f"Simulation({self.log!r}, {len(truth.routes)} true routes, {len(truth.events)} events, "
            f"{len(truth.faults)} faults, seed {self.config.seed})"
        )


def simulate_ring(config: RingConfig | None = None, **overrides: Any) -> Simulation:
    """Simulate a ring of posts.

    Parameters
    ----------
    config: what to simulate; default `RingConfig()`: 16 posts, 60 days, 10-minute steps.
    overrides: single fields of it, e.g. ``simulate_ring(posts=8, plumes_per_30_days=0)``.

    Returns
    -------
    Simulation: tags are one dose rate a post (target, nSv/h), then rain, wind speed, wind u, wind v, pressure,
        temperature. The same configuration gives the same bytes. No global random state is read or changed.

    Raises
    ------
    ConfigError: an override is unknown or a value is out of its range.
    """
    config = _with_overrides(config or RingConfig(), overrides)
    rng = generators(config.seed)
    weather = simulate_weather(config, rng)
    places_km = network.lay_out(config, rng["layout"])
    along_km = places_km @ np.asarray(prevailing_unit(config))
    sites = background.draw_sites(config, rng["sites"], places_km, along_km)
    air = network.carry(config, weather, places_km, rng["airmass"])
    plumes, releases = plume.release_plumes(config, weather, places_km, rng["plume"])
    parts: dict[str, Array] = {
        "terrestrial": np.broadcast_to(sites.terrestrial, (config.steps, config.posts)),
        "cosmic": background.cosmic_part(config, sites, weather),
        "radon": np.outer(background.radon_index(config, weather), sites.radon_swing),
        "washout": background.washout_part(config, sites, weather, rng["sites"]),
        "airmass": air.load,
        "plume": plumes,
    }
    dose = np.maximum(sum(parts.values(), start=np.zeros((config.steps, config.posts))), 0)
    seen = faults.respond(config, dose)
    readings = faults.count(config, seen, rng["counts"])
    readings, broken = faults.break_instruments(config, seen, readings, rng["faults"])
    if config.rounding_nsvh > 0:
        readings = np.round(readings / config.rounding_nsvh) * config.rounding_nsvh

    outside = _weather_columns(weather)
    tags = _tags(config, places_km, along_km)
    values = np.concatenate([readings, outside], axis=1)
    dropped = int(np.isnan(values).sum())
    lost = faults.lose(config, values.shape, rng["drops"])
    values[lost] = np.nan
    masked = {"simulated dropout": dropped, "simulated loss": int(np.isnan(values).sum()) - dropped}
    quality = QualityRecord(
        rows_in=config.steps,
        rows_kept=config.steps,
        masked={reason: cells for reason, cells in masked.items() if cells},
        decisions=(f"simulated, not measured: seed {config.seed}, {config.posts} posts, see docs/simulator.md",),
        sources=("simulation",),
    )
    times = config.times()
    log = StationLog(values.astype(np.float32), times, tags, quality)
    clean = np.concatenate([dose, outside], axis=1).astype(np.float32)
    truth = label(
        config,
        names=log.names,
        times=times,
        sites=sites,
        parts=parts,
        air=air,
        releases=releases,
        weather=weather,
        broken=broken,
        clean=clean,
    )
    simulation = Simulation(log, truth, config)
    logger.info("simulated %r", simulation)
    return simulation


def _with_overrides(config: RingConfig, overrides: dict[str, Any]) -> RingConfig:
    known = [field.name for field in fields(RingConfig)]
    for name in overrides:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(known)}"
            raise ConfigError(f"the simulated ring has no setting {name!r}; {hint}")
    return replace(config, **overrides)


def _weather_columns(weather: Weather) -> Array:
    """[T, 6], in the order of `_tags`."""
    series = (weather.rain, weather.wind_speed, weather.wind_u, weather.wind_v, weather.pressure, weather.temperature)
    return np.stack(series, axis=1)


def _tags(config: RingConfig, places_km: Array, along_km: Array) -> list[Tag]:
    width = max(2, len(str(config.posts)))
    spots = network.coordinates(config, places_km)
    tags = []
    for number, spot in enumerate(spots, start=1):
        station = f"P{number:0{width}d}"
        tags.append(Tag(f"{station} dose rate", "nSv/h", "dose_rate", station, spot))
    # the mast stands at the upwind edge, beside the post that a front reaches first
    mast = spots[int(along_km.argmin())]
    for name, unit, quantity in (
        ("rain", "mm", "rain"),
        ("wind speed", "m/s", "wind_speed"),
        ("wind u", "m/s", "wind_u"),
        ("wind v", "m/s", "wind_v"),
        ("pressure", "hPa", "pressure"),
        ("temperature", "degC", "temperature"),
    ):
        rule: Resample = "sum" if quantity == "rain" else "mean"
        tags.append(Tag(name, unit, quantity, "mast", mast, config.weather_role, rule))
    return tags
