"""Fetching readings from public networks: ``python -m attentionmixer.data fetch radnet --station … --out DIR``.

>>> from attentionmixer.data.fetch import PROVIDERS
>>> sorted(PROVIDERS)
['odl', 'radnet']
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import odl, radnet
from .client import Client
from .download import Listener, Outcome, download
from .rules import ClientRules
from .trouble import ServiceDown
from .wanted import Wanted

__all__ = ["PROVIDERS", "Client", "ClientRules", "Listener", "Outcome", "Provider", "ServiceDown", "Wanted", "download"]


@dataclass(frozen=True)
class Provider:
    """A network that publishes its readings.

    ``plan(stations, start, end, now, base)`` names the files to fetch from ``base``, the only place they may come from.
    """

    name: str
    title: str
    base: str
    plan: Callable[[Sequence[str], str | None, str | None, dt.datetime, str], list[Wanted]]


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider("radnet", radnet.TITLE, radnet.BASE, radnet.plan),
        Provider("odl", odl.TITLE, odl.BASE, odl.plan),
    )
}
