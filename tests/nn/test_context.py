"""What is known ahead."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.nn.context import KnownContext, window_features


def test_channels_of_the_window_and_the_horizon_become_one_vector() -> None:
    context = KnownContext(7, 2, 5)
    known = torch.randn(3, 7, 2)
    vector = context(known)
    assert isinstance(vector, torch.Tensor) and vector.shape == (3, 5)
    for step, channel in ((0, 0), (6, 1)):
        other = known.clone()
        other[:, step, channel] += 1.0
        assert not torch.allclose(context(other), vector)


def test_nothing_known_adds_nothing() -> None:
    assert KnownContext(7, 0, 5)(None) == 0.0
    with pytest.raises(ValueError, match="this model knows 2 channels ahead"):
        KnownContext(7, 2, 5)(None)


def test_a_step_sees_its_values_masks_and_what_was_known_then() -> None:
    z, mask, known = torch.randn(2, 4, 3), torch.rand(2, 4, 3) > 0.5, torch.randn(2, 6, 1)
    features = window_features(z, mask, known)
    torch.testing.assert_close(features, torch.cat([z, mask.float(), known[:, :4]], dim=-1))
    assert window_features(z, mask, None).shape == (2, 4, 6)
