"""`RouteMap`."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from attentionmixer.errors import RunError
from attentionmixer.routemap import RouteMap

HOSTILE = "<script>alert(1)</script>"


def make() -> RouteMap:
    strength = np.array([[0.5, 0.3, 0.0, 0.2], [0.0, 1.0, 0.0, 0.0], [0.4, 0.1, 0.5, 0.0]], dtype=np.float32)
    return RouteMap("spatial", 2, ("a", "b", HOSTILE), ("a", "b", HOSTILE, "rain (ahead)"), strength, windows=7)


def temporal() -> RouteMap:
    names = ("4–6 h before", "1–3 h before")
    lags = np.array([300.0, 120.0, np.nan], dtype=np.float32)
    strength = np.array([[0.6, 0.3, 0.1], [0.1, 0.8, 0.1]], dtype=np.float32)
    return RouteMap("temporal", 1, names, (*names, "place of the tag"), strength, lags, 3, "µ", 1.5)


def test_rows_are_targets_and_columns_are_sources() -> None:
    frame = make().to_frame().set_index(["target", "source"])["strength"]
    assert len(frame) == 12
    assert frame["a", "b"] == np.float32(0.3)
    assert frame["b", "a"] == 0.0
    assert "lag_minutes" not in make().to_frame()
    lags = temporal().to_frame().set_index(["target", "source"])["lag_minutes"]
    assert lags["1–3 h before", "4–6 h before"] == 300.0
    assert math.isnan(lags["1–3 h before", "place of the tag"])


def test_the_strongest_come_first_and_a_nodes_own_route_only_on_request() -> None:
    found = make().strongest(3)
    assert list(zip(found["source"], found["target"], strict=True)) == [
        ("a", HOSTILE),
        ("b", "a"),
        ("rain (ahead)", "a"),
    ]
    assert make().strongest(1, own=True)["source"].tolist() == ["b"]


def test_the_graph_has_an_edge_for_each_route_that_is_not_removed() -> None:
    graph = make().to_graph()
    assert set(graph.nodes) == {"a", "b", HOSTILE, "rain (ahead)"}
    kept = {(s, t) for i, t in enumerate(make().targets) for j, s in enumerate(make().sources) if make().strength[i, j]}
    assert set(graph.edges) == kept
    assert graph.edges["rain (ahead)", "a"]["strength"] == pytest.approx(0.2)
    assert make().to_graph(2).number_of_edges() == 2


def test_effective_sources_are_the_exponential_of_the_entropy() -> None:
    rows = [[0.5, 0.3, 0.2], [1.0], [0.4, 0.1, 0.5]]
    expected = sum(math.exp(-sum(w * math.log(w) for w in row)) for row in rows) / 3
    assert make().effective == pytest.approx(expected, rel=1e-5)
    assert temporal().effective == 1.5
    empty = RouteMap("spatial", 0, ("a",), ("a", "b"), np.zeros((1, 2), np.float32))
    assert math.isfinite(empty.effective)


@pytest.mark.parametrize("routes", [make(), temporal()], ids=["spatial", "temporal"])
def test_a_map_survives_its_file(tmp_path: Path, routes: RouteMap) -> None:
    path = tmp_path / "m.json"
    routes.save(path)
    json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    again = RouteMap.load(path)
    for name in ("axis", "round", "targets", "sources", "windows", "note", "row_effective"):
        assert getattr(again, name) == getattr(routes, name)
    np.testing.assert_allclose(again.strength, routes.strength, atol=1e-7)
    assert ((again.strength == 0) == (routes.strength == 0)).all()
    if routes.lag_minutes is None:
        assert again.lag_minutes is None
    else:
        np.testing.assert_array_equal(again.lag_minutes, routes.lag_minutes)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"axis": "spatial"}'])
def test_a_damaged_file_is_an_error_of_the_run(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(RunError, match=r"m\.json cannot be read"):
        RouteMap.load(tmp_path / "m.json")


def test_names_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="strength is"):
        RouteMap("spatial", 1, ("a",), ("a", "b"), np.zeros((2, 2), np.float32))


def test_names_from_a_log_are_escaped_in_html() -> None:
    page = make()._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_it_shows_what_it_holds() -> None:
    assert repr(temporal()) == "RouteMap(temporal, round 1, 3 → 2, 1.5 effective sources)"


class Elements(HTMLParser):
    """Collects the elements of a page and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        assert not attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_browser_finds_nothing_but_a_table_whatever_the_names_are() -> None:
    hostile = ('"><img src=x onerror=alert(1)>', "A & B</table>", "<!--")
    page = Elements()
    page.feed(RouteMap("spatial", 1, hostile, hostile, np.full((3, 3), 1 / 3, np.float32))._repr_html_())
    assert page.elements == {"table", "caption", "tr", "th", "td"}
    assert all(name in page.text for name in hostile)


def test_a_source_without_an_age_keeps_none(tmp_path: Path) -> None:
    lags = np.array([60.0, np.nan], dtype=np.float32)
    strength = np.full((1, 2), 0.5, np.float32)
    RouteMap("temporal", 1, ("1 h",), ("1 h", "place"), strength, lags).save(tmp_path / "m.json")
    json.loads((tmp_path / "m.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    again = RouteMap.load(tmp_path / "m.json").lag_minutes
    assert again is not None
    np.testing.assert_array_equal(again, lags)
