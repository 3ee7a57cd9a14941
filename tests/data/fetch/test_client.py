"""The client against a server that misbehaves: it waits, tries again, gives up, and knows an error page."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data.fetch.client import utc_now
from attentionmixer.data.fetch.trouble import CutOff, ServiceDown
from attentionmixer.data.fetch.wanted import Finding, Wanted
from attentionmixer.errors import LogError

BODY = b"time,dose\n1,70\n2,71\n"


def test_a_file_comes_as_it_was_sent(server: Any, make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    server.says(BODY, headers={"Content-Type": "text/csv", "ETag": '"a"'})
    ticks: list[tuple[int, int | None]] = []
    answer = make_client().fetch(wanted, tmp_path / "f", tick=lambda done, total: ticks.append((done, total)))
    assert (tmp_path / "f").read_bytes() == BODY
    assert (answer.finding, answer.etag) == (Finding(3), '"a"')
    assert ticks[-1] == (len(BODY), len(BODY))


def test_the_client_says_who_it_is_and_what_it_takes(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY)
    make_client().fetch(wanted, tmp_path / "f")
    assert server.asked[0][0] == "/file"
    assert server.sent(0, "User-Agent").startswith("attentionmixer/")
    assert server.sent(0, "Accept").startswith("text/csv")
    assert server.sent(0, "Accept-Encoding") == "gzip"
    assert server.sent(0, "Range") is None
    assert server.sent(0, "If-None-Match") is None


# --- what passes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_fault_that_passes_is_waited_for(
    server: Any, make_client: Any, wanted: Wanted, clock: Any, tmp_path: Path, status: int
) -> None:
    server.says(b"busy", status).says(b"busy", status).says(BODY)
    remarks: list[str] = []
    make_client(tell=remarks.append).fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    # half of the lot: three quarters of 1 s, then of 2 s
    assert clock.slept == [0.75, 1.5]
    assert len(remarks) == 2
    assert remarks[0].startswith(f"post 1, 2021: {status} ")
    assert "trying again in 0.8 s" in remarks[0]


@pytest.mark.parametrize(
    ("asked", "seconds"), [("7", 7.0), ("Tue, 01 Dec 2026 12:00:07 GMT", 7.0), ("0", 0.75), ("soon", 0.75)]
)
def test_the_wait_a_server_asks_for_is_the_least(
    server: Any, make_client: Any, wanted: Wanted, clock: Any, tmp_path: Path, asked: str, seconds: float
) -> None:
    server.says(b"", 429, headers={"Retry-After": asked}).says(BODY)
    make_client().fetch(wanted, tmp_path / "f")
    assert clock.slept == [seconds]


def test_a_server_that_asks_for_too_long_a_wait_is_left_alone(
    server: Any, make_client: Any, wanted: Wanted, clock: Any, tmp_path: Path
) -> None:
    server.says(b"", 503, headers={"Retry-After": "3600"}).says(BODY)
    with pytest.raises(ServiceDown, match="come back in 3,600 s; run the same command again"):
        make_client().fetch(wanted, tmp_path / "f")
    assert (len(server.asked), clock.slept) == (1, [])


def test_a_service_that_stays_down_is_given_up(
    server: Any, make_client: Any, wanted: Wanted, clock: Any, tmp_path: Path
) -> None:
    server.says(b"", 503)
    with pytest.raises(ServiceDown, match=r"post 1, 2021: 503 Service Unavailable \(127.0.0.1, 5 attempt"):
        make_client().fetch(wanted, tmp_path / "f")
    assert len(server.asked) == 5
    assert clock.slept == [0.75, 1.5, 3.0, 6.0]


def test_a_fault_of_one_file_does_not_count_as_the_service_being_down(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(b"", 500)
    with pytest.raises(LogError, match="has a fault, or: there is no post 1") as raised:
        make_client().fetch(wanted, tmp_path / "f")
    assert not isinstance(raised.value, ServiceDown)


def test_no_wait_goes_beyond_the_time_for_one_file(
    server: Any, make_client: Any, wanted: Wanted, clock: Any, tmp_path: Path
) -> None:
    server.says(b"", 503)
    with pytest.raises(ServiceDown, match="3 attempt"):
        make_client(rules={"total_timeout": 4.0}).fetch(wanted, tmp_path / "f")
    assert clock.slept == [0.75, 1.5]


def test_a_body_that_trickles_beyond_the_time_for_one_file_is_given_up(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY)
    slow = itertools.count(0.0, 500.0)
    with pytest.raises(ServiceDown, match="was too slow; after 900 s 20 bytes had arrived"):
        make_client(clock=lambda: next(slow)).fetch(wanted, tmp_path / "f")


def test_a_body_that_stops_arriving_is_asked_for_again(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY, cut=5, stall=True).says(BODY)
    remarks: list[str] = []
    make_client(rules={"read_timeout": 0.2}, tell=remarks.append).fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert "the answer stopped arriving" in remarks[0]


def test_a_dropped_connection_is_tried_again(server: Any, make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    server.says(BODY, cut=5).says(BODY, cut=7).says(BODY)
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert len(server.asked) == 3
    # without an ETag nobody knows that the parts belong together
    assert all(server.sent(number, "Range") is None for number in range(3))


def test_a_file_that_is_always_cut_off_is_given_up(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY, headers={"Content-Length": "1000"})
    with pytest.raises(LogError, match=r"\(127.0.0.1, 5 attempt\(s\)\); try again later") as raised:
        make_client().fetch(wanted, tmp_path / "f")
    assert not isinstance(raised.value, ServiceDown)


def test_a_file_whose_content_breaks_off_is_fetched_whole_again(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    # the length stated is too small, so the transfer itself looks complete
    def check(content: bytes) -> Finding:
        if content != BODY:
            raise CutOff("it breaks off")
        return Finding(2)

    server.says(BODY, headers={"Content-Length": "12", "ETag": '"a"'}).says(BODY, headers={"ETag": '"a"'})
    make_client().fetch(replace(wanted, check=check), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert server.sent(1, "Range") is None


# --- what does not come ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [404, 410])
def test_not_found_means_what_the_provider_says_it_means(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path, status: int
) -> None:
    server.says(b"<html>no such page</html>", status)
    with pytest.raises(LogError, match=f"post 1, 2021: 127.0.0.1 answers {status} .*; there is no post 1"):
        make_client().fetch(wanted, tmp_path / "f")
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [206, 300, 304, 400, 403, 501])
def test_any_other_status_is_an_error_with_what_the_server_says(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path, status: int
) -> None:
    server.says(b"<html><title>Not for you</title></html>", status)
    with pytest.raises(LogError, match=f"answers {status} .*asked for {server.base}/file") as raised:
        make_client().fetch(wanted, tmp_path / "f")
    assert status == 304 or "an HTML page that says 'Not for you'" in str(raised.value)
    assert len(server.asked) == 1


def test_nothing_new_since_the_copy_at_hand(server: Any, make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    server.says(status=304)
    answer = make_client().fetch(wanted, tmp_path / "f", etag='"a"')
    assert answer.finding is None
    assert server.sent(0, "If-None-Match") == '"a"'


def test_no_content_is_no_data(server: Any, make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    server.says(status=204)
    assert make_client().fetch(wanted, tmp_path / "f").finding.rows == 0


# --- what is no data -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "media", "said"),
    [
        (b"<!DOCTYPE html><html><head><title>503</title></head></html>", "text/csv", "an HTML page that says '503'"),
        (b"\n <html><body>down\x1b[2J</body></html>", "", r"an HTML page that says 'down \[2J'"),
        (b"<ows:ExceptionReport><ows:ExceptionText>no layer</ows:ExceptionText>", "application/xml", "'no layer'"),
        (b'{"error": {"message": "maintenance"}}', "application/json", "a JSON message that says 'maintenance'"),
        (b"", "text/csv", "nothing at all, not even a header"),
        (b"\r\n\r\n", "", "nothing at all"),
        (b"\x89PNG\r\n", "image/png", "something of type 'image/png'"),
        (b"time,dose\n", "text/html; charset=utf-8", "something of type 'text/html'"),
    ],
)
def test_an_error_page_with_a_good_status_is_no_data(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path, body: bytes, media: str, said: str
) -> None:
    server.says(body, headers={"Content-Type": media})
    with pytest.raises(LogError, match=f"answered with .*{said}.*not 'no data' either"):
        make_client().fetch(wanted, tmp_path / "f")
    assert len(server.asked) == 1


def test_a_careless_type_does_not_matter_where_the_content_is_right(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY, headers={"Content-Type": "application/octet-stream"})
    assert make_client().fetch(wanted, tmp_path / "f").finding == Finding(3)


def test_the_time_of_the_default_clock_is_utc() -> None:
    assert utc_now().utcoffset() == dt.timedelta(0)
