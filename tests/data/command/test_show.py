"""What ``check`` prints."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from attentionmixer.data import StationLog, Tag
from attentionmixer.data.command.check import Check
from attentionmixer.data.command.show import console, sampling_in_words, show
from attentionmixer.data.log import Sampling
from attentionmixer.data.quality import Gap, QualityRecord, Quarantined

EVIL = "\x1b[2J\x1b]0;owned\x07 [red]x[/red] [link=http://e]y[/link] :smile:"


def hostile() -> Check:
    """A log with a hostile text wherever a text can be."""
    record = QualityRecord(
        rows_in=4,
        rows_kept=2,
        rows_quarantined=1,
        rows_merged=1,
        masked={EVIL: 1},
        decisions=(EVIL,),
        gaps=(Gap(EVIL, "2024-05-01T00:00:00Z", "2024-05-01T00:10:00Z", 2),),
        quarantined=(Quarantined(EVIL, 1, EVIL, EVIL, EVIL),),
        sources=(EVIL,),
        warnings=(EVIL,),
    )
    tag = Tag(EVIL, EVIL, EVIL, EVIL)
    time = pd.date_range("2024-05-01", periods=2, freq="1h", tz="UTC")
    log = StationLog(np.ones((2, 1), np.float32), time, [tag], record)
    return Check.of(log.with_flags(np.full((2, 1), 64, dtype=np.uint16)), "table")


def printed(check: Check, *, terminal: bool) -> str:
    screen = Console(
        file=io.StringIO(),
        force_terminal=terminal,
        width=100,
        markup=False,
        emoji=False,
        highlight=False,
        color_system="standard" if terminal else None,
    )
    show(check, screen)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_no_name_reaches_the_terminal_as_a_command(terminal: bool) -> None:
    text = printed(hostile(), terminal=terminal)
    assert "\x1b[2J" not in text
    assert "\x1b]" not in text
    assert "\x07" not in text
    assert "\\x1b[2J" in text


def test_markup_links_and_emoji_in_names_are_plain_text() -> None:
    text = printed(hostile(), terminal=False)
    assert "[red]x[/red] [link=http://e]y[/link] :smile:" in text


def test_plain_text_has_no_colours_and_one_line_a_sentence() -> None:
    check = hostile()
    long = QualityRecord(rows_in=2, rows_kept=2, decisions=("word " * 100,))
    log = StationLog(check.log.values.copy(), check.log.time, check.log.tags, long)
    text = printed(Check.of(log, "table"), terminal=False)
    assert "\x1b" not in text
    assert "  - " + "word " * 99 in text
    assert "Clean: nothing was left out" in text


def test_every_kind_of_finding_has_a_line() -> None:
    text = printed(hostile(), terminal=False)
    for words in (
        "1 row(s) quarantined",
        "1 reading(s) set to missing",
        "2 reading(s) flagged stuck",
        "2 missing step(s)",
    ):
        assert words in text
    assert "4 read = 2 kept + 1 quarantined + 1 merged" in text


def test_the_console_takes_nothing_for_markup(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("[red]x[/red] :smile: " + "y" * 120)
    assert capsys.readouterr().out == "[red]x[/red] :smile: " + "y" * 120 + "\n"


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        (Sampling(), "the source does not say what a time stamp means"),
        (Sampling("instant"), "a time is the instant of the reading"),
        (Sampling("end"), "a time is the end of the interval that the reading covers"),
        (Sampling("begin", 600), "a time is the begin of the interval of 10 min that the reading covers"),
    ],
)
def test_sampling_is_said_in_words(sampling: Sampling, words: str) -> None:
    assert sampling_in_words(sampling) == words
