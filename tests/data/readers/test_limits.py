"""Limits on what is read."""

from __future__ import annotations

import gzip
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import expand
from attentionmixer.data.readers.table.file import TableFile, load
from attentionmixer.data.readers.table.parts import FileRules
from attentionmixer.errors import LogError

TEXT = "time,A,B\n2024-05-01T00:00Z,1,5\n2024-05-01T01:00Z,2,6\n2024-05-01T02:00Z,3,7\n"


def read(path: Path, **limits: int) -> TableFile:
    return load(expand(path, Limits(**limits))[0], FileRules())


def test_what_is_within_the_limits_is_read_and_what_is_over_one_says_how_to_raise_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TEXT)
    assert len(read(path, bytes=len(TEXT), rows=3, columns=3, line=21, cell=17).line) == 3
    for limits, message in (
        (
            {"bytes": len(TEXT) - 1},
            r"a\.csv holds 75 byte\(s\) of uncompressed content .* limit is 74.*Limits\(bytes=…\)",
        ),
        ({"rows": 2}, r"a\.csv holds 3 row\(s\).*--data\.limits\.rows"),
        ({"columns": 2}, r"a\.csv holds 3 column\(s\)"),
        ({"line": 20}, r"a\.csv line 2 holds 21 byte\(s\) in one line"),
        ({"cell": 16}, r"a\.csv line 2 holds 17 byte\(s\) in one cell"),
    ):
        with pytest.raises(LogError, match=message):
            read(path, **limits)


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(LogError, match=r"limits\.rows must be at least 1, not 0"):
        Limits(rows=0)


def test_the_limits_are_generous_where_none_are_given() -> None:
    assert Limits() == Limits(
        bytes=4_294_967_296, rows=50_000_000, columns=20_000, line=4_194_304, cell=65_536, members=10_000
    )


@pytest.mark.parametrize("what", ["bytes", "rows", "columns", "line", "cell", "members"])
def test_every_limit_is_at_least_one(what: str) -> None:
    assert getattr(Limits(**{what: 1}), what) == 1
    for wrong in (0, -5):
        with pytest.raises(LogError) as refused:
            Limits(**{what: wrong})
        assert str(refused.value) == f"limits.{what} must be at least 1, not {wrong}"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("bytes", "byte(s) of uncompressed content"),
        ("rows", "row(s)"),
        ("columns", "column(s)"),
        ("line", "byte(s) in one line"),
        ("cell", "byte(s) in one cell"),
        ("members", "file(s) in one archive"),
    ],
)
def test_a_limit_holds_what_it_says_and_one_more_is_refused(what: str, said: str) -> None:
    limits = Limits(**{what: 1234})
    limits.check(what, 1234, "a.csv")
    with pytest.raises(LogError) as refused:
        limits.check(what, 1235, "a.csv")
    assert str(refused.value) == (
        f"a.csv holds 1,235 {said} or more; the limit is 1,234. If that is what it should hold, raise it: "
        f"limits=Limits({what}=\u2026) or --data.limits.{what}"
    )


def test_a_gzip_bomb_is_stopped_at_the_limit_with_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b"time,A\n")
        for _ in range(100):
            stream.write(b"2024-05-01T00:00Z,1\n" * 50_000)
    assert path.stat().st_size < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(LogError, match=r"bomb\.csv\.gz holds .* of uncompressed content"):
            expand(path, Limits(bytes=8_000_000))[0].read()
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_a_line_that_never_ends_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "line.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 20_000_000))
    with pytest.raises(LogError, match=r"line\.csv\.gz line 1 holds .* in one line.*4,194,304"):
        read(path)


def test_an_archive_is_measured_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, b"0" * 60_000)
    with pytest.raises(LogError, match=r"a\.zip holds 120,000 byte\(s\)"):
        expand(path, Limits(bytes=100_000))
    with pytest.raises(LogError, match=r"a\.zip holds 2 file\(s\) in one archive"):
        expand(path, Limits(members=1))


def test_a_parquet_file_is_measured_by_its_index(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"time": pa.array(np.arange(1000) * 10**9, pa.timestamp("ns", tz="UTC")), "A": np.zeros(1000)})
    pq.write_table(table, path)
    assert len(read(path).line) == 1000
    for limits, message in (
        ({"rows": 999}, r"1,000 row\(s\)"),
        ({"columns": 1}, r"2 column\(s\)"),
        ({"bytes": 3999}, r"4,000|uncompressed"),
    ):
        with pytest.raises(LogError, match=message):
            read(path, **limits)


def test_memory_for_the_values_is_not_asked_for_beyond_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "commas.csv"
    columns = ",".join(f"c{i}" for i in range(100))
    path.write_text(f"time,{columns}\n" + "".join(f"2024-05-01T{h:02d}:00Z" + "," * 100 + "\n" for h in range(24)))
    with pytest.raises(LogError, match=r"as an array, holds 9,600 byte\(s\)"):
        read(path, bytes=path.stat().st_size)
