"""The command line of fetching, against a server of our own."""

from __future__ import annotations

import argparse
import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data.fetch import PROVIDERS, command
from attentionmixer.data.readers import read_log
from attentionmixer.data.readers.radnet.file import COLUMNS
from attentionmixer.errors import LogError

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
HEADER = ",".join(COLUMNS) + "\r\n"


def year(first: str, hours: int = 48) -> bytes:
    """A RadNet file of so many hours."""
    start = dt.datetime.fromisoformat(first)
    times = [f"{start + dt.timedelta(hours=hour):%m/%d/%Y %H:%M:%S}" for hour in range(hours)]
    return (HEADER + "".join(f"AZ: PHOENIX,{time},70.00{',50.00' * 8},APPROVED\r\n" for time in times)).encode()


@pytest.fixture
def fetch(make_client: Any, server: Any) -> Any:
    """Runs the command with a client of the test's server."""

    def run(*arguments: str) -> int:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        return command.run(
            parser.parse_args(arguments), make_client=lambda provider, tell: make_client(tell=tell), now=lambda: NOW
        )

    return run


def test_stations_and_years_come_and_can_be_read(
    fetch: Any, server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.says(year("2020-12-30")).says(year("2021-01-01"))
    arguments = ("radnet", "--station", "az: phoenix", "--from", "2020", "--to", "2021", "--out", str(tmp_path))
    assert fetch(*arguments) == 0
    assert [path for path, _ in server.asked] == [
        "/cdx-radnet-rest/api/rest/csv/2020/fixed/AZ/PHOENIX",
        "/cdx-radnet-rest/api/rest/csv/2021/fixed/AZ/PHOENIX",
    ]
    size = len(year("2020-12-30"))
    assert capsys.readouterr().out.splitlines() == [
        f"fetched  radnet_AZ_PHOENIX_2020.csv  48 readings, {size:,} bytes",
        f"fetched  radnet_AZ_PHOENIX_2021.csv  48 readings, {size:,} bytes",
        f"2 file(s) in {tmp_path}",
    ]
    assert read_log(tmp_path).shape[0] == 96
    assert fetch(*arguments) == 0
    assert capsys.readouterr().out.startswith("kept     radnet_AZ_PHOENIX_2020.csv")
    assert len(server.asked) == 2


def test_no_data_is_said_and_is_no_error(
    fetch: Any, server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.says(HEADER.encode())
    assert fetch("radnet", "--station", "AZ: PHOENIX", "--to", "2021", "--out", str(tmp_path)) == 0
    output = capsys.readouterr().out
    assert "no data  AZ: PHOENIX 2021  (the service has no readings of this station and year (a header only))" in output
    assert "no data for this station and period: nothing is wrong with the service" in output
    assert list(tmp_path.iterdir()) == []


def test_an_error_page_is_an_error_and_the_other_files_are_kept(
    fetch: Any, server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.says(b"<html><title>Maintenance</title></html>").says(year("2021-01-01"))
    with pytest.raises(LogError, match=r"1 of 2 file\(s\) could not be fetched:\nAZ: PHOENIX 2020: .*'Maintenance'"):
        fetch("radnet", "--station", "AZ: PHOENIX", "--from", "2020", "--to", "2021", "--out", str(tmp_path))
    assert "fetched  radnet_AZ_PHOENIX_2021.csv" in capsys.readouterr().out


def test_an_unknown_station_is_named(fetch: Any, server: Any, tmp_path: Path) -> None:
    server.says(b"", 404)
    with pytest.raises(LogError, match="RadNet knows no station 'AZ: NOWHERE'"):
        fetch("radnet", "--station", "AZ: NOWHERE", "--to", "2021", "--out", str(tmp_path))


def test_a_service_that_is_down_is_an_error_that_says_how_far_it_came(
    fetch: Any, server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.says(year("2020-01-01")).says(b"", 503)
    with pytest.raises(LogError, match=r"503 .*\(1 of 2 file\(s\) were done before\)"):
        fetch("radnet", "--station", "AZ: PHOENIX", "--from", "2020", "--to", "2021", "--out", str(tmp_path))
    captured = capsys.readouterr()
    assert "fetched  radnet_AZ_PHOENIX_2020.csv" in captured.out
    assert "trying again in" in captured.err
    assert "trying again in" not in captured.out


def test_a_series_of_an_odl_station_is_kept_as_it_came(fetch: Any, server: Any, tmp_path: Path) -> None:
    feature = {"properties": {"kenn": "055620080", "end_measure": "2026-12-01T10:00:00Z", "value": 0.07}}
    body = json.dumps({"type": "FeatureCollection", "features": [feature], "totalFeatures": 1}).encode()
    server.says(body, headers={"Content-Type": "application/json;charset=UTF-8"})
    assert fetch("odl", "--station", "055620080", "--out", str(tmp_path)) == 0
    assert (tmp_path / "odl_055620080_2026-11-24_2026-12-01.json").read_bytes() == body
    assert "viewparams=kenn:055620080" in server.asked[0][0]


def test_a_service_exception_is_an_error(fetch: Any, server: Any, tmp_path: Path) -> None:
    server.says(
        b'<?xml version="1.0"?><ows:ExceptionReport><ows:ExceptionText>Feature type unknown</ows:ExceptionText>',
        headers={"Content-Type": "application/xml"},
    )
    with pytest.raises(LogError, match="an XML message that says 'Feature type unknown'"):
        fetch("odl", "--out", str(tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        ("radnet", "--station", "../etc"),
        ("radnet",),
        ("radnet", "--station", "AZ: PHOENIX", "--from", "2021", "--to", "2020"),
        ("odl", "--station", "DEZ0305"),
        ("odl", "--from", "2020"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked_for(
    fetch: Any, server: Any, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    with pytest.raises(LogError):
        fetch(*arguments, "--out", str(tmp_path / "out"))
    assert server.asked == []
    assert not (tmp_path / "out").exists()


def test_no_option_leads_to_another_host_or_away_from_https() -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = {option for action in parser._actions for option in action.option_strings}
    assert options == {"-h", "--help", "--station", "--from", "--to", "--out", "--refresh"}
    assert all(provider.base.startswith("https://") for provider in PROVIDERS.values())


def test_every_file_of_a_provider_is_planned_on_its_own_host() -> None:
    for provider, station in ((PROVIDERS["radnet"], "AZ: PHOENIX"), (PROVIDERS["odl"], "055620080")):
        for wanted in provider.plan([station], None, None, NOW, provider.base):
            assert wanted.url.startswith(f"{provider.base}/")
