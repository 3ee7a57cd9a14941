"""Text in pieces of whole lines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from attentionmixer.data.readers.encoding import UTF8, Encoding
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.table.lines import (
    Lines,
    NotUtf8Error,
    check_cells,
    cut_lines,
    longest_line,
    unclosed_quote,
)
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


@pytest.mark.parametrize(
    ("text", "count"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"\n\na", 3)]
)
def test_a_last_line_counts_with_or_without_an_end(text: bytes, count: int) -> None:
    assert Lines(text, 5).count == count


def test_lines_of_the_whole_text_are_passed_over_not_of_the_piece() -> None:
    piece = Lines(b"c\nd\ne\n", 2)
    assert piece.without_first(1) == piece.without_first(2) == piece
    assert piece.without_first(3) == Lines(b"d\ne\n", 3)
    assert piece.without_first(5) == Lines(b"", 5)
    assert piece.without_first(9) == Lines(b"", 9)


def test_text_without_a_comment_is_handed_on_as_it_is() -> None:
    lines = Lines(b"1,2 # no\n3", 4)
    same, count = lines.without_comments(b"#")
    assert same is lines and count == 0
    assert Lines(b"#", 4).without_comments(b"#") == (Lines(b"", 4), 1)
    assert Lines(b"a\n//b", 0).without_comments(b"//") == (Lines(b"a\n", 0), 1)


def test_the_first_line_beyond_the_limit_is_named_and_one_at_it_is_not() -> None:
    lines = Lines(b"ab\n" + b"x" * 10 + b"\ncd\n" + b"y" * 11 + b"\n" + b"z" * 30, 100)
    assert longest_line(lines, 30) == (0, 0)
    assert longest_line(lines, 11) == (105, 30)
    assert longest_line(lines, 10) == (104, 11)
    assert longest_line(lines, 9) == (102, 10)
    assert longest_line(Lines(b"", 3), 0) == (0, 0)


def test_a_line_without_an_end_is_too_long_as_soon_as_it_is() -> None:
    asked: list[int] = []

    def blocks() -> Iterator[bytes]:
        for number in range(100):
            asked.append(number)
            yield b"x" * 10

    with pytest.raises(LogError, match=r"log\.csv line 1"):
        list(cut_lines(blocks(), Encoding("cp1252"), "log.csv", Limits(line=45)))
    assert len(asked) <= 7
    first = [b"a\nb\n", b"y" * 20]
    assert len(list(cut_lines(first, Encoding("cp1252"), "log.csv", Limits(line=20)))) == 1
    with pytest.raises(LogError, match=r"log\.csv line 3"):
        list(cut_lines(first, Encoding("cp1252"), "log.csv", Limits(line=19)))


def test_a_cell_beyond_the_limit_is_named_by_its_line_and_length_not_the_line() -> None:
    lines = Lines(b"1,2\n" + b"a,b,c,d,e,f\n" + b"abcd,abcde,a\n", 10)
    check_cells(lines, b",", "log.csv", Limits(cell=5))
    with pytest.raises(LogError, match=r"log\.csv line 13 .*5"):
        check_cells(lines, b",", "log.csv", Limits(cell=4))


@pytest.mark.parametrize(
    ("text", "line"), [(b'1,"a\n2,b', 11), (b'1,a\n2,"b\nc",3', 12), (b"1\n2", 11), (b'"a"\n"b', 12)]
)
def test_the_line_of_a_quote_that_is_left_open_is_named(text: bytes, line: int) -> None:
    assert str(unclosed_quote(Lines(text, 10), "log.csv")) == (
        f"log.csv: a quoted cell runs over the end of line {line}; close the quote, or take the break out"
    )
