"""Each rule beside a slow and obvious one of the same meaning, on many small logs of whole numbers.

Whole numbers and round settings make readings lie exactly at a limit again and again, which tells "more than" from "at
least".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from statistics import median

import numpy as np
import pytest

from attentionmixer.data.log import Tag
from attentionmixer.data.quality import Flag
from attentionmixer.data.quality.network import Network
from attentionmixer.data.quality.readings import Readings
from attentionmixer.data.quality.rules.limits import SaturatedRule, saturated
from attentionmixer.data.quality.rules.neighbour import NeighbourRule, neighbour
from attentionmixer.data.quality.rules.quantised import resolution_of
from attentionmixer.data.quality.rules.single import SpikeRule, WrapRule, spike, wrap
from attentionmixer.data.quality.rules.startup import StartupRule, startup
from attentionmixer.data.quality.rules.stuck import StuckRule, longest_by_chance, stuck
from attentionmixer.data.quality.rules.swap import SwapRule, swap
from attentionmixer.data.quality.rules.unit_jump import UnitRule, unit_jump

NAN = float("nan")
Values = np.ndarray


def readings(
    columns: Values, column: int = 0, step: float = 600.0, quantity: str = "dose_rate", resolution: float = 0.0
) -> Readings:
    """What a rule sees of one column of a log; every column is a station of its own, a degree further north."""
    tags = [
        Tag(f"t{i}", "nSv/h", quantity, f"s{i}", (50.0 + i * (1 if i % 2 else -1), 8.0))
        for i in range(columns.shape[1])
    ]
    value = columns[:, column].astype(np.float64)
    row = np.flatnonzero(~np.isnan(value))
    network = Network(columns.astype(np.float32), tags)
    flags = np.zeros(len(row), np.uint16)
    return replace(Readings.of(value[row], row, flags, tags[column], step, column, network), resolution=resolution)


def walk(seed: int, rows: int = 80, columns: int = 1, level: int = 20, missing: float = 0.08) -> Values:
    """Whole numbers that mostly stay near a level, with jumps, single outliers, gaps and returns."""
    g = np.random.default_rng(seed)
    values = level + g.integers(-1, 2, (rows, columns)).astype(np.float64)
    for i in range(columns):
        for _ in range(g.integers(1, 5)):
            at, size = g.integers(0, rows), g.integers(-level, 4 * level)
            values[at : at + int(g.choice([1, 1, 2, 3, 15])), i] += size
    if g.random() < 0.5:
        at = g.integers(5, rows - 10)
        values[at : at + g.integers(3, 9)] = np.nan
    values[g.random(values.shape) < missing] = np.nan
    return values


def beside(r: Readings, i: int, hours: float) -> tuple[float, float]:
    """The readings before and after, NaN where there is none near enough."""
    near = hours * 3600 / r.step
    before = r.value[i - 1] if i > 0 and r.row[i] - r.row[i - 1] <= near else NAN
    after = r.value[i + 1] if i + 1 < len(r) and r.row[i + 1] - r.row[i] <= near else NAN
    return before, after


def noise_of(column: Values) -> float:
    changes = [abs(b - a) for a, b in pairwise(column) if not np.isnan(a) and not np.isnan(b)]
    return 1.4826 * median(changes) / 2**0.5 if changes else 0.0


def agree(r: Readings, row: int, direction: float, reach: int, sigmas: float = 5.0) -> tuple[int, int]:
    """How many of the other columns could have moved near a row, and how many did."""
    heard = moved = 0
    values = r.network.values.astype(np.float64)
    for other in r.network.others(r.column).tolist():
        column = values[:, other]
        first, last = max(0, row - reach), min(len(column), row + reach + 1)
        past = [v for v in column[max(0, first - 6) : first + 1] if not np.isnan(v)]
        near = sorted(direction * (v - median(past)) for v in column[first:last] if not np.isnan(v)) if past else []
        if len(near) < 2:
            continue
        heard += 1
        level = median([v for v in column if not np.isnan(v)])
        moved += near[-2] > max(sigmas * noise_of(column), 1e-6 * abs(level))
    return heard, moved


def slow_wrap(r: Readings, s: WrapRule) -> list[int]:
    found = []
    for i, x in enumerate(np.abs(r.value)):
        if not x > s.full_factor * max(abs(r.level), r.noise):
            continue
        sides = [abs(v) for v in beside(r, i, s.gap_hours) if not np.isnan(v)]
        registers = [2.0**k for k in (15, 16, 24, 31, 32)]
        full = any((1 - s.below) * top <= x <= top for top in registers) or x in [10.0**k - 1 for k in range(4, 9)]
        if (full and sides and x >= s.full_factor * max(sides)) or (len(sides) == 2 and x >= s.factor * max(sides)):
            found.append(i)
    return found


def slow_spike(r: Readings, s: SpikeRule) -> list[int]:
    demand = s.noises * r.noise
    if not r.counted:
        low, high = np.quantile(r.value, (0.01, 0.99))
        demand = max(demand, s.process_ranges * (high - low))
    found = []
    for i in range(1, len(r) - 1):
        if demand <= 0 or len(r) < 5:
            break
        x, before, after = r.value[i], r.value[i - 1], r.value[i + 1]
        above = x > before
        if not (x - before > demand and x - after > demand) and not (before - x > demand and after - x > demand):
            continue
        before, after = beside(r, i, max(s.gap_hours, 3 * r.step / 3600))
        if np.isnan(before) or np.isnan(after):
            continue
        size = min(abs(x - before), abs(x - after))
        slow = r.counted and r.step >= 60 * s.slow_minutes
        share = s.slow_share if above and slow else s.share
        around = [r.value[min(max(j, 0), len(r) - 1)] for j in range(i - 12, i + 13)]
        if not size > share * abs((before + after) / 2) or not abs(after - before) <= s.back * size + 4 * r.noise:
            continue
        if r.counted and not above and not x < (1 - s.share) * median(around):
            continue
        if agree(r, int(r.row[i]), 1.0 if above else -1.0, 1)[1] == 0:
            found.append(i)
    return found


def pieces(r: Readings, gap: float) -> list[tuple[int, int]]:
    """First and one past the last reading between gaps of at least so many missing rows."""
    cuts = [i for i in range(1, len(r)) if r.row[i] - r.row[i - 1] - 1 >= gap]
    return list(zip([0, *cuts], [*cuts, len(r)], strict=True))


def slow_startup(r: Readings, s: StartupRule) -> list[int]:
    found: list[int] = []
    for first, last in pieces(r, max(s.gap_steps, s.gap_hours * 3600 / r.step)):
        if not r.counted or last - first < 5:
            continue
        longest = min((last - first) // 2, s.readings, r.steps(s.hours))
        after = median(r.value[first + longest : min(last, first + longest + 12)])
        before = median(r.value[max(0, first - 3) : first]) if first else after
        demand = max(s.noises * r.noise, s.share * abs(after))
        far, from_before = r.value[first] - after, r.value[first] - before
        if not abs(far) > demand or (first == 0 and far < 0) or far * from_before <= 0:
            continue
        if not abs(from_before) > demand / 2:
            continue
        off = [(v - after) * np.sign(far) for v in r.value[first : first + longest + 1]]
        count = next((k for k, v in enumerate(off) if v <= demand / 3), 0)
        if any(off[k + 1] - off[k] > demand / 3 for k in range(count - 1)):
            continue
        heard, moved = agree(r, int(r.row[first]), float(np.sign(far)), r.steps(1.0))
        if count and not (heard > 0 and moved * 4 >= heard):
            found += range(first, first + count)
    return found


def slow_stuck(r: Readings, s: StuckRule) -> list[int]:
    fewest, hours = (s.readings, s.hours) if r.counted else (s.process_readings, s.process_hours)
    starts = [i for i in range(len(r)) if i == 0 or r.value[i] != r.value[i - 1]]
    runs = list(zip(starts, [*starts[1:], len(r)], strict=True))
    long_enough = [(a, b) for a, b in runs if b - a >= fewest and (r.row[b - 1] - r.row[a]) * r.step / 3600 >= hours]
    limit = longest_by_chance(np.array([b - a for a, b in runs]), fewest, s)
    found = [(a, b) for a, b in long_enough if b - a > limit]
    if not r.counted and found:
        least = max(3, min(b - a for a, b in found) // 4)
        seen = [r.value[a] for a, b in runs if b - a >= least]
        found = [(a, b) for a, b in found if r.value[a] != 0 and seen.count(r.value[a]) < 3]
    if len(found) >= s.habit_runs and sum(b - a for a, b in found) > s.habit_share * len(r):
        return []
    return [i for a, b in found for i in range(a, b)]


def slow_saturated(r: Readings, s: SaturatedRule) -> list[int]:
    top = max(r.value)
    far = max(s.noises * r.noise, s.resolutions * r.resolution)
    if not r.counted or r.noise == 0 or top - r.level <= far:
        return []
    halfway, found = r.level + (top - r.level) / 10, []
    i = 0
    while i < len(r):
        j = i
        while j < len(r) and r.value[j] == top:
            j += 1
        sides = [r.value[max(i - 1, 0)], r.value[min(j, len(r) - 1)]]
        if j - i >= s.readings and any(halfway < v < top for v in sides):
            found += range(i, j)
        i = max(j, i + 1)
    return found


def slow_neighbour(r: Readings, s: NeighbourRule) -> list[int]:
    if not r.counted or len(r) <= s.readings or len(r.network.others(r.column)) < s.others:
        return []
    demand = max(s.noises * r.noise, 1e-3 * abs(r.level))
    found: list[int] = []
    done, v = 0, r.value
    for i in range(1, len(r)):
        if i <= done or not abs(v[i] - v[i - 1]) > demand or r.flags[i] & Flag.UNIT:
            continue
        old, new = median(v[max(0, i - s.readings) : i]), median(v[i : i + s.readings])
        if not abs(new - old) > max(demand, s.share * min(abs(old), abs(new))):
            continue
        before, after = v[max(0, i - s.readings) : i], v[i : i + max(s.readings, r.steps(s.hours))]
        if len(before) < s.readings // 2 or len(after) < s.readings:
            continue
        old, new = median(before), median(after)
        jump = new - old
        if abs(jump) <= max(s.noises * r.noise, s.share * min(abs(old), abs(new))):
            continue
        flat = max(s.flat * abs(jump), 4 * r.noise)
        spread = max(np.quantile(side, 0.9) - np.quantile(side, 0.1) for side in (before, after))
        if spread > flat or abs(v[i] - new) > 3 * flat:
            continue
        end = next((k for k in range(i, len(r)) if (v[k] - old) / jump < 0.5), len(r))
        heard, moved = agree(r, int(r.row[i]), float(np.sign(v[i] - v[i - 1])), max(2, r.steps(s.reach_hours)))
        if end > i and heard >= s.others and moved == 0:
            found += range(i, end)
            done = end
    return found


CASES: dict[str, tuple[Callable, Callable, list, dict]] = {
    "wrap": (
        wrap,
        slow_wrap,
        [
            WrapRule(factor=3.0, full_factor=2.0, gap_hours=0.5),
            WrapRule(4.0, 3.0, 0.05, 1.0),
            WrapRule(2.0, 1.0, 0.0, 1 / 6),
        ],
        {},
    ),
    "spike": (
        spike,
        slow_spike,
        [
            SpikeRule(noises=2.0, share=1.0, back=0.2, gap_hours=0.4),
            SpikeRule(noises=3.0, share=0.5, slow_minutes=10.0, slow_share=2.0),
            SpikeRule(noises=1.0, share=0.25, slow_share=0.5, back=0.0, gap_hours=2.0),
        ],
        {},
    ),
    "startup": (
        startup,
        slow_startup,
        [
            StartupRule(0.5, 3, 6, 1.0, 2.0, 0.25),
            StartupRule(0.2, 2, 4, 2.0, 3.0, 0.5),
            StartupRule(0.0, 1, 8, 3.0, 0.5, 0.1),
        ],
        {},
    ),
    "saturated": (saturated, slow_saturated, [SaturatedRule(2, 2.0, 0.0), SaturatedRule(3, 10.0, 5.0)], {}),
    "neighbour": (
        neighbour,
        slow_neighbour,
        [NeighbourRule(2, 3.0, 0.5, 6, 1.0, 0.3, 0.5), NeighbourRule(3, 2.0, 1.0, 8, 2.0, 0.2, 0.2)],
        {"columns": 5},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_finds_what_the_slow_one_finds(name: str) -> None:
    rule, slow, choices, shape = CASES[name]
    found = 0
    for seed in range(240):
        columns = walk(seed, **shape) if seed % 2 else walk(seed, columns=4, rows=60)
        for step in (600.0, 1200.0, 3600.0):
            r = readings(columns, step=step, resolution=float(seed % 3))
            if len(r) < 6:
                continue
            for settings in choices:
                expected = slow(r, settings)
                assert rule(r, settings).index.tolist() == expected, (seed, step, settings)
                found += bool(expected)
    assert found > 60


@pytest.mark.parametrize("quantity", ["dose_rate", "generic"])
def test_stuck_finds_what_the_slow_one_finds(quantity: str) -> None:
    rule = StuckRule(5, 0.5, 6, 1.0, 1e-2, 1.5, 4, 3, 0.25)
    found = 0
    for seed in range(150):
        g = np.random.default_rng(seed)
        values = g.integers(0, 4 if seed % 3 else 9, 120).astype(np.float64)
        for _ in range(g.integers(0, 5)):
            at = g.integers(0, 110)
            values[at : at + g.integers(4, 14)] = values[at]
        values[g.random(120) < 0.05] = np.nan
        r = readings(values[:, None], quantity=quantity)
        expected = slow_stuck(r, rule)
        assert stuck(r, rule).index.tolist() == expected, seed
        found += bool(expected)
    assert found > 15


def test_what_neighbours_did_is_what_a_loop_over_them_says() -> None:
    seen = set()
    for seed in range(60):
        columns = walk(seed, rows=40, columns=4)
        r = readings(columns)
        for row in (0, 3, 20, 39):
            for direction in (1.0, -1.0):
                for reach in (1, 4):
                    for sigmas in (2.0, 5.0):
                        said = r.network.agree(0, row, direction, reach, sigmas)
                        assert said == agree(r, row, direction, reach, sigmas)
                        seen.add(said)
    assert len(seen) > 8


def test_levels_noises_and_what_all_do_together_are_those_of_a_loop() -> None:
    for seed in range(30):
        columns = walk(seed, rows=50, columns=5)
        network = readings(columns).network
        there = [[v for v in columns[:, i] if not np.isnan(v)] for i in range(5)]
        levels = [median(values) for values in there]
        np.testing.assert_allclose(network.levels, levels)
        np.testing.assert_allclose(network.noises, [noise_of(columns[:, i]) for i in range(5)])
        shares = [
            median([columns[row, i] / levels[i] - 1 for i in range(5) if not np.isnan(columns[row, i])] or [0.0])
            for row in range(50)
        ]
        common = network.common(2)
        assert common is not None
        np.testing.assert_allclose(common, shares, atol=1e-6)
    three = readings(walk(1, columns=3)).network
    assert three.common(0) is None


def power(level: float, base: float, factor: float) -> int:
    """k of 10^k if level / base is that within a factor; else 0."""
    if level <= 0 or base <= 0:
        return 0
    return next((k for k in (-3, -2, -1, 1, 2, 3) if abs(np.log10(level) - np.log10(base) - k) <= np.log10(factor)), 0)


def slow_unit_jump(r: Readings, s: UnitRule) -> tuple[list[int], str]:
    v, n = r.value, s.readings
    if not r.counted or len(v) < 2 * n:
        return [], ""
    cuts = [0]
    for i in range(n, len(v) - n + 1):
        if len(cuts) > 1 and i - cuts[-1] < n:
            continue
        if not min(v[i - 1], v[i]) > 0 or not abs(v[i] - v[i - 1]) > 0.8 * max(v[i - 1], v[i]):
            continue
        sides = [(median(v[i : i + k]), median(v[max(0, i - k) : i])) for k in (n, 4 * n)]
        if all(power(after, before, 1.5) for after, before in sides):
            cuts.append(i)
    runs = list(zip(cuts, [*cuts[1:], len(v)], strict=True))
    first, last = max(runs, key=lambda run: run[1] - run[0])
    base = median(v[first:last])
    wrong = [(run, k) for run in runs if (k := power(median(v[run[0] : run[1]]), base, 1 + s.tolerance))]
    if wrong:
        found = [i for (a, b), _ in wrong for i in range(a, b)]
        return found, f"× {10.0 ** wrong[0][1]:g} against its own baseline"
    levels = [r.network.levels[i] for i in r.network.others(r.column).tolist()]
    levels = [level for level in levels if level > 0]
    if r.level <= 0 or len(levels) < s.network_tags:
        return [], ""
    middle = median(levels)
    apart = all(max(level / r.level, r.level / level) > s.network_gap for level in levels)
    k = power(r.level, middle, 1 + s.network_tolerance)
    if not apart or not k:
        return [], ""
    return list(range(len(v))), f"median {r.level:.4g}, about × {10.0**k:g} the network's {middle:.4g}"


def test_unit_jump_finds_what_the_slow_one_finds() -> None:
    own = network = 0
    for seed in range(400):
        g = np.random.default_rng(seed)
        columns = 40 + g.integers(-2, 3, (60, 5)).astype(np.float64)
        for _ in range(g.integers(0, 3)):
            at = g.integers(0, 55)
            columns[at : at + g.integers(3, 40), 0] *= g.choice([10.0, 0.1, 100.0, 1000.0, 9.0, 9.6, 11.0])
        if seed % 4 == 0:
            columns[:, 0] *= g.choice([10.0, 0.1, 4.0, 0.25, 20.0, 5.0])
        columns[g.random(columns.shape) < 0.05] = np.nan
        r = readings(columns)
        for settings in (
            UnitRule(6, 0.05),
            UnitRule(4, 0.1, 4, 4.0, 1.0),
            UnitRule(6, 0.05, 5),
            UnitRule(1, 0.01, 1, 1.5, 2.0),
        ):
            found = unit_jump(r, settings)
            expected = slow_unit_jump(r, settings)
            assert (found.index.tolist(), found.note) == expected, (seed, settings)
            own += "baseline" in expected[1]
            network += "network" in expected[1]
    assert own > 30 and network > 10


def slow_swap(r: Readings, s: SwapRule) -> list[int]:
    w, near = s.readings, s.near
    if not r.counted or len(r) < 2 * w + 1 or r.noise == 0:
        return []
    common = r.network.common(r.column)
    v = r.value - (r.level * common[r.row] if common is not None else 0.0)
    middle = median(v)
    reach = 6 * (1.4826 * median(abs(v - middle)) + r.noise)
    v = np.array([min(max(x, middle - reach), middle + reach) for x in v])
    places = range(w, len(v) - w + 1)
    short = {i: sum(v[i : i + near] - v[i - near : i][::-1]) / near for i in places}
    far = {i: sum(v[i : i + w] - v[i - w : i][::-1]) / w for i in places}
    usual = [s.usual * 1.4826 * median(abs(x) for x in d.values()) for d in (short, far)]
    good = []
    for i in places:
        before = sum(v[i - w : i]) / w
        sizes = abs(short[i]), abs(far[i])
        large = sizes[0] > usual[0] and sizes[1] > usual[1] and sizes[1] > s.share * abs(before)
        if large and short[i] * far[i] > 0 and 0.6 * sizes[1] < sizes[0] < 1.7 * sizes[1]:
            good.append(i)
    found = []
    while good:
        best = max(good, key=lambda i: (round(abs(short[i]), 9), -i))
        good = [i for i in good if abs(i - best) >= w]
        direction = float(np.sign(far[best]))
        tried = range(max(4, best - near // 2), min(len(v) - 4, best + near // 2) + 1)
        steps = {i: direction * (sum(v[i : i + 4]) - sum(v[i - 4 : i])) / 4 for i in tried}
        place = max(steps, key=lambda i: (round(steps[i], 9), -i))
        whole = direction * (median(v[best : best + near]) - median(v[best - near : best]))
        if not steps[place] > 0.7 * whole or not differs(v, place, r.noise, s):
            continue
        heard, moved = agree(r, int(r.row[place]), direction, r.steps(1.0))
        if not heard or moved * 3 < heard:
            found.append(place)
    return sorted(set(found))


def differs(v: Values, i: int, noise: float, s: SwapRule) -> bool:
    sides = [v[max(0, i - s.readings) : i], v[i : i + s.readings]]
    lower, upper = sorted(sides, key=median)
    if median(lower) <= 0 or np.quantile(upper, 0.2) <= np.quantile(lower, 0.8):
        return False
    if median(upper) - median(lower) < s.share * median(lower):
        return False
    spread = []
    for side in (v[max(0, i - 4 * s.readings) : i], v[i : i + 4 * s.readings]):
        changes = [min(abs(b - a), 6 * noise) ** 2 for a, b in pairwise(side)]
        spread.append(sum(changes) / len(changes) / median(side))
    return max(spread) > 0 if min(spread) == 0 else max(spread) / min(spread) >= s.variance


def test_swap_finds_what_the_slow_one_finds() -> None:
    hits = 0
    for seed in range(240):
        g = np.random.default_rng(seed)
        columns = 60 + g.integers(-2, 3, (160, 5 if seed % 2 else 1)).astype(np.float64)
        for _ in range(g.integers(1, 4)):
            at = g.integers(20, 140)
            columns[at:, 0] = columns[at:, 0] + g.choice([-12, -6, -3, 4, 9, 15]) + g.integers(-4, 5, 160 - at)
        if seed % 3 == 0:
            columns[g.integers(20, 140) :, -2:] += 9
        columns[g.random(columns.shape) < 0.04] = np.nan
        r = readings(columns)
        for settings in (
            SwapRule(24, 6, 0.04, 1.5, 1.3),
            SwapRule(16, 8, 0.1, 1.0, 2.0),
            SwapRule(40, 4, 0.02, 1.2, 1.1),
        ):
            expected = slow_swap(r, settings)
            assert swap(r, settings).index.tolist() == expected, (seed, settings)
            hits += len(expected)
    assert hits > 30


def test_the_resolution_is_the_step_that_was_put_in() -> None:
    for seed in range(60):
        g = np.random.default_rng(seed)
        step = float(g.choice([0.5, 1.0, 2.0, 10.0, 0.1]))
        values = step * g.integers(40, 60, 400)
        assert resolution_of(values) == pytest.approx(step, rel=1e-6)
        # gaps of two and three steps only: the largest common part is still the step
        assert resolution_of(step * g.choice([40.0, 42.0, 45.0, 49.0], 300)) in (pytest.approx(2 * step), 0.0)
        assert resolution_of(g.normal(size=400)) < 1e-4


def test_a_usual_fall_is_no_startup() -> None:
    # a value that falls by a third each morning, behind a gap as on any other day
    day = np.array([15.0] * 6 + [10.0] * 18)
    values = np.tile(day, 30)
    values[24 * 20 - 5 : 24 * 20] = np.nan
    rule = StartupRule(gap_hours=0.5, gap_steps=3, readings=8, hours=10.0, noises=1.0, share=0.2)
    assert startup(readings(values[:, None], step=3600.0), rule).index.tolist() == []
    # the same start is one where nothing else ever falls
    flat = np.full(24 * 30, 10.0)
    flat[24 * 20 - 5 : 24 * 20], flat[24 * 20 : 24 * 20 + 3] = np.nan, 15.0
    assert startup(readings(flat[:, None], step=3600.0), rule).index.tolist() == [475, 476, 477]


def test_wrap_knows_each_register_and_every_row_of_nines_and_what_lies_just_beside() -> None:
    rule = WrapRule()
    base = np.full(40, 30.0)
    tops = [2.0**15, 2.0**16, 2.0**24, 2.0**31, 2.0**32]
    full = [*tops, *(0.95 * top for top in tops), 9999.0, 99999.0, 999999.0, 9999999.0, 99999999.0]
    beside = [
        10000.0,
        100001.0,
        1000001.0,
        9999998.0,
        100000001.0,
        *(0.9499 * top for top in tops),
        2.0**15 + 2,
        9998.0,
    ]
    for newest, rows in [*((x, [39]) for x in full), *((x, []) for x in beside)]:
        base[-1] = newest
        assert wrap(readings(base[:, None], quantity="counts"), rule).index.tolist() == rows, newest


@pytest.mark.parametrize("name", [name for name in CASES if name != "wrap"])  # a register is full in counts only
def test_a_rule_finds_the_same_in_another_unit(name: str) -> None:
    # in µSv/h all values lie below 1, and a rule that compares with a number of its own would notice
    rule, _, choices, shape = CASES[name]
    found = 0
    for seed in range(40):
        columns = walk(seed, **shape) if seed % 2 else walk(seed, columns=4, rows=60)
        for settings in choices:
            large, small = (readings(columns * scale) for scale in (1.0, 2.0**-10))
            expected = rule(large, settings).index.tolist()
            assert rule(small, settings).index.tolist() == expected, (seed, settings)
            found += bool(expected)
    assert found > 5


def test_swap_and_unit_jump_find_the_same_in_another_unit() -> None:
    for seed in range(60):
        g = np.random.default_rng(seed)
        columns = 60 + g.integers(-2, 3, (160, 5)).astype(np.float64)
        columns[80:, 0] = columns[80:, 0] * g.choice([1.0, 10.0]) + g.choice([9, 15]) + g.integers(-4, 5, 80)
        one, other = readings(columns), readings(columns * 2.0**-12)
        for rule, settings in ((swap, SwapRule(24, 6, 0.04, 1.0, 1.3)), (unit_jump, UnitRule(6, 0.4))):
            assert rule(one, settings).index.tolist() == rule(other, settings).index.tolist()  # type: ignore[operator]


@pytest.mark.parametrize("rows", [11, 12])
def test_unit_jump_needs_its_readings_twice(rows: int) -> None:
    values = np.where(np.arange(rows) < rows - 6, 40.0, 400.0)
    found = unit_jump(readings(values[:, None]), UnitRule(6, 0.05))
    assert found.index.tolist() == ([] if rows == 11 else list(range(6, 12)))


@pytest.mark.parametrize(("rows", "found"), [(24, []), (25, [12])])
def test_swap_needs_its_readings_twice_and_one(rows: int, found: list[int]) -> None:
    values = np.array([20.0, 21.0] * 6 + [40.0, 44.0] * 7)[:rows]
    assert swap(readings(values[:, None]), SwapRule(12, 4, 0.1, 0.0, 1.0)).index.tolist() == found


def test_a_level_of_nothing_is_no_unit_and_no_fault() -> None:
    for values in (np.zeros(40), np.where(np.arange(40) < 20, 0.0, 50.0), np.where(np.arange(40) < 20, -5.0, 50.0)):
        assert unit_jump(readings(values[:, None]), UnitRule()).index.tolist() == []


def test_a_gap_right_behind_the_first_reading_begins_the_next_piece() -> None:
    values = np.array([10.0, *[NAN] * 6, 30.0, 20.0, *[10.0] * 30, 11.0, 10.0])
    rule = StartupRule(0.2, 2, 6, 1.0, 2.0, 0.25)
    r = readings(values[:, None])
    assert startup(r, rule).index.tolist() == slow_startup(r, rule) == [1, 2]


def test_pieces_too_short_to_judge_are_left_alone() -> None:
    values = np.array([30.0, 10.0, 10.0, 11.0, *[NAN] * 5] * 4)
    assert startup(readings(values[:, None]), StartupRule(0.2, 2, 2, 1.0, 1.0, 0.1)).index.tolist() == []


def test_the_first_reading_may_be_a_full_register() -> None:
    values = np.array([65535.0, *[30.0, 31.0] * 10])
    assert wrap(readings(values[:, None]), WrapRule()).index.tolist() == [0]


def test_where_nothing_varies_nothing_is_a_spike_and_no_top_is_saturated() -> None:
    values = np.full(60, 20.0)
    values[30:33] = 90.0
    assert spike(readings(values[:31, None]), SpikeRule()).index.tolist() == []
    assert saturated(readings(values[:, None]), SaturatedRule()).index.tolist() == []


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_spike_that_a_neighbour_shares_is_weather(direction: float) -> None:
    g = np.random.default_rng(3)
    columns = 100 + g.integers(-1, 2, (80, 4)).astype(np.float64)
    columns[40, 0] += direction * 60
    assert spike(readings(columns), SpikeRule(share=0.2)).index.tolist() == [40]
    columns[40:42, 2] += direction * 60
    assert spike(readings(columns), SpikeRule(share=0.2)).index.tolist() == []
    columns[40:42, 2] -= direction * 120
    assert spike(readings(columns), SpikeRule(share=0.2)).index.tolist() == [40]


def test_a_flat_top_is_known_by_what_comes_before_or_behind_it() -> None:
    base = [20.0, 21.0] * 20
    top = [500.0] * 4
    rule = SaturatedRule(3, 5.0, 5.0)
    for values, found in (
        ([*base, 300.0, *top, *base], [41, 42, 43, 44]),
        ([*base, *top, 300.0, *base], [40, 41, 42, 43]),
        ([*base, *top, *base], []),
        ([*top, 300.0, *base], [0, 1, 2, 3]),
        ([*base, 300.0, *top], [41, 42, 43, 44]),
        ([*top, *base], []),
    ):
        assert saturated(readings(np.array(values)[:, None]), rule).index.tolist() == found


def test_noise_is_at_least_half_a_step_of_the_rounding() -> None:
    r = readings(np.full((20, 1), 30.0), resolution=10.0)
    assert r.scatter == 0 and r.noise == 5.0
    assert readings(np.array([[0.0], [30.0]] * 10), resolution=1.0).noise == pytest.approx(1.4826 * 30 / 2**0.5)


@pytest.mark.parametrize("centre", [(50.0, 8.0), (-30.0, 179.9), (60.0, -179.9), (0.0, 0.0)])
def test_the_nearest_eight_stations_bear_witness_wherever_they_lie(centre: tuple[float, float]) -> None:
    g = np.random.default_rng(5)
    places = [centre, *((centre[0] + g.normal(), centre[1] + g.normal()) for _ in range(14))]
    tags = [
        Tag(f"t{i}", "nSv/h", "dose_rate", f"s{i}", (lat, (lon + 180) % 360 - 180))
        for i, (lat, lon) in enumerate(places)
    ]
    network = Network(np.ones((5, 15), np.float32), tags)
    north = [lat - centre[0] for lat, _ in places]
    east = [(lon - centre[1]) * np.cos(np.radians(centre[0])) for _, lon in places]
    order = sorted(range(1, 15), key=lambda i: north[i] ** 2 + east[i] ** 2)
    assert sorted(network.others(0).tolist()) == sorted(order[:8])
