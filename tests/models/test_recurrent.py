"""GRU and LSTM: one shape, two cells."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attentionmixer.models.base import Task
from attentionmixer.models.gru import GRU, RecurrentConfig
from attentionmixer.models.lstm import LSTM


def test_they_differ_in_their_cell() -> None:
    assert type(GRU(Task(2, 8, 3)).recurrent) is nn.GRU and type(LSTM(Task(2, 8, 3)).recurrent) is nn.LSTM


@torch.no_grad()
def test_every_step_of_every_tag_can_change_the_forecast() -> None:
    model = GRU(Task(2, 6, 3), RecurrentConfig(layers=2, dropout=0.3)).eval()
    x, mask = torch.randn(1, 6, 2), torch.ones(1, 6, 2, dtype=torch.bool)
    for step in range(6):
        other = x.clone()
        other[0, step, 1] += 1.0
        assert (model(other, mask)[..., 0] != model(x, mask)[..., 0]).any()


@pytest.mark.parametrize(("settings", "says"), [({"layers": 0}, "hidden and layers"), ({"dropout": 1.0}, "dropout")])
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RecurrentConfig(**settings)  # type: ignore[arg-type]
