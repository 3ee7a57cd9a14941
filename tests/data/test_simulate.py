"""The simulated ring does what docs/simulator.md says, and its truth is true."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.simulate import RingConfig, Simulation, direction_from, simulate_ring
from attentionmixer.data.simulation import background, network
from attentionmixer.data.simulation.config import generators
from attentionmixer.data.simulation.weather import prevailing_unit
from attentionmixer.errors import ConfigError

# every mechanism off; a test switches on the one it looks at
QUIET = RingConfig(
    washout_nsvh=0,
    airmass_nsvh=0,
    radon_swing_low=0,
    radon_swing_high=0,
    pressure_effect_per_kpa=0,
    plumes_per_30_days=0,
    noise=False,
    faults=False,
    missing_rate=0,
)


@pytest.fixture(scope="module")
def ring() -> Simulation:
    return simulate_ring()


@pytest.fixture(scope="module")
def noise_free() -> Simulation:
    return simulate_ring(noise=False, missing_rate=0, spikes_per_post_year=20)


def doses(simulation: Simulation) -> np.ndarray:
    return simulation.log.values[:, : simulation.config.posts].astype(np.float64)


def series(simulation: Simulation, name: str) -> np.ndarray:
    return simulation.log.values[:, simulation.log.names.index(name)].astype(np.float64)


def rows(simulation: Simulation, start: pd.Timestamp, end: pd.Timestamp) -> slice:
    first, last = simulation.log.time.searchsorted([start, end])
    return slice(int(first), int(last))


def routes(simulation: Simulation, mechanism: str) -> list:
    return [route for route in simulation.truth.routes if route.mechanism == mechanism]


# --- seeds -----------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(ring):
    again = simulate_ring()
    assert ring.log.values.tobytes() == again.log.values.tobytes()
    assert ring.truth.clean.tobytes() == again.truth.clean.tobytes()
    assert ring.truth.to_dict() == again.truth.to_dict()
    other = simulate_ring(seed=1)
    assert not np.allclose(ring.truth.clean, other.truth.clean)


def test_the_global_random_state_is_neither_read_nor_moved():
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    first = simulate_ring(days=3)
    assert np.array_equal(before, np.random.get_state()[1])
    np.random.seed(4)
    assert np.array_equal(first.log.values, simulate_ring(days=3).log.values, equal_nan=True)


def test_switching_faults_off_changes_only_the_cells_of_recorded_faults(ring):
    sound = simulate_ring(faults=False)
    assert not sound.truth.faults
    assert np.array_equal(ring.truth.clean, sound.truth.clean)
    differs = ~np.isclose(ring.log.values, sound.log.values, equal_nan=True)
    allowed = np.zeros_like(differs)
    for fault in ring.truth.faults:
        allowed[rows(ring, fault.start, fault.end), ring.log.names.index(fault.tag)] = True
    assert differs.any()
    assert not (differs & ~allowed).any()


def test_switching_plumes_off_leaves_the_other_parts_as_they_were(ring):
    without = simulate_ring(plumes_per_30_days=0)
    assert without.truth.parts["plume"].max() == 0
    assert ring.truth.parts["plume"].max() > 0
    for part in ("terrestrial", "cosmic", "radon", "washout", "airmass"):
        assert np.array_equal(ring.truth.parts[part], without.truth.parts[part])


def test_the_rate_of_one_fault_does_not_move_another():
    few, many = (simulate_ring(spikes_per_post_year=rate) for rate in (0, 50))
    outages = [[f for f in s.truth.faults if f.kind == "dropout"] for s in (few, many)]
    assert outages[0]
    assert outages[0] == outages[1]


# --- the log ---------------------------------------------------------------------------------------------------------


def test_the_log_has_one_dose_rate_a_post_and_the_weather_beside_it(ring):
    assert ring.log.shape == (60 * 144, 16 + 6)
    assert ring.log.step == pd.Timedelta("10min")
    assert str(ring.log.time[0]) == "2023-01-01 00:00:00+00:00"
    posts, weather = ring.log.tags[:16], ring.log.tags[16:]
    assert [tag.name for tag in posts[:2]] == ["P01 dose rate", "P02 dose rate"]
    for tag in posts:
        assert (tag.unit, tag.quantity, tag.role, tag.resample) == ("nSv/h", "dose_rate", "target", "mean")
        assert tag.station == tag.name[:3]
    assert len({tag.coordinates for tag in posts}) == 16
    assert {tag.quantity: tag.unit for tag in weather} == {
        "rain": "mm",
        "wind_speed": "m/s",
        "wind_u": "m/s",
        "wind_v": "m/s",
        "pressure": "hPa",
        "temperature": "degC",
    }
    assert {tag.role for tag in weather} == {"input"}
    assert [tag.resample for tag in weather] == ["sum", "mean", "mean", "mean", "mean", "mean"]


def test_weather_can_be_declared_known_ahead():
    log = simulate_ring(days=2, weather_role="known").log
    assert {tag.role for tag in log.tags if tag.quantity != "dose_rate"} == {"known"}


def test_the_quality_record_counts_every_missing_cell(ring):
    assert sum(ring.log.quality.masked.values()) == np.isnan(ring.log.values).sum() > 0
    assert ring.log.quality.rows_in == len(ring.log)
    assert "not measured" in ring.log.quality.decisions[0]


def test_posts_stand_on_two_rings_round_the_plant(ring):
    config = ring.config
    latitude, longitude = np.array([tag.coordinates for tag in ring.log.tags[:16]]).T
    north = (latitude - config.latitude_deg) * 111.2
    east = (longitude - config.longitude_deg) * 111.2 * np.cos(np.radians(config.latitude_deg))
    distance = np.hypot(east, north)
    assert ((distance[:5] > 1.0) & (distance[:5] < 1.4)).all()
    assert ((distance[5:] > 6.4) & (distance[5:] < 7.6)).all()


@pytest.mark.parametrize(
    "size",
    [{"posts": 2}, {"posts": 3, "step_minutes": 60}, {"posts": 40, "step_minutes": 1, "days": 0.5}, {"days": 0.02}],
)
def test_other_sizes_and_steps_work_too(size):
    simulation = simulate_ring(**{"days": 2, **size})
    assert simulation.log.shape == (simulation.config.steps, simulation.config.posts + 6)
    assert simulation.truth.clean.shape == simulation.log.shape
    assert np.isfinite(simulation.truth.clean).all()


def test_the_share_of_lost_readings_is_the_configured_one():
    lost = np.isnan(simulate_ring(faults=False, missing_rate=0.03).log.values)
    assert lost.mean() == pytest.approx(0.03, abs=0.002)
    assert lost.mean(axis=0).min() > 0.02  # no tag is spared
    assert not np.isnan(simulate_ring(QUIET, days=5).log.values).any()


# --- one mechanism at a time -----------------------------------------------------------------------------------------


def test_the_parts_add_up_to_the_clean_dose_rate(ring):
    total = np.sum(list(ring.truth.parts.values()), axis=0)
    assert np.allclose(total, ring.truth.clean[:, :16], atol=1e-3)
    assert (ring.truth.clean[:, :16].mean(axis=0) > 45).all()
    assert (ring.truth.clean[:, :16].mean(axis=0) < 210).all()


def test_fourteen_millimetres_in_fifteen_minutes_raise_the_dose_rate_by_ninety():
    config = RingConfig(step_minutes=1)
    deposit = np.zeros((240, 1))
    deposit[:15] = (14 / 0.25) ** config.rain_exponent
    dose = background.decay_on_ground(config, deposit)[:, 0]
    assert dose[14] == pytest.approx(90, abs=3)  # mean of the last minute of rain


@pytest.mark.parametrize("step_minutes", [1, 10, 60])
def test_washout_agrees_with_the_decay_chain_solved_in_small_steps(step_minutes):
    config = RingConfig(step_minutes=step_minutes)
    deposit = np.random.default_rng(0).random((12, 1))
    fast = background.decay_on_ground(config, deposit)[:, 0]
    # the obvious way: both nuclides followed second by second from their activities in the rain
    lead, bismuth = np.log(2) / 26.8, np.log(2) / 19.9
    rain_lead, rain_bismuth, dt = 1.0, 1.0, 1 / 60
    for _ in range(30 * 60):
        rain_lead, rain_bismuth = (
            rain_lead - lead * rain_lead * dt,
            rain_bismuth + bismuth * (rain_lead - rain_bismuth) * dt,
        )
    ground_lead = ground_bismuth = 0.0
    slow = []
    for amount in deposit[:, 0]:
        total = 0.0
        for _ in range(step_minutes * 60):
            total += (0.24 * ground_lead + 1.47 * ground_bismuth) / 2
            new_lead = ground_lead + (rain_lead * amount - lead * ground_lead) * dt
            ground_bismuth += (rain_bismuth * amount + bismuth * (ground_lead - ground_bismuth)) * dt
            ground_lead = new_lead
            total += (0.24 * ground_lead + 1.47 * ground_bismuth) / 2
        slow.append(total / (step_minutes * 60))
    assert np.allclose(fast / fast[-1], np.array(slow) / slow[-1], rtol=0.005)


def test_after_rain_the_dose_rate_falls_with_a_half_life_of_about_thirty_minutes():
    simulation = simulate_ring(replace(QUIET, washout_nsvh=90, days=120))
    excess = doses(simulation) - simulation.truth.parts["terrestrial"] - simulation.truth.parts["cosmic"]
    rains = [event for event in simulation.truth.events if event.kind == "rain"]
    half_lives = []
    for rain, following in pairwise(rains):
        # half an hour after the end, when the front has passed every post, and long before the next rain
        first = rows(simulation, rain.end, rain.end).start + 3
        if following.start - rain.end > pd.Timedelta(hours=4) and excess[first].min() > 2:
            fallen = np.log2(excess[first] / excess[first + 12])
            half_lives.extend(120 / fallen)
    assert len(half_lives) > 100
    assert np.median(half_lives) == pytest.approx(31.5, abs=3.5)


def test_rain_reaches_posts_within_a_quarter_of_an_hour_and_upwind_posts_first(ring):
    lags = np.array([route.lag_minutes for route in routes(ring, "rain washout")])
    assert len(lags) == 16
    assert lags.min() == 0
    assert lags.max() < 15
    places = network.lay_out(ring.config, generators(ring.config.seed)["layout"])
    along = places @ np.array(prevailing_unit(ring.config))
    assert (np.argsort(along) == np.argsort(lags)).all()


def test_the_cosmic_part_loses_one_and_a_half_percent_per_kilopascal():
    simulation = simulate_ring(replace(QUIET, pressure_effect_per_kpa=0.015))
    kpa = (series(simulation, "pressure") - 1013.25) / 10
    for dose, terrestrial in zip(doses(simulation).T, simulation.truth.parts["terrestrial"][0], strict=True):
        slope, level = np.polyfit(kpa, dose, 1)
        cosmic = level - terrestrial
        assert slope / cosmic == pytest.approx(-0.015, rel=0.02)


def test_radon_rises_at_night_by_the_configured_share_and_falls_with_wind():
    simulation = simulate_ring(replace(QUIET, radon_swing_low=0.02, radon_swing_high=0.14, days=90, start="2023-05-01"))
    radon = simulation.truth.parts["radon"]
    level = doses(simulation).mean(axis=0)
    share = np.percentile(radon, 99, axis=0) / level
    assert (share > 0.01).all()
    assert (share < 0.16).all()
    assert share.max() / share.min() > 1.5
    hour = np.asarray(simulation.log.time.hour)
    by_hour = [radon[hour == h].mean() for h in range(24)]
    assert 2 <= int(np.argmax(by_hour)) <= 7
    assert 12 <= int(np.argmin(by_hour)) <= 20
    nightly = radon[hour == 5].mean(axis=1)
    assert np.corrcoef(nightly, series(simulation, "wind speed")[hour == 5])[0, 1] < -0.2


def test_counts_are_poisson():
    simulation = simulate_ring(replace(QUIET, noise=True))
    counts = doses(simulation) * 10 / 1000 * 600
    assert np.allclose(counts, np.round(counts), atol=1e-3)
    dispersion = counts.var(axis=0, ddof=1) / counts.mean(axis=0)
    assert dispersion.mean() == pytest.approx(1, abs=0.02)
    assert counts.mean(axis=0) / 6 == pytest.approx(simulation.truth.clean[0, :16], rel=0.005)


def test_a_more_sensitive_counter_is_less_noisy():
    plain, large = (simulate_ring(replace(QUIET, noise=True, counts_per_s_per_usvh=n)) for n in (10, 1000))
    ratio = doses(plain).std(axis=0) / doses(large).std(axis=0)
    assert ratio == pytest.approx(np.full(16, 10.0), rel=0.05)


def test_readings_can_be_rounded_and_slowed():
    rounded = doses(simulate_ring(rounding_nsvh=10, days=5, faults=False, missing_rate=0))
    assert (rounded % 10 == 0).all()
    config = replace(QUIET, plumes_per_30_days=20, days=30)
    fast, slow = simulate_ring(config), simulate_ring(config, response_minutes=30)
    assert np.array_equal(fast.truth.clean, slow.truth.clean)
    assert doses(slow).max() < 0.95 * doses(fast).max()


def test_a_plume_reaches_downwind_posts_in_order_and_no_upwind_post():
    simulation = simulate_ring(replace(QUIET, plumes_per_30_days=30, wind_spread_m_s=0.5, days=60))
    places = network.lay_out(simulation.config, generators(simulation.config.seed)["layout"])
    along = dict(zip(simulation.truth.posts, places @ np.array(prevailing_unit(simulation.config)), strict=True))
    plumes = [event for event in simulation.truth.events if event.kind == "plume"]
    assert len(plumes) > 20
    compared = 0
    for event in plumes:
        assert event.arrivals
        assert [a.start for a in event.arrivals] == sorted(a.start for a in event.arrivals)
        for arrival in event.arrivals:
            assert along[arrival.tag] > -1
            assert arrival.start >= event.start
            dose = simulation.truth.parts["plume"][:, simulation.truth.posts.index(arrival.tag)]
            assert dose[rows(simulation, arrival.start, arrival.end)].max() >= arrival.peak_nsvh * 0.999
        for near in event.arrivals:
            for far in event.arrivals:
                if along[far.tag] - along[near.tag] > 3:
                    compared += 1
                    assert near.start < far.start
    assert compared > 20


def test_a_plume_rises_within_twenty_minutes_to_two_hours():
    simulation = simulate_ring(replace(QUIET, plumes_per_30_days=30, days=60))
    rises = []
    for event in simulation.truth.events:
        for arrival in event.arrivals if event.kind == "plume" else ():
            if arrival.peak_nsvh > 10:
                part = rows(simulation, arrival.start, arrival.end)
                dose = simulation.truth.parts["plume"][part, simulation.truth.posts.index(arrival.tag)]
                rises.append((dose.argmax() + 1) * 10)
    assert len(rises) > 20
    assert 20 <= np.median(rises) <= 120
    assert np.percentile(rises, 95) <= 150


def test_rain_is_intermittent_and_comes_with_low_pressure():
    simulation = simulate_ring(days=365, posts=2, faults=False, missing_rate=0)
    rain, pressure = series(simulation, "rain"), series(simulation, "pressure")
    assert 0.03 < (rain > 0).mean() < 0.12
    assert 300 < rain.sum() < 1200
    assert pressure[rain > 0].mean() < pressure[rain == 0].mean() - 3
    recorded = np.zeros(len(rain), dtype=bool)
    for event in simulation.truth.events:
        if event.kind == "rain":
            part = rows(simulation, event.start, event.end)
            recorded[part] = True
            assert event.rain_mm == pytest.approx(rain[part].sum(), rel=1e-4)
    assert (recorded == (rain > 0)).all()


def test_the_wind_comes_mostly_from_where_it_should(ring):
    wind_u, wind_v = np.nanmean(series(ring, "wind u")), np.nanmean(series(ring, "wind v"))
    assert direction_from(wind_u, wind_v) == pytest.approx(245, abs=12)
    assert np.nanmean(series(ring, "wind speed")) == pytest.approx(3.7, abs=0.5)
    assert direction_from(np.array([0.0, -1.0, 0.0, 1.0]), np.array([-1.0, 0.0, 1.0, 0.0])) == pytest.approx(
        [0, 90, 180, 270]
    )


# --- faults ----------------------------------------------------------------------------------------------------------


def test_without_noise_the_log_differs_from_the_truth_exactly_where_faults_are_recorded(noise_free):
    values, clean = noise_free.log.values, noise_free.truth.clean
    differs = ~np.isclose(values, clean, rtol=1e-5)
    recorded = np.zeros_like(differs)
    for fault in noise_free.truth.faults:
        cells = rows(noise_free, fault.start, fault.end), noise_free.log.names.index(fault.tag)
        assert not recorded[cells].any()  # faults of one post never overlap
        recorded[cells] = True
        assert differs[cells].any()
    assert not (differs & ~recorded).any()
    assert {fault.kind for fault in noise_free.truth.faults} == {
        "stuck",
        "spike",
        "step",
        "source_check",
        "dropout",
        "start_up",
    }


def test_each_kind_of_fault_looks_like_its_name(noise_free):
    values, clean = noise_free.log.values, noise_free.truth.clean
    for fault in noise_free.truth.faults:
        cells = rows(noise_free, fault.start, fault.end), noise_free.log.names.index(fault.tag)
        seen, true = values[cells], clean[cells]
        if fault.kind == "stuck":
            assert (seen == np.float32(fault.size)).all()
            assert len(seen) >= 12
        elif fault.kind == "dropout":
            assert np.isnan(seen).all()
        elif fault.kind == "step":
            assert seen / true == pytest.approx(np.full(len(seen), fault.size), rel=1e-4)
        elif fault.kind == "start_up":
            assert seen[0] / true[0] == pytest.approx(fault.size, rel=1e-4)
            assert (np.diff(seen / true) < 0).all()
        else:
            assert seen - true == pytest.approx(np.full(len(seen), fault.size), rel=1e-3)
            assert len(seen) == 1 or fault.kind == "source_check"


# --- routes ----------------------------------------------------------------------------------------------------------


def test_every_weather_mechanism_that_is_on_acts_on_every_post_with_its_sign():
    settings = {
        "rain washout": ("rain", {"washout_nsvh": 90}, 1),
        "pressure": ("pressure", {"pressure_effect_per_kpa": 0.015}, -1),
        "radon by cooling": ("temperature", {"radon_swing_low": 0.02, "radon_swing_high": 0.14}, -1),
        "radon by ventilation": ("wind speed", {"radon_swing_low": 0.02, "radon_swing_high": 0.14}, -1),
    }
    assert not simulate_ring(QUIET).truth.routes
    for mechanism, (source, setting, sign) in settings.items():
        simulation = simulate_ring(replace(QUIET, **setting))
        found = routes(simulation, mechanism)
        assert [route.target for route in found] == list(simulation.truth.posts)
        assert {(route.source, route.sign) for route in found} == {(source, sign)}
        cause = series(simulation, source)
        for dose in doses(simulation).T:
            assert np.sign(np.corrcoef(cause[:-1], dose[1:])[0, 1]) == sign


def lagged_correlations(x: np.ndarray, y: np.ndarray, longest: int) -> np.ndarray:
    return np.array([np.corrcoef(x[:-lag], y[lag:])[0, 1] for lag in range(1, longest + 1)])


def test_true_post_to_post_routes_show_in_lagged_correlation_in_their_direction_and_at_their_lag():
    simulation = simulate_ring(replace(QUIET, airmass_nsvh=3, days=180))
    dose = doses(simulation)
    keep = np.exp(-10 / simulation.config.airmass_minutes)
    fresh = dose[1:] - keep * dose[:-1]  # what is new in each step
    carried = routes(simulation, "radon carried by wind")
    assert len(carried) > 12
    at = {name: i for i, name in enumerate(simulation.truth.posts)}
    right_lag = 0
    for route in carried:
        forward = lagged_correlations(fresh[:, at[route.source]], fresh[:, at[route.target]], 9)
        backward = lagged_correlations(fresh[:, at[route.target]], fresh[:, at[route.source]], 9)
        assert forward.max() > 6 / np.sqrt(len(fresh))
        assert forward.max() > backward.max()
        right_lag += abs((forward.argmax() + 1) * 10 - route.lag_minutes) <= 10
    assert right_lag >= 0.9 * len(carried)


def test_pairs_that_are_false_carry_nothing_beyond_what_the_true_routes_bring():
    # regression on the past of all posts: true pairs must stand out from false ones
    simulation = simulate_ring(replace(QUIET, airmass_nsvh=3, days=180))
    dose = doses(simulation) - doses(simulation).mean(axis=0)
    longest, posts = 6, simulation.config.posts
    past = np.concatenate([dose[longest - k : len(dose) - k] for k in range(1, longest + 1)], axis=1)
    weights = np.linalg.lstsq(past, dose[longest:], rcond=None)[0].reshape(longest, posts, posts)
    size = np.sqrt((weights**2).sum(axis=0)).T  # [to, from]
    names = simulation.truth.posts
    true = simulation.truth.adjacency(names)
    false = simulation.truth.scored(names) & ~true
    assert false.sum() > 100
    assert np.median(size[true]) > 5 * np.median(size[false])
    assert (size[true].min() > size[false]).mean() > 0.9


def test_true_routes_run_with_the_prevailing_wind_between_direct_neighbours(ring):
    places = network.lay_out(ring.config, generators(ring.config.seed)["layout"])
    wind = np.array(prevailing_unit(ring.config))
    at = {name: i for i, name in enumerate(ring.truth.posts)}
    for route in routes(ring, "radon carried by wind"):
        start, end = places[at[route.source]], places[at[route.target]]
        assert (end - start) @ wind > 0
        middle, radius = (start + end) / 2, np.hypot(*(end - start)) / 2
        others = [i for name, i in at.items() if name not in (route.source, route.target)]
        assert (np.hypot(*(places[others] - middle).T) >= radius).all()
        assert route.carried_nsvh >= 0.2 * ring.config.airmass_nsvh


def test_turning_the_wind_round_turns_the_routes_round():
    config = replace(QUIET, airmass_nsvh=3)
    west, east = simulate_ring(config), simulate_ring(config, prevailing_from_deg=65)
    pairs = {(route.source, route.target) for route in west.truth.routes}
    turned = {(route.target, route.source) for route in east.truth.routes}
    assert len(pairs & turned) > 0.6 * len(pairs)
    assert not pairs & {(route.source, route.target) for route in east.truth.routes}


def test_adjacency_is_to_by_from_in_the_order_asked_for(ring):
    truth = ring.truth
    matrix = truth.adjacency()
    assert matrix.shape == (22, 22)
    assert matrix.dtype == bool
    assert matrix.sum() == len(truth.routes)
    for route in truth.routes:
        assert matrix[truth.names.index(route.target), truth.names.index(route.source)]
    order = list(reversed(truth.names))
    assert np.array_equal(truth.adjacency(order), matrix[::-1, ::-1])
    some = ["rain", "P03 dose rate"]
    assert truth.adjacency(some).tolist() == [[False, False], [True, False]]
    only_rain = truth.adjacency(mechanisms=["rain washout"])
    assert only_rain.sum() == 16
    assert only_rain[:, truth.names.index("rain")].sum() == 16


def test_scored_pairs_leave_out_weather_targets_self_routes_and_the_undecided(ring):
    truth = ring.truth
    scored, true = truth.scored(), truth.adjacency()
    assert not scored[16:].any()
    assert not np.diag(scored).any()
    assert not (true & ~scored).any()
    for route in truth.undecided:
        assert not scored[truth.names.index(route.target), truth.names.index(route.source)]
    assert not scored[:, truth.names.index("wind u")].any()
    assert 0.05 < true[:16, :16][scored[:16, :16]].mean() < 0.25


def test_the_truth_is_plain_json_and_cannot_be_written_to(ring):
    data = json.loads(json.dumps(ring.truth.to_dict()))
    assert len(data["routes"]) == len(ring.truth.routes)
    assert data["events"][0]["start"].endswith("+00:00")
    assert RingConfig(**json.loads(json.dumps(ring.config.to_dict()))) == ring.config
    with pytest.raises(ValueError, match="read-only"):
        ring.truth.clean[0, 0] = 1


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"post": 5}, "did you mean 'posts'"),
        ({"colour": 5}, "no setting 'colour'"),
        ({"posts": 1}, "posts = 1"),
        ({"posts": 2.5}, "posts = 2.5: it must be a whole number"),
        ({"step_minutes": 0}, "step_minutes = 0"),
        ({"days": 0.001}, "use more days"),
        ({"days": float("nan")}, "days = nan"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": 1.5}, "seed = 1.5"),
        ({"start": "soon"}, "start = 'soon'"),
        ({"start": "NaT"}, "is not a date"),
        ({"missing_rate": 1.0}, "missing_rate = 1.0"),
        ({"wind_speed_m_s": 0}, "wind_speed_m_s = 0"),
        ({"plumes_per_30_days": -1}, "plumes_per_30_days = -1"),
        ({"fence_radius_km": 9}, "fence_radius_km"),
        ({"radon_swing_low": 0.2}, "radon_swing_low"),
        ({"weather_role": "target"}, "weather_role = 'target'"),
        ({"days": "sixty"}, "days = 'sixty'"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(bad, says):
    with pytest.raises(ConfigError, match=says):
        simulate_ring(**bad)


def test_an_unknown_tag_or_mechanism_is_refused(ring):
    with pytest.raises(ConfigError, match="no tag 'P99'"):
        ring.truth.adjacency(["P99"])
    with pytest.raises(ConfigError, match="'magic'"):
        ring.truth.adjacency(mechanisms=["magic"])
    with pytest.raises(ConfigError, match="repeat"):
        ring.truth.scored(["rain", "rain"])
