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


@pytest.mark.parametrize("name", names())
def test_a_configuration_survives_json(name: str) -> None:
    model = build(name, TASK)
    again = build(name, TASK, json.loads(json.dumps(config_dict(model))))
    assert config_dict(again) == config_dict(model)
    assert again.parameter_count == model.parameter_count


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match="unknown model 'transformer'; there are: attentionmixer, paper, linear"):
        architecture("transformer")


def test_an_unknown_setting_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match="model 'paper' has no setting 'depth'; it has: dropout, heads, hidden"):
        build("paper", TASK, {"depth": 3})


@pytest.mark.parametrize("settings", [{"width": 10, "heads": 4}, {"patch": 0}])
def test_settings_that_make_no_sense_are_a_configuration_error(settings: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="model 'attentionmixer': "):
        build("attentionmixer", TASK, settings)
