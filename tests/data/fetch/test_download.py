"""A list of files into a folder: what is kept, fetched again, replaced, or left."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.data.fetch.cache import MANIFEST
from attentionmixer.data.fetch.download import Listener, Outcome, download
from attentionmixer.data.fetch.trouble import ServiceDown
from attentionmixer.data.fetch.wanted import Wanted
from attentionmixer.errors import LogError

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
BODY = b"1,70\n2,71\n"


class Heard(Listener):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.said: list[str] = []
        self.ended: list[Outcome] = []
        self.bytes = 0

    def starts(self, wanted: Wanted) -> None:
        self.started.append(wanted.name)

    def receives(self, done: int, total: int | None) -> None:
        self.bytes = done

    def remarks(self, text: str) -> None:
        self.said.append(text)

    def ends(self, outcome: Outcome) -> None:
        self.ended.append(outcome)


@pytest.fixture
def get(make_client: Any, wanted: Wanted, tmp_path: Path) -> Any:
    """Downloads the one file; settings by keyword. Gives its outcome and what was heard."""

    def run(one: Wanted = wanted, **more: Any) -> tuple[Outcome, Heard]:
        heard = Heard()
        settings = {"listener": heard, "now": lambda: NOW, **more}
        (outcome,) = download([one], tmp_path / "out", make_client(), **settings)
        return outcome, heard

    return run


def running(wanted: Wanted) -> Wanted:
    """The same file, of a period that is not over."""
    return replace(wanted, settled=NOW + dt.timedelta(days=30))


def test_a_new_file_is_fetched(server: Any, get: Any, wanted: Wanted, tmp_path: Path) -> None:
    server.says(BODY)
    outcome, heard = get()
    assert outcome == Outcome(wanted, "fetched", tmp_path / "out" / "file.csv", 2, len(BODY))
    assert outcome.path.read_bytes() == BODY
    assert (heard.started, heard.bytes, heard.said, heard.ended) == (["file.csv"], len(BODY), [], [outcome])


def test_a_final_file_is_not_asked_for_again(server: Any, get: Any) -> None:
    server.says(BODY)
    get()
    outcome, _ = get()
    assert (outcome.state, outcome.rows, outcome.bytes) == ("kept", 2, len(BODY))
    assert len(server.asked) == 1


def test_a_changed_copy_is_fetched_again_and_this_is_said(server: Any, get: Any, tmp_path: Path) -> None:
    server.says(BODY)
    get()
    (tmp_path / "out" / "file.csv").write_bytes(b"1,7\n2,71\n")
    outcome, heard = get()
    assert outcome.state == "fetched"
    assert outcome.path.read_bytes() == BODY
    assert "file.csv: it was changed since it was fetched" in heard.said[0]
    assert "changed since it was fetched" in outcome.detail
    # the copy is not what the server knows by that ETag
    assert server.sent(1, "If-None-Match") is None


def test_a_running_period_is_asked_for_by_its_etag(server: Any, get: Any, wanted: Wanted) -> None:
    server.says(BODY, headers={"ETag": 'W/"a"'}).says(status=304).says(BODY + b"3,72\n", headers={"ETag": 'W/"b"'})
    get(running(wanted))
    unchanged, _ = get(running(wanted))
    assert (unchanged.state, unchanged.rows) == ("kept", 2)
    assert server.sent(1, "If-None-Match") == 'W/"a"'
    longer, _ = get(running(wanted))
    assert (longer.state, longer.rows) == ("fetched", 3)
    assert longer.path.read_bytes() == BODY + b"3,72\n"


def test_an_answer_with_fewer_readings_does_not_replace_the_copy(server: Any, get: Any, wanted: Wanted) -> None:
    server.says(BODY).says(b"2,71\n")
    get(running(wanted))
    outcome, _ = get(running(wanted))
    assert outcome.state == "kept"
    assert outcome.detail == "the service now has 1 reading(s), fewer than the copy of 2026-12-01T12:00:00+00:00"
    assert outcome.path.read_bytes() == BODY


def test_refresh_takes_also_fewer_readings(server: Any, get: Any) -> None:
    server.says(BODY, headers={"ETag": '"a"'}).says(b"2,71\n")
    get()
    outcome, _ = get(refresh=True)
    assert (outcome.state, outcome.rows) == ("fetched", 1)
    assert server.sent(1, "If-None-Match") is None


def test_refresh_never_takes_nothing_for_something(server: Any, get: Any) -> None:
    server.says(BODY).says(b"no line")
    get()
    outcome, _ = get(refresh=True)
    assert outcome.state == "kept"
    assert outcome.path.read_bytes() == BODY


def test_no_data_leaves_no_file(server: Any, get: Any, tmp_path: Path) -> None:
    server.says(b"no line")
    outcome, _ = get()
    assert (outcome.state, outcome.path) == ("no data", None)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_copy_from_elsewhere_is_fetched_again(server: Any, get: Any, wanted: Wanted) -> None:
    server.says(BODY)
    get()
    outcome, heard = get(replace(wanted, url=f"{wanted.url}2"))
    assert outcome.state == "fetched"
    assert "it came from" in heard.said[0]


def test_a_file_that_fails_does_not_stop_the_others(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(b"", 404).says(BODY)
    outcomes = download([replace(wanted, name="a.csv"), wanted], tmp_path, make_client(), now=lambda: NOW)
    assert [outcome.state for outcome in outcomes] == ["failed", "fetched"]
    assert "there is no post 1" in outcomes[0].detail
    assert sorted(path.name for path in tmp_path.iterdir()) == [MANIFEST, "file.csv"]


def test_a_service_that_is_down_stops_the_rest_and_keeps_what_came(
    server: Any, make_client: Any, wanted: Wanted, tmp_path: Path
) -> None:
    server.says(BODY).says(b"", 503)
    heard = Heard()
    three = [replace(wanted, name=name) for name in ("a.csv", "b.csv", "c.csv")]
    with pytest.raises(ServiceDown):
        download(three, tmp_path, make_client(), listener=heard, now=lambda: NOW)
    assert [outcome.wanted.name for outcome in heard.ended] == ["a.csv"]
    assert (tmp_path / "a.csv").read_bytes() == BODY
    assert len(server.asked) == 1 + 5
    # and the next run goes on from there
    server.replies = []
    server.says(BODY)
    outcomes = download(three, tmp_path, make_client(), now=lambda: NOW)
    assert [outcome.state for outcome in outcomes] == ["kept", "fetched", "fetched"]


def test_a_file_of_somebody_else_is_not_written_over(server: Any, get: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file.csv").write_bytes(b"mine")
    server.says(BODY)
    outcome, _ = get()
    assert outcome.state == "failed"
    assert (tmp_path / "out" / "file.csv").read_bytes() == b"mine"
    assert server.asked == []


def test_a_folder_that_is_a_file_is_refused(get: Any, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(LogError, match="is a file; name a folder"):
        get()
