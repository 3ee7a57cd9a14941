"""`ChannelDropout`."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.nn.dropout import ChannelDropout


def test_a_channel_is_dropped_for_all_variates_and_patches_of_a_window() -> None:
    torch.manual_seed(0)
    kept = ChannelDropout(0.5)(torch.ones(16, 3, 4, 32))
    assert torch.equal(kept, kept[:, :1, :1].expand_as(kept))
    assert set(kept.unique().tolist()) == {0.0, 2.0}
    # windows differ
    assert not torch.equal(kept[0], kept[1])
    assert float((kept == 0).float().mean()) == pytest.approx(0.5, abs=0.1)


def test_the_mean_is_kept() -> None:
    torch.manual_seed(0)
    assert float(ChannelDropout(0.2)(torch.ones(400, 1, 1, 64)).mean()) == pytest.approx(1.0, abs=0.02)


def test_evaluation_and_probability_zero_change_nothing() -> None:
    x = torch.randn(2, 3, 4, 8)
    assert ChannelDropout(0.5).eval()(x) is x
    assert ChannelDropout(0.0)(x) is x
