"""Perceptrons along time and across variates."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.models.base import Task
from attentionmixer.models.tsmixer import TSMixer, TSMixerConfig


@torch.no_grad()
def test_known_channels_of_a_step_ahead_move_that_step_alone() -> None:
    model = TSMixer(Task(3, 8, 4, known=2)).eval()
    x, mask, known = torch.randn(1, 8, 3), torch.ones(1, 8, 3, dtype=torch.bool), torch.randn(1, 12, 2)
    other = known.clone()
    other[0, 10] += 1.0
    changed = (model.point(x, mask, other) != model.point(x, mask, known)).any(dim=-1)[0]
    assert changed.tolist() == [False, False, True, False]


@torch.no_grad()
def test_a_tag_is_moved_by_every_other_tag_and_step() -> None:
    model = TSMixer(Task(3, 8, 4)).eval()
    x, mask = torch.randn(1, 8, 3), torch.ones(1, 8, 3, dtype=torch.bool)
    for step in range(8):
        other = x.clone()
        other[0, step, 2] += 1.0
        assert (model.point(other, mask)[..., 0] != model.point(x, mask)[..., 0]).any()


@pytest.mark.parametrize(("settings", "says"), [({"width": 0}, "width and layers"), ({"dropout": 1.0}, "dropout")])
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        TSMixerConfig(**settings)  # type: ignore[arg-type]
