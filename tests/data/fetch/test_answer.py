"""Error pages and data."""

from __future__ import annotations

import json

import pytest

from attentionmixer.data.fetch.answer import error_page, excerpt


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html><head><title>Service &amp; more</title></head>", "an HTML page that says 'Service & more'"),
        (b"\xef\xbb\xbf<!DOCTYPE html>\n<p>Sorry", "an HTML page that says 'Sorry'"),
        (b"<html><script>var a = '<b>';</script><p>Sorry</p>", "an HTML page that says 'Sorry'"),
        (b"<html></html>", "an HTML page that says nothing"),
        (
            b'<?xml version="1.0"?><ows:ExceptionReport><ows:Exception exceptionCode="x"><ows:ExceptionText>'
            b"Feature type unknown</ows:ExceptionText></ows:Exception></ows:ExceptionReport>",
            "an XML message that says 'Feature type unknown'",
        ),
        (
            b'<ServiceExceptionReport><ServiceException code="y">\n  no such\n  layer </ServiceException>',
            "an XML message that says 'no such layer'",
        ),
        (b'{"error": "down"}', "a JSON message that says 'down'"),
        (b'{"exceptions": [{"code": "z", "text": "bad view"}]}', "a JSON message that says 'bad view'"),
        (b'{"status": 500}', """a JSON message that says '{"status": 500}'"""),
        (b'["no"]', "a JSON message that says 'no'"),
        (b'{"features": null}', """a JSON message that says '{"features": null}'"""),
    ],
)
def test_an_error_page_is_known_by_its_content(content: bytes, said: str) -> None:
    assert error_page(content) == said


@pytest.mark.parametrize(
    "content",
    [
        b"LOCATION_NAME,SAMPLE COLLECTION TIME\n",
        b"time,dose\n1,<20\n",
        b'{"type": "FeatureCollection", "features": []}',
        b'{"type": "FeatureCollection", "features": [{"a": 1}',
        b"[" * 100_000,
        b"",
    ],
)
def test_data_is_no_error_page(content: bytes) -> None:
    assert error_page(content) is None


def test_an_excerpt_holds_nothing_that_a_terminal_obeys() -> None:
    assert excerpt("a\x1b[31m\r\nb\x00\u202ec") == "a [31m b c"


def test_an_excerpt_is_short_also_of_a_long_text() -> None:
    assert len(excerpt("word " * 1_000_000)) == 200
    said = error_page(json.dumps({"message": "x" * 100_000}).encode())
    assert said is not None
    assert len(said) < 300


def test_unclosed_markup_takes_no_time() -> None:
    assert error_page(b"<html>" + b"<script " * 1_000_000) is not None
