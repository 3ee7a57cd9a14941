"""One request to one host: over HTTPS, with pauses, after redirects that stay there; failures in words for people."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urljoin

import requests
from requests import exceptions
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from ...errors import LogError
from ...version import package_version
from .answer import excerpt
from .rules import ClientRules
from .trouble import Again, ServiceDown

REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"https": 443, "http": 80}
_OFFLINE = (
    "check the network; behind a proxy set HTTPS_PROXY. Without a network, download the files elsewhere and copy them "
    "(docs/fetch.md says from where)"
)


class Connection:
    """Asks one host, and no other.

    Parameters
    ----------
    base: scheme and host.
    rules: time-outs, pause and number of redirects.
    session: sends the requests.
    sleep, clock: seconds to wait; seconds running.
    loopback_http: also take ``http://127.0.0.1``.

    Raises
    ------
    LogError: ``base`` is not HTTPS.
    """

    def __init__(
        self,
        base: str,
        rules: ClientRules,
        session: requests.Session,
        *,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
        loopback_http: bool,
    ) -> None:
        place = _parse(base)
        plain = place.scheme == "http" and place.host == "127.0.0.1" and loopback_http
        if place.host is None or (place.scheme != "https" and not plain):
            raise LogError(f"{base!r} is not HTTPS; readings are fetched over HTTPS only")
        self.host = place.host
        self._origin = _origin(place)
        self._rules, self._session, self._sleep, self._clock = rules, session, sleep, clock
        self._asked_last: float | None = None

    def get(self, url: str, headers: dict[str, str]) -> requests.Response:
        """The answer, its body not read yet, after redirects within the host.

        Raises
        ------
        Again: the host did not answer.
        ServiceDown: its certificate does not hold.
        LogError: the address, or one that it redirects to, is elsewhere; or it redirects too often.
        """
        for _ in range(self._rules.redirects + 1):
            response = self._send(url, headers)
            place = response.headers.get("Location")
            if response.status_code not in REDIRECTS or place is None:
                return response
            response.close()
            url = _join(url, place)
            self._must_be_ours(url, "redirects to")
        raise LogError(
            f"{self.host} redirects more than {self._rules.redirects} times, last to {excerpt(url)}; see whether the "
            "provider has changed its interface"
        )

    def _send(self, url: str, headers: dict[str, str]) -> requests.Response:
        self._keep_pause()
        agent = {"User-Agent": f"attentionmixer/{package_version()} (python-requests)"}
        limits = (self._rules.connect_timeout, self._rules.read_timeout)
        try:
            request = self._session.prepare_request(requests.Request("GET", url, headers={**agent, **headers}))
            # what is looked at is what is connected to
            self._must_be_ours(request.url or "", "was to be asked for")
            found = self._session.merge_environment_settings(url, {}, True, None, None)
            verify = True if found["verify"] is None else found["verify"]
            # the session's own send would look where a redirect leads, and read its body without a limit
            return self._session.get_adapter(url).send(
                request, stream=True, timeout=limits, verify=verify, cert=found["cert"], proxies=found["proxies"]
            )
        except exceptions.SSLError as error:
            if "CERTIFICATE_VERIFY_FAILED" not in str(error):
                raise Again("the secure connection was dropped", hint=_OFFLINE) from error
            raise ServiceDown(
                f"the certificate of {self.host} cannot be verified; behind a proxy that inspects traffic, name its "
                "certificate with REQUESTS_CA_BUNDLE=FILE"
            ) from error
        except exceptions.ProxyError as error:
            raise Again("the proxy cannot be reached or refuses", hint="check HTTPS_PROXY and NO_PROXY") from error
        except exceptions.ConnectTimeout as error:
            raise Again(f"no connection within {limits[0]:g} s", hint=_OFFLINE) from error
        except exceptions.Timeout as error:
            raise Again(f"no answer within {limits[1]:g} s") from error
        except exceptions.ConnectionError as error:
            raise Again("the connection failed or was dropped", hint=_OFFLINE) from error
        except exceptions.RequestException as error:
            raise LogError(f"{excerpt(url)} cannot be asked for: {excerpt(str(error))}") from error

    def _keep_pause(self) -> None:
        if self._asked_last is not None:
            left = self._asked_last + self._rules.pause - self._clock()
            if left > 0:
                self._sleep(left)
        self._asked_last = self._clock()

    def _must_be_ours(self, url: str, verb: str) -> None:
        place = _parse(url)
        if place.auth is not None or _origin(place) != self._origin:
            raise LogError(
                f"{self.host} {verb} {excerpt(url)!r}, which is not on {self._origin[0]}://{self.host}; this is not "
                "followed. See whether the provider has moved"
            )


def _origin(place: Url) -> tuple[str | None, str | None, int | None]:
    return place.scheme, place.host, place.port or _PORTS.get(place.scheme or "")


def _join(url: str, place: str) -> str:
    """Where a redirect leads."""
    try:
        return urljoin(url, place)
    except ValueError as error:
        raise LogError(f"{url} redirects to {excerpt(place)!r}, which is not an address: {error}") from error


def _parse(url: str) -> Url:
    """As the library parses it that connects."""
    try:
        return parse_url(url)
    except LocationParseError as error:
        raise LogError(f"{excerpt(url)!r} is not an address: {error}") from error
