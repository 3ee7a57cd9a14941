"""Sign and lag of routes, against a system whose signs and lags are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from attentionmixer.data.log import StationLog
from attentionmixer.forecaster import Forecaster
from attentionmixer.interpret import RouteResponse, route_response

from .conftest import TRUE


@pytest.fixture(scope="module")
def answer(seer: Forecaster, chain: StationLog, test_part: int) -> RouteResponse:
    return route_response(seer, chain, test_part)


def test_signs_and_lags_of_true_routes_are_found(answer: RouteResponse) -> None:
    for (target, source), coefficient in TRUE.items():
        assert answer.sign[target, source] == np.sign(coefficient)
        # the last part of the window holds the last reading, at which the route starts
        oldest, newest = answer.ages[answer.strongest[target, source]]
        assert newest == 1 and answer.lag_minutes[target, source] == (oldest + newest) / 2 * 60
        assert abs(answer.response[target, source].sum()) > 0.3


def test_the_response_is_that_of_a_pulse_by_hand(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    answer = route_response(seer, chain, test_part, pulse=0.25, windows=20)
    windows = seer.windows(chain, test_part, None)
    batch = windows.gather(torch.arange(0, len(windows), -(-len(windows) // 20)))
    (oldest, newest), part = answer.ages[-1], -1
    change = []
    for sign in (0.25, -0.25):
        x = batch.x.clone()
        x[:, 8 - oldest : 8 - newest + 1, 2] += sign
        with torch.no_grad():
            change.append(seer.model(x, batch.x_mask)[:, 0, :, 0])
    expected = ((change[0] - change[1]) / 0.5).mean(dim=0)
    np.testing.assert_allclose(answer.response[:, 2, part], expected, rtol=1e-4, atol=1e-6)


def test_a_part_never_observed_has_no_response(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    values = chain.values.copy()
    values[test_part - 50 :, 4] = np.nan
    silent = StationLog.from_frame(pd.DataFrame(values, chain.time, list("abcde")))
    answer = route_response(seer, silent, test_part)
    assert np.isnan(answer.response[:, 4]).all() and np.isfinite(answer.response[:, :4]).all()
    assert (answer.sign[:, 4] == 0).all()


def test_the_table_lists_every_pair(answer: RouteResponse) -> None:
    frame = answer.to_frame()
    assert list(frame.columns) == ["source", "target", "sign", "lag_minutes", "response"] and len(frame) == 20
    row = frame[(frame.source == "c") & (frame.target == "d")].iloc[0]
    assert row.sign == -1.0 and row.response < 0


def test_a_pulse_must_have_a_size(seer: Forecaster, chain: StationLog) -> None:
    with pytest.raises(ValueError, match="pulse must be above 0"):
        route_response(seer, chain, pulse=0.0)


def test_progress_is_told_for_each_source(seer: Forecaster, chain: StationLog, test_part: int) -> None:
    told: list[tuple[int, int]] = []
    route_response(seer, chain, test_part, windows=4, progress=lambda done, total: told.append((done, total)))
    assert told == [(number, 5) for number in range(1, 6)]
