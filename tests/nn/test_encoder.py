"""The plain encoder."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.nn.encoder import EncoderConfig


def test_tokens_keep_their_shape_and_see_each_other() -> None:
    encoder = EncoderConfig(width=8, heads=2, dropout=0.0).encoder().eval()
    tokens = torch.randn(2, 5, 8)
    other = tokens.clone()
    other[0, 4] += 1.0
    with torch.no_grad():
        before, after = encoder(tokens), encoder(other)
    assert before.shape == tokens.shape
    assert (before[0, 0] != after[0, 0]).any() and torch.equal(before[1], after[1])


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"width": 10}, "heads must divide width"), ({"layers": 0}, "at least 1"), ({"dropout": -0.1}, "dropout")],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        EncoderConfig(**settings)  # type: ignore[arg-type]
