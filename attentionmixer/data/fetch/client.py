"""A polite HTTPS client for one host: waits, tries again, continues what was cut off, and goes nowhere else."""

from __future__ import annotations

import datetime as dt
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import requests

from ...errors import LogError
from .answer import error_page, excerpt
from .connection import Connection
from .rules import ClientRules, asked_wait
from .transfer import PARTIAL, Transfer, body_start, media_type
from .trouble import Again, CutOff, ServiceDown
from .wanted import Finding, Wanted

logger = logging.getLogger(__name__)

OK, NO_CONTENT, NOT_MODIFIED, RANGE_REFUSED, SERVER_FAULT = 200, 204, 304, 416, 500
MISSING = (404, 410)
#: Statuses of a service that may be well again soon.
PASSING = (408, 425, 429, 500, 502, 503, 504)
#: Types that no readings come as. With any other the content decides, for servers name types carelessly.
NEVER_READINGS = (
    "text/html",
    "text/xml",
    "application/xhtml",
    "application/xml",
    "application/pdf",
    "application/zip",
    "image/",
    "audio/",
    "video/",
    "font/",
)
Tick = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Answer:
    """``finding`` is None where the server says that the copy at hand is current (nothing was sent then)."""

    finding: Finding | None
    etag: str | None = None


def utc_now() -> dt.datetime:
    """The time now, UTC."""
    return dt.datetime.now(dt.UTC)


class Client:
    """Fetches files of one provider.

    Parameters
    ----------
    base: the provider's scheme and host; no request goes anywhere else, redirects included. HTTPS only.
    rules: patience and limits.
    session: sends the requests; by default one that honours ``HTTPS_PROXY`` and ``REQUESTS_CA_BUNDLE``.
    sleep, clock, now, draw: the clocks (seconds to wait; seconds running; UTC) and the lot in [0, 1) for waits.
    tell: is told what goes wrong and what is done about it.
    loopback_http: also take ``http://127.0.0.1``, for a server of one's own on this machine.
    """

    def __init__(
        self,
        base: str,
        *,
        rules: ClientRules | None = None,
        session: requests.Session | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], dt.datetime] = utc_now,
        draw: Callable[[], float] = random.random,
        tell: Callable[[str], None] = logger.info,
        loopback_http: bool = False,
    ) -> None:
        self.base = base
        self._rules = rules or ClientRules()
        self._connection = Connection(
            base, self._rules, session or requests.Session(), sleep=sleep, clock=clock, loopback_http=loopback_http
        )
        self._host = self._connection.host
        self._sleep, self._clock, self._now, self._draw, self._tell = sleep, clock, now, draw, tell

    def fetch(self, wanted: Wanted, into: Path, *, etag: str | None = None, tick: Tick | None = None) -> Answer:
        """Fetch one file to the path ``into``, and check it.

        Parameters
        ----------
        wanted: what to fetch.
        into: where to write; holds nothing of use unless ``finding.rows`` of the answer is above 0.
        etag: of the copy at hand, if there is one; the server then may answer that nothing has changed.
        tick: is told bytes so far and in all (or None) as they arrive.

        Raises
        ------
        ServiceDown: the host cannot be reached, or does not serve after all attempts.
        LogError: the server answers with an error page, redirects elsewhere, sends too much, or knows no such file.
        """
        deadline = self._clock() + self._rules.total_timeout
        transfer = Transfer(into, self._rules.max_bytes)

        def check_time(done: int, total: int | None) -> None:
            if tick is not None:
                tick(done, total)
            if self._clock() > deadline:
                raise ServiceDown(
                    f"{wanted.what}: {self._host} was too slow; after {self._rules.total_timeout:,.0f} s "
                    f"{done:,} bytes had arrived. Try again later"
                )

        for attempt in range(1, self._rules.attempts + 1):
            try:
                return self._attempt(wanted, transfer, etag, check_time)
            except CutOff as cut:
                again = Again(str(cut), down=False)
            except Again as reason:
                again = reason
            asked = again.wait or 0.0
            wait = max(asked, self._rules.wait(attempt, self._draw()))
            if asked > self._rules.longest_asked_wait:
                raise ServiceDown(
                    f"{wanted.what}: {self._host} answers {again} and asks to come back in {asked:,.0f} s; "
                    "run the same command again then, files that are there are not fetched twice"
                )
            if attempt == self._rules.attempts or self._clock() + wait > deadline:
                kind = ServiceDown if again.down else LogError
                raise kind(f"{wanted.what}: {again} ({self._host}, {attempt} attempt(s)); {again.hint}")
            self._tell(f"{wanted.what}: {again}; trying again in {wait:.1f} s")
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    # --- one attempt -------------------------------------------------------------------------------------------------

    def _attempt(self, wanted: Wanted, transfer: Transfer, etag: str | None, tick: Tick) -> Answer:
        headers = {"Accept": f"{wanted.media}, */*;q=0.1", "Accept-Encoding": "gzip", **transfer.headers()}
        resuming = "Range" in headers
        if etag is not None and not resuming:
            headers["If-None-Match"] = etag
        with self._connection.get(wanted.url, headers) as response:
            status = response.status_code
            if status == NOT_MODIFIED and "If-None-Match" in headers:
                return Answer(None, etag)
            if status == NO_CONTENT:
                return Answer(Finding(0, "the service has no content for it"))
            if resuming and status == RANGE_REFUSED:
                transfer.restart()
                raise CutOff("the server cannot send the rest, so all of it is fetched again")
            if status != OK and not (resuming and status == PARTIAL):
                self._refuse(wanted, response, tick)
            transfer.receive(response, tick)
            finding = self._check(wanted, transfer, media_type(response.headers))
            return Answer(finding, response.headers.get("ETag"))

    def _check(self, wanted: Wanted, transfer: Transfer, media: str) -> Finding:
        """What arrived. Whatever is wrong with it, continuing it would not help."""
        content = transfer.path.read_bytes()
        transfer.restart()
        page = error_page(content)
        if page is None and not content.strip():
            page = "nothing at all, not even a header"
        if page is None and media.startswith(NEVER_READINGS):
            page = f"something of type {excerpt(media)!r}"
        if page is not None:
            raise LogError(
                f"{wanted.what}: {self._host} answered with {page}; this is no reading and not 'no data' either. "
                "Try again later"
            )
        return wanted.check(content)

    def _refuse(self, wanted: Wanted, response: requests.Response, tick: Tick) -> None:
        """Raise for a status that brings no data."""
        status = response.status_code
        said = f"{status} {excerpt(response.reason or '')}".strip()
        if status in PASSING:
            hint = "try again later"
            if status == SERVER_FAULT:
                hint = f"the service has a fault, or: {wanted.missing}"
            wait = asked_wait(response.headers.get("Retry-After"), self._now())
            raise Again(said, wait, hint, down=status != SERVER_FAULT)
        if status in MISSING:
            raise LogError(f"{wanted.what}: {self._host} answers {said}; {wanted.missing}")
        page = error_page(body_start(response, tick))
        told = f" with {page}" if page else ""
        raise LogError(
            f"{wanted.what}: {self._host} answers {said}{told}; asked for {response.url}. Try again later, and if "
            "it stays so, see whether the provider has changed its interface"
        )
