"""Lines of bGeigie logs, kind by kind."""

from __future__ import annotations

import math

import pytest

from attentionmixer.data.readers.clock import MISSING
from attentionmixer.data.readers.safecast.lines import HEADERS, checksum, parse, sniff, times_of

GOOD = "BNRDD,300,2012-12-16T17:58:24Z,30,1,116,A,4618.9612,N,00658.4831,E,443.70,A,5,1.28"


def line(text: str = GOOD, **changes: str) -> bytes:
    """A sentence with its checksum; changes by the number of the field."""
    cells = text.split(",")
    for place, cell in changes.items():
        cells[int(place.removeprefix("f"))] = cell
    body = ",".join(cells)
    return f"${body}*{checksum(body.encode()):02X}".encode()


def refused(text: bytes) -> str:
    """Why a line is no sentence, or an empty text."""
    _, bad, _, _ = parse(text, "drive.log", 0)
    return bad[0].reason if bad else ""


def test_a_sentence_is_read_field_by_field() -> None:
    found, bad, comments, others = parse(b"# NEW LOG\n\n" + line() + b"\n", "drive.log", 4)
    (one,) = found
    assert (bad, comments, others) == ([], ["NEW LOG"], 0)
    assert (one.file, one.line, one.device, one.when) == (4, 3, "300", "2012-12-16T17:58:24Z")
    assert (one.cpm, one.counts, one.valid, one.fixed) == (30, 1, True, True)
    assert one.latitude == pytest.approx(46 + 18.9612 / 60)
    assert one.longitude == pytest.approx(6 + 58.4831 / 60)
    assert one.text == line()


@pytest.mark.parametrize("header", ["BGRDD", "BMRDD", "BNRDD", "BNXRDD", "BZRDD", "PNTDD", "CZRDD"])
def test_sentences_of_each_device_are_known(header: str) -> None:
    assert header in HEADERS
    assert len(parse(line(f0=header), "drive.log", 0)[0]) == 1
    assert sniff(b"\xef\xbb\xbf# comment\n\n  " + line(f0=header))


@pytest.mark.parametrize("head", [b"", b"# comment\n", b"time,value\n$BNRDD,", b"$GPRMC,1,2", b"BNRDD,300"])
def test_other_content_is_not(head: bytes) -> None:
    assert not sniff(head)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"hello", "the line is no sentence: it does not start with $BNRDD or the header of another bGeigie"),
        (b"$BNRDD,\xff*00", "the line holds bytes that no bGeigie writes"),
        (line() + b"x", "more follows the checksum"),
        (line()[:-3], "there is no checksum: the line was cut short"),
        (line().replace(b",30,", b",31,"), "checksum is wrong"),
        (line("BNRDD,300,2012-12-16T17:58:24Z,30"), "4 fields instead of 13 or more"),
        (line(",".join(GOOD.split(",")[:12])), "12 fields instead of 13 or more"),
        (line(",".join(GOOD.split(",")[:13])), ""),
        (line(f1=" "), "the device has no number"),
        (line(f3="-1"), "a count is no number"),
        (line(f4="1e3"), "a count is no number"),
        (line(f5=""), "a count is no number"),
        (line(f3="1234567890"), "a count is no number"),
        (line(f3="123456789.123456"), ""),
        (line(f6="X"), "a validity flag is neither A nor V"),
        (line(f12=""), "a validity flag is neither A nor V"),
    ],
)
def test_a_line_that_is_no_sentence_says_why(text: bytes, reason: str) -> None:
    assert refused(text) == reason


def test_a_refused_line_is_named_with_file_line_and_text() -> None:
    _, (bad,), _, _ = parse(b"\n\n" + b"\xffx" * 300, "drive.log", 0)
    assert (bad.file, bad.line, bad.column) == ("drive.log", 3, "*")
    assert bad.text == "\\xffx" * 200


def test_validity_flags_are_read_one_by_one() -> None:
    found = parse(line(f6="V") + b"\n" + line(f12="V"), "drive.log", 0)[0]
    assert [(s.valid, s.fixed) for s in found] == [(False, True), (True, False)]


@pytest.mark.parametrize(
    ("north", "east", "place"),
    [
        (("4618.0", "S"), ("00658.5", "W"), (-46.3, -6.975)),
        (("-4618.0", "N"), ("-00658.5", "W"), (46.3, -6.975)),
        (("9000.0", "N"), ("18000.0", "E"), (90, 180)),
        (("9000.1", "N"), ("00658.5", "E"), None),
        (("4618.0", "N"), ("18000.1", "E"), None),
        (("4660.0", "N"), ("00658.5", "E"), None),
        (("4659.99", "N"), ("00630.0", "E"), (46 + 59.99 / 60, 6.5)),
        (("4618.0", "NS"), ("00658.5", "E"), None),
        (("4618.0", ""), ("00658.5", "E"), None),
        (("4618.0", "E"), ("00658.5", "E"), None),
        (("4618.0", "N"), ("00658.5", "N"), None),
        (("x", "N"), ("00658.5", "E"), None),
        (("0000.0", "N"), ("00000.0", "E"), None),
        (("0000.0", "N"), ("00006.0", "E"), (0, 0.1)),
    ],
)
def test_a_position_is_degrees_or_none(
    north: tuple[str, str], east: tuple[str, str], place: tuple[float, float] | None
) -> None:
    (one,) = parse(line(f7=north[0], f8=north[1], f9=east[0], f10=east[1]), "drive.log", 0)[0]
    if place is None:
        assert math.isnan(one.latitude)
        assert math.isnan(one.longitude)
    else:
        assert (one.latitude, one.longitude) == pytest.approx(place)


def test_sentences_of_other_kinds_are_counted_and_no_fault() -> None:
    found, bad, _, others = parse(b"$GPRMC,1,2*00\n$BNXSTS,1\n$GPRMC,1$BNRDD,2\n$GP,1\n", "drive.log", 0)
    assert (found, others) == ([], 2)
    assert len(bad) == 2


def test_comments_are_listed_once_and_at_most_twenty_and_cut() -> None:
    lines = [b"# a", b"#a", b"##  a", b"#", *(b"# c%02d" % i for i in range(30))]
    comments = parse(b"\n".join(lines), "drive.log", 0)[2]
    assert comments == ["a", *(f"c{i:02d}" for i in range(19))]
    assert parse(b"#" + b"x" * 300, "drive.log", 0)[2] == ["x" * 200]


def test_zeros_and_blanks_of_a_damaged_card_are_no_lines() -> None:
    assert parse(b"\x00\x00\n \t\n\x1a\n\x00" + line() + b"\x00", "drive.log", 0)[1] == []
    assert len(parse(b"\x00" + line() + b"\x00", "drive.log", 0)[0]) == 1


@pytest.mark.parametrize(
    ("when", "there"),
    [
        ("2012-12-16T17:58:24Z", True),
        ("1999-01-01T00:00:00Z", True),
        ("2012-00-00T00:00:00Z", False),
        ("2112-12-16T17:58:24Z", False),
        ("2012-12-16T17:58:24", False),
        ("2012-12-16 17:58:24Z", False),
        ("", False),
    ],
)
def test_a_cold_start_has_no_time(when: str, there: bool) -> None:
    times = times_of(parse(line(f2=when), "drive.log", 0)[0])
    assert (times[0] != MISSING) == there


def test_a_time_is_in_nanoseconds_and_utc() -> None:
    times = times_of(parse(line(f2="1970-01-01T00:00:01Z") + b"\n" + line(), "drive.log", 0)[0])
    assert times[0] == 1_000_000_000


def test_a_checksum_is_the_exclusive_or_of_all_bytes() -> None:
    assert checksum(b"") == 0
    assert checksum(b"\x01\x02\x07") == 4
