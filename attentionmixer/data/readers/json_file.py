"""JSON as measuring networks serve it: read strictly, and every way it can be broken is told in words.

JSON has no rows, so a record's number in its file, counted from 1, stands where tables have their line.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

from ...errors import LogError
from ..quality import Quarantined
from .account import LISTED, Account
from .source import Source

#: Said once by every reader of JSON.
RECORD_NUMBERS = "a line is the number of a record in its file, counted from 1: JSON has no lines of its own"
_BLANK = "\ufeff \t\r\n"
_SHOWN = 200
# an integer of more digits is no reading, and Python takes quadratic time to read a long one
_DIGITS = 18
_KEY = re.compile(r'"((?:[^"\\]|\\.){1,60}+)"[ \t\r\n]{0,20}+:')
_SAID = re.compile(r"<(?:\w+:)?(?:ExceptionText|ServiceException|title)\b[^>]{0,200}>([^<]{1,2000})", re.IGNORECASE)
_ERROR_KEYS = ("exceptions", "error", "errors", "message", "text", "detail", "title")


class Doubled(dict[str, Any]):
    """An object that gives one of its keys twice, so that nobody can say which is meant."""


class Refused:
    """Records left out of the log, by reason."""

    def __init__(self) -> None:
        self._listed: dict[str, list[Quarantined]] = {}
        self._count: dict[str, int] = {}

    def add(self, file: str, record: int, column: str, value: object, reason: str) -> None:
        """Leave this record out; ``value`` is what stands in ``column``."""
        listed = self._listed.setdefault(reason, [])
        if len(listed) < LISTED:
            listed.append(Quarantined(file, record, shown(column), shown(value), reason))
        self._count[reason] = self._count.get(reason, 0) + 1

    def settle(self, account: Account) -> None:
        """Enter all of them into the account."""
        for reason, listed in self._listed.items():
            account.quarantine(listed, self._count[reason], reason)


def keys_in(head: bytes) -> frozenset[str]:
    """Keys of objects in the beginning of a JSON text; none where it is no JSON. Never raises."""
    # without its zeros, UTF-16 reads as ASCII as far as keys and brackets go
    text = head.replace(b"\x00", b"").decode("utf-8", errors="replace").lstrip(_BLANK + "\ufffd")
    if not text.startswith(("{", "[")):
        return frozenset()
    return frozenset(_plain(key) for key in _KEY.findall(text))


def _plain(key: str) -> str:
    if "\\" not in key:
        return key
    try:
        return str(json.loads(f'"{key}"', strict=False))
    except ValueError:
        return key


def load(source: Source) -> Any:
    """The value a JSON file holds; whole numbers too long for a reading come as (infinite) floats.

    Raises
    ------
    LogError: the file is empty, an error page, cut off, not UTF-8 (or UTF-16, UTF-32), nested too deeply, or no JSON.
    """
    raw = source.read()
    encoding = json.detect_encoding(raw)
    try:
        text = raw.decode(encoding).lstrip(_BLANK)
    except UnicodeDecodeError as error:
        raise LogError(
            f"{source.name} is not {encoding.upper()} at byte {error.start}, and JSON has to be; fetch it again, and "
            "save it as it comes"
        ) from error
    if not text:
        raise LogError(f"{source.name} is empty; fetch it again")
    if text.startswith("<"):
        said = _SAID.search(text)
        raise LogError(
            f"{source.name} is a page of markup, not JSON{_quoted(html.unescape(said[1]) if said else '')}: the server "
            "sent an error page; fetch it again"
        )
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise LogError(f"{source.name}: {_fault(error, text)}") from error
    except RecursionError as error:
        raise LogError(f"{source.name} is nested too deeply to be a log; fetch it again") from error


def _fault(error: json.JSONDecodeError, text: str) -> str:
    where = f"line {error.lineno}, column {error.colno}"
    if error.msg == "Extra data":
        return f"a second JSON text begins at {where}; put each into a file of its own"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return f"the JSON breaks off at {where}: the file was cut off on its way; fetch it again"
    return f"no JSON at {where} ({error.msg}): the file is damaged; fetch it again"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else Doubled(made)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


def refuse_message(name: str, data: object) -> None:
    """Raise `LogError` where the JSON is a message of the server, such as an error, in place of readings."""
    said: object = data
    found = False
    for _ in range(4):
        if isinstance(said, list) and said:
            said = said[0]
        if isinstance(said, dict):
            key = next((key for key in _ERROR_KEYS if said.get(key)), None)
            found = found or key is not None
            said = said[key] if key is not None else ""
    if found:
        text = said if isinstance(said, str) else ""
        raise LogError(
            f"{name} is a message of the server, not readings{_quoted(text)}; correct the query, or try later"
        )


def _quoted(text: str) -> str:
    line = re.sub(r"\s+", " ", text[:2000]).strip()[:_SHOWN]
    return f", and says {line!r}" if line else ""


def shown(value: object) -> str:
    """A value of a JSON file for people: at most 200 signs, and text that any encoding of Unicode can write."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return value[:_SHOWN].encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else str(value)[:_SHOWN]


def id_fault(value: object) -> str | None:
    """Why a value cannot be the id of a station, or None where it can: ids are text, kept as it is written."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "an id that is a number has lost its leading zeros"
    if not isinstance(value, str) or not value.strip():
        return "no id of a station"
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return "an id that no encoding can write (half of a surrogate pair)"
    return None
