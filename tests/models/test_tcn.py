"""Dilated causal convolutions."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.models.base import Task
from attentionmixer.models.tcn import TCN, CausalBlock, TCNConfig


@torch.no_grad()
def test_a_block_looks_back_and_never_ahead() -> None:
    block, x = CausalBlock(4, 3, 2, 0.0).eval(), torch.randn(1, 4, 20)
    other = x.clone()
    other[..., 10] += 1.0
    changed = (block(other) != block(x)).any(dim=1)[0].nonzero().flatten().tolist()
    # two convolutions of three taps, two steps apart
    assert changed == [10, 12, 14, 16, 18]


@torch.no_grad()
@pytest.mark.parametrize("lookback", [1, 5, 12, 96])
def test_the_last_step_sees_the_whole_window_and_no_block_more_than_needed(lookback: int) -> None:
    model = TCN(Task(1, lookback, 2), TCNConfig(width=4, dropout=0.0)).eval()
    x = torch.randn(1, 4, lookback)
    first = x.clone()
    first[..., 0] += 1.0
    assert (model.blocks(first)[..., -1] != model.blocks(x)[..., -1]).any()
    reach = [1 + 4 * (2**count - 1) for count in range(1, len(model.blocks) + 1)]
    assert reach[-1] >= lookback and (len(reach) == 1 or reach[-2] < lookback)
