"""JSON files: what is broken is told in words, and nothing but a LogError comes out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data.readers.account import Account
from attentionmixer.data.readers.json_file import (
    Doubled,
    Refused,
    id_fault,
    keys_in,
    load,
    refuse_message,
    shown,
)
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

Write = Callable[[bytes], Source]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(content: bytes) -> Source:
        path = tmp_path / "log.json"
        path.write_bytes(content)
        return Source(path)

    return _write


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_every_encoding_that_json_may_have_is_read(write: Write, encoding: str) -> None:
    assert load(write('{"unit": "µSv/h"}'.encode(encoding))) == {"unit": "µSv/h"}


def test_another_encoding_is_refused_with_the_place(write: Write) -> None:
    with pytest.raises(LogError, match="not UTF-8 at byte 10"):
        load(write('{"unit": "µSv/h"}'.encode("cp1252")))


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (b"<!DOCTYPE html><html><head><title>503 Busy</title></head></html>", "503 Busy"),
        (
            b'<?xml version="1.0"?><ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows"><ows:Exception>'
            b"<ows:ExceptionText>Feature type &lt;x&gt; unknown</ows:ExceptionText></ows:Exception>",
            "Feature type <x> unknown",
        ),
        (b"<ServiceException code='a'>no such layer</ServiceException>", "no such layer"),
    ],
)
def test_an_error_page_is_told_from_data_and_quoted(write: Write, page: bytes, said: str) -> None:
    with pytest.raises(LogError, match="error page") as error:
        load(write(page))
    assert said in str(error.value)


@pytest.mark.parametrize("content", [b"", b"  \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(write: Write, content: bytes) -> None:
    with pytest.raises(LogError, match="is empty"):
        load(write(content))


@pytest.mark.parametrize("content", [b'{"a": [1, 2', b'{"a": "unfinis', b"[", b'{"a":'])
def test_a_file_that_breaks_off_is_told_from_a_damaged_one(write: Write, content: bytes) -> None:
    with pytest.raises(LogError, match="cut off on its way"):
        load(write(content))


@pytest.mark.parametrize("content", [b'{"a": 1,, "b": 2}', b"nothing", b'{"a": "\x00"}', b"{'a': 1} "])
def test_a_damaged_file_is_refused_with_line_and_column(write: Write, content: bytes) -> None:
    with pytest.raises(LogError, match=r"no JSON at line 1, column \d+"):
        load(write(content))


def test_two_texts_in_one_file_are_refused_with_what_to_do(write: Write) -> None:
    with pytest.raises(LogError, match="a second JSON text begins at line 2"):
        load(write(b'{"a": 1}\n{"a": 2}\n'))


def test_deep_nesting_is_refused(write: Write) -> None:
    with pytest.raises(LogError, match="nested too deeply"):
        load(write(b"[" * 200_000 + b"]" * 200_000))


def test_whole_numbers_too_long_to_be_readings_are_infinite_or_rounded(write: Write) -> None:
    assert load(write(b"[" + b"9" * 5000 + b", 12345678901234567890, 7]")) == [float("inf"), 12345678901234567890.0, 7]


def test_an_object_that_gives_a_key_twice_is_marked(write: Write) -> None:
    once, twice = load(write(b'[{"a": 1, "b": 2}, {"a": 1, "a": 2}]'))
    assert not isinstance(once, Doubled)
    assert isinstance(twice, Doubled)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"version": "1.1.0", "exceptions": [{"code": "x", "locator": "y", "text": "unknown layer"}]}, "unknown layer"),
        ({"error": {"message": "Forbidden"}}, "Forbidden"),
        ({"message": "too many\n requests"}, "too many requests"),
        ([{"error": "no"}], "no"),
    ],
)
def test_a_message_of_the_server_is_quoted(data: object, said: str) -> None:
    with pytest.raises(LogError, match="a message of the server") as error:
        refuse_message("answer.json", data)
    assert said in str(error.value)


@pytest.mark.parametrize("data", [{}, [], {"type": "FeatureCollection"}, 5, None, {"message": None}])
def test_other_json_is_no_message(data: object) -> None:
    refuse_message("answer.json", data)


def test_keys_are_found_in_escaped_text_and_behind_marks() -> None:
    assert keys_in(json.dumps({"測定局": 1, "kenn": {"a\tb": 2}}).encode()) == {"測定局", "kenn", "a\tb"}
    assert keys_in('{"kenn": 1}'.encode("utf-16")) == {"kenn"}
    assert keys_in(b'\xef\xbb\xbf [{"a" : 1}]') == {"a"}


@pytest.mark.parametrize("head", [b"", b"time,kenn\n1,2\n", b'"kenn": 1', b"<a b='{'>", b"\x00\x01\x02", b"PAR1{"])
def test_what_does_not_begin_as_json_has_no_keys(head: bytes) -> None:
    assert keys_in(head) == frozenset()


def test_keys_of_a_head_full_of_quotes_are_found_without_delay() -> None:
    # unbounded, the search would look at each of 32,768 quotes up to the end of the text
    assert keys_in(b"{" + b'\\"' * 32_768) == frozenset()
    assert keys_in(b'{"' + b"\\" * 65_535) == frozenset()


def test_any_bytes_have_keys_or_none() -> None:
    rng = random.Random(5)
    for _ in range(300):
        assert isinstance(keys_in(b"{" + rng.randbytes(200)), frozenset)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ("x" * 500, "x" * 200),
        ("a\ud800", "a\\ud800"),
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (0.5, "0.5"),
    ],
)
def test_values_are_shown_in_text_that_can_be_written(value: object, text: str) -> None:
    assert shown(value) == text
    assert shown(value).encode()


def test_ids_are_text_kept_as_written() -> None:
    assert id_fault("055620080") is None
    assert id_fault(" <script> ") is None
    assert "leading zeros" in str(id_fault(55620080))
    assert "no id" in str(id_fault("  "))
    assert "no id" in str(id_fault(None))
    assert "no id" in str(id_fault(True))
    assert "no encoding" in str(id_fault("\ud800"))


def test_refused_records_are_counted_exactly_and_listed_in_part() -> None:
    refused, account = Refused(), Account(["a.json"], 1501)
    for number in range(1500):
        refused.add("a.json", number, "value", "x", "not a number")
    refused.add("a.json", 1501, "time\ud800", None, "no time")
    refused.settle(account)
    record = account.record(0)
    assert record.rows_quarantined == 1501
    assert len(record.quarantined) == 1000
    assert "1,500 row(s) quarantined: not a number" in record.decisions
    assert all(q.column.encode() for q in record.quarantined)


@settings(deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_log_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(content)
    if content.startswith(b"\x1f\x8b"):
        return  # unpacking is the source's part
    try:
        load(Source(path))
    except LogError as error:
        assert str(error).encode()


# --- whole sentences ---


def refusal(write: Write, content: bytes) -> str:
    with pytest.raises(LogError) as error:
        load(write(content))
    return str(error.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "log.json is empty; fetch it again"),
        (b"\xef\xbb\xbf \r\n\t", "log.json is empty; fetch it again"),
        (b"<html>", "log.json is a page of markup, not JSON: the server sent an error page; fetch it again"),
        (
            b"<title>busy</title>",
            "log.json is a page of markup, not JSON, and says 'busy': the server sent an error page; fetch it again",
        ),
        (
            b'{"a": "\xb5"}',
            "log.json is not UTF-8 at byte 7, and JSON has to be; fetch it again, and save it as it comes",
        ),
        (
            b'{"a": [1,\n 2',
            "log.json: the JSON breaks off at line 2, column 3: the file was cut off on its way; fetch it again",
        ),
        (
            b'{"a": 1, x}',
            "log.json: no JSON at line 1, column 10 (Expecting property name enclosed in double quotes): the file is "
            "damaged; fetch it again",
        ),
        (b"[1]\n[2]", "log.json: a second JSON text begins at line 2, column 1; put each into a file of its own"),
    ],
)
def test_a_fault_is_told_with_the_file_the_place_and_what_to_do(write: Write, content: bytes, says: str) -> None:
    assert refusal(write, content) == says


def test_nested_without_measure_is_no_log(write: Write) -> None:
    assert refusal(write, b"[" * 200_000) == "log.json is nested too deeply to be a log; fetch it again"


@pytest.mark.parametrize(("digits", "kind"), [(18, int), (19, float), (5000, float)])
def test_a_whole_number_of_more_than_eighteen_digits_is_a_float(write: Write, digits: int, kind: type) -> None:
    assert type(load(write(b"9" * digits))) is kind


@pytest.mark.parametrize("key", ["exceptions", "error", "errors", "message", "text", "detail", "title"])
def test_each_word_for_an_error_is_known(key: str) -> None:
    with pytest.raises(LogError) as error:
        refuse_message("log.json", {"status": 1, key: "no  such\nlayer"})
    assert str(error.value) == (
        "log.json is a message of the server, not readings, and says 'no such layer'; correct the query, or try later"
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"error": {"code": 3}}, ""),
        ({"error": [{"message": "slow"}]}, ", and says 'slow'"),
        ({"errors": [{"detail": [{"text": "deep"}]}]}, ", and says 'deep'"),
        ([{"error": {"errors": {"message": "fourth"}}}], ", and says 'fourth'"),
        ({"error": {"errors": {"message": {"text": {"detail": "fifth"}}}}}, ""),
        ({"error": "x" * 300}, f", and says {'x' * 200!r}"),
    ],
)
def test_a_message_of_the_server_is_looked_for_a_few_levels_deep(data: object, said: str) -> None:
    with pytest.raises(LogError) as error:
        refuse_message("log.json", data)
    assert (
        str(error.value) == f"log.json is a message of the server, not readings{said}; correct the query, or try later"
    )


@pytest.mark.parametrize(
    "data", [{"error": ""}, {"error": None}, [], {}, [[]], {"type": "FeatureCollection"}, "error", 3]
)
def test_what_says_nothing_is_no_message(data: object) -> None:
    refuse_message("log.json", data)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "null"), (True, "true"), (False, "false"), ({}, "an object"), ([1], "a list"), (1.5, "1.5")],
)
def test_values_are_shown_as_json_has_them(value: object, text: str) -> None:
    assert shown(value) == text
    assert shown("x" * 201) == "x" * 200 and shown(10**300) == "1" + "0" * 199
    assert shown("\ud800") == "\\ud800"
