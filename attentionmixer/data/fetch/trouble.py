"""What can go wrong on the way, apart from what `LogError` says by itself."""

from __future__ import annotations

from ...errors import LogError


class ServiceDown(LogError):
    """The provider cannot be reached or does not serve; other files of it need not be tried now."""


class CutOff(Exception):
    """An answer that ends too early. It is asked for again."""


class Again(Exception):
    """Worth another attempt.

    Parameters
    ----------
    reason: what happened.
    wait: seconds to wait if the server named them.
    hint: what the user can do if it stays so.
    down: whether this, if it stays so, concerns the whole service and not this file only.
    """

    def __init__(self, reason: str, wait: float | None = None, hint: str = "try again later", down: bool = True):
        super().__init__(reason)
        self.wait = wait
        self.hint = hint
        self.down = down
