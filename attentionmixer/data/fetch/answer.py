"""Error pages: told from data by their content, whatever status and media type they came with."""

from __future__ import annotations

import html
import json
import re
from typing import Any

_EXCERPT = 200
_LOOKED_AT = 20_000
_EXCEPTION = re.compile(r"<(?:\w+:)?(?:ExceptionText|ServiceException)\b[^>]*>(.*?)</", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.DOTALL | re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)
#: Where services put the text of an error in JSON.
_JSON_KEYS = ("error_description", "message", "detail", "exceptions", "text", "error", "title")


def error_page(content: bytes) -> str | None:
    """What an error page says, or None where the content is none.

    Markup (HTML, an XML service exception) and JSON that is no collection of features are error pages to anyone who
    asked for readings.
    """
    text = content.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"<"):
        markup = text[:_LOOKED_AT].decode("utf-8", errors="replace")
        kind = "an HTML page" if re.match(r"<(!doctype\s+)?html", markup, re.IGNORECASE) else "an XML message"
        said = _EXCEPTION.search(markup) or _TITLE.search(markup)
        return _quoted(kind, html.unescape(_UNSEEN.sub(" ", said[1] if said else markup)))
    if text[:1] in (b"{", b"["):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return None  # whoever expects JSON finds out where it breaks off
        if isinstance(data, dict) and isinstance(data.get("features"), list):
            return None
        return _quoted("a JSON message", _said(data))
    return None


def excerpt(text: str) -> str:
    """The beginning of a foreign text on one line, without signs that a terminal would obey."""
    line = "".join(sign if sign.isprintable() else " " for sign in text[:_LOOKED_AT])
    line = re.sub(r"\s+", " ", line).strip()
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


def _said(data: Any) -> str:
    """The text of an error in JSON, however deep; the whole where there is none."""
    here = data
    for _ in range(4):
        if isinstance(here, list) and here:
            here = here[0]
        elif isinstance(here, dict):
            here = next((here[key] for key in _JSON_KEYS if here.get(key)), "")
    return here if isinstance(here, str) and here else json.dumps(data, ensure_ascii=False)


def _quoted(kind: str, text: str) -> str:
    said = excerpt(text)
    return f"{kind} that says {said!r}" if said else f"{kind} that says nothing"
