"""Text in pieces of whole lines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from attentionmixer.data.readers.encoding import UTF8, Encoding
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.table.lines import Lines, NotUtf8Error, check_cells, cut_lines, longest_line
from attentionmixer.errors import LogError

TEXT = "time,A\r\n\r\n1,µ\r2,é\n\n3,x"


def pieces(raw: bytes, size: int) -> Iterator[bytes]:
    return (raw[i : i + size] for i in range(0, len(raw), size))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 100])
@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "cp1252"])
def test_pieces_of_any_size_give_the_same_lines(size: int, codec: str) -> None:
    found = list(cut_lines(pieces(TEXT.encode(codec), size), Encoding(codec), "log.csv", Limits()))
    assert b"".join(lines.text for lines in found).decode() == TEXT.replace("\r\n", "\n").replace("\r", "\n")
    assert [lines.before for lines in found] == np.cumsum([0, *(lines.count for lines in found[:-1])]).tolist()
    numbers = np.concatenate([lines.filled() for lines in found])
    assert numbers.tolist() == [1, 3, 4, 6]


def test_text_that_is_not_utf8_is_noticed_where_it_begins() -> None:
    found = cut_lines([b"a,b\n1,2\n", b"3,\xe9\n"], Encoding(UTF8), "log.csv", Limits())
    assert next(found).text == b"a,b\n1,2\n"
    with pytest.raises(NotUtf8Error):
        next(found)


def test_comments_are_blanked_so_that_line_numbers_stay() -> None:
    lines, count = Lines(b"# a\n1,2\n# b\n3,#4", 10).without_comments(b"#")
    assert (lines.text, count) == (b"\n1,2\n\n3,#4", 2)
    assert lines.filled().tolist() == [12, 14]


def test_lines_at_the_start_are_passed_over() -> None:
    lines = Lines(b"a\nb\nc\nd", 0)
    assert lines.without_first(2) == Lines(b"c\nd", 2)
    assert lines.without_first(0) == lines
    assert lines.without_first(9).text == b""


@pytest.mark.parametrize("limit", range(1, 12))
def test_the_first_line_that_is_too_long_is_found(limit: int) -> None:
    text = b"aa\nbbbb\n\ncccccccc\ndd\neeeeeeeeee"
    slow = next(((i, len(line)) for i, line in enumerate(text.split(b"\n"), 8) if len(line) > limit), (0, 0))
    assert longest_line(Lines(text, 7), limit) == slow


def test_a_cell_that_is_too_long_is_named_and_a_long_line_of_short_cells_is_fine() -> None:
    check_cells(Lines(b"1,2\n" + b"333,444," * 20 + b"\n", 0), b",", "log.csv", Limits(cell=10))
    with pytest.raises(LogError, match=r"log\.csv line 5 holds 11 byte\(s\) in one cell"):
        check_cells(Lines(b"1,2\n1," + b"x" * 11 + b"\n", 3), b",", "log.csv", Limits(cell=10))
