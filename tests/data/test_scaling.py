"""`TagScaler`: what it is fitted on, its formulas, and the way back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.scaling import CountTransform, ScaleKind, ScalingConfig, TagScaler

KINDS = get_args(ScaleKind)
COUNTS = get_args(CountTransform)


def make(values: np.ndarray, quantity: str = "generic") -> StationLog:
    time = pd.date_range("2024-01-01", periods=len(values), freq="h", tz="UTC")
    tags = [Tag(f"t{i}", quantity=quantity) for i in range(values.shape[1])]
    return StationLog(values.astype(np.float32), time, tags)


def counts(rows: int = 200, tags: int = 3, missing: float = 0.1) -> StationLog:
    random = np.random.default_rng(0)
    values = random.poisson([20.0, 200.0, 3000.0][:tags], (rows, tags)).astype(np.float32)
    values[random.random((rows, tags)) < missing] = np.nan
    return make(values, "count_rate")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transform", COUNTS)
def test_only_the_training_rows_are_looked_at(kind: ScaleKind, transform: CountTransform) -> None:
    log = counts()
    changed = log.values.copy()
    changed[120:] = np.random.default_rng(1).uniform(0, 1e6, changed[120:].shape)
    config = ScalingConfig(kind, transform)
    before, after = TagScaler.fit(log, 120, config), TagScaler.fit(make(changed, "count_rate"), 120, config)
    assert before.to_dict() == after.to_dict()
    # one row further it would have mattered
    assert TagScaler.fit(make(changed, "count_rate"), 121, config).to_dict() != before.to_dict()


def location_and_scale(seen: np.ndarray, kind: str) -> tuple[float, float]:
    """The slow form: straight from the definitions."""
    if kind == "standard":
        mean = sum(seen) / len(seen)
        return mean, (sum((v - mean) ** 2 for v in seen) / len(seen)) ** 0.5
    if kind == "minmax":
        return min(seen), max(seen) - min(seen)
    ordered = sorted(seen)
    half = len(ordered) // 2
    median = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    distances = sorted(abs(v - median) for v in seen)
    spread = distances[half] if len(ordered) % 2 else (distances[half - 1] + distances[half]) / 2
    return median, 1.4826 * spread


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transform", COUNTS)
def test_location_and_scale_are_those_of_the_definition(kind: ScaleKind, transform: CountTransform) -> None:
    log = counts()
    scaler = TagScaler.fit(log, 150, ScalingConfig(kind, transform))
    for i in range(3):
        raw = log.values[:150, i].astype(np.float64)
        raw = raw[~np.isnan(raw)]
        rooted = {"none": raw, "sqrt": np.sqrt(raw), "anscombe": 2 * np.sqrt(raw + 3 / 8)}[transform]
        location, scale = location_and_scale(rooted, kind)
        assert float(scaler.location[i]) == pytest.approx(location, rel=1e-5)
        assert float(scaler.scale[i]) == pytest.approx(scale, rel=1e-5)
        # the unit of the metrics is the plain one, whatever the model sees
        assert float(scaler.mean[i]) == pytest.approx(raw.mean(), rel=1e-5)
        assert float(scaler.deviation[i]) == pytest.approx(raw.std(), rel=1e-5)


def test_roots_are_taken_of_count_rates_only() -> None:
    log = counts()
    tags = [replace(log.tags[0], quantity="dose_rate"), *log.tags[1:]]
    scaler = TagScaler.fit(StationLog(log.values.copy(), log.time, tags), 100, ScalingConfig(counts="sqrt"))
    assert scaler.rooted.tolist() == [False, True, True]


def test_a_square_root_makes_counting_noise_alike_at_all_levels() -> None:
    random = np.random.default_rng(0)
    log = make(random.poisson([100.0, 10_000.0], (4000, 2)).astype(np.float32), "count_rate")
    plain = TagScaler.fit(log, 4000).scale
    rooted = TagScaler.fit(log, 4000, ScalingConfig(counts="anscombe")).scale
    assert float(plain[1] / plain[0]) > 8
    torch.testing.assert_close(rooted, torch.ones(2), atol=0.05, rtol=0)


@given(
    values=st.lists(st.integers(0, 100_000), min_size=3, max_size=30),
    kind=st.sampled_from(KINDS),
    transform=st.sampled_from(COUNTS),
)
def test_the_way_there_and_back_ends_where_it_began(
    values: list[int], kind: ScaleKind, transform: CountTransform
) -> None:
    log = make(np.array(values, dtype=np.float32).reshape(-1, 1), "count_rate")
    scaler = TagScaler.fit(log, len(log), ScalingConfig(kind, transform, clip=1e9))
    x = log.tensor().double()
    torch.testing.assert_close(scaler.inverse(scaler(x)), x, rtol=1e-4, atol=1e-3)


def test_double_precision_in_gives_double_precision_out() -> None:
    scaler = TagScaler.fit(counts(), 100)
    x = torch.tensor([[21.123456789, 199.87654321, 3001.2468]], dtype=torch.float64)
    assert scaler(x).dtype == torch.float64
    assert float((scaler.inverse(scaler(x)) - x).abs().max()) < 1e-11
    assert scaler(x.float()).dtype == torch.float32


def test_missing_stays_missing() -> None:
    log = counts()
    assert torch.equal(torch.isnan(TagScaler.fit(log, 100)(log.tensor())), torch.isnan(log.tensor()))


def test_a_constant_tag_keeps_scale_one_and_is_listed() -> None:
    values = np.random.default_rng(0).normal(50, 5, (100, 2))
    values[:80, 0] = 7.25
    for config in (ScalingConfig(kind, transform) for kind in KINDS for transform in COUNTS):
        scaler = TagScaler.fit(make(values, "count_rate"), 80, config)
        assert scaler.constant == ("t0",) and scaler.unobserved == ()
        assert (float(scaler.scale[0]), float(scaler.deviation[0]), float(scaler.mean[0])) == (1.0, 1.0, 7.25)
        assert float(scaler(torch.tensor([8.25, 50.0]))[0]) == 1.0


def test_a_tag_never_observed_in_training_is_listed_and_left_as_it_is() -> None:
    values = np.random.default_rng(0).normal(50, 5, (100, 2))
    values[:80, 1] = np.nan
    scaler = TagScaler.fit(make(values), 80)
    assert scaler.unobserved == ("t1",) and scaler.constant == ()
    assert float(scaler(torch.tensor([50.0, 3.5]))[1]) == 3.5


def test_robust_scaling_falls_back_to_the_deviation_where_most_readings_repeat() -> None:
    values = np.full((100, 1), 10.0)
    values[:20, 0] = np.linspace(0, 5, 20)
    scaler = TagScaler.fit(make(values), 100, ScalingConfig("robust"))
    assert float(scaler.scale[0]) == pytest.approx(values.std(), rel=1e-5)


def test_robust_scaling_does_not_mind_an_outlier() -> None:
    values = np.random.default_rng(0).normal(100, 5, (200, 1))
    spoiled = values.copy()
    spoiled[7] = 1e6
    clean, with_outlier = (TagScaler.fit(make(v), 200, ScalingConfig("robust")) for v in (values, spoiled))
    assert float(with_outlier.scale[0]) == pytest.approx(float(clean.scale[0]), rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_count_rates_that_are_all_below_zero_give_finite_numbers(kind: ScaleKind) -> None:
    """A square root of nothing but negative readings is constant, though the readings are not."""
    values = np.linspace(-5.0, -1.0, 50).reshape(-1, 1)
    scaler = TagScaler.fit(make(values, "count_rate"), 50, ScalingConfig(kind, "sqrt"))
    assert bool(torch.isfinite(scaler(torch.tensor([[-3.0], [0.0], [4.0]]))).all())


@pytest.mark.parametrize("clip", [5.0, 20.0])
def test_values_are_clipped_on_both_sides_and_both_ways(clip: float) -> None:
    log = counts()
    scaler = TagScaler.fit(log, 100, ScalingConfig(clip=clip))
    far = torch.tensor([[-1e9] * 3, [1e9] * 3])
    expected = torch.tensor([[-clip] * 3, [clip] * 3])
    assert torch.equal(scaler(far), expected)
    assert torch.equal(scaler.to_deviations(far), expected)
    torch.testing.assert_close(scaler.inverse(10 * expected), scaler.inverse(expected))


def test_the_dimension_of_the_tags_can_be_named() -> None:
    scaler = TagScaler.fit(counts(), 100, ScalingConfig(counts="sqrt"))
    z = torch.randn(4, 3, 2, 5)
    expected = torch.stack([scaler.inverse(z[:, :, :, k].transpose(1, 2)) for k in range(5)], dim=-1).transpose(1, 2)
    torch.testing.assert_close(scaler.inverse(z, tag_dim=1), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transform", COUNTS)
def test_a_scaler_survives_json_to_the_last_bit(kind: ScaleKind, transform: CountTransform) -> None:
    values = counts().values.copy()
    values[:, 1] = np.nan
    values[:, 2] = 5.0
    scaler = TagScaler.fit(make(values, "count_rate"), 100, ScalingConfig(kind, transform, clip=12.5))
    again = TagScaler.from_dict(json.loads(json.dumps(scaler.to_dict(), allow_nan=False)))
    assert again.config == scaler.config
    assert (again.constant, again.unobserved) == (("t2",), ("t1",))
    for name, buffer in scaler.state_dict().items():
        assert torch.equal(buffer, again.state_dict()[name]) and buffer.dtype == again.state_dict()[name].dtype
