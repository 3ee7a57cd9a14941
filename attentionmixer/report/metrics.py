"""`Metrics`: typed access to a run's ``metrics.json``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..errors import RunError


class Metrics:
    """Numbers of a run by path. A value that is absent, null or not finite is ``None``: there was nothing to measure.

    Raises
    ------
    RunError: a value is of another kind than asked for; the message names file and path.
    """

    def __init__(self, data: Mapping[str, Any], source: str) -> None:
        self._data = data
        self._source = source

    def _get(self, path: tuple[str, ...]) -> Any:
        node: Any = self._data
        for depth, key in enumerate(path):
            if node is None:
                return None
            if not isinstance(node, Mapping):
                raise self._error(path[:depth], node, "a group of values")
            node = node.get(key)
        return node

    def _error(self, path: tuple[str, ...], value: object, wanted: str) -> RunError:
        return RunError(
            f"{self._source}: {' → '.join(path)!r} is {str(value)[:60]!r}, not {wanted}; "
            "the file is damaged: evaluate or train again to write it anew"
        )

    def _number(self, path: tuple[str, ...], value: Any) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._error(path, value, "a number")
        return float(value) if math.isfinite(value) else None

    def number(self, *path: str) -> float | None:
        """The number at `path`."""
        return self._number(path, self._get(path))

    def series(self, *path: str) -> list[float | None]:
        """The list of numbers at `path`; empty if absent."""
        value = self._get(path)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._error(path, value, "a list of numbers")
        return [self._number(path, item) for item in value]

    def text(self, *path: str) -> str | None:
        """The text at `path`."""
        value = self._get(path)
        if value is not None and not isinstance(value, str):
            raise self._error(path, value, "text")
        return value

    def keys(self, *path: str) -> list[str]:
        """Names of what is at `path`, in order; empty if absent."""
        value = self._get(path)
        if value is None:
            return []
        if not isinstance(value, Mapping):
            raise self._error(path, value, "a group of values")
        return [str(key) for key in value]

    def skill(self, baseline: str, *, tag: str | None = None, part: str = "test") -> float | None:
        """1 − mse / mse of the baseline, over all tags or for one: 1 is perfect, 0 no better, below 0 worse."""
        if tag is None:
            own, other = self.number(part, "mse"), self.number("baselines", baseline, part, "mse")
            if other is None and part == "test":
                other = self.number("baselines", baseline, "mse")
        else:
            own = self.number(part, "per_tag", tag, "mse_scaled")
            other = self.number("baselines", baseline, part, "per_tag", tag, "mse_scaled")
        if own is None or other is None or other <= 0:
            return None
        return 1 - own / other
