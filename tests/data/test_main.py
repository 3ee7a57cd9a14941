"""``python -m attentionmixer.data``: exit codes, and what is written where."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from attentionmixer.data import read_log
from attentionmixer.data.__main__ import main
from attentionmixer.data.readers.exported import read
from attentionmixer.data.readers.source import Source

CLEAN = "time,A [nSv/h],B [nSv/h]\n" + "".join(f"2024-05-01T{h:02d}:00Z,{70 + h % 3},{90 + h % 4}\n" for h in range(24))
GAP = "".join(line for line in CLEAN.splitlines(keepends=True) if "T05" not in line and "T06" not in line)
REFUSED = "time,A [nSv/h]\n03/04/2024 00:00,1\n03/05/2024 00:00,2\n"
EVIL = "time,\x1b[2J[red]x [nSv/h],B [nSv/h]\n" + CLEAN.split("\n", 1)[1]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A clean log."""
    return write(tmp_path, CLEAN)


def write(folder: Path, text: str, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# --- check -----------------------------------------------------------------------------------------------------------


def test_a_clean_log_is_zero(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(log)]) == 0
    printed = capsys.readouterr().out
    assert "24 read = 24 kept + 0 quarantined + 0 merged" in printed
    assert "24 steps of 1 h" in printed
    assert "Clean" in printed


def test_a_log_with_findings_is_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(write(tmp_path, GAP))]) == 3
    assert "1 gap(s) with 2 missing step(s): the whole log" in capsys.readouterr().out


def test_a_log_that_cannot_be_read_is_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(write(tmp_path, REFUSED))]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "date_order='dmy'" in captured.err
    assert "Traceback" not in captured.err


def test_options_reach_the_reader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, REFUSED)
    assert main(["check", str(path), "--date-order", "dmy", "--tz", "UTC", "--json"]) in (0, 3)
    assert json.loads(capsys.readouterr().out)["time"]["first"] == "2024-04-03T00:00:00Z"


def test_rules_are_applied_before_findings_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["time,A [cpm]", *(f"2024-05-01T{i // 60:02d}:{i % 60:02d}Z,{29 + i % 4}" for i in range(240))]
    lines[121] = "2024-05-01T02:00Z,32016"
    assert main(["check", str(write(tmp_path, "\n".join(lines) + "\n")), "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["flags"] == {"wrap": {"A": 1}}
    assert document["tags"][0]["flags"] == {"wrap": 1}


def test_the_json_document_has_its_documented_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GAP + "x,1,2\n2024-05-01T23:30Z,Bad,2\n"
    assert main(["check", str(write(tmp_path, GAP + "2024-13-01T00:00Z,1,2\n"))]) == 3
    capsys.readouterr()
    assert main(["check", str(write(tmp_path, text)), "--step", "30min", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert list(document) == [
        *("version", "status", "format", "sources", "rows", "time", "tags", "decisions", "warnings", "findings"),
        *("quarantined", "masked", "flags", "gaps"),
    ]
    assert document["version"] == 1
    assert document["status"] == "findings"
    assert document["format"] == "table"
    assert document["sources"] == ["log.csv"]
    rows = document["rows"]
    assert rows == {"in": 24, "kept": 23, "quarantined": 1, "merged": 0}
    assert document["time"]["step_seconds"] == 1800
    assert document["quarantined"]["by_reason"] == {"not a time": 1}
    assert document["quarantined"]["rows"][0]["text"] == "x"
    assert document["masked"] == {"state 'Bad'": 1}
    assert document["flags"] == {"state": {"A": 1}}
    assert document["gaps"][0]["station"] == "*"
    assert {finding["kind"] for finding in document["findings"]} == {"quarantined", "masked", "flagged", "gap"}
    assert document["tags"][0]["readings"] + document["tags"][0]["missing"] == document["time"]["steps"]


def test_a_refusal_in_json_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(write(tmp_path, REFUSED)), "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == 1
    assert document["status"] == "refused"
    assert "day first" in document["error"]


def test_no_name_of_a_log_is_a_command_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, EVIL)
    main(["check", str(path)])
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\\x1b[2J[red]x" in printed
    main(["check", str(path), "--json"])
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert json.loads(printed)["tags"][0]["name"] == "\x1b[2J[red]x"


def test_no_text_of_a_log_is_a_command_in_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(write(tmp_path, EVIL.replace("nSv/h", "\x1b[2Jzz")))]) == 2
    error = capsys.readouterr().err
    assert "\x1b[2J" not in error
    assert "\\x1b[2J" in error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chek", "x.csv"], "chek"),
        (["check"], "LOG"),
        (["check", "nowhere.csv"], "nowhere.csv"),
        (["check", "x.csv", "--unts", "cpm"], "'--units'"),
        ([], "COMMAND"),
    ],
)
def test_mistakes_are_two_in_a_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error


# --- convert ---------------------------------------------------------------------------------------------------------


def test_convert_writes_parquet_that_reads_back_equal(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    assert main(["convert", str(log), str(out)]) == 0
    back, first = read([Source(out)]), read_log(log)
    np.testing.assert_array_equal(back.values, first.values)
    assert back.tags == first.tags
    assert back.quality == first.quality


def test_convert_writes_csv_with_times_as_asked(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert main(["convert", str(log), str(out), "--epoch", "ns", "--units", "{B: cpm}"]) == 0
    header, first, *_ = out.read_text(encoding="utf-8-sig").splitlines()
    assert header == "time,A [nSv/h],B [cpm]"
    assert first == "1714521600000000000,70,90"


def test_convert_joins_several_logs(tmp_path: Path) -> None:
    lines = CLEAN.splitlines(keepends=True)
    first = write(tmp_path, "".join(lines[:13]), "a.csv")
    second = write(tmp_path, lines[0] + "".join(lines[13:]), "b.csv")
    out = tmp_path / "out.csv"
    assert main(["convert", str(first), str(second), str(out)]) == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 25


def test_nothing_is_written_over_without_force(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = write(tmp_path, "mine", "out.csv")
    assert main(["convert", str(log), str(out)]) == 2
    assert main(["describe", str(log), "--out", str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "mine"
    assert main(["convert", str(log), str(out), "--force"]) == 0
    assert out.read_text(encoding="utf-8-sig").startswith("time,")


def test_an_output_that_cannot_be_is_two(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(log), str(tmp_path / "out.xlsx")]) == 2
    assert main(["convert", str(log), str(log / "under" / "out.csv")]) == 2
    assert "cannot be written" in capsys.readouterr().err


# --- describe, fetch -------------------------------------------------------------------------------------------------


def test_describe_writes_a_page(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page.html"
    assert main(["describe", str(log), "--out", str(out)]) == 0
    assert "<!doctype html>" in out.read_text(encoding="utf-8")
    assert str(out) in capsys.readouterr().out


def test_fetch_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["fetch", "--help"])
    assert stop.value.code == 0
    assert "radnet" in capsys.readouterr().out


def test_real_logs_are_checked(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_data / "radnet"
    assert (
        main(
            [
                "check",
                str(folder),
                "--stations",
                "AZ: PHOENIX",
                "--start",
                "2020-01-01",
                "--end",
                "2020-06-30",
                "--json",
            ]
        )
        == 3
    )
    document = json.loads(capsys.readouterr().out)
    rows = document["rows"]
    assert rows["in"] == rows["kept"] + rows["quarantined"] + rows["merged"]
    assert document["format"] == "radnet"
    assert len(document["tags"]) == 9
