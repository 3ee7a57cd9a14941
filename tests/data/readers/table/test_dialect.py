"""How a text table is written: found from its first lines, or refused with what to declare."""

from __future__ import annotations

import pytest

from attentionmixer.data.readers.table.dialect import Dialect, find_dialect, mostly_words
from attentionmixer.data.readers.table.other_formats import refuse_other_formats
from attentionmixer.errors import LogError

ROWS = "2024-05-01T00:00Z,1,5\n2024-05-01T01:00Z,2,6\n"


def find(text: str, **declared: object) -> Dialect:
    return find_dialect(text.encode(), "log.csv", **declared)  # type: ignore[arg-type]


@pytest.mark.parametrize(("mark", "anywhere"), [("#", "#"), ("//", None), ("%", None), (";", None)])
def test_comments_before_the_header_are_passed_over_and_counted(mark: str, anywhere: str | None) -> None:
    dialect = find(f"{mark} made by a logger, in 2024\n\n{mark}\ntime,A,B\n{ROWS}")
    assert dialect.names == ("time", "A", "B")
    assert (dialect.lines_before_data, dialect.comments, dialect.comment) == (4, 2, anywhere)


def test_a_declared_mark_counts_anywhere() -> None:
    dialect = find(f"time,A,B\n!2024-05-01T00:00Z,9,9\n{ROWS}", comment="!")
    assert (dialect.comment, dialect.comments, len(dialect.sample)) == ("!", 0, 2)


def test_the_last_comment_names_the_columns_where_data_follows_at_once() -> None:
    dialect = find(f"# made by a logger\n# time,A,B\n{ROWS}")
    assert dialect.names == ("time", "A", "B")
    assert (dialect.comments, len(dialect.sample), dialect.lines_before_data) == (1, 2, 2)
    assert any("'#'" in decision for decision in dialect.decisions)
    assert find(f"#time,A,B\n{ROWS}").names == ("time", "A", "B")
    assert find("#;time;A\n1;2024-05-01T00:00Z;5\n").names == ("#", "time", "A")


def test_data_right_after_comments_that_name_nothing_is_refused_rather_than_lost() -> None:
    with pytest.raises(LogError, match="no line names its columns; say header=False"):
        find(f"# made by a logger\n{ROWS}")
    assert find(f"# made by a logger\n{ROWS}", header=False).names == ("column 1", "column 2", "column 3")
    assert find(f"# made by a logger\n{ROWS}", names=["t", "a", "b"]).lines_before_data == 1


def test_an_empty_first_name_before_a_semicolon_is_no_comment() -> None:
    dialect = find(";A;B\n2024-05-01T00:00Z;1;2\n")
    assert dialect.names == ("", "A", "B")
    assert dialect.comments == 0


def test_grouped_digits_are_refused_until_they_are_declared() -> None:
    with pytest.raises(LogError, match=r"'1\.234,5'.*thousands='\.', decimal=','"):
        find("time;A\n2024-05-01T00:00Z;1.234,5\n")
    with pytest.raises(LogError, match=r"'1,234\.5'.*thousands=',', decimal='\.'"):
        find('time,A\n2024-05-01T00:00Z,"1,234.5"\n')
    assert find("time;A\n2024-05-01T00:00Z;1.234\n", thousands=".").decimal == ","
    assert find("time;A\n2024-05-01T00:00Z;1,234\n", thousands=",").decimal == "."


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"separator": ";;"}, "not one character"),
        ({"decimal": "'"}, "no decimal mark"),
        ({"comment": " "}, "comment= is blank"),
        ({"thousands": "5"}, "no mark between digits"),
        ({"thousands": ",", "decimal": ","}, "cannot be the same mark"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(declared: dict[str, str], message: str) -> None:
    with pytest.raises(LogError, match=message):
        find(f"time,A,B\n{ROWS}", **declared)


def test_columns_of_words_are_known_by_most_of_their_cells() -> None:
    text = "time,A,remark,state,B\n" + "".join(f"2024-05-01T0{h}:00Z,1,dry {h},Bad,\n" for h in range(4))
    assert mostly_words(find(text)) == {"time", "remark"}


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b'<?xml version="1.0"?><a/>', "XML"),
        (b"\x1f\x8b\x08", "packed twice"),
        (b"BZh91AY&SY", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"%PDF-1.7", "PDF"),
        (b"\xd0\xcf\x11\xe0", "old spreadsheet"),
        (b"FEA1", "Feather of version 1"),
        (b"a" * 257 + b"ustar", "tar archive"),
    ],
)
def test_other_formats_are_refused_by_their_first_bytes(head: bytes, message: str) -> None:
    with pytest.raises(LogError, match=message):
        refuse_other_formats(head, "log.csv")
