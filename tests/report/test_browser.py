"""The page in a real browser: it stays quiet, shows everything, fits, and prints."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.report import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'dev')")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECTIONS = 8


@dataclass
class Visit:
    """An open page and all it did on the way."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def open(self, path: Path) -> None:
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.page.goto(path.as_uri())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module", params=["network_run", "hostile_run"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of an ordinary and of a hostile run."""
    return write_report(request.getfixturevalue(request.param), tmp_path_factory.mktemp("browser") / "report.html")


@pytest.fixture
def visit(browser: Any, report: Path) -> Iterator[Visit]:
    """The report, opened 1280 pixels wide."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    visit = Visit(page)
    visit.open(report)
    yield visit
    page.close()


def test_the_page_is_quiet_and_asks_for_nothing(visit: Visit, report: Path) -> None:
    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith("data:")] == [report.as_uri()]


def test_no_name_becomes_a_program(visit: Visit) -> None:
    assert visit.dialogs == []
    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.evaluate("document.scripts.length") == 0
    assert visit.page.evaluate("document.images.length") == 0


def test_a_program_put_into_the_page_would_not_run(browser: Any, report: Path, tmp_path: Path) -> None:
    spoiled = tmp_path / "spoiled.html"
    text = report.read_text(encoding="utf-8")
    spoiled.write_text(text.replace("</main>", "<script>window.hacked = 1</script></main>"), encoding="utf-8")
    page = browser.new_page()
    page.goto(spoiled.as_uri())
    assert page.evaluate("document.scripts.length") == 1
    assert page.evaluate("window.hacked") is None
    page.close()


def test_every_section_and_figure_is_visible(visit: Visit) -> None:
    sections = visit.page.locator("main section")
    assert sections.count() == SECTIONS
    figures = visit.page.locator("figure svg")
    assert figures.count() >= 9
    for place in (sections, figures):
        for i in range(place.count()):
            box = place.nth(i).bounding_box()
            assert box is not None
            assert box["width"] > 100
            assert box["height"] > 50


def test_every_text_of_a_figure_lies_inside_it(visit: Visit) -> None:
    outside = visit.page.evaluate(
        """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter(text => {
                const box = text.getBoundingClientRect();
                return box.left < frame.left - 2 || box.right > frame.right + 2
                    || box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
            }).map(text => svg.getAttribute('aria-label').slice(0, 40) + ': ' + text.textContent);
        })"""
    )
    assert outside == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_does_not_overflow(browser: Any, report: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_drawings_stand_out_from_the_paper(browser: Any, report: Path, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(report.as_uri())
    ink, paper, drawn = page.evaluate(
        """() => {
            const style = getComputedStyle(document.body);
            const text = document.querySelector('figure svg text');
            return [style.color, style.backgroundColor, getComputedStyle(text).fill];
        }"""
    )
    bright = {name: sum(map(int, re.findall(r"\d+", colour)[:3])) for name, colour in (("ink", ink), ("paper", paper))}
    assert (bright["ink"] < bright["paper"]) == (scheme == "light")
    assert abs(bright["ink"] - bright["paper"]) > 400
    assert drawn != paper
    page.close()


def test_folded_tables_are_open_in_print(visit: Visit) -> None:
    tables = visit.page.locator("details table")
    assert tables.count() > 0
    assert not tables.first.is_visible()
    visit.page.emulate_media(media="print")
    for i in range(tables.count()):
        box = tables.nth(i).bounding_box()
        assert box is not None
        assert box["height"] > 10


def test_the_page_prints_to_a4(visit: Visit) -> None:
    pdf = visit.page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    sizes = {tuple(map(float, size.split())) for size in re.findall(rb"/MediaBox\s*\[([\d. ]+)\]", pdf)}
    assert sizes
    for _, _, width, height in sizes:
        assert width == pytest.approx(595, abs=1)
        assert height == pytest.approx(842, abs=1)


def test_the_printed_page_is_no_wider_than_the_paper(browser: Any, report: Path) -> None:
    # A4 less the margins of 14 mm, at 96 dots per inch
    width = round((210 - 28) / 25.4 * 96)
    page = browser.new_page(viewport={"width": width, "height": 1000})
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
