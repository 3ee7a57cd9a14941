"""`read_log`: which files, which reader, which options."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attentionmixer.data import StationLog, read_log
from attentionmixer.data.readers import READERS, Reader, pick_reader
from attentionmixer.data.readers.assemble import Assembly
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import Source, expand
from attentionmixer.data.simulate import simulate_ring
from attentionmixer.errors import LogError

ROWS = ["2024-05-01T00:00Z,1,10", "2024-05-01T01:00Z,2,20", "2024-05-01T02:00Z,3,30", "2024-05-01T03:00Z,4,40"]
RADNET = (
    "LOCATION_NAME,SAMPLE COLLECTION TIME,DOSE EQUIVALENT RATE (nSv/h),"
    + "".join(f"GAMMA COUNT RATE R0{i} (CPM)," for i in range(2, 10))
    + "STATUS\nXX: TOWN,05/01/2024 00:00:00,61,1,1,1,1,1,1,1,1,APPROVED\n"
    + "XX: TOWN,05/01/2024 01:00:00,62,2,2,2,2,2,2,2,2,APPROVED\n"
)


def put(path: Path, *rows: str, header: str = "time,A,B") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_the_format_is_found_by_content_not_by_name(tmp_path: Path) -> None:
    path = tmp_path / "readme.parquet"
    path.write_text(RADNET)
    assert read_log(path).tags[0].station == "XX: TOWN"


def test_a_folder_is_all_its_tables_as_one_log(tmp_path: Path) -> None:
    put(tmp_path / "b.csv", *ROWS[2:])
    put(tmp_path / "a.csv", *ROWS[:2])
    (tmp_path / "notes.txt").write_text("not a log")
    log = read_log(tmp_path)
    assert log.select(["A"]).values[:, 0].tolist() == [1, 2, 3, 4]
    assert log.quality.sources == ("a.csv", "b.csv")
    assert log.quality.rows_in == 4


def test_a_list_of_files_is_one_log_and_columns_are_matched_by_name(tmp_path: Path) -> None:
    one = put(tmp_path / "a.csv", *ROWS[:2])
    two = put(tmp_path / "b.csv", "2024-05-01T02:00Z,30,3", header="time,B,A")
    log = read_log([one, str(two)])
    np.testing.assert_array_equal(log.values, [[1, 10], [2, 20], [3, 30]])


def test_tables_with_other_columns_cannot_be_one_log(tmp_path: Path) -> None:
    one = put(tmp_path / "a.csv", *ROWS[:2])
    two = put(tmp_path / "b.csv", "2024-05-01T02:00Z,3,30", header="time,A,C")
    with pytest.raises(LogError, match=r"a\.csv and b\.csv cannot be one log.*'B'.*'C'"):
        read_log([one, two])


def test_files_of_several_formats_cannot_be_one_log(tmp_path: Path) -> None:
    put(tmp_path / "a.csv", *ROWS)
    (tmp_path / "b.csv").write_text(RADNET)
    with pytest.raises(LogError, match=r"several formats.*a\.csv.*b\.csv"):
        read_log(tmp_path)


def test_gzip_is_unpacked_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(b"time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n"))
    assert read_log(path).values[:, 0].tolist() == [1, 2]
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(LogError, match="cannot be read"):
        read_log(path)


@pytest.mark.parametrize("name", ["nothing.csv", "empty"])
def test_what_is_not_there_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match=name):
        read_log(tmp_path / name)


def test_an_empty_file_or_list_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "void.csv").write_bytes(b"\n \n")
    with pytest.raises(LogError, match=r"void\.csv is empty"):
        read_log(tmp_path / "void.csv")
    with pytest.raises(LogError, match="list of paths is empty"):
        read_log([])
    with pytest.raises(LogError, match="not int"):
        read_log(5)  # type: ignore[arg-type]


def test_an_option_the_reader_does_not_take_is_refused_with_those_it_takes(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(RADNET)
    with pytest.raises(LogError, match=r"radnet reader does not take tz, colour; it takes start, end"):
        read_log(path, tz="UTC", colour="red")


def test_a_reader_can_be_named_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", *ROWS)
    assert read_log(path, format="table").names == ("A", "B")
    with pytest.raises(LogError, match=r"LOCATION_NAME"):
        read_log(path, format="radnet")
    with pytest.raises(LogError, match="'excel' is unknown"):
        read_log(path, format="excel")
    assert {"exported", "radnet", "table"} <= set(READERS)


# --- what reaches the reader ---


@dataclass
class Seen:
    """What a reader was called with."""

    sources: Sequence[Source] = ()
    assembly: Assembly | None = None
    own: dict[str, Any] = field(default_factory=dict)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """A reader ``spy`` that takes the shared options, and one ``alone`` that takes its own only."""
    calls = Seen()
    log = simulate_ring(posts=3, days=1).log

    def spy(
        sources: Sequence[Source],
        assembly: Assembly,
        *,
        tz: str | None = None,
        time_column: str | None = None,
        layout: str = "both",
        colour: str = "red",
    ) -> StationLog:
        calls.sources, calls.assembly = sources, assembly
        calls.own = {"tz": tz, "time_column": time_column, "layout": layout, "colour": colour}
        return log

    def alone(sources: Sequence[Source], *, start: Any = None, end: Any = None) -> StationLog:
        calls.sources, calls.own = sources, {"start": start, "end": end}
        return log

    monkeypatch.setitem(READERS, "spy", Reader("spy", lambda head: False, spy))
    monkeypatch.setitem(READERS, "alone", Reader("alone", lambda head: False, alone))
    return calls


def test_nothing_is_declared_where_nothing_was_asked_for(tmp_path: Path, seen: Seen) -> None:
    read_log(put(tmp_path / "a.csv", *ROWS), format="spy", layout="auto", ages=False)
    assert seen.assembly == Assembly()
    assert seen.own == {"tz": None, "time_column": None, "layout": "both", "colour": "red"}
    assert [source.name for source in seen.sources] == ["a.csv"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("step", "10min"), ("start", "2024-05-01"), ("end", "2024-05-02"), ("stations", ["A"])),
        *(("duplicates", "last"), ("units", {"A": "cpm"}), ("convert", {"cpm": "LND-7317"}), ("roles", {"A": "input"})),
        *(("resample", "sum"), ("hold", "2h"), ("ages", True), ("ages", ["A"]), ("tags", {"A": {}}), ("jitter", 0.1)),
    ],
)
def test_each_option_that_readers_share_reaches_the_reader(tmp_path: Path, seen: Seen, option: str, value: Any) -> None:
    read_log(put(tmp_path / "a.csv", *ROWS), format="spy", **{option: value})
    assert seen.assembly == replace(Assembly(), **{option: value})
    assert seen.own == {"tz": None, "time_column": None, "layout": "both", "colour": "red"}


@pytest.mark.parametrize(
    ("option", "value"), [("tz", "UTC"), ("time_column", "when"), ("layout", "long"), ("colour", "blue")]
)
def test_each_option_of_the_readers_own_reaches_it(tmp_path: Path, seen: Seen, option: str, value: str) -> None:
    read_log(put(tmp_path / "a.csv", *ROWS), format="spy", **{option: value})  # type: ignore[arg-type]
    assert seen.assembly == Assembly()
    assert seen.own == {"tz": None, "time_column": None, "layout": "both", "colour": "red", option: value}


def test_a_reader_that_shares_no_options_gets_its_own(tmp_path: Path, seen: Seen) -> None:
    path = put(tmp_path / "a.csv", *ROWS)
    read_log(path, format="alone", end="2024-05-02")
    assert (seen.assembly, seen.own) == (None, {"start": None, "end": "2024-05-02"})
    with pytest.raises(LogError) as refused:
        read_log(path, format="alone", step="1h", layout="wide", ages=True)
    assert str(refused.value) == "the alone reader does not take step, layout, ages; it takes start, end"
    with pytest.raises(LogError) as refused:
        read_log(path, format="spy", size=5)
    assert str(refused.value) == (
        "the spy reader does not take size; it takes tz, time_column, layout, colour, step, start, end, stations, "
        "duplicates, units, convert, tags, roles, jitter, resample, hold, ages"
    )


def test_limits_are_those_of_the_files(tmp_path: Path, seen: Seen) -> None:
    with pytest.raises(LogError, match=r"the limit is 10\."):
        read_log(put(tmp_path / "a.csv", *ROWS), format="table", limits=Limits(bytes=10))
    read_log(put(tmp_path / "a.csv", *ROWS), format="table", limits=Limits(bytes=1000))


def test_the_number_of_files_and_their_format_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    one, two = put(tmp_path / "a.csv", *ROWS[:2]), put(tmp_path / "b.csv", *ROWS[2:])
    with caplog.at_level(logging.INFO, logger="attentionmixer"):
        read_log([one, two])
    assert ("attentionmixer.data.readers", logging.INFO, "reading 2 file(s) as table") in caplog.record_tuples


# --- which reader ---


def test_the_readers_are_those_documented_in_the_order_they_are_tried() -> None:
    assert list(READERS) == ["exported", "radnet", "odl", "nra", "eurdep", "safecast", "historian", "table"]
    assert [reader.name for reader in READERS.values()] == list(READERS)


def test_an_unknown_format_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(LogError) as refused:
        read_log(put(tmp_path / "a.csv", *ROWS), format="excel")
    assert str(refused.value) == (
        "format='excel' is unknown; choose auto or one of exported, radnet, odl, nra, eurdep, safecast, historian, "
        "table"
    )


def reader(name: str, begins: bytes, confirm: Callable[[Source], bool] | None = None) -> Reader:
    def read(sources: Sequence[Source]) -> StationLog:
        raise AssertionError("no file is read here")

    return Reader(name, lambda head: head.startswith(begins), read, confirm)


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[Source]]:
    """Formats known by their first letter; of ``a`` a source of several bytes is needed."""
    readers = (
        reader("a", b"a", lambda source: len(source.read()) > 1),
        reader("ab", b"a"),
        reader("c", b"c"),
    )
    # another registry, and not the same with other content: what is put back into a dict comes last in it
    monkeypatch.setattr("attentionmixer.data.readers.READERS", {made.name: made for made in readers})

    def sources(*texts: str) -> list[Source]:
        paths = [tmp_path / f"{i}.csv" for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return expand(paths)

    return sources


def test_the_first_reader_that_knows_and_confirms_a_source_is_taken(three: Callable[..., list[Source]]) -> None:
    assert pick_reader(three("aa")).name == "a"
    assert pick_reader(three("a")).name == "ab"
    assert pick_reader(three("cc", "c")).name == "c"
    assert pick_reader(three("x"), "c").name == "c"


def test_a_source_that_no_reader_knows_is_named(three: Callable[..., list[Source]], tmp_path: Path) -> None:
    with pytest.raises(LogError) as refused:
        pick_reader(three("aa", "x"))
    assert str(refused.value) == f"{tmp_path / '1.csv'}: no reader knows this format"


def test_of_files_of_several_formats_three_of_each_are_named(three: Callable[..., list[Source]]) -> None:
    with pytest.raises(LogError) as refused:
        pick_reader(three("c", "aa", "c", "c", "c", "a", "aa"))
    assert str(refused.value) == (
        "files of several formats cannot be one log (c: 0.csv, 2.csv, 3.csv; a: 1.csv, 6.csv; ab: 5.csv); "
        "read them one by one"
    )
