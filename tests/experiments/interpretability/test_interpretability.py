"""Systems with known routes and the methods that look for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.interpretability import __main__ as command
from experiments.interpretability.classical import found_by_granger, granger, lagged_correlation, ridge_var
from experiments.interpretability.scoring import score, score_lags
from experiments.interpretability.systems import SYSTEMS, lorenz96, ring, sparse_var


def test_a_sparse_var_obeys_its_own_equation() -> None:
    known = sparse_var(0, steps=4000)
    values = known.log.values.astype(np.float64)
    inputs = np.concatenate([values[3 - lag : -lag] for lag in (1, 2, 3)], axis=1)
    solution = np.linalg.lstsq(inputs, values[3:], rcond=None)[0].T.reshape(10, 3, 10)
    for target, source in np.argwhere(known.routes):
        lag = known.lag[target, source]
        found = solution[target, lag - 1, source]
        assert np.sign(found) == known.sign[target, source] and abs(found) > 0.1
    nothing = solution[:, :, :].transpose(0, 2, 1)[~known.routes & ~np.eye(10, dtype=bool)]
    assert np.abs(nothing).max() < 0.1
    assert not known.routes.diagonal().any() and 5 <= known.routes.sum() <= 25


def test_lorenz_is_bounded_and_has_three_sources_each() -> None:
    known = lorenz96(1, steps=300)
    assert np.abs(known.log.values).max() < 40 and known.log.values.std() > 2
    assert (known.routes.sum(axis=1) == 3).all()
    assert known.routes[5, [6, 4, 3]].all() and known.routes[0, [1, 19, 18]].all()


def test_the_ring_scores_pairs_of_posts_only() -> None:
    known = ring(0, days=10)
    names = np.array(known.log.names, dtype=object)
    for axis in (0, 1):
        posts = names[known.scored.any(axis=axis)]
        assert len(posts) == 16 and all("dose rate" in name for name in posts)
    assert known.scored.sum() > 50


@pytest.mark.parametrize("method", [ridge_var, granger])
def test_classical_methods_find_the_routes_of_a_long_var(method: object) -> None:
    known = sparse_var(2)
    found = score(method(known.log.values.astype(np.float64), 4), known)  # type: ignore[operator]
    assert found["auprc"] > 0.9 and found["auroc"] > 0.95 and found["base"] < 0.3


def test_correlation_finds_less_but_more_than_chance() -> None:
    known = sparse_var(2)
    found = score(lagged_correlation(known.log.values.astype(np.float64), 4), known)
    assert found["base"] < found["auprc"] < 0.95


def test_granger_is_the_f_test_of_two_regressions() -> None:
    from scipy.stats import f

    known = sparse_var(3, steps=400, nodes=4)
    z = known.log.values.astype(np.float64)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    inputs = np.concatenate([z[2 - lag : -lag] for lag in (1, 2)], axis=1)
    target = z[2:, 1]
    whole = np.square(target - inputs @ np.linalg.lstsq(inputs, target, rcond=None)[0]).sum()
    kept = np.delete(inputs, [0, 4], axis=1)
    without = np.square(target - kept @ np.linalg.lstsq(kept, target, rcond=None)[0]).sum()
    freedom = len(inputs) - 8
    p = f.sf((without - whole) / 2 / (whole / freedom), 2, freedom)
    assert granger(known.log.values.astype(np.float64), 2)[1, 0] == pytest.approx(-np.log10(p), rel=1e-6)


def test_false_discoveries_are_held_down() -> None:
    generator = np.random.default_rng(0)
    shares = [found_by_granger(granger(generator.normal(size=(500, 10)), 2)).mean() for _ in range(10)]
    assert np.mean(shares) < 0.01
    known = sparse_var(2)
    found = found_by_granger(granger(known.log.values.astype(np.float64), 4))
    assert found[known.routes].mean() > 0.9 and found[~known.routes].mean() < 0.1


def test_lags_and_signs_are_scored_where_they_are_known() -> None:
    known = sparse_var(0, steps=300)
    right = score_lags(known.lag.astype(float), known.sign.astype(float), known)
    assert right == {"lag_right": 1.0, "sign_right": 1.0}
    wrong = score_lags(known.lag + 2.0, -known.sign.astype(float), known)
    assert wrong == {"lag_right": 0.0, "sign_right": 0.0}
    assert score_lags(known.lag.astype(float), known.sign.astype(float), lorenz96(0, steps=50)) == {}


def test_cells_are_kept_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path / "interpretability")
    monkeypatch.setattr(command.ours, "STEPS", 5)
    arguments = ["--systems", "var-500", "--methods", "ridge VAR", "gates 0.01", "--seeds", "1"]
    assert command.main(arguments) == 0
    cells = sorted((tmp_path / "interpretability").glob("*/*.json"))
    assert [cell.name for cell in cells] == ["gates-0.01-seed0.json", "ridge-VAR-seed0.json"]
    page = (tmp_path / "interpretability.md").read_text(encoding="utf-8")
    assert "## var-500" in page and "| gates 0.01 | response | 1 |" in page and "| ridge VAR | strength | 1 |" in page
    before = [cell.stat().st_mtime_ns for cell in cells]
    assert command.main(arguments) == 0
    assert [cell.stat().st_mtime_ns for cell in cells] == before


def test_every_system_can_be_made_and_decides_something() -> None:
    for name in ("var-500", "lorenz96-f10-500"):
        known = SYSTEMS[name].make(0)
        assert known.scored.any() and known.routes[known.scored].any()
