"""Text from a log on its way to a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""``text`` with every character that is not plainly visible written as its escape, ``"\x1b[2J"`` as ``\x1b[2J``.

    Control characters could move the cursor, clear the screen or rename the window; characters without width or that
    turn the writing direction could make one name look like another. None of them reaches the terminal.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
