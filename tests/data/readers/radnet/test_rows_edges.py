"""Rows of RadNet files that cannot be read, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attentionmixer.data.log import StationLog
from attentionmixer.data.readers import radnet
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

HEADER = (
    "LOCATION_NAME,SAMPLE COLLECTION TIME,DOSE EQUIVALENT RATE (nSv/h),"
    + "".join(f"GAMMA COUNT RATE R0{i} (CPM)," for i in range(2, 10))
    + "STATUS"
)
Read = Callable[..., StationLog]
DOSE = "DOSE EQUIVALENT RATE (nSv/h)"


def row(time: str = "01/01/2020 00:00:00", dose: str = "61", r02: str = "2958", **more: str) -> str:
    name, status = more.get("name", "XX: TOWN"), more.get("status", "APPROVED")
    return f"{name},{time},{dose},{r02},1820,532,301,190,221,140,{more.get('r09', '41')},{status}"


LATER = row("01/01/2020 01:00:00")


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def _read(rows: Sequence[str], header: str = HEADER, **options: Any) -> StationLog:
        path = tmp_path / "town.csv"
        path.write_bytes(("\n".join([header, *rows]) + "\n").encode("latin-1"))
        return radnet.read([Source(path)], **options)

    return _read


def refused(log: StationLog) -> list[tuple[int, str, str, str]]:
    return [(q.line, q.column, q.text, q.reason) for q in log.quality.quarantined]


def message(read: Read, rows: Sequence[str], **options: Any) -> str:
    with pytest.raises(LogError) as error:
        read(rows, **options)
    return str(error.value)


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("XX: TOWN,01/01/2020 02:00:00,61", ("*", "XX: TOWN,01/01/2020 02:00:00,61", "3 field(s) instead of 12")),
        ("x" * 300, ("*", "x" * 200, "1 field(s) instead of 12")),
        (row(dose="\xff1"), (DOSE, "\ufffd1", "bytes that are not UTF-8")),
        (row(name=""), ("LOCATION_NAME", "", "no station")),
        *(
            (row(text), ("SAMPLE COLLECTION TIME", text, "not a time of the form MM/DD/YYYY HH:MM:SS"))
            for text in ("2020-01-01 00:00:00", "13/01/2020 00:00:00", "01/01/2020", "")
        ),
        *((row(dose=text), (DOSE, text, "not a number")) for text in ("low", "1e", "0x1", "1 2", ".", "+")),
        (row(r09="x"), ("GAMMA COUNT RATE R09 (CPM)", "x", "not a number")),
    ],
)
def test_a_row_that_cannot_be_read_is_named_with_its_column_and_reason(
    read: Read, bad: str, fault: tuple[str, str, str]
) -> None:
    log = read([row(), bad, LATER])
    assert refused(log) == [(3, *fault)]
    q = log.quality
    assert (q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged) == (3, 2, 1, 0)
    assert any("a field is missing or is no number or time" in sentence for sentence in q.decisions)


@pytest.mark.parametrize("dose", ["60.5", "+60.5", "6.05e1", "6.05E+1", " 60.5 "])
def test_numbers_beside_a_faulty_row_are_read_in_every_spelling(read: Read, dose: str) -> None:
    log = read(["broken", row(dose=dose), row("01/01/1701 00:00:00", name=""), LATER])
    assert log.values[:, 0].tolist() == [60.5, 61]


def test_a_blank_line_is_no_row(read: Read) -> None:
    log = read([row(), "  ", "broken", LATER])
    assert log.quality.rows_in == 3
    assert refused(log)[0][0] == 4


@pytest.mark.parametrize("column", [name for name in HEADER.split(",") if "TIME" not in name and "LOC" not in name])
def test_a_file_that_lacks_a_column_is_refused_with_its_name(read: Read, column: str) -> None:
    place = HEADER.split(",").index(column)
    rows = [",".join(cell for i, cell in enumerate(text.split(",")) if i != place) for text in (row(), LATER)]
    header = ",".join(name for name in HEADER.split(",") if name != column)
    said = f"town.csv: not a complete RadNet export; column(s) missing: {column}"
    assert message(read, rows, header=header) == said
    assert message(read, [*rows, "broken"], header=header) == said


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        (["broken"], {}, "no row of town.csv could be read as a RadNet reading"),
        (
            [row(status="PENDING"), row("01/02/2020 01:07:00", status="X")],
            {},
            "no approved reading of XX: TOWN in the period asked for; the files span 2020-01-01T00:00:00Z to "
            "2020-01-02T01:07:00Z",
        ),
        ([row()], {}, "only one hour (2020-01-01T00:00:00Z) has readings; a log needs at least 2"),
        ([row(), LATER], {"stations": ["a", "b"]}, "unknown station(s): a, b; the files hold XX: TOWN"),
        ([row(), LATER], {"stations": []}, "unknown station(s): (none given); the files hold XX: TOWN"),
        (
            [row(), LATER, row(name="YY: B", status="X")],
            {"stations": ["yy: b ", "XX: TOWN"]},
            "station YY: B has no approved reading in the period; ask for another or leave it out",
        ),
        (
            [",".join([*text.split(",")[:2], *[""] * 9, "APPROVED"]) for text in (row(), LATER)],
            {},
            "the approved rows of XX: TOWN hold no value at all",
        ),
        (
            [row(), LATER],
            {"coordinates": {"A": (1, 2), "B": (1, 2)}},
            "coordinates names what is not in the log: A, B; it holds XX: TOWN",
        ),
    ],
)
def test_a_file_without_a_log_is_refused_with_the_reason(
    read: Read, rows: Sequence[str], options: dict[str, Any], said: str
) -> None:
    assert message(read, rows, **options) == said


def test_roles_of_tags_that_are_not_there_are_refused_with_those_that_are(read: Read) -> None:
    said = message(read, [row(), LATER], roles={"dose": "input"})
    assert said.startswith(
        "roles names what is not in the log: dose; it holds XX: TOWN dose, XX: TOWN R02, XX: TOWN R03"
    )


def test_what_is_left_out_is_said(read: Read) -> None:
    rows = [row(), LATER, row(name="YY: B"), row("01/01/2020 01:00:00", status="pending"), row(status="", name="ZZ: C")]
    log = read(rows)
    decisions = log.quality.decisions
    assert decisions[0] == "RadNet export: times are UTC, rounded to the full hour (half past goes up)"
    assert "station ZZ: C has no approved reading in the period; it was left out" in decisions
    assert any("status is not APPROVED (PENDING 1, (blank) 1)" in sentence for sentence in decisions)
    assert refused(log) == [
        (5, "STATUS", "PENDING", "status is not APPROVED"),
        (6, "STATUS", "", "status is not APPROVED"),
    ]
    part = read(rows, stations=["xx: town"])
    assert part.quality.rows_in == 3
    assert "2 row(s) of other stations were passed over and are not counted: YY: B, ZZ: C" in part.quality.decisions


def test_a_tag_without_readings_is_dropped_and_named(read: Read) -> None:
    log = read([row(dose="", r09=""), row("01/01/2020 01:00:00", dose="", r09="")])
    assert log.names == tuple(f"XX: TOWN R0{i}" for i in range(2, 9))
    for sentence in (
        "station XX: TOWN reports no dose rate in the period; tag 'XX: TOWN dose' was dropped",
        "station XX: TOWN has no reading of R09 in the period; tag 'XX: TOWN R09' was dropped",
        "2 kept row(s) have a blank dose; their counts were kept",
    ):
        assert sentence in log.quality.decisions


def test_rates_that_cannot_be_are_masked_with_their_reason(read: Read) -> None:
    rows = [
        row(dose="0", r02="0"),
        row("01/01/2020 01:00:00", dose="-1", r02="-0.5"),
        row("01/01/2020 02:00:00", "1e39"),
    ]
    rows += [row("01/01/2020 03:00:00", "-inf"), row("01/01/2020 04:00:00", "3e38")]
    log = read(rows)
    assert log.quality.masked == {"not finite": 2, "dose rate exactly 0 (placeholder)": 1, "negative rate": 2}
    np.testing.assert_array_equal(np.isnan(log.values[:, 0]), [True, True, True, True, False])
    np.testing.assert_array_equal(np.isnan(log.values[:, 1]), [False, True, False, False, False])


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b"LOCATION_NAME,SAMPLE COLLECTION TIME,DOSE", True),
        (b'\xef\xbb\xbf"location_name","sample collection time","dose"', True),
        (b"LOCATION,SAMPLE COLLECTION TIME,", False),
        (b"", False),
    ],
)
def test_a_file_is_known_by_its_header(head: bytes, known: bool) -> None:
    assert radnet.sniff(head) is known
