"""How patient and how polite the client is."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True)
class ClientRules:
    """Times in seconds.

    Parameters
    ----------
    attempts: how often one file is asked for.
    first_wait, longest_wait: the wait before attempt n + 1 is drawn between half and all of
        ``min(longest_wait, first_wait · 2ⁿ⁻¹)``, so that many clients do not come back at once.
    longest_asked_wait: a server that asks (``Retry-After``) for more is not waited for.
    connect_timeout, read_timeout: for the connection, and for the next bytes.
    total_timeout: for one file with all its attempts and waits.
    pause: between two requests, also where the first succeeded.
    redirects: how many are followed, all on the provider's own host.
    max_bytes: of one file, unpacked.
    """

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_asked_wait: float = 120.0
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    total_timeout: float = 900.0
    pause: float = 0.5
    redirects: int = 3
    max_bytes: int = 64 << 20

    def wait(self, attempt: int, draw: float) -> float:
        """Seconds before the attempt after ``attempt`` (from 1); ``draw`` lies in [0, 1)."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        return longest * (0.5 + 0.5 * draw)


def asked_wait(text: str | None, now: dt.datetime) -> float | None:
    """Seconds a ``Retry-After`` header asks for, as a number or a date; None where it is missing or neither."""
    if text is None:
        return None
    text = text.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return max(0.0, (moment - now).total_seconds())
