"""What the instruments make of it: counting, slow response, rounding, faults, lost readings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from .config import RingConfig
from .weather import Array

START_UP_MINUTES = 30.0


@dataclass(frozen=True)
class FaultRows:
    """One fault: post number, rows ``first <= i < last``, kind and size (see `truth.Fault`)."""

    post: int
    first: int
    last: int
    kind: str
    size: float


def count(config: RingConfig, dose: Array, rng: np.random.Generator, sensitivity: float = 1.0) -> Array:
    """Readings from a counter: Poisson(dose · sensitivity · Δ) back in nSv/h; without noise, the dose itself.

    `sensitivity` multiplies `counts_per_s_per_usvh`; 100 nSv/h at 10 counts/s per µSv/h make
    600 counts in 10 minutes, 4 %.
    """
    if not config.noise:
        return dose
    counts_per_nsvh = config.counts_per_s_per_usvh * sensitivity / 1000 * config.step_minutes * 60
    return np.asarray(rng.poisson(np.maximum(dose, 0) * counts_per_nsvh) / counts_per_nsvh, np.float64)


def respond(config: RingConfig, dose: Array) -> Array:
    """First-order response with time constant `response_minutes`, step means as input; 0 returns the dose as it is."""
    if config.response_minutes == 0:
        return dose
    keep = np.exp(-config.step_minutes / config.response_minutes)
    return np.asarray(lfilter([1 - keep], [1.0, -keep], dose, axis=0, zi=keep * dose[:1])[0], np.float64)


def break_instruments(
    config: RingConfig, dose: Array, readings: Array, rng: np.random.Generator
) -> tuple[Array, tuple[FaultRows, ...]]:
    """[T, P] readings with faults written into them, and the faults in order of time.

    Faults of one post never overlap. `dose` is what the detector is exposed to: a swapped detector counts anew.
    """
    if not config.faults:
        return readings, ()
    steps, posts = dose.shape
    out = readings.copy()
    taken = np.zeros((steps, posts), dtype=bool)
    years = steps * config.step_hours / 8766
    found: list[FaultRows] = []
    settle = max(1, round(START_UP_MINUTES / config.step_minutes))

    def hours(low: float, high: float, g: np.random.Generator) -> int:
        return max(1, round(float(np.exp(g.uniform(np.log(low), np.log(high)))) / config.step_hours))

    def add(
        g: np.random.Generator, rate: float, length: Callable[[np.random.Generator], int], tail: int = 0
    ) -> list[tuple[int, int, int]]:
        """Places (post, first, last) for one kind; `tail` rows after each are kept free for what follows."""
        places = []
        for post in range(posts):
            for start in np.sort(g.integers(1, steps, g.poisson(rate * years))):
                last = min(steps, int(start) + length(g))
                span = slice(int(start) - 1, min(steps, last + tail + 1))
                if not taken[span, post].any():
                    taken[int(start) : last + tail, post] = True
                    places.append((post, int(start), last))
        return places

    # one generator a kind, so that the rate of one does not move the others' draws
    outage, swap, stuck, check, spike = rng.spawn(5)
    for post, first, last in add(outage, config.outages_per_post_year, lambda g: hours(1, 48, g), settle):
        out[first:last, post] = np.nan
        found.append(FaultRows(post, first, last, "dropout", 0.0))
        overshoot, until = float(outage.uniform(0.2, 0.6)), min(steps, last + settle)
        if until > last:
            out[last:until, post] *= 1 + overshoot * np.exp(-np.arange(until - last) / max(1.0, settle / 2))
            found.append(FaultRows(post, last, until, "start_up", 1 + overshoot))
    for post, first, last in add(swap, config.swaps_per_post_year, lambda g: hours(72, 480, g)):
        level = 1 + float(swap.uniform(0.05, 0.2) * swap.choice([-1, 1]))
        out[first:last, post] = count(config, dose[first:last, post] * level, swap, float(swap.uniform(0.5, 2)))
        found.append(FaultRows(post, first, last, "step", level))
    for post, first, last in add(stuck, config.stuck_per_post_year, lambda g: 2 + hours(2, 48, g)):
        out[first:last, post] = out[first - 1, post]
        found.append(FaultRows(post, first, last, "stuck", float(out[first, post])))
    for post, first, last in add(check, config.source_checks_per_post_year, lambda g: hours(1 / 6, 0.5, g)):
        source = float(check.uniform(2000, 8000))
        out[first:last, post] = count(config, dose[first:last, post] + source, check)
        found.append(FaultRows(post, first, last, "source_check", source))
    for post, first, last in add(spike, config.spikes_per_post_year, lambda g: 1):
        size = float(np.exp(spike.uniform(np.log(50), np.log(1000))))
        out[first:last, post] += size
        found.append(FaultRows(post, first, last, "spike", size))
    return out, tuple(sorted(found, key=lambda fault: (fault.first, fault.post)))


def lose(config: RingConfig, shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.bool_]:
    """[T, N] True where a single reading was lost on the way."""
    return np.asarray(rng.random(shape) < config.missing_rate)
