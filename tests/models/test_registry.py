"""Names of architectures."""

from __future__ import annotations

import json

import pytest
import torch

from attentionmixer.errors import ConfigError
from attentionmixer.models import ForecastModel, Task, architecture, build, config_dict, names

TASK = Task(variates=3, lookback=16, horizon=4, levels=(0.1, 0.9))


@pytest.mark.parametrize("name", names())
def test_every_architecture_keeps_the_one_interface(name: str) -> None:
    model = build(name, TASK).eval()
    assert isinstance(model, ForecastModel)
    x = torch.randn(2, 16, 3)
    mask = torch.rand(2, 16, 3) > 0.1
    with torch.no_grad():
        output, routes = model.forward_with_routes(x * mask, mask)
        assert output.shape == (2, 4, 3, 3)
        torch.testing.assert_close(output, model(x * mask, mask), rtol=0, atol=1e-5)
    assert (output[..., 1:].diff(dim=-1) >= 0).all()
    ages = model.temporal_ages()
    assert ages[0][0] == 16 and ages[-1][1] == 1
    for part in routes:
        nodes = 3 if part.axis == "spatial" else len(ages)
        assert part.weight.shape[-2:] == (nodes, nodes)


FULL = Task(5, 12, 3, (0.1, 0.5, 0.9), 2, ((0.0, 0.0, 1.0),) * 3 + ((1.0, 0.5, 1.0),) * 2, (0, 0, 0, 1, 1))


@pytest.mark.parametrize("name", names())
def test_windows_do_not_touch_and_missing_readings_make_no_nan(name: str) -> None:
    model = build(name, FULL).eval()
    randomise(model)
    x, mask, known = torch.randn(4, 12, 5), torch.rand(4, 12, 5) > 0.3, torch.randn(4, 15, 2)
    mask[0, :, 1] = False
    mask[1] = False
    with torch.no_grad():
        output = model(x * mask, mask, known)
        assert torch.isfinite(output).all()
        alone = model(x[2:3] * mask[2:3], mask[2:3], known[2:3])
    torch.testing.assert_close(output[2:3], alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in names() if build(name, FULL).parameter_count])
def test_every_parameter_of_a_trained_model_can_learn(name: str) -> None:
    model = build(name, FULL)
    randomise(model)
    x, mask, known = torch.randn(8, 12, 5), torch.rand(8, 12, 5) > 0.1, torch.randn(8, 15, 2)
    (model(x * mask, mask, known) * torch.randn(8, 3, 5, 4)).sum().backward()
    still = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert still == []


USES_KNOWN = ("attentionmixer", "deepfilter", "graph", "gru", "itransformer", "lstm", "patchtst", "ridge_var", "tcn")


@pytest.mark.parametrize("name", [*USES_KNOWN, "transformer", "tsmixer"])
def test_what_is_known_ahead_is_used_and_asked_for(name: str) -> None:
    model = build(name, FULL).eval()
    randomise(model)
    x, mask, known = torch.randn(4, 12, 5), torch.ones(4, 12, 5, dtype=torch.bool), torch.randn(4, 15, 2)
    with torch.no_grad():
        other = known.clone()
        other[:, -1] += 1.0
        assert not torch.allclose(model(x, mask, known), model(x, mask, other))
        with pytest.raises(ValueError, match="2 channels ahead; give them as `known`"):
            model(x, mask)


def randomise(model: ForecastModel) -> None:
    """Heads and scales that start at zero would hide what comes before them."""
    torch.manual_seed(0)
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point() and tensor.abs().sum() == 0:
                tensor.normal_(std=0.1)


@pytest.mark.parametrize("name", names())
def test_a_configuration_survives_json(name: str) -> None:
    model = build(name, TASK)
    again = build(name, TASK, json.loads(json.dumps(config_dict(model))))
    assert config_dict(again) == config_dict(model)
    assert again.parameter_count == model.parameter_count


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(
        ConfigError, match="unknown model 'transfomer'; there are: attentionmixer, attentionmixer-paper, persist"
    ):
        architecture("transfomer")


def test_an_unknown_setting_lists_those_there_are() -> None:
    with pytest.raises(
        ConfigError, match="model 'attentionmixer-paper' has no setting 'depth'; it has: dropout, heads, hidden"
    ):
        build("attentionmixer-paper", TASK, {"depth": 3})


@pytest.mark.parametrize("settings", [{"width": 10, "heads": 4}, {"patch": 0}])
def test_settings_that_make_no_sense_are_a_configuration_error(settings: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="model 'attentionmixer': "):
        build("attentionmixer", TASK, settings)
