"""Vector autoregression."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attentionmixer.models.base import Task
from attentionmixer.models.ridge_var import RidgeVAR, RidgeVARConfig

LOOKBACK, HORIZON = 6, 3


def series(steps: int = 600) -> Tensor:
    """Tag 1 follows tag 0 two steps later; tag 0 is noise that nothing foretells."""
    noise = torch.randn(steps + 2, generator=torch.Generator().manual_seed(1))
    return torch.stack([noise[2:], 3 + 2 * noise[:-2]], dim=1)


def batches(values: Tensor, seen: Tensor | None = None, known: Tensor | None = None) -> list[tuple[Tensor, ...]]:
    seen = torch.ones_like(values, dtype=torch.bool) if seen is None else seen

    def windows(part: Tensor) -> Tensor:
        return part.unfold(0, LOOKBACK + HORIZON, 1).transpose(1, 2)

    result = []
    for rows in torch.arange(len(values) - LOOKBACK - HORIZON + 1).split(50):
        x, mask = windows(torch.where(seen, values, 0.0))[rows], windows(seen)[rows]
        parts = (x[:, :LOOKBACK], mask[:, :LOOKBACK], x[:, LOOKBACK:], mask[:, LOOKBACK:])
        result.append(parts if known is None else (*parts, windows(known)[rows]))
    return result


def error(model: RidgeVAR, given: list[tuple[Tensor, ...]]) -> Tensor:
    """Mean squared error by step ahead and tag, over what was observed."""
    wrong = torch.cat([(model.point(x, m, *k) - y).square() * s for x, m, y, s, *k in given])
    return wrong.sum(dim=0) / torch.cat([s for _, _, _, s, *_ in given]).sum(dim=0)


@pytest.mark.parametrize("anchor", ["last", "mean"])
def test_it_finds_what_one_tag_says_of_another(anchor: str) -> None:
    model = RidgeVAR(Task(2, LOOKBACK, HORIZON), RidgeVARConfig(lags=4, anchor=anchor))  # type: ignore[arg-type]
    given = batches(series())
    model.finish(lambda: iter(given))
    mse = error(model, given)
    # two steps ahead are foretold, the third is not, and noise is not
    assert (mse[:2, 1] < 0.02).all()
    assert mse[2, 1] > 3 and (mse[:, 0] > 0.8).all()


def test_missing_targets_do_not_pull_the_forecast_towards_the_anchor() -> None:
    values = series()
    seen = torch.rand(values.shape, generator=torch.Generator().manual_seed(2)) > 0.3
    seen[:, 0] = True
    model = RidgeVAR(Task(2, LOOKBACK, HORIZON), RidgeVARConfig(lags=4))
    given = batches(values, seen)
    model.finish(lambda: iter(given))
    assert (error(model, given)[:2, 1] < 0.5).all()


def test_what_is_known_ahead_is_an_input() -> None:
    known = torch.randn(600, 1, generator=torch.Generator().manual_seed(3))
    given = batches(known.roll(1, 0) * 2, known=known)
    model = RidgeVAR(Task(1, LOOKBACK, HORIZON, known=1))
    model.finish(lambda: iter(given))
    assert (error(model, given) < 0.05).all()


def test_it_has_nothing_to_train_and_measures_its_own_spread() -> None:
    model = RidgeVAR(Task(2, LOOKBACK, HORIZON, (0.1, 0.9)))
    assert model.parameter_count == 0
    given = batches(series())
    model.finish(lambda: iter(given))
    assert model.spread.offset[0, 0, 1] - model.spread.offset[0, 0, 0] > 2
    assert model.spread.offset[0, 1].abs().max() < 0.1


def test_lags_are_cut_where_the_regression_would_grow_too_large() -> None:
    assert RidgeVAR(Task(1000, 24, 2), RidgeVARConfig(lags=24)).lags == 4
    assert RidgeVAR(Task(2, 6, 2), RidgeVARConfig(lags=24)).lags == 6


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"lags": 0}, "lags must be at least 1"), ({"held_out": 1.0}, "held_out must lie between 0 and 1")],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RidgeVARConfig(**settings)  # type: ignore[arg-type]
