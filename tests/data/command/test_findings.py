"""What is a finding, and what is not."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from attentionmixer.data import StationLog, read_log
from attentionmixer.data.command.findings import MEANING, Finding, find, flagged_tags, quarantined_by_reason
from attentionmixer.data.quality import Flag, QualityRecord, Quarantined, screen
from attentionmixer.data.readers.grid import OUTSIDE


def write(folder: Path, text: str) -> Path:
    path = folder / "log.csv"
    path.write_text(text, encoding="utf-8")
    return path


def hourly(cells: list[str], header: str = "time,A [nSv/h]") -> str:
    times = pd.date_range("2024-05-01", periods=len(cells), freq="1h")
    return "\n".join([header, *(f"{t:%Y-%m-%dT%H:%M}Z,{c}" for t, c in zip(times, cells, strict=True))]) + "\n"


def kinds(log: StationLog) -> list[tuple[str, int]]:
    return [(finding.kind, finding.count) for finding in find(log)]


def test_decisions_alone_are_no_findings(tmp_path: Path) -> None:
    text = "time;Größe [µSv/h]\n13.05.2024 00:00;0,112\n13.05.2024 01:00;0,113\n13.05.2024 02:00;0,111\n"
    log = read_log(write(tmp_path, text), tz="Europe/Berlin")
    assert len(log.quality.decisions) >= 4
    assert find(log) == ()


def test_rows_outside_the_period_and_exact_repetitions_are_no_findings(tmp_path: Path) -> None:
    text = hourly(["1", "2", "3", "4"]) + "2024-05-01T03:00Z,4\n"
    log = read_log(write(tmp_path, text), start="2024-05-01T01:00Z")
    assert log.quality.rows_quarantined == 1
    assert log.quality.rows_merged == 1
    assert quarantined_by_reason(log.quality) == {OUTSIDE: 1}
    assert find(log) == ()


def test_a_masked_reading_is_a_finding_with_its_reason_and_its_flag(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, hourly(["70", "Bad", "0", "71", "72"])))
    found = {(f.kind, f.what): (f.count, f.where) for f in find(log)}
    assert found == {
        ("masked", "state 'Bad'"): (1, ()),
        ("masked", "dose rate exactly 0"): (1, ()),
        ("flagged", "state"): (1, ("A",)),
        ("flagged", "zero"): (1, ("A",)),
    }


def test_a_quarantined_row_is_a_finding_by_reason(tmp_path: Path) -> None:
    log = read_log(
        write(tmp_path, hourly(["70", "71", "72", "73", "74", "75", "76", "77"]) + "2024-13-01T00:00Z,7\nx\n")
    )
    reasons = quarantined_by_reason(log.quality)
    assert sum(reasons.values()) == log.quality.rows_quarantined == 2
    assert [f for f in find(log) if f.kind == "quarantined"] == [
        Finding("quarantined", w, n) for w, n in reasons.items()
    ]


def test_a_gap_is_a_finding(tmp_path: Path) -> None:
    lines = hourly(["1", "2", "3", "4", "5", "6"]).splitlines(keepends=True)
    log = read_log(write(tmp_path, "".join(lines[:3] + lines[5:])))
    assert find(log) == (Finding("gap", "1 gap(s)", 2, ("*",)),)


def test_rows_of_one_step_that_disagree_are_a_finding(tmp_path: Path) -> None:
    text = hourly(["1", "2", "3"]) + "2024-05-01T02:00Z,3\n2024-05-01T02:00Z,9\n"
    log = read_log(write(tmp_path, text), duplicates="first")
    assert [f for f in find(log) if f.kind == "merged"] == [Finding("merged", "rows of one step that disagree", 1)]


def test_a_column_that_holds_nothing_is_a_finding(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, hourly(["1,", "2,", "3,"], "time,A [nSv/h],B [nSv/h]")))
    assert find(log) == (Finding("warning", "1 column(s) hold no value and were dropped: B", 1),)


def test_a_clock_set_back_is_a_finding(tmp_path: Path) -> None:
    lines = hourly(["1", "2", "3", "4"]).splitlines(keepends=True)
    log = read_log(write(tmp_path, "".join([lines[0], lines[1], lines[3], lines[2], lines[4]])))
    (found,) = find(log)
    assert found.kind == "warning"
    assert "clock was set back" in found.what


def test_flags_of_the_rules_are_findings_with_their_tags(tmp_path: Path) -> None:
    cells = [f"{50 + i % 7},{61 + i % 5}" for i in range(60)]
    cells[30] = "32016," + cells[30].split(",")[1]
    log = screen(read_log(write(tmp_path, hourly(cells, "time,A [cpm],B [cpm]"))))
    assert flagged_tags(log) == {"wrap": {"A": 1}}
    assert kinds(log) == [("flagged", 1)]


def test_reasons_add_up_where_more_rows_are_quarantined_than_listed() -> None:
    row = Quarantined("f", 1, "A", "x", "not a number")
    record = QualityRecord(
        rows_in=3012,
        rows_quarantined=3012,
        quarantined=(row, row),
        decisions=(f"1,010 row(s) quarantined: {OUTSIDE} (counted, not listed)",),
    )
    reasons = quarantined_by_reason(record)
    assert reasons["not a number"] == 2
    assert reasons[OUTSIDE] == 1010
    assert sum(reasons.values()) == 3012


def test_every_flag_has_a_meaning_for_people() -> None:
    assert set(MEANING) == {str(flag.name).lower() for flag in Flag}
