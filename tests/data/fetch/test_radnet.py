"""RadNet: addresses, plans, and what a file holds."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from attentionmixer.data.fetch.radnet import canonical, check, plan, url
from attentionmixer.data.fetch.trouble import CutOff
from attentionmixer.data.fetch.wanted import Finding
from attentionmixer.data.readers.radnet.file import COLUMNS
from attentionmixer.errors import LogError

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
HEADER = ",".join(COLUMNS).encode() + b"\r\n"
ROW = b"AZ: PHOENIX,01/01/2021 00:24:00,39.00,1285.00,694.00,206.00,99.00,64.00,100.00,46.00,38.00,APPROVED\r\n"


def test_the_address_names_year_state_and_place() -> None:
    assert url("AZ: PHOENIX", 2021) == "https://radnet.epa.gov/cdx-radnet-rest/api/rest/csv/2021/fixed/AZ/PHOENIX"
    assert url("la:baton  rouge", 2011).endswith("/2011/fixed/LA/BATON%20ROUGE")


@pytest.mark.parametrize(
    "station", ["MO: ST. LOUIS", "PR: MAYAGÜEZ", "XX: A & B, (C)", "XX: O'NEIL-SMITH", "XX: ..A.."]
)
def test_the_place_is_one_part_of_the_path_whatever_it_holds(station: str) -> None:
    parts = urlsplit(url(station, 2021))
    assert (parts.netloc, parts.query, parts.fragment) == ("radnet.epa.gov", "", "")
    assert parts.path.isascii()
    assert unquote(parts.path).split("/")[-2:] == station.split(": ")
    assert parts.path.count("/") == 8


@pytest.mark.parametrize(
    "station",
    [
        "",
        "PHOENIX",
        "AZ:",
        "AZ: ..",
        "AZ: .",
        "AZ: ../../admin",
        "AZ: a/b",
        "AZ: a\\b",
        "AZ: a%2fb",
        "AZ: a?b=c",
        "AZ: a#b",
        "AZ: a\0b",
        "AZ: a\nb",
        "AZ: a\u2044b",
        "AZ: \u202ephoenix",
        "AZ: ．．／",
        "ARIZONA: PHOENIX",
        "AZ: " + "x" * 100,
        "AZ: 123",
    ],
)
def test_what_cannot_be_a_station_is_refused(station: str) -> None:
    with pytest.raises(LogError, match=r"is not the name of a RadNet station; .*'AZ: PHOENIX'"):
        url(station, 2021)


def test_a_station_is_found_in_any_case_and_spacing() -> None:
    assert canonical(" az :phoenix ") == "AZ: PHOENIX"
    # composed and decomposed letters are one name
    assert canonical("PR: MAYAGU\u0308EZ") == canonical("PR: MAYAGÜEZ")


def test_a_plan_has_a_file_for_each_station_and_year() -> None:
    wanted = plan(["AZ: PHOENIX", "LA: BATON ROUGE", "az: phoenix"], "2019", "2020-03", NOW)
    assert [one.name for one in wanted] == [
        "radnet_AZ_PHOENIX_2019.csv",
        "radnet_AZ_PHOENIX_2020.csv",
        "radnet_LA_BATON_ROUGE_2019.csv",
        "radnet_LA_BATON_ROUGE_2020.csv",
    ]
    assert [one.what for one in wanted][:2] == ["AZ: PHOENIX 2019", "AZ: PHOENIX 2020"]
    assert wanted[0].url == url("AZ: PHOENIX", 2019)
    assert "no station 'AZ: PHOENIX'" in wanted[0].missing


@pytest.mark.parametrize(
    ("start", "end", "years"),
    [
        (None, None, [2026]),
        ("2025", None, [2025, 2026]),
        (None, "2019", [2019]),
        ("2025-11", "2026-12-31", [2025, 2026]),
    ],
)
def test_a_period_left_out_is_this_year(start: str | None, end: str | None, years: list[int]) -> None:
    wanted = plan(["AZ: PHOENIX"], start, end, NOW)
    assert [int(one.what[-4:]) for one in wanted] == years


@pytest.mark.parametrize(("start", "end"), [("2004", "2010"), ("2026", "2027")])
def test_a_period_without_readings_is_refused(start: str, end: str) -> None:
    with pytest.raises(LogError, match="RadNet has readings from 2005 to 2026"):
        plan(["AZ: PHOENIX"], start, end, NOW)


def test_a_plan_needs_a_station() -> None:
    with pytest.raises(LogError, match="at least one station"):
        plan([], "2021", "2021", NOW)


def test_a_year_is_final_only_after_the_review() -> None:
    (wanted,) = plan(["AZ: PHOENIX"], "2021", "2021", NOW)
    assert wanted.settled == dt.datetime(2022, 4, 1, tzinfo=dt.UTC)


def test_a_file_with_rows_is_counted() -> None:
    assert check(HEADER + ROW * 3, "AZ: PHOENIX") == Finding(3)
    assert check(b"\xef\xbb\xbf" + HEADER + ROW + b"\r\n", "AZ: PHOENIX") == Finding(1)


def test_real_files_are_counted(shared_data: Path) -> None:
    content = (shared_data / "radnet" / "AZ_PHOENIX_2021.csv").read_bytes()
    assert check(content, "AZ: PHOENIX") == Finding(content.count(b"\n") - 1)


@pytest.mark.parametrize("header", [HEADER, HEADER.strip()])
def test_a_header_alone_is_no_data(header: bytes) -> None:
    finding = check(header, "AZ: PHOENIX")
    assert finding.rows == 0
    assert "no readings of this station and year" in finding.note


@pytest.mark.parametrize("lost", [1, 3, 8, 40, 90])
def test_a_last_line_that_breaks_off_is_noticed(lost: int) -> None:
    content = HEADER + ROW * 3
    with pytest.raises(CutOff, match="breaks off within line 4"):
        check(content[: -2 - lost], "AZ: PHOENIX")


def test_a_last_line_without_its_end_is_whole_where_it_ends_as_others_do() -> None:
    assert check(HEADER + ROW * 2 + ROW.strip(), "AZ: PHOENIX") == Finding(3)


@pytest.mark.parametrize("kept", [60, 200, len(HEADER) - 4])
def test_a_header_that_breaks_off_is_not_taken_for_no_data(kept: int) -> None:
    with pytest.raises(CutOff):
        check(HEADER[:kept], "AZ: PHOENIX")


def test_a_file_of_another_format_is_refused() -> None:
    with pytest.raises(LogError, match="is no RadNet export, it begins 'time,dose 1,2'"):
        check(b"time,dose\n1,2\n", "AZ: PHOENIX")
    with pytest.raises(LogError, match=r"lacks column.* STATUS"):
        check(HEADER.replace(b",STATUS", b"") + b"a\r\n", "AZ: PHOENIX")


def test_another_name_in_the_file_is_said() -> None:
    assert check(HEADER + ROW, "AZ: TUCSON") == Finding(1, "the file names its station 'AZ: PHOENIX'")
