"""All evidence in one table, with a verdict that can be bad."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from attentionmixer.data.log import StationLog
from attentionmixer.errors import LogError
from attentionmixer.forecaster import Forecaster
from attentionmixer.interpret import Evidence, closed, evidence

from .conftest import TRUE


@pytest.fixture(scope="module")
def found(seer: Forecaster, chain: StationLog) -> Evidence:
    return evidence(seer, chain)


def test_a_true_map_stands_and_names_its_routes_with_sign_and_lag(found: Evidence) -> None:
    assert found.stands and found.verdict.startswith(
        "The map stands its test: without the strongest 2 of 20 open routes"
    )
    frame = found.to_frame()
    assert list(frame.columns) == ["source", "target", "effect", "response", "sign", "lag_minutes"] and len(frame) == 20
    names = found.response.tags
    for _, row in frame.head(3).iterrows():
        assert row.sign == np.sign(TRUE[(names.index(row.target), names.index(row.source))])
    assert found.stability.rank_correlation > 0.5 and found.measured[1] < found.tested[0]


def test_a_map_that_fails_says_so(found: Evidence) -> None:
    curve = found.deletion
    failing = replace(found, deletion=replace(curve, low=np.full_like(curve.low, 0.4)))
    assert not failing.stands and failing.verdict.startswith("The map does not stand its test, do not rely on it")


def test_where_all_is_closed_the_verdict_says_it(seer: Forecaster, chain: StationLog) -> None:
    with closed(seer.model, torch.ones(5, 5, dtype=torch.bool)):
        nothing = evidence(seer, chain)
    assert nothing.to_frame().empty and not nothing.stands
    assert nothing.verdict == "All routes between tags are closed: every tag is forecast from its own past alone."
    json.dumps(nothing.summary(), allow_nan=False)


def test_few_routes_are_not_judged(seer: Forecaster, chain: StationLog) -> None:
    routes = torch.ones(5, 5, dtype=torch.bool)
    routes[1, 0] = False
    with closed(seer.model, routes):
        one = evidence(seer, chain)
    assert not one.stands and one.verdict.startswith("1 open routes are too few")


def test_the_summary_is_plain_and_the_graph_carries_the_table(found: Evidence) -> None:
    assert json.loads(json.dumps(found.summary(), allow_nan=False))["open_routes"] == 20
    graph = found.to_graph()
    assert graph.number_of_edges() == 20 and set(graph.edges["a", "b"]) == {"effect", "response", "sign", "lag_minutes"}


def test_another_budget_is_refused(seer: Forecaster, chain: StationLog) -> None:
    with pytest.raises(ValueError, match="budget must be fast or full, not 'free'"):
        evidence(seer, chain, "free")  # type: ignore[arg-type]


def test_a_log_too_short_is_refused(seer: Forecaster, chain: StationLog) -> None:
    with pytest.raises(LogError, match="the log has 11 rows; evidence needs at least 2 after the first 8"):
        evidence(seer, chain.rows(0, 11))
