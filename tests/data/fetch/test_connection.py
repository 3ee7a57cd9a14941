"""Connections against a server that misbehaves: failures that pass, redirects, and addresses elsewhere."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from attentionmixer.data.fetch.client import Client
from attentionmixer.data.fetch.trouble import ServiceDown
from attentionmixer.data.fetch.wanted import Wanted
from attentionmixer.errors import LogError

BODY = b"time,dose\n1,70\n2,71\n"


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Failing(HTTPAdapter):
    """A connection that always fails in one way."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error
        self.tried = 0

    def send(self, *arguments: Any, **more: Any) -> requests.Response:
        self.tried += 1
        raise self.error


def failing_session(error: Exception) -> tuple[requests.Session, Failing]:
    session, adapter = requests.Session(), Failing(error)
    session.trust_env = False
    session.mount("http://127.0.0.1", adapter)
    return session, adapter


def test_an_answer_that_never_starts_is_asked_for_again(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(hang_up=True).says(BODY)
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert len(server.asked) == 2


def test_two_requests_keep_a_pause(server: Any, make_client: Any, wanted: Wanted, clock: Any, tmp_path: Path) -> None:
    server.says(BODY)
    client = make_client(rules={"pause": 2.0})
    client.fetch(wanted, tmp_path / "f")
    clock.seconds += 0.5
    client.fetch(wanted, tmp_path / "f")
    assert clock.slept == [1.5]


def test_without_a_network_the_message_says_what_to_check(make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    base = f"http://127.0.0.1:{closed_port()}"
    with pytest.raises(ServiceDown, match="check the network; behind a proxy set HTTPS_PROXY"):
        make_client(base).fetch(replace(wanted, url=f"{base}/file"), tmp_path / "f")


def test_a_proxy_that_does_not_answer_is_named_as_such(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    session = requests.Session()
    session.trust_env = False
    session.proxies = {"http": f"http://127.0.0.1:{closed_port()}"}
    with pytest.raises(ServiceDown, match=r"the proxy cannot be reached or refuses .* check HTTPS_PROXY"):
        make_client(session=session).fetch(wanted, tmp_path / "f")


def test_a_certificate_that_does_not_hold_is_not_tried_again(make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    session, adapter = failing_session(requests.exceptions.SSLError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"))
    with pytest.raises(ServiceDown, match=r"cannot be verified.*REQUESTS_CA_BUNDLE"):
        make_client(session=session).fetch(wanted, tmp_path / "f")
    assert adapter.tried == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (requests.exceptions.SSLError("EOF occurred in violation of protocol"), "secure connection was dropped"),
        (requests.exceptions.ConnectTimeout(), "no connection within 10 s"),
        (requests.exceptions.ReadTimeout(), "no answer within 5 s"),
        (requests.exceptions.ConnectionError(), "the connection failed"),
    ],
)
def test_a_failing_connection_is_tried_again(
    make_client: Any, wanted: Wanted, tmp_path: Path, error: Exception, said: str
) -> None:
    session, adapter = failing_session(error)
    with pytest.raises(ServiceDown, match=said):
        make_client(session=session).fetch(wanted, tmp_path / "f")
    assert adapter.tried == 5


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_within_the_host_is_followed(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path, status: int
) -> None:
    server.says(b"", status, headers={"Location": "/b"}).says(b"", status, headers={"Location": f"{server.base}/c?d=1"})
    server.says(BODY)
    make_client().fetch(wanted, tmp_path / "f")
    assert [path for path, _ in server.asked] == ["/file", "/b", "/c?d=1"]
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_redirect_in_a_circle_ends(server: Any, make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    server.says(b"", 302, headers={"Location": "/file"})
    with pytest.raises(LogError, match=r"redirects more than 3 times, last to .*/file"):
        make_client().fetch(wanted, tmp_path / "f")
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    "place",
    [
        "https://example.org/file",
        "//example.org/file",
        "http://localhost/file",
        "http://127.0.0.1:1/file",
        "https://127.0.0.1/file",
        "file:///etc/passwd",
        "http://user@127.0.0.1/file",
        "http://127.0.0.1\\@example.org/file",
        "http://[/file",
    ],
)
def test_a_redirect_elsewhere_is_not_followed(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path, place: str
) -> None:
    server.says(b"", 302, headers={"Location": place}).says(BODY)
    with pytest.raises(LogError, match=r"redirects to .*(this is not followed|is not an address)"):
        make_client().fetch(wanted, tmp_path / "f")
    assert len(server.asked) == 1


def test_our_name_in_the_user_part_of_another_address_does_not_help(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    place = server.base.replace("http://", "http://127.0.0.1@")
    server.says(b"", 302, headers={"Location": f"{place}/file"})
    with pytest.raises(LogError, match="this is not followed"):
        make_client().fetch(wanted, tmp_path / "f")


def test_a_file_of_another_host_is_not_asked_for(make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"which is not on http://127\.0\.0\.1"):
        make_client().fetch(replace(wanted, url="https://example.org/file"), tmp_path / "f")


@pytest.mark.parametrize(
    "base", ["http://radnet.epa.gov", "ftp://radnet.epa.gov", "radnet.epa.gov", "http://localhost:80"]
)
@pytest.mark.parametrize("loopback", [True, False])
def test_only_https_is_spoken(base: str, loopback: bool) -> None:
    with pytest.raises(LogError, match="is not HTTPS"):
        Client(base, loopback_http=loopback)


def test_this_machine_without_https_must_be_asked_for(server: Any) -> None:
    with pytest.raises(LogError, match="is not HTTPS"):
        Client(server.base)
    Client(server.base, loopback_http=True)
