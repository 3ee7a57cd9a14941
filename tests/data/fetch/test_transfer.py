"""Bodies that are cut off, continued, packed, too large, or of another length than stated."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data.fetch.wanted import Wanted
from attentionmixer.errors import LogError

BODY = b"time,dose\n" + b"".join(b"%d,70\n" % number for number in range(500))
TAG = {"ETag": '"a"'}


def part(start: int, body: bytes = BODY, etag: str | None = '"a"') -> dict[str, Any]:
    """The rest of a body from ``start``."""
    headers = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}
    return {"body": body[start:], "status": 206, "headers": headers | ({"ETag": etag} if etag else {})}


def test_a_cut_off_file_is_continued(server: Any, make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    server.says(BODY, headers=TAG, cut=1000).says(**part(1000), cut=500).says(**part(1500))
    ticks: list[tuple[int, int | None]] = []
    make_client().fetch(wanted, tmp_path / "f", tick=lambda done, total: ticks.append((done, total)))
    assert (tmp_path / "f").read_bytes() == BODY
    assert [server.sent(number, "Range") for number in range(3)] == [None, "bytes=1000-", "bytes=1500-"]
    assert [server.sent(number, "If-Range") for number in range(3)] == [None, '"a"', '"a"']
    assert server.sent(1, "Accept-Encoding") == "identity"
    assert ticks[-1] == (len(BODY), len(BODY))


def test_a_server_that_sends_all_again_is_taken_at_its_word(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY, headers=TAG, cut=1000).says(BODY, headers=TAG)
    make_client().fetch(wanted, tmp_path / "f")
    assert server.sent(1, "Range") == "bytes=1000-"
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_file_that_changed_between_the_parts_is_taken_whole(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    changed = BODY.replace(b",70", b",71")
    server.says(BODY, headers=TAG, cut=1000).says(changed, headers={"ETag": '"b"'})
    answer = make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == changed
    assert answer.etag == '"b"'


@pytest.mark.parametrize(
    "second",
    [
        part(1000, BODY.replace(b",70", b",71"), '"b"'),
        part(1000, etag=None),
        part(1000, etag='W/"a"'),
        part(900),
        {**part(1000), "headers": {"ETag": '"a"'}},
        {**part(1000), "headers": {"ETag": '"a"', "Content-Range": "bytes 1000-1500/9999"}},
        {**part(1000), "headers": {"ETag": '"a"', "Content-Range": "lines 1-2/3"}},
        {"body": b"", "status": 416},
    ],
)
def test_a_part_that_does_not_fit_is_never_glued_on(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path, second: dict[str, Any]
) -> None:
    server.says(BODY, headers=TAG, cut=1000).says(**second).says(BODY, headers=TAG)
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert server.sent(1, "Range") == "bytes=1000-"
    assert server.sent(2, "Range") is None


def test_a_part_without_a_stated_length_must_reach_the_end(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY, headers=TAG, cut=1000).says(**part(1000), length=False, cut=500).says(**part(1500))
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_weak_etag_is_not_continued(server: Any, make_client: Any, wanted: Wanted, tmp_path: Path) -> None:
    server.says(BODY, headers={"ETag": 'W/"a"'}, cut=1000).says(BODY)
    make_client().fetch(wanted, tmp_path / "f")
    assert server.sent(1, "Range") is None
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_busy_server_between_the_parts_does_not_lose_the_first(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY, headers=TAG, cut=1000).says(b"", 503).says(**part(1000))
    make_client().fetch(wanted, tmp_path / "f")
    assert server.sent(2, "Range") == "bytes=1000-"
    assert (tmp_path / "f").read_bytes() == BODY


# --- packed ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_a_packed_file_is_unpacked(server: Any, make_client: Any, wanted: Wanted, tmp_path: Path, size: int) -> None:
    body = b"x" * size + b"\n,"
    server.says(gzip.compress(body), headers={"Content-Encoding": "gzip"})
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == body


def test_a_file_packed_in_several_members_is_unpacked_whole(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    packed = gzip.compress(BODY[:100]) + gzip.compress(BODY[100:]) + b"\0" * 8
    server.says(packed, headers={"Content-Encoding": "gzip"})
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY


@pytest.mark.parametrize("length", [True, False])
def test_a_packed_file_that_is_cut_off_is_fetched_whole_again(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path, length: bool
) -> None:
    packed, headers = gzip.compress(BODY), {"Content-Encoding": "gzip", **TAG}
    server.says(packed, headers=headers, cut=len(packed) // 2, length=length).says(packed, headers=headers)
    make_client().fetch(wanted, tmp_path / "f")
    assert server.sent(1, "Range") is None
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_packed_file_that_is_damaged_is_fetched_again(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    headers = {"Content-Encoding": "gzip"}
    server.says(b"\x1f\x8b\x08 no gzip", headers=headers).says(gzip.compress(BODY), headers=headers)
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_small_answer_that_unpacks_to_a_huge_one_is_stopped(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    bomb = gzip.compress(bytes(50 << 20))
    assert len(bomb) < 100_000
    server.says(bomb, headers={"Content-Encoding": "gzip"})
    with pytest.raises(LogError, match="more than 3,000,000 bytes"):
        make_client(rules={"max_bytes": 3_000_000}).fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").stat().st_size <= 3_000_000
    assert len(server.asked) == 1


def test_a_packing_that_was_not_asked_for_is_refused(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY, headers={"Content-Encoding": "br"})
    with pytest.raises(LogError, match="packed as 'br'"):
        make_client().fetch(wanted, tmp_path / "f")


# --- too large -------------------------------------------------------------------------------------------------------


def test_an_answer_that_says_it_is_too_large_is_not_read(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY)
    with pytest.raises(LogError, match="more than 100 bytes"):
        make_client(rules={"max_bytes": 100}).fetch(wanted, tmp_path / "f")
    assert not (tmp_path / "f").exists()


def test_an_answer_that_grows_too_large_is_stopped(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY * 100, length=False)
    with pytest.raises(LogError, match="more than 100,000 bytes"):
        make_client(rules={"max_bytes": 100_000}).fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").stat().st_size <= 100_000


def test_an_answer_in_chunks_that_ends_early_is_fetched_again(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    chunked = {"Transfer-Encoding": "chunked"}
    half, rest = BODY[:800], BODY[800:]
    first = b"%x\r\n%s\r\n" % (len(half), half)
    whole = first + b"%x\r\n%s\r\n0\r\n\r\n" % (len(rest), rest)
    server.says(first, headers=chunked, length=False).says(whole, headers=chunked, length=False)
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert len(server.asked) == 2


def test_a_length_that_is_no_number_is_passed_over(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY, headers={"Content-Length": "many"})
    make_client().fetch(wanted, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
