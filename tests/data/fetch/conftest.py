"""A server of our own on this machine that misbehaves as told, and a clock that only moves when told."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import requests

from attentionmixer.data.fetch.client import Client
from attentionmixer.data.fetch.rules import ClientRules
from attentionmixer.data.fetch.wanted import Finding, Wanted

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)


@dataclass
class Reply:
    """What the server does with one request. ``cut``: bytes of the body to send before dropping the connection."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    stall: bool = False
    hang_up: bool = False
    length: bool = True


class Server:
    """Answers requests one after another as the test says; the last answer is repeated."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.asked.append((self.path, dict(self.headers)))
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                self.close_connection = True
                if not reply.hang_up:
                    outer.send(self, reply)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.http.server_port}"

    def send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        handler.send_response(reply.status)
        if reply.length and "Content-Length" not in reply.headers and reply.status not in (204, 304):
            handler.send_header("Content-Length", str(len(reply.body)))
        handler.send_header("Connection", "close")
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(reply.body[: reply.cut])
        handler.wfile.flush()
        if reply.stall:
            self.over.wait(30)

    def says(self, body: bytes = b"", status: int = 200, **more: Any) -> Server:
        """The next answer; ``headers`` by keyword, the rest as in `Reply`."""
        self.replies.append(Reply(body, status, **more))
        return self

    def sent(self, number: int, header: str) -> str | None:
        """A header of the request of this number."""
        headers = {name.casefold(): value for name, value in self.asked[number][1].items()}
        return headers.get(header.casefold())


class Clock:
    """Seconds that pass only while somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on 127.0.0.1 that answers as the test says."""
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.over.set()
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture
def clock() -> Clock:
    """A clock that moves when slept on."""
    return Clock()


@pytest.fixture
def make_client(server: Server, clock: Clock) -> Callable[..., Client]:
    """Makes a client of the server, with the clock; whatever else it takes by keyword, and rules by their names."""

    def make(base: str | None = None, rules: dict[str, Any] | None = None, **more: Any) -> Client:
        session = requests.Session()
        session.trust_env = False  # a proxy of the machine has no part in these tests
        settings = {
            "rules": ClientRules(**{"pause": 0.0, "read_timeout": 5.0, **(rules or {})}),
            "session": session,
            "sleep": clock.sleep,
            "clock": clock,
            "now": lambda: NOW,
            "draw": lambda: 0.5,
            "loopback_http": True,
        }
        return Client(base or server.base, **{**settings, **more})

    return make


@pytest.fixture
def wanted(server: Server) -> Wanted:
    """A file that the server has; any content of lines is good, and each line a reading."""
    return Wanted(
        url=f"{server.base}/file",
        name="file.csv",
        what="post 1, 2021",
        media="text/csv",
        check=lambda content: Finding(content.count(b"\n")),
        settled=dt.datetime(2022, 1, 1, tzinfo=dt.UTC),
        missing="there is no post 1",
    )
