"""The page of a log: what is on it, as text and in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data import StationLog, Tag
from attentionmixer.data.command.check import Check
from attentionmixer.data.quality import Flag, Gap, QualityRecord, Quarantined, screen
from attentionmixer.report.log_page import judge_log, render_log, write_log_page

EVIL = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2> $x_1$ \x1b[2J\u202e"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(HTMLParser):
    """Tags, words and identifiers of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.names: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names += [value for name, value in attrs if name == "id" and value]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split()).replace("\u202f", " ")


def quiet_log(stations: int = 3, days: int = 30) -> StationLog:
    """Hourly dose rates without a fault."""
    time = pd.date_range("2024-01-01", periods=24 * days, freq="1h", tz="UTC")
    values = np.random.default_rng(0).normal(90, 3, (len(time), stations)).astype(np.float32)
    tags = [Tag(f"P{i:02d} dose rate", "nSv/h", "dose_rate", station=f"P{i:02d}") for i in range(stations)]
    return StationLog(values, time, tags)


def faulty_log(name: str = "P00") -> StationLog:
    """The same with a fault of each kind; `name` stands wherever a text of a log can."""
    log = quiet_log()
    record = QualityRecord(
        rows_in=1000,
        rows_kept=720,
        rows_quarantined=150,
        rows_merged=130,
        masked={f"state {name}": 4},
        decisions=(
            f"{name} was converted",
            "130 row(s) fell on a step that had one already (100 of them identical to it): x",
        ),
        gaps=(
            Gap(name, "2024-01-05T00:00:00Z", "2024-01-05T02:00:00Z", 3),
            Gap("*", "2024-01-09T00:00:00Z", "2024-01-09T00:00:00Z", 1),
        ),
        quarantined=tuple(Quarantined(name, i + 1, name, name, f"reason {name}") for i in range(150)),
        sources=(name,),
        warnings=(f"{name} may be wrong",),
    )
    flags = np.zeros(log.shape, dtype=np.uint16)
    flags[100:120, 0] = Flag.STUCK
    flags[300, 1] = Flag.SPIKE
    tags = [Tag(name, name[:20], name, name), *log.tags[1:]]
    return StationLog(log.values.copy(), log.time, tags, record).with_flags(flags)


def page_of(log: StationLog) -> Page:
    return Page(render_log(Check.of(log, "table")))


def test_a_quiet_log_says_that_nothing_is_wrong() -> None:
    log = quiet_log()
    assert judge_log(Check.of(log, "table")).level == "good"
    text = page_of(log).text
    assert "720 rows read, 720 kept; nothing left out, masked, flagged or missing." in text
    assert "No gap: a row came in for every step." in text
    assert "No reading has a flag." in text
    assert "No row was quarantined." in text


def test_the_verdict_counts_every_kind_of_finding() -> None:
    verdict = judge_log(Check.of(faulty_log(), "table"))
    assert verdict.level == "mixed"
    assert verdict.headline == (
        "1\u202f000 rows read, 720 kept; 150 rows quarantined, 4 readings masked, 21 readings flagged, 2 gaps, "
        "30 rows merged that disagreed, 1 warning."
    )


def test_sections_stand_in_order_and_every_picture_has_a_table() -> None:
    page = page_of(faulty_log())
    sections = [name for name in page.names if name in ("verdict", "trends", "gaps", "flags", "rows", "read")]
    assert sections == ["verdict", "trends", "gaps", "flags", "rows", "read"]
    assert page.tags.count("svg") == 1 + 1 + 1 + 2  # trends, gaps, all rules, two rules
    assert page.tags.count("table") >= 8


def test_the_first_hundred_quarantined_rows_are_listed_and_the_rest_counted() -> None:
    text = page_of(faulty_log()).text
    assert text.count("reason P00") == 100 + 1
    assert "50 more are not listed." in text


def test_a_short_log_has_strips_of_steps_and_a_long_one_of_days() -> None:
    flags = np.zeros((48, 3), dtype=np.uint16)
    flags[5:8, 0] = Flag.STUCK
    assert "A column stands for 1 h" in page_of(quiet_log(days=2).with_flags(flags)).text
    assert "A column stands for a day" in page_of(faulty_log()).text


def test_names_are_text_and_nothing_else() -> None:
    text = render_log(Check.of(faulty_log(EVIL), "table"))
    page = Page(text)
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<script>window.hacked=1</script>" in page.text


def test_identifiers_are_used_once() -> None:
    names = page_of(faulty_log()).names
    assert len(set(names)) == len(names)


def test_the_same_log_gives_the_same_page() -> None:
    check = Check.of(faulty_log(), "table")
    assert render_log(check) == render_log(check)


def test_fifty_stations_and_a_year_stay_under_ten_megabytes(tmp_path: Path) -> None:
    log = quiet_log(stations=50, days=365)
    flags = np.where(np.random.default_rng(1).random(log.shape) < 0.02, np.uint16(Flag.SPIKE), np.uint16(0))
    write_log_page(Check.of(log.with_flags(flags.astype(np.uint16)), "table"), tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 10e6
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_many_tags_are_capped_with_a_note_and_all_stand_in_the_table() -> None:
    log = quiet_log(stations=60, days=9)
    page = page_of(log)
    assert "Of 60 tags, 48 are drawn" in page.text
    assert "P59 dose rate" in page.text


def test_a_screened_log_of_one_empty_and_one_flat_tag_has_a_page() -> None:
    values = np.full((48, 2), np.nan, dtype=np.float32)
    values[:, 1] = 5
    time = pd.date_range("2024-01-01", periods=48, freq="1h", tz="UTC")
    assert "no reading" in page_of(screen(StationLog(values, time, [Tag("empty"), Tag("flat")]))).text


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'dev')")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module", params=["P00", EVIL], ids=["plain", "hostile"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of an ordinary and of a hostile log."""
    path: Path = tmp_path_factory.mktemp("log") / "page.html"
    write_log_page(Check.of(faulty_log(request.param), "table"), path)
    return path


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_quiet_fits_and_runs_nothing(browser: Any, written: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(written.as_uri())
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [written.as_uri()]
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_every_text_of_a_drawing_lies_inside_it(browser: Any, written: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(written.as_uri())
    outside = page.evaluate(
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
    page.close()
