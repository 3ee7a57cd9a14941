"""Agreement of maps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from attentionmixer.interpret import stability


def maps(count: int = 3, noise: float = 0.0, seed: int = 0) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    base = generator.random((5, 6))
    return [base + noise * generator.normal(size=base.shape) for _ in range(count)]


def test_equal_maps_agree_and_turned_maps_do_not() -> None:
    same = stability(maps(3))
    assert same.rank_correlation == pytest.approx(1.0) and same.jaccard == 1.0 and same.maps == 3
    one = maps(1)[0]
    turned = stability([one, -one])
    assert turned.rank_correlation == pytest.approx(-1.0) and turned.lowest == pytest.approx(-1.0)
    assert turned.jaccard == 0.0


def test_it_is_the_mean_of_spearman_over_pairs() -> None:
    three = maps(3, noise=0.3)
    other = ~np.eye(5, 6, dtype=bool)
    rho = [spearmanr(three[a][other], three[b][other]).statistic for a, b in [(0, 1), (0, 2), (1, 2)]]
    found = stability(three)
    assert found.rank_correlation == pytest.approx(np.mean(rho)) and found.lowest == pytest.approx(min(rho))


def test_own_routes_count_only_on_request() -> None:
    one, two = maps(2)
    two[np.diag_indices(5)] -= 10.0
    assert stability([one, two]).rank_correlation == pytest.approx(1.0)
    assert stability([one, two], own=True).rank_correlation < 0.9


def test_the_shared_share_of_the_strongest_is_counted() -> None:
    one, two = np.zeros((3, 3)), np.zeros((3, 3))
    one[0, 1], one[0, 2] = 2.0, 1.0
    two[0, 1], two[1, 2] = 2.0, 1.0
    assert stability([one, two], top=2).jaccard == pytest.approx(1 / 3)


def test_a_constant_map_has_no_ranks() -> None:
    assert np.isnan(stability([np.zeros((3, 3)), maps(1)[0][:3, :3]]).rank_correlation)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([np.zeros((2, 2))], "at least two"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], r"different shapes: \[\(2, 2\), \(2, 3\)\]"),
        ([np.zeros((2, 2)), np.full((2, 2), np.nan)], "not a number"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: list[np.ndarray], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        stability(given)
