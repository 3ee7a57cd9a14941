"""Text from logs on its way to a terminal."""

from __future__ import annotations

import pytest

from attentionmixer.data.command.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("P01 dose rate", "P01 dose rate"),
        ("線量率 µSv/h État", "線量率 µSv/h État"),
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
        ("[red]x[/red] :smile:", "[red]x[/red] :smile:"),
    ],
)
def test_what_is_not_plainly_visible_is_written_as_its_escape(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(text).isprintable()
