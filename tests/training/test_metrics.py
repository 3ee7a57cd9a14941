"""Errors as sums and counts; losses; checkpoints; the allow-list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attentionmixer.data.log import Tag
from attentionmixer.data.scaling import ScalingConfig, TagScaler
from attentionmixer.errors import ConfigError, RunError
from attentionmixer.training.allowed import instantiate_callback
from attentionmixer.training.checkpoint import read_tree, write_tree
from attentionmixer.training.losses import forecast_loss, huber, pinball
from attentionmixer.training.metrics import ForecastErrors

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def scaler() -> TagScaler:
    made = TagScaler(ScalingConfig(), 3)
    made.mean.copy_(torch.tensor([100.0, 50.0, 10.0]))
    made.deviation.copy_(torch.tensor([5.0, 2.0, 1.0]))
    made.location.copy_(made.mean)
    made.scale.copy_(made.deviation)
    return made


def sample() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    point = torch.randn(130, 2, 3)
    spread = torch.tensor([-1.6, -1.3, -0.7, 0.0, 0.7, 1.3, 1.6])
    output = torch.cat([point[..., None], point[..., None] + spread], dim=-1)
    observed = scaler().inverse(torch.randn(130, 2, 3))
    mask = torch.rand(130, 2, 3) > 0.2
    observed[~mask] = torch.nan
    observed[3, 1, 2] = 1e9
    mask[3, 1, 2] = True
    return output, observed, mask


def measured(size: int) -> ForecastErrors:
    errors = ForecastErrors(scaler(), 2, LEVELS)
    for parts in zip(*(t.split(size) for t in sample()), strict=True):
        errors.update(*parts)
    return errors


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_errors_do_not_depend_on_the_batch_size_and_equal_the_plain_sum(size: int) -> None:
    output, observed, mask = (t.double().numpy() for t in sample())
    mask = mask.astype(bool)
    mean, deviation = np.array([100.0, 50.0, 10.0]), np.array([5.0, 2.0, 1.0])
    z = np.clip((observed - mean) / deviation, -20, 20)
    error = (np.clip(output[..., 0], -20, 20) - z)[mask]
    result = measured(size).compute()
    assert result["mse"] == pytest.approx(float((error**2).mean()), abs=1e-6)
    assert result["mae"] == pytest.approx(float(np.abs(error).mean()), abs=1e-6)
    assert (result["windows"], result["observed_values"]) == (130, int(mask.sum()))
    real = (observed - mean) / deviation
    inside = ((real >= output[..., 1]) & (real <= output[..., 7]))[mask].mean()
    assert result["coverage"]["0.9"] == pytest.approx(float(inside), abs=1e-6)
    first = np.abs((output[:, 0, 0, 0] * 5 + 100) - observed[:, 0, 0])[mask[:, 0, 0]].mean()
    tags = tuple(Tag(name) for name in "abc")
    assert measured(size).per_tag(tags)["a"]["mae_by_horizon"][0] == pytest.approx(float(first), rel=1e-6)


def test_nothing_observed_gives_no_number() -> None:
    errors = ForecastErrors(scaler(), 2, LEVELS)
    errors.update(torch.zeros(4, 2, 3, 8), torch.full((4, 2, 3), torch.nan), torch.zeros(4, 2, 3, dtype=torch.bool))
    assert errors.compute()["mse"] is None
    assert errors.compute()["coverage"]["0.9"] is None


def test_losses_equal_their_formulas_and_ignore_what_is_missing() -> None:
    torch.manual_seed(0)
    target, mask = torch.randn(4, 2, 3), torch.rand(4, 2, 3) > 0.4
    output = torch.randn(4, 2, 3, 3)
    levels = torch.tensor([0.1, 0.9])
    h, p, n = 0.0, 0.0, 0
    for index in mask.nonzero().tolist():
        b, s, t = index
        e = float(target[b, s, t] - output[b, s, t, 0])
        h += 0.5 * e * e if abs(e) <= 0.5 else 0.5 * (abs(e) - 0.25)
        for k, level in enumerate((0.1, 0.9)):
            q = float(target[b, s, t] - output[b, s, t, 1 + k])
            p += max(level * q, (level - 1) * q) / 2
        n += 1
    assert float(huber(output[..., 0], target, mask, 0.5)) == pytest.approx(h / n, rel=1e-4)
    assert float(pinball(output[..., 1:], target, mask, levels)) == pytest.approx(p / n, rel=1e-4)
    assert float(forecast_loss(output, target, mask, levels, 0.5)) == pytest.approx((h + p) / n, rel=1e-4)


def test_the_pinball_loss_is_smallest_at_the_quantile() -> None:
    y = torch.linspace(0, 1, 1001).view(-1, 1, 1)
    mask = torch.ones_like(y, dtype=torch.bool)
    losses = [float(pinball(torch.full((1001, 1, 1, 1), q), y, mask, torch.tensor([0.8]))) for q in (0.7, 0.8, 0.9)]
    assert losses[1] == min(losses)


def test_a_checkpoint_keeps_nested_structures(tmp_path: Path) -> None:
    shared = torch.randn(3)
    tree: dict[str, Any] = {
        "state": {0: {"step": torch.tensor(3.0), "avg": shared}, 1: {"avg": shared}},
        "betas": (0.9, 0.999),
        "list": [1, None, True, "a", 2.5],
        "empty": {},
    }
    write_tree(tree, tmp_path / "c.safetensors")
    again = read_tree(tmp_path / "c.safetensors")
    assert torch.equal(again["state"][1]["avg"], shared)
    assert (again["betas"], again["list"], again["empty"]) == (tree["betas"], tree["list"], {})


def test_a_checkpoint_refuses_what_only_code_could_bring_back(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="Path"):
        write_tree({"where": tmp_path}, tmp_path / "c.safetensors")


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 a zip", b"\x80\x04\x95 a pickle"])
def test_a_damaged_checkpoint_is_an_error_of_the_run(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "c.safetensors").write_bytes(damage)
    with pytest.raises(RunError, match="cannot be read"):
        read_tree(tmp_path / "c.safetensors")


def test_only_listed_classes_are_made() -> None:
    made = instantiate_callback({"class_path": "lightning.pytorch.callbacks.LearningRateMonitor"})
    assert type(made).__name__ == "LearningRateMonitor"
    with pytest.raises(ConfigError, match="not allowed"):
        instantiate_callback({"class_path": "os.system", "init_args": {"command": "true"}})
    with pytest.raises(ConfigError, match="Timer"):
        instantiate_callback({"class_path": "lightning.pytorch.callbacks.Timer", "init_args": {"bogus": 1}})


def test_both_sides_are_clipped_at_20_training_deviations() -> None:
    observed = torch.tensor([1e9, -1e9, 150.0]).view(3, 1, 1).expand(3, 2, 3)
    output = torch.zeros(3, 2, 3, 8)
    output[1] = 1e9
    errors = ForecastErrors(scaler(), 2, LEVELS)
    errors.update(output, observed, torch.tensor([True, True, False]).view(3, 1, 1).expand(3, 2, 3))
    # tag by tag: 20 − 0 and −20 − 20
    assert errors.compute()["mae"] == pytest.approx(30.0)
    assert errors.compute()["mse"] == pytest.approx((20.0**2 + 40.0**2) / 2)


@pytest.mark.parametrize(("name", "low", "high"), [("0.5", 2, 4), ("0.8", 1, 5), ("0.9", 0, 6)])
def test_coverage_is_the_share_of_readings_within_their_interval(name: str, low: int, high: int) -> None:
    output, observed, mask = sample()
    made, inside, total = scaler(), 0, 0
    for b, h, n in mask.nonzero().tolist():
        mean, deviation = float(made.mean[n]), float(made.deviation[n])
        reading = float(observed[b, h, n])
        bounds = [float(output[b, h, n, 1 + k]) * deviation + mean for k in (low, high)]
        inside += bounds[0] <= reading <= bounds[1]
        total += 1
    assert 0.1 < inside / total < 0.95
    assert measured(7).compute()["coverage"][name] == pytest.approx(inside / total, abs=1e-6)


def test_intervals_whose_levels_the_model_lacks_are_left_out() -> None:
    output, observed, mask = sample()
    for levels, names in (((0.1, 0.5, 0.9), ["0.8"]), ((), [])):
        errors = ForecastErrors(scaler(), 2, levels)
        errors.update(output[..., : 1 + len(levels)], observed, mask)
        assert list(errors.compute()["coverage"]) == names


def test_errors_of_each_tag_are_in_its_own_unit_and_inputs_are_left_out() -> None:
    output, observed, mask = sample()
    mask[..., 1] = False
    mask[:, 1, 0] = False
    errors = ForecastErrors(scaler(), 2, LEVELS)
    errors.update(output, observed, mask)
    tags = (Tag("a", "nSv/h"), Tag("b"), Tag("c", role="input"))
    result = errors.per_tag(tags)
    assert list(result) == ["a", "b"]
    wrong = (output[:, 0, 0, 0].double() * 5 + 100 - observed[:, 0, 0].double())[mask[:, 0, 0]].numpy()
    assert result["a"]["unit"] == "nSv/h"
    assert result["a"]["mae"] == pytest.approx(float(np.abs(wrong).mean()), rel=1e-6)
    assert result["a"]["rmse"] == pytest.approx(float(np.sqrt((wrong**2).mean())), rel=1e-6)
    assert result["a"]["mae_by_horizon"][1] is None and result["a"]["rmse_by_horizon"][1] is None
    assert (result["b"]["mae"], result["b"]["rmse"], result["b"]["observed_values"]) == (None, None, 0)
    assert errors.compute()["per_horizon"]["mse"][1] is not None
