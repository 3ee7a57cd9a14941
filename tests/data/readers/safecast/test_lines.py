"""Lines of a bGeigie log."""

from __future__ import annotations

import math

import pytest

from attentionmixer.data.readers.safecast.lines import checksum, parse, times_of


@pytest.mark.parametrize(
    ("payload", "sum_"),
    [
        (b"BNRDD,300,2012-12-16T17:58:31Z,30,1,116,A,4618.9612,N,00658.4831,E,443.7,A,1.28,", 0x6D),
        (b"BNRDD,0000,2015-01-06T13:49:32Z,0,0,0,V,0000.0000,N,00000.0000,E,0.00,V,0,0", 0x4A),
        (b"BGRDD,002,2011-07-05T13:51:48Z,7,3,7,V,3538.5284,N,13943.1506,E,93.0,V,16.0,0", 0x5C),
        (b"", 0),
    ],
)
def test_the_checksum_is_that_of_the_devices(payload: bytes, sum_: int) -> None:
    assert checksum(payload) == sum_


def test_a_line_becomes_a_sentence_with_its_place() -> None:
    raw = (
        b"# NEW LOG\r\n# format=1.0.0\r\n\r\n"
        b"$BNRDD,2359,2014-12-14T09:46:47Z,32,2,2398,A,3745.6045,N,12229.8638,W,50.40,A,8,87*5B\r\n"
    )
    (sentence,), refused, comments, others = parse(raw, "x.log", 3)
    assert (sentence.file, sentence.line, sentence.device) == (3, 4, "2359")
    assert (sentence.cpm, sentence.counts, sentence.valid, sentence.fixed) == (32.0, 2.0, True, True)
    assert math.isclose(sentence.latitude, 37 + 45.6045 / 60)
    assert math.isclose(sentence.longitude, -(122 + 29.8638 / 60))
    assert (refused, comments, others) == ([], ["NEW LOG", "format=1.0.0"], 0)
    assert times_of([sentence]).tolist() == [1_418_550_407_000_000_000]


def test_no_sentence_has_no_time() -> None:
    assert times_of([]).tolist() == []
