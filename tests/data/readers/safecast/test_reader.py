"""The reader of Safecast bGeigie logs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import reduce
from operator import xor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attentionmixer.data.log import Sampling, StationLog
from attentionmixer.data.quality import Flag
from attentionmixer.data.readers.assemble import Assembly
from attentionmixer.data.readers.safecast.reader import read, sniff
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

Write = Callable[..., Path]
HEAD = "# NEW LOG\n# format=1.3.4nano\n# deadtime=on\n"


def sentence(
    when: str,
    cpm: object = 30,
    *,
    counts: object = 2,
    total: object = 115,
    valid: str = "A",
    position: str = "4618.9612,N,00658.4831,E",
    fixed: str = "A",
    device: str = "300",
    header: str = "BNRDD",
    tail: str = "443.7,{},7,128",
) -> str:
    body = f"{header},{device},{when},{cpm},{counts},{total},{valid},{position},{tail.format(fixed)}"
    return f"${body}*{reduce(xor, body.encode('latin-1')):02X}"


def at(second: int) -> str:
    return str((pd.Timestamp("2016-09-20T04:00:00") + pd.Timedelta(seconds=second)).isoformat()) + "Z"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(lines: Sequence[str], name: str = "27090920.LOG", head: str = HEAD, end: str = "\n") -> Path:
        path = tmp_path / name
        path.write_bytes((head + "".join(line + "\n" for line in lines)).replace("\n", end).encode("latin-1"))
        return path

    return _write


def load(*paths: Path, counts: bool = False, **options: object) -> StationLog:
    return read([Source(path) for path in paths], Assembly(**options), counts=counts)  # type: ignore[arg-type]


def balance(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


# --- recognising -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["BNRDD", "BMRDD", "BGRDD", "BNXRDD", "BZRDD", "PNTDD", "CZRDD"])
def test_every_device_of_the_family_is_recognised(header: str, write: Write) -> None:
    path = write([sentence(at(0), header=header), sentence(at(5), header=header)])
    assert sniff(path.read_bytes())
    assert load(path).names == ("300 cpm",)


def test_the_sentences_published_as_examples_are_read() -> None:
    # the checksums are those of the devices
    lines = (
        b"$BNRDD,2359,2014-12-14T09:46:47Z,32,2,2398,A,3745.6045,N,12229.8638,W,50.40,A,8,87*5B\r\n"
        b"$BNRDD,2108,2013-12-06T13:03:58Z,22,2,115,A,3145.7607,N,03510.1975,E,734.90,V,3,908*64\r\n"
        b"$BGRDD,002,2011-07-05T13:52:42Z,34,2,38,A,3538.5284,N,13943.1506,E,93.0,V,16.0,0*4f\r\n"
    )
    assert sniff(lines)
    assert sniff(b"\xef\xbb\xbf\r\n# NEW LOG\r\n" + lines)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"# NEW LOG\n# format=1.3.4nano\n",
        b"time,tag,value\n2024-01-01T00:00:00Z,a,1\n",
        b"$GPRMC,081836,A,3751.65,S,14507.36,E,000.0,360.0,130998,011.3,E*62\n",
        b"text about $BNRDD,300 and others\n",
        b"\x00\xff$BNRDD,",
    ],
)
def test_other_content_is_left_to_other_readers(head: bytes) -> None:
    assert not sniff(head)


# --- golden ----------------------------------------------------------------------------------------------------------


def test_a_log_becomes_one_tag_a_device(write: Write) -> None:
    log = load(write([sentence(at(5 * i), 30 + i) for i in range(4)]))
    (tag,) = log.tags
    assert (tag.name, tag.unit, tag.quantity, tag.station) == ("300 cpm", "cpm", "count_rate", "300")
    np.testing.assert_array_equal(log.values[:, 0], [30, 31, 32, 33])
    assert log.time[0] == pd.Timestamp("2016-09-20T04:00:00Z")
    assert log.step == pd.Timedelta("5s")
    assert log.sampling == Sampling("end", 60.0)
    assert balance(log) == (4, 4, 0, 0)


def test_degrees_and_minutes_become_degrees(write: Write) -> None:
    south_west = "3330.0000,S,07030.6000,W"
    log = load(write([sentence(at(0), position=south_west), sentence(at(5), 31, position=south_west)]))
    assert log.tags[0].coordinates == (-33.5, -70.51)


def test_a_sign_of_the_west_beside_its_letter_is_not_taken_twice(write: Write) -> None:
    signed = "4141.8847,N,-07355.3663,W"
    log = load(write([sentence(at(0), position=signed), sentence(at(5), 31, position=signed)]))
    assert log.tags[0].coordinates == (41.698078, -73.922772)


def test_counts_never_become_dose_unless_the_tube_is_named(write: Write) -> None:
    path = write([sentence(at(0), 334), sentence(at(5), 668)])
    assert load(path).tags[0].quantity == "count_rate"
    log = load(path, convert={"cpm": "LND-7317"})
    assert (log.tags[0].unit, log.tags[0].quantity) == ("nSv/h", "dose_rate")
    np.testing.assert_allclose(log.values[:, 0], [1000, 2000], rtol=1e-6)


def test_the_pulses_of_each_five_seconds_are_kept_when_asked_for(write: Write) -> None:
    log = load(write([sentence(at(5 * i), 30, counts=i) for i in range(1, 25)]), counts=True, step="1min")
    assert log.names == ("300 cpm", "300 counts")
    assert (log.tags[1].unit, log.tags[1].quantity, log.tags[1].resample) == ("counts", "counts", "sum")
    np.testing.assert_array_equal(log.values[:, 1], [sum(range(1, 13)), sum(range(13, 25))])


def test_device_numbers_stay_text_and_devices_stay_apart(write: Write) -> None:
    first = write([sentence(at(0), 30, device="0210"), sentence(at(5), 31, device="0210")], "a.log")
    second = write([sentence(at(0), 40, device="210"), sentence(at(5), 41, device="210")], "b.log")
    log = load(first, second)
    assert log.names == ("0210 cpm", "210 cpm")
    assert log.stations == ("0210", "210")
    np.testing.assert_array_equal(log.values, [[30, 40], [31, 41]])
    assert load(first, second, stations=["210"]).names == ("210 cpm",)


def test_windows_line_ends_and_a_padded_end_change_nothing(write: Write) -> None:
    lines = [sentence(at(0), 30), sentence(at(5), 31)]
    plain, dos = load(write(lines)), load(write([*lines, "\x00\x00\x1a"], end="\r\n"))
    np.testing.assert_array_equal(plain.values, dos.values)
    assert balance(dos) == (2, 2, 0, 0)


def test_what_the_log_says_of_itself_is_told(write: Write) -> None:
    log = load(write([sentence(at(0)), sentence(at(5), 31)]))
    assert "the log says of itself: deadtime=on" in log.quality.decisions


def test_status_sentences_are_passed_over_and_said(write: Write) -> None:
    status = "$BNXSTS,300,23,45,12,0.304*22"
    log = load(write([sentence(at(0)), status, sentence(at(5), 31)]))
    assert balance(log) == (2, 2, 0, 0)
    assert any("1 sentence(s) of other kinds" in decision for decision in log.quality.decisions)


# --- validity --------------------------------------------------------------------------------------------------------


def test_a_void_count_is_missing_with_its_reason_although_the_checksum_is_right(write: Write) -> None:
    log = load(write([sentence(at(0), 5, valid="V"), sentence(at(5), 30), sentence(at(10), 31)]), counts=True)
    np.testing.assert_array_equal(log.values[:, 0], [np.nan, 30, 31])
    assert log.flags[0, 0] == Flag.STATE
    assert sum(log.quality.masked.values()) == 2
    assert balance(log) == (3, 3, 0, 0)


def test_a_void_position_keeps_its_count_and_places_nothing(write: Write) -> None:
    far = "1000.0000,N,01000.0000,E"
    log = load(write([sentence(at(0), 29, fixed="V", position=far), sentence(at(5), 30), sentence(at(10), 31)]))
    np.testing.assert_array_equal(log.values[:, 0], [29, 30, 31])
    assert log.tags[0].coordinates == (46.316020, 6.974718)
    assert any("1 position(s) are void" in decision for decision in log.quality.decisions)


@pytest.mark.parametrize(
    "position",
    ["00010>5185,N,00658.4831,E", "4618.9612,U,00658.4831,E", "9118.0,N,00658.0,E", "4661.0,N,00658.0,E", ",,,"],
)
def test_a_position_that_is_none_is_counted_and_keeps_the_count(write: Write, position: str) -> None:
    log = load(write([sentence(at(0), 29, position=position), sentence(at(5), 30)]))
    np.testing.assert_array_equal(log.values[:, 0], [29, 30])
    assert any("1 position(s) marked valid are none" in decision for decision in log.quality.decisions)


def test_an_instrument_that_moved_has_no_coordinates(write: Write) -> None:
    there = "4619.0612,N,00658.4831,E"  # 185 m to the north
    log = load(write([sentence(at(0), 29), sentence(at(5), 30, position=there)]))
    assert log.tags[0].coordinates is None
    assert any("the instrument moved: valid positions of device 300 span 185 m" in d for d in log.quality.decisions)


def test_an_instrument_on_the_date_line_did_not_move(write: Write) -> None:
    east, west = "1700.0000,S,17959.9900,E", "1700.0000,S,17959.9900,W"
    log = load(write([sentence(at(0), 29, position=east), sentence(at(5), 30, position=west)]))
    coordinates = log.tags[0].coordinates
    assert coordinates is not None
    assert abs(abs(coordinates[1]) - 180.0) < 1e-6


def test_a_device_without_any_fix_has_no_coordinates(write: Write) -> None:
    log = load(write([sentence(at(0), fixed="V"), sentence(at(5), 31, fixed="V")]))
    assert log.tags[0].coordinates is None
    assert any("no valid position" in decision for decision in log.quality.decisions)


# --- lines that are none ---------------------------------------------------------------------------------------------


def test_every_kind_of_broken_line_is_quarantined_with_its_own_reason(write: Write) -> None:
    good = [sentence(at(5 * i), 30 + i) for i in range(3)]
    whole = sentence(at(20))
    bad = {
        "checksum is wrong": whole.replace(",30,", ",31,", 1),
        "there is no checksum: the line was cut short": whole[:40],
        "more follows the checksum": f"{whole}*{whole}",
        "the line is no sentence: it does not start with $BNRDD or the header of another bGeigie": whole.replace(
            "$BNRDD", "$BNRdD"
        ),
        "the line holds bytes that no bGeigie writes": whole.replace("300", "3\xff0"),
        "a count is no number": sentence(at(20), "3O"),
        "a validity flag is neither A nor V": sentence(at(20), valid="464$GPR"),
        "12 fields instead of 13 or more": sentence(at(20), tail="443.7"),
        "the device has no number": sentence(at(20), device=""),
    }
    log = load(write([good[0], *bad.values(), *good[1:]]))
    assert balance(log) == (3 + len(bad), 3, len(bad), 0)
    assert [(q.line, q.reason) for q in log.quality.quarantined] == list(zip(range(5, 5 + len(bad)), bad, strict=True))
    assert all(q.file == "27090920.LOG" and q.text for q in log.quality.quarantined)


@pytest.mark.parametrize("count", ["9" * 5000, "1e999", "-3", "nan", "inf", "0x1F", "٣"])
def test_counts_that_no_counter_shows_are_quarantined(write: Write, count: str) -> None:
    body = f"BNRDD,300,{at(0)},{count},2,115,A,4618.9612,N,00658.4831,E,443.7,A,7,128".encode()
    path = write([sentence(at(0)), sentence(at(5), 31)])
    path.write_bytes(path.read_bytes() + b"$" + body + b"*%02X\n" % reduce(xor, body))
    assert balance(load(path)) == (3, 2, 1, 0)


def test_a_cold_start_has_no_time(write: Write) -> None:
    cold = [sentence("2012-00-00T00:00:00Z"), sentence("0000-00-00T00:00:00Z"), sentence("99999-01-01T00:00:00Z")]
    log = load(write([*cold, sentence(at(0)), sentence(at(5), 31)]))
    assert balance(log) == (5, 2, 3, 0)
    assert {q.reason for q in log.quality.quarantined} == {"not a time"}
    assert log.quality.quarantined[0].text == "2012-00-00T00:00:00Z"


@pytest.mark.parametrize("when", ["1970-01-01T00:00:05Z", "2000-01-01T00:00:00Z", "1999-08-22T00:00:00Z"])
def test_a_clock_that_was_not_set_or_rolled_over_is_quarantined(write: Write, when: str) -> None:
    log = load(write([sentence(when), sentence(at(0)), sentence(at(5), 31)]))
    assert balance(log) == (3, 2, 1, 0)
    assert "before 2011" in log.quality.quarantined[0].reason


def test_a_future_time_is_quarantined(write: Write) -> None:
    log = load(write([sentence("2097-01-01T00:00:00Z"), sentence(at(0)), sentence(at(5), 31)]))
    assert balance(log) == (3, 2, 1, 0)


def test_a_time_that_stands_still_without_a_fix_is_no_time(write: Write) -> None:
    still = [sentence(at(0), 30 + i, fixed="V") for i in range(4)]
    log = load(write([*still, sentence(at(5), 40), sentence(at(10), 41)]))
    assert balance(log) == (6, 3, 3, 0)
    assert "stood still" in log.quality.quarantined[0].reason


def test_a_line_written_twice_is_merged(write: Write) -> None:
    line = sentence(at(0), fixed="V")
    assert balance(load(write([line, line, sentence(at(5), 31)]))) == (3, 2, 0, 1)


def test_two_counts_at_one_time_are_an_error_until_a_policy_is_chosen(write: Write) -> None:
    path = write([sentence(at(0), 30), sentence(at(0), 31), sentence(at(5), 32)])
    with pytest.raises(LogError, match="line 5"):
        load(path)
    np.testing.assert_array_equal(load(path, duplicates="last").values[:, 0], [31, 32])


def test_irregular_times_are_put_on_a_grid(write: Write) -> None:
    seconds = [0, 5, 11, 16, 22, 27, 34, 39, 45, 50, 58, 63, 70, 77, 85, 90, 96, 103, 110, 119, 120]
    log = load(write([sentence(at(s), 30 + i) for i, s in enumerate(seconds)]), resample="mean", step="1min")
    assert log.quality.rows_in == len(seconds) == log.quality.rows_kept + log.quality.rows_merged
    np.testing.assert_array_equal(log.values[:, 0], [30, 35.5, 45.5])


# --- files that are none ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# NEW LOG\n# format=1.3.4nano\n", "it is a log, but an empty one"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "the source sent an error page"),
        (b"$BNRDD,300,2016-09-20T04:00:00Z,30", "none of 1 sentence"),
        (b"$BNXSTS,300,23\n", "holds no reading"),
    ],
)
def test_a_file_without_a_reading_is_an_error_that_says_why(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(content)
    with pytest.raises(LogError, match=message):
        load(path)


def test_a_log_whose_clock_never_ran_is_an_error(write: Write) -> None:
    with pytest.raises(LogError, match="the clock was not set"):
        load(write([sentence("2000-01-01T00:00:00Z"), sentence("2000-01-01T00:00:05Z")]))


def test_a_log_with_nothing_but_void_counts_is_an_error(write: Write) -> None:
    with pytest.raises(LogError, match="no column of the log holds a number"):
        load(write([sentence(at(0), valid="V"), sentence(at(5), valid="V")]))


# --- properties ------------------------------------------------------------------------------------------------------

READINGS = st.lists(
    st.tuples(st.integers(0, 999_999), st.integers(0, 99_999), st.booleans(), st.booleans()), min_size=2, max_size=30
).filter(lambda rows: any(valid for _, _, valid, _ in rows))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=READINGS, device=st.from_regex(r"[0-9A-Za-z]{1,6}", fullmatch=True))
def test_what_is_written_is_read(write: Write, rows: list[tuple[int, int, bool, bool]], device: str) -> None:
    flag = {True: "A", False: "V"}
    lines = [
        sentence(at(5 * i), cpm, counts=counts, valid=flag[valid], fixed=flag[fixed], device=device)
        for i, (cpm, counts, valid, fixed) in enumerate(rows)
    ]
    log = load(write(lines))
    expected = [cpm if valid else np.nan for cpm, _, valid, _ in rows]
    np.testing.assert_array_equal(log.values[:, 0], np.array(expected, dtype=np.float32))
    assert log.time[-1] == pd.Timestamp(at(5 * (len(rows) - 1)))
    assert balance(log) == (len(rows), len(rows), 0, 0)
    assert sum(log.quality.masked.values()) == sum(not valid for _, _, valid, _ in rows)


@pytest.mark.parametrize("seed", range(30))
def test_damage_gives_a_log_that_balances_or_an_error(write: Write, seed: int) -> None:
    source = random.Random(seed)
    path = write([sentence(at(5 * i), 30 + i % 7, fixed="AV"[i % 5 == 0]) for i in range(40)])
    raw = bytearray(path.read_bytes())
    for _ in range(source.randint(1, 60)):
        where = source.randrange(len(raw))
        match source.randrange(3):
            case 0:
                raw[where] = source.randrange(256)
            case 1:
                del raw[where : where + source.randint(1, 9)]
            case _:
                raw[where:where] = source.randbytes(source.randint(1, 9))
    path.write_bytes(bytes(raw))
    try:
        log = load(path, duplicates="first")
    except LogError:
        return
    q = log.quality
    assert q.rows_in == q.rows_kept + q.rows_quarantined + q.rows_merged > 0
    assert not np.isinf(log.values).any()
