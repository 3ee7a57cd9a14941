"""`MixingRound`: which axis each block speaks along, and that mixing starts at nothing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attentionmixer.nn.mixing import MixingRound
from attentionmixer.nn.routes import Routes

BATCH, VARIATES, PATCHES, WIDTH = 2, 4, 3, 8


@pytest.fixture
def tokens() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(BATCH, VARIATES, PATCHES, WIDTH)


def mixing(temporal: bool = True, spatial: bool = True, awake: bool = True) -> MixingRound:
    torch.manual_seed(0)
    block = MixingRound(WIDTH, 2, temporal=temporal, spatial=spatial).eval()
    if awake and block.spatial_scale is not None:
        torch.nn.init.uniform_(block.spatial_scale, 0.5, 1.0)
    return block


@torch.no_grad()
def test_at_the_start_no_variate_reaches_another(tokens: Tensor) -> None:
    block = mixing(awake=False)
    changed = tokens.clone()
    changed[:, 2] = torch.randn(PATCHES, WIDTH)
    others = [0, 1, 3]
    assert torch.equal(block(tokens)[:, others], block(changed)[:, others])
    awake = mixing()
    assert float((awake(tokens) - awake(changed))[:, others].abs().max()) > 1e-3
    assert block.spatial_scale is not None and torch.equal(block.spatial_scale, torch.zeros(WIDTH))


def test_the_scale_of_the_spatial_branch_has_a_gradient_at_the_start(tokens: Tensor) -> None:
    block = mixing(awake=False)
    block(tokens).square().sum().backward()
    assert block.spatial_scale is not None and block.spatial_scale.grad is not None
    assert float(block.spatial_scale.grad.abs().max()) > 0.0


@torch.no_grad()
def test_permuting_variates_permutes_the_output(tokens: Tensor) -> None:
    block = mixing()
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(block(tokens[:, order]), block(tokens)[:, order], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_permuting_patches_permutes_the_output(tokens: Tensor) -> None:
    block = mixing()
    order = torch.tensor([2, 0, 1])
    torch.testing.assert_close(block(tokens[:, :, order]), block(tokens)[:, :, order], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_the_spatial_block_speaks_across_variates_at_one_patch_only(tokens: Tensor) -> None:
    block = mixing(temporal=False)
    changed = tokens.clone()
    changed[0, 1, 2] = torch.randn(WIDTH)  # the blocks do not notice a constant added to all channels
    moved = (block(tokens) - block(changed)).abs().amax(dim=-1) > 1e-6
    expected = torch.zeros(BATCH, VARIATES, PATCHES, dtype=torch.bool)
    expected[0, :, 2] = True
    assert torch.equal(moved, expected)


@torch.no_grad()
def test_the_temporal_block_speaks_across_patches_of_one_variate_only(tokens: Tensor) -> None:
    block = mixing(spatial=False)
    changed = tokens.clone()
    changed[0, 1, 2] = torch.randn(WIDTH)  # the blocks do not notice a constant added to all channels
    moved = (block(tokens) - block(changed)).abs().amax(dim=-1) > 1e-6
    expected = torch.zeros(BATCH, VARIATES, PATCHES, dtype=torch.bool)
    expected[0, 1, :] = True
    assert torch.equal(moved, expected)


@torch.no_grad()
def test_routes_carry_axis_round_and_shape_and_change_nothing(tokens: Tensor) -> None:
    block = mixing()
    static, known = torch.randn(BATCH, VARIATES, 1, WIDTH), torch.randn(BATCH, 2, PATCHES, WIDTH)
    routes: list[Routes] = []
    with_routes = block(tokens, static, known, routes=routes, number=7)
    torch.testing.assert_close(with_routes, block(tokens, static, known), atol=1e-5, rtol=0)
    assert [(step.axis, step.round) for step in routes] == [("temporal", 7), ("spatial", 7)]
    temporal, spatial = routes
    assert temporal.rows.shape == (BATCH, VARIATES, 2, PATCHES, PATCHES + 1)
    assert spatial.rows.shape == (BATCH, PATCHES, 2, VARIATES, VARIATES + 2)
    for step in routes:
        torch.testing.assert_close(step.rows.sum(dim=-1), torch.ones(step.rows.shape[:-1]))


@torch.no_grad()
def test_static_and_known_tokens_are_heard(tokens: Tensor) -> None:
    block = mixing()
    static, known = torch.randn(BATCH, VARIATES, 1, WIDTH), torch.randn(BATCH, 2, PATCHES, WIDTH)
    plain = block(tokens, static, known)
    moved = static.clone()
    moved[:, 1] += 2.0
    # the static token of one variate speaks to that variate; others hear of it one block later, at the same patches
    assert float((block(tokens, moved, known) - plain)[:, 1].abs().max()) > 1e-4
    later = known.clone()
    later[:, :, 1] += 2.0
    moved_patches = (block(tokens, static, later) - plain).abs().amax(dim=(0, 1, 3)) > 1e-6
    assert moved_patches.tolist() == [False, True, False]


@torch.no_grad()
def test_gates_close_spatial_routes_and_no_others(tokens: Tensor) -> None:
    block = mixing()
    gate = torch.eye(VARIATES)
    routes: list[Routes] = []
    block(tokens, gate=gate, routes=routes)
    temporal, spatial = routes
    assert torch.equal(spatial.rows, torch.eye(VARIATES).expand_as(spatial.rows))
    assert float(temporal.rows.min()) > 0.0


@pytest.mark.parametrize(("temporal", "spatial"), [(False, True), (True, False), (False, False)])
def test_a_block_left_out_has_no_weights_and_no_routes(tokens: Tensor, temporal: bool, spatial: bool) -> None:
    block = mixing(temporal, spatial)
    routes: list[Routes] = []
    assert block(tokens, routes=routes).shape == tokens.shape
    assert {step.axis for step in routes} == {
        name for name, there in (("temporal", temporal), ("spatial", spatial)) if there
    }
    names = " ".join(name for name, _ in block.named_parameters())
    assert ("temporal" in names) is temporal and ("spatial" in names) is spatial
