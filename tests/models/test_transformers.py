"""What the tokens of the three transformers are: steps, variates, or patches of one variate."""

from __future__ import annotations

import pytest
import torch

from attentionmixer.errors import ConfigError
from attentionmixer.models import build
from attentionmixer.models.base import ForecastModel, Task

TASK = Task(3, 8, 2)


def sources(model: ForecastModel) -> torch.Tensor:
    """[3, 3]: whether tag *from* (column) moves the forecast of tag *to* (row)."""
    torch.manual_seed(0)
    for parameter in model.parameters():
        if not parameter.any():
            torch.nn.init.normal_(parameter)
    x, mask = torch.randn(1, 8, 3), torch.ones(1, 8, 3, dtype=torch.bool)
    before, found = model(x, mask), []
    for tag in range(3):
        other = x.clone()
        other[0, :, tag] += torch.randn(8)
        found.append((model(other, mask) != before).flatten(3).any(dim=-1).any(dim=1)[0])
    return torch.stack(found, dim=1)


@torch.no_grad()
@pytest.mark.parametrize(("name", "across"), [("transformer", True), ("itransformer", True), ("patchtst", False)])
def test_only_patches_keep_tags_apart(name: str, across: bool) -> None:
    expected = torch.ones(3, 3, dtype=torch.bool) if across else torch.eye(3, dtype=torch.bool)
    assert torch.equal(sources(build(name, TASK).eval()), expected)


@torch.no_grad()
def test_inverted_tokens_do_not_know_which_tag_they_are_of() -> None:
    model, order = build("itransformer", TASK).eval(), [2, 0, 1]
    torch.nn.init.normal_(model.head.point.weight)  # type: ignore[union-attr,arg-type]
    x, mask = torch.randn(4, 8, 3), torch.rand(4, 8, 3) > 0.2
    x = x * mask
    torch.testing.assert_close(model(x[..., order], mask[..., order]), model(x, mask)[:, :, order])


@pytest.mark.parametrize("patch", [0, -1])
def test_a_patch_below_one_step_is_refused(patch: int) -> None:
    with pytest.raises(ConfigError, match="patch and lookback must be at least 1 step"):
        build("patchtst", TASK, {"patch": patch})
