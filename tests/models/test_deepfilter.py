"""Filters in the frequency domain."""

from __future__ import annotations

import torch

from attentionmixer.models.base import Task
from attentionmixer.models.deepfilter import DeepFilter, DeepFilterConfig, FilterLayer


@torch.no_grad()
def test_a_filter_is_a_circular_convolution_along_the_steps() -> None:
    layer = FilterLayer(12, DeepFilterConfig(width=3, dropout=0.0))
    x = torch.randn(2, 12, 3)
    response = torch.fft.irfft(torch.view_as_complex(layer.filter), n=12, dim=0)
    slow = torch.stack([sum(response[k] * x[:, (step - k) % 12] for k in range(12)) for step in range(12)], dim=1)
    kept = layer.filter_norm(x + slow)
    torch.testing.assert_close(layer(x), layer.norm(kept + layer.narrow(torch.nn.functional.gelu(layer.widen(kept)))))


def test_its_weights_are_real_numbers_that_a_file_of_tensors_can_hold() -> None:
    assert all(not tensor.is_complex() for tensor in DeepFilter(Task(2, 7, 3)).state_dict().values())
