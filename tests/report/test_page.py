"""The page as text: what is on it, and what is said where something is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.log import Tag
from attentionmixer.errors import RunError
from attentionmixer.report import write_report
from attentionmixer.routemap import RouteMap

SECTIONS = ["verdict", "trends", "accuracy", "spatial", "temporal", "quality", "card", "reproduce"]
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Tags, text and attributes of a page; fails where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split()).replace("\u202f", " ")


def report(run: Path, output: Path | None = None) -> Page:
    return Page(write_report(run, output).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(network_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The report of three monitors of nine channels."""
    return report(network_run, tmp_path_factory.mktemp("page") / "report.html")


def test_every_section_is_there_in_order_with_a_heading(page: Page) -> None:
    sections = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
    assert sections == SECTIONS
    assert len([tag for tag, _ in page.tags if tag == "h2"]) == len(SECTIONS)
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links[1:] == [f"#{name}" for name in SECTIONS]


def test_the_page_says_that_it_is_advisory(page: Page) -> None:
    assert "Advisory only. Not safety-classified" in page.text


def test_the_page_asks_for_nothing_from_outside(page: Page) -> None:
    assert not {"script", "link", "iframe", "object", "base"} & {tag for tag, _ in page.tags}
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for tag, attributes in page.tags:
        for name in ("src", "href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:image/png")), (tag, value)
        assert not [name for name in attributes if name.startswith("on")]


def test_every_picture_has_a_description_a_caption_and_a_table(page: Page) -> None:
    drawings = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(drawings) >= 9
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in drawings)
    assert len([tag for tag, _ in page.tags if tag == "figcaption"]) == len(drawings)
    assert len([tag for tag, _ in page.tags if tag == "table"]) >= len(drawings)


def test_identifiers_are_unique_on_the_page(page: Page) -> None:
    identifiers = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def test_the_page_is_small(network_run: Path, tmp_path: Path) -> None:
    assert write_report(network_run, tmp_path / "report.html").stat().st_size < 1_000_000


def test_the_same_run_gives_the_same_page(network_run: Path, tmp_path: Path) -> None:
    one, two = (write_report(network_run, tmp_path / name).read_bytes() for name in ("1.html", "2.html"))
    assert one == two


def test_the_numbers_on_the_page_are_those_of_the_run(network_run: Path, page: Page) -> None:
    metrics = json.loads((network_run / "metrics.json").read_text())
    skill = 100 * (1 - metrics["test"]["mse"] / metrics["baselines"]["persistence"]["test"]["mse"])
    assert f"Forecasts are {skill:.0f} % better than repeating the last value" in page.text
    assert f"covered {100 * metrics['coverage']['0.9']:.0f} % of the readings" in page.text
    assert f"{metrics['test']['per_tag']['CO: DENVER dose']['mae']:.2f}" in page.text


def test_decisions_gaps_masks_and_hash_are_told(page: Page, network_run: Path) -> None:
    manifest = json.loads((network_run / "manifest.json").read_text())
    for words in (
        "54 321",
        "301",
        "below range 1 234",
        "times are UTC, rounded to the full hour",
        "19 gap(s)",
        "4 shorter gap(s)",
        "AZ_PHOENIX_2020.csv",
        manifest["sha256"]["model.safetensors"],
        "python -m attentionmixer.train --config configs/quickstart.yaml",
        "torch 2.13.0",
    ):
        assert words in page.text


def test_the_longest_gap_comes_first(page: Page) -> None:
    steps = re.findall(r"\b(\d+) 9\.?\d* days", page.text)
    assert len(steps) == 15
    assert steps == sorted(steps, key=int, reverse=True)


@pytest.mark.filterwarnings("error")
def test_hostile_names_are_text_and_nothing_else(
    hostile_run: Path, hostile_names: tuple[str, ...], tmp_path: Path
) -> None:
    path = write_report(hostile_run, tmp_path / "report.html")
    hostile = Page(path.read_text(encoding="utf-8"))
    assert not {"script", "img", "b"} & {tag for tag, _ in hostile.tags}
    for name in hostile_names[:6]:
        assert name in "".join(hostile.words)
    assert "{{ 7*7 }}" in hostile.text
    assert "\u202e" not in path.read_text(encoding="utf-8")


def test_a_lone_surrogate_in_a_name_does_not_stop_the_report(make_run: Callable[..., Path]) -> None:
    run = make_run([Tag("plain", "K")], days=5)
    path = run / "forecaster.json"
    path.write_text(path.read_text().replace('"K"', '"\\ud800K"'))
    assert "\ufffdK" in report(run).text


# --- what is missing -------------------------------------------------------------------------------------------------


def test_a_baselines_run_without_routes_says_why_the_sections_are_empty(run_dir: Path) -> None:
    for path in (run_dir / "routes").iterdir():
        path.unlink()
    text = report(run_dir).text
    assert "no spatial route map" in text
    assert "no temporal route map" in text


def test_missing_pieces_are_told(run_dir: Path) -> None:
    for name in ("forecasts.parquet", "environment.json", "config.yaml", "model.safetensors"):
        (run_dir / name).unlink()
    text = report(run_dir).text
    for words in ("no forecasts.parquet", "no environment.json", "no config.yaml", "no model.safetensors"):
        assert words in text
    assert "command is not on record" in text


def _blank(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _blank(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_blank(item) for item in value]
    return None if isinstance(value, int | float) else value


@pytest.mark.filterwarnings("error")
def test_where_nothing_was_measured_the_page_says_no_data_and_never_nan(run_dir: Path) -> None:
    path = run_dir / "metrics.json"
    path.write_text(json.dumps(_blank(json.loads(path.read_text()))))
    frame = pd.read_parquet(run_dir / "forecasts.parquet").assign(observed=np.nan)
    frame.to_parquet(run_dir / "forecasts.parquet")
    page = report(run_dir)
    assert "There is no test error" in page.text
    assert "No forecast of the test period has an observed value" in page.text
    assert "no data" in page.text
    assert not re.search(r"\b(nan|None|inf)\b", page.text)


def test_metrics_with_almost_nothing_in_them_are_enough(run_dir: Path) -> None:
    (run_dir / "metrics.json").write_text('{"test": {}}')
    text = report(run_dir).text
    assert "No tag was scored" in text
    assert "No error per horizon was measured" in text


def test_a_hash_that_differs_from_the_manifest_is_a_warning(run_dir: Path) -> None:
    (run_dir / "model.safetensors").write_bytes(b"other weights")
    assert "is not the file that the run wrote" in report(run_dir).text


@pytest.mark.filterwarnings("error")
def test_all_routes_removed_is_said(run_dir: Path) -> None:
    for path in (run_dir / "routes").glob("spatial-*.json"):
        names = RouteMap.load(path).targets
        empty = np.zeros((len(names), len(names)), np.float32)
        RouteMap("spatial", int(path.stem[-1]), names, names, empty).save(path)
    text = report(run_dir).text
    assert "Every route between tags is removed" in text
    assert "No route between two different tags is open" in text


def test_nearly_even_weights_are_not_sold_as_routes(run_dir: Path) -> None:
    for path in (run_dir / "routes").glob("spatial-*.json"):
        names = RouteMap.load(path).targets
        even = np.full((len(names), len(names)), 1 / len(names), np.float32)
        RouteMap("spatial", int(path.stem[-1]), names, names, even).save(path)
    assert "no route stands out" in report(run_dir).text


def test_the_linear_path_alone_is_shown_as_such(run_dir: Path) -> None:
    for path in (run_dir / "routes").glob("*-[12].json"):
        path.unlink()
    text = report(run_dir).text
    assert "no message passing between tags in this run" in text
    assert "size of coefficient" in text


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "settings",
    [
        {"tags": [Tag("only")], "days": 5},
        {"horizon": 1, "days": 4, "parts": 48, "rounds": 3},
        {"tags": [Tag(f"t{i:03d}", "K", station=f"S{i % 30}") for i in range(90)], "days": 4, "rounds": 1},
        {"step": "3min", "horizon": 5, "lookback": 16, "parts": 2, "days": 1},
    ],
    ids=["one tag", "one step ahead", "ninety tags", "three minutes"],
)
def test_networks_of_other_shapes_get_a_report(make_run: Callable[..., Path], settings: dict[str, Any]) -> None:
    page = report(make_run(**settings))
    assert [attributes["id"] for tag, attributes in page.tags if tag == "section"] == SECTIONS
    assert not re.search(r"\bnan\b", page.text)


# --- writing ---------------------------------------------------------------------------------------------------------


def test_the_report_lies_in_the_run_unless_told_otherwise(run_dir: Path, tmp_path: Path) -> None:
    assert write_report(run_dir) == run_dir / "report.html"
    other = tmp_path / "a report.html"
    assert write_report(run_dir, other) == other
    assert other.is_file()
    assert not list(run_dir.glob("*.part"))


def test_a_place_that_cannot_be_written_is_named(run_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot be written.*--output"):
        write_report(run_dir, tmp_path / "no" / "such" / "report.html")
    with pytest.raises(RunError, match="is a directory"):
        write_report(run_dir, tmp_path)


def test_a_report_that_fails_leaves_the_old_one(run_dir: Path) -> None:
    before = write_report(run_dir).read_bytes()
    (run_dir / "forecasts.parquet").write_bytes(b"broken")
    with pytest.raises(RunError):
        write_report(run_dir)
    assert (run_dir / "report.html").read_bytes() == before
