"""Streaming ridge regression against the textbook on stacked rows."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attentionmixer.nn.ridge import ALPHAS, StreamingRidge, choose_alpha, cross_validated, early_and_late, in_blocks


def data(samples: int, noise: float = 0.1, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(samples, 4, generator=generator)
    weight = torch.tensor([[1.0, 0.0], [0.0, -2.0], [0.5, 0.5], [0.0, 0.0]])
    return x, x @ weight + noise * torch.randn(samples, 2, generator=generator)


def filled(x: Tensor, y: Tensor, size: int = 7) -> StreamingRidge:
    ridge = StreamingRidge(x.shape[1], y.shape[1])
    for rows, targets in zip(x.split(size), y.split(size), strict=True):
        ridge.add(rows, targets)
    return ridge


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_the_solution_is_least_squares_on_rows_stacked_with_the_penalty(alpha: float) -> None:
    x, y = data(50)
    stacked = torch.cat([x, (alpha * len(x)) ** 0.5 * torch.eye(4)]).double()
    target = torch.cat([y, torch.zeros(4, 2)]).double()
    expected = torch.linalg.lstsq(stacked, target).solution.float()
    torch.testing.assert_close(filled(x, y).solve(alpha), expected, atol=1e-5, rtol=1e-4)


def test_the_solution_does_not_depend_on_the_batches() -> None:
    x, y = data(50)
    torch.testing.assert_close(filled(x, y, 1).solve(0.1), filled(x, y, 50).solve(0.1), atol=1e-6, rtol=1e-5)


def test_merging_is_seeing_both_sets_of_samples() -> None:
    x, y = data(60)
    both = filled(x[:20], y[:20]).merge(filled(x[20:], y[20:]))
    assert both.samples == 60
    torch.testing.assert_close(both.solve(0.1), filled(x, y).solve(0.1), atol=1e-6, rtol=1e-5)


def test_gain_is_how_much_the_squared_error_falls() -> None:
    x, y = data(30)
    weight = torch.randn(4, 2)
    fallen = y.square().sum() - (y - x @ weight).square().sum()
    assert filled(x, y).gain(weight) == pytest.approx(float(fallen), rel=1e-4)


def test_without_samples_the_coefficients_are_zero() -> None:
    assert torch.equal(StreamingRidge(3, 2).solve(1.0), torch.zeros(3, 2))


def test_equal_inputs_do_not_break_the_solution() -> None:
    x = torch.ones(10, 3)
    assert bool(torch.isfinite(filled(x, torch.ones(10, 1)).solve(ALPHAS[0])).all())


def test_the_chosen_penalty_is_the_strongest_that_keeps_the_gain() -> None:
    early, late = filled(*data(200)), filled(*data(100, seed=1))
    alpha = choose_alpha(early, late)
    assert alpha is not None
    gains = {a: late.gain(early.solve(a)) for a in ALPHAS}
    best = max(gains.values())
    assert gains[alpha] >= 0.98 * best
    assert all(gains[a] < 0.98 * best for a in ALPHAS if a > alpha)


def test_no_penalty_is_chosen_where_the_past_says_nothing_of_the_future() -> None:
    x, y = data(100)
    assert choose_alpha(filled(x, y), filled(x, -y)) is None


def test_the_cross_validated_penalty_gains_on_every_part_left_out() -> None:
    x, y = data(200, noise=0.5)
    blocks = [filled(x[i : i + 50], y[i : i + 50]) for i in range(0, 200, 50)]
    found = cross_validated(blocks)
    assert found is not None
    shares = []
    for left_out in range(4):
        rest = torch.cat([torch.arange(50) + 50 * i for i in range(4) if i != left_out])
        weight = filled(x[rest], y[rest]).solve(found.alpha)
        own = slice(50 * left_out, 50 * left_out + 50)
        residual = (y[own] - x[own] @ weight).square().sum()
        shares.append(float(1 - residual / y[own].square().sum()))
    share = torch.tensor(shares)
    assert found.gain == pytest.approx(float(share.mean() - share.std() / 2), rel=1e-4)


def test_what_helps_in_one_block_and_harms_in_others_is_not_sure_to_gain() -> None:
    x, y = data(200)
    parts = [filled(x[i : i + 50], y[i : i + 50]) for i in range(0, 150, 50)]
    turned = filled(x[150:], -y[150:])
    assert cross_validated(parts) is not None
    assert cross_validated([parts[0], turned, filled(x[50:100], -y[50:100]), parts[2]]) is None
    # windows after all of them count as one part more, and nothing is fitted to them
    assert cross_validated(parts, turned) is None
    same = cross_validated(parts, filled(x[150:], y[150:]))
    assert same is not None and same.gain > 0.9


def test_one_part_alone_shows_nothing() -> None:
    x, y = data(40)
    assert cross_validated([filled(x, y)]) is None
    assert cross_validated([filled(x, y), StreamingRidge(4, 2)]) is None


def test_some_of_the_inputs_are_the_same_samples_with_fewer_columns() -> None:
    x, y = data(60)
    part = filled(x, y).only(torch.tensor([2, 0]))
    torch.testing.assert_close(part.solve(0.1), filled(x[:, [2, 0]], y).solve(0.1), atol=1e-6, rtol=1e-5)
    assert part.gain(part.solve(0.1)) == pytest.approx(
        filled(x[:, [2, 0]], y).gain(filled(x[:, [2, 0]], y).solve(0.1)), rel=1e-4
    )


@pytest.mark.parametrize("size", [1, 7, 50])
def test_blocks_are_equal_shares_in_order_for_any_batch_size(size: int) -> None:
    x = torch.arange(50.0).unsqueeze(1)
    rows: dict[int, list[float]] = {}
    for block, (part,) in in_blocks(lambda: zip(x.split(size)), 4):
        rows.setdefault(block, []).extend(part[:, 0].tolist())
    assert [len(rows[block]) for block in range(4)] == [12, 13, 13, 12]
    assert [value for part in rows.values() for value in part] == x[:, 0].tolist()


@pytest.mark.parametrize("size", [1, 7, 50])
def test_the_later_share_is_the_last_windows_for_any_batch_size(size: int) -> None:
    x = torch.arange(50.0).unsqueeze(1)
    parts: dict[bool, list[Tensor]] = {False: [], True: []}
    for is_late, (rows, again) in early_and_late(lambda: zip(x.split(size), x.split(size), strict=True), 0.2):
        assert torch.equal(rows, again)
        parts[is_late].append(rows)
    assert torch.equal(torch.cat(parts[False]), x[:40])
    assert torch.equal(torch.cat(parts[True]), x[40:])
