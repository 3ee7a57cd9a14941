"""Sources: files, folders, archives, and lists of them."""

from __future__ import annotations

import gzip
import warnings
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import expand
from attentionmixer.data.readers.table.file import load
from attentionmixer.data.readers.table.parts import FileRules
from attentionmixer.errors import LogError

TEXT = b"time,A\n2024-05-01T00:00Z,1\n2024-05-01T01:00Z,2\n"


def zstd(raw: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(raw)
    return sink.getvalue().to_pybytes()


def archive(path: Path, members: list[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that repeat, which are meant here
        for name, raw in members:
            made.writestr(name, raw)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd, lambda raw: zstd(raw[:20]) + zstd(raw[20:])])
def test_compressed_files_are_read_as_if_they_were_not_whatever_their_name(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(TEXT))  # type: ignore[operator]
    source = expand(path)[0]
    assert source.read() == source.head() == TEXT
    assert source.size in (None, len(TEXT))
    with source.seekable() as stream:
        assert stream.read() == TEXT


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_damaged_compressed_file_is_an_error_and_never_a_part_of_it(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "log.csv"
    raw = pack(TEXT * 1000)  # type: ignore[operator]
    for damaged in (raw[:-6], raw[:30] + b"\x00" * 20 + raw[50:], raw + b"more"):
        path.write_bytes(damaged)
        with pytest.raises(LogError, match=r"log\.csv cannot be read"):
            expand(path)[0].read()


def test_each_table_of_an_archive_is_a_source_even_where_names_repeat(tmp_path: Path) -> None:
    later = TEXT.replace(b"05-01", b"05-02")
    members = [("d/", b""), ("d/a.csv", TEXT), ("d/a.csv", later), ("__MACOSX/._a.csv", b"x"), ("notes.md", b"x")]
    sources = expand(archive(tmp_path / "all.zip", members))
    assert [source.name for source in sources] == ["all.zip:d/a.csv", "all.zip:d/a.csv"]
    assert [source.read() for source in sources] == [TEXT, later]
    assert sources[0].notes == ("3 entries of all.zip passed over: d/, __MACOSX/._a.csv, notes.md",)
    assert load(sources[0], FileRules()).decisions[0] == sources[0].notes[0]
    assert sources[1].notes == ()


def test_names_in_an_archive_are_only_shown_and_nothing_is_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", [("../../out.csv", TEXT), ("/srv/\x1b[2Jx.csv", TEXT)])
    before = sorted(p for p in tmp_path.rglob("*"))
    sources = expand(path)
    assert [source.name for source in sources] == ["a.zip:../../out.csv", "a.zip:/srv/\ufffd[2Jx.csv"]
    assert [len(load(source, FileRules()).line) for source in sources] == [2, 2]
    assert sorted(p for p in tmp_path.rglob("*")) == before
    assert not (tmp_path.parent / "out.csv").exists()


def test_a_single_file_in_an_archive_is_a_table_whatever_its_name(tmp_path: Path) -> None:
    assert expand(archive(tmp_path / "a.zip", [("export.dat", TEXT)]))[0].read() == TEXT


@pytest.mark.parametrize("name", ["in.zip", "in.csv.gz", "in.tar"])
def test_archives_in_archives_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LogError, match=rf"{name}' is packed within the archive"):
        expand(archive(tmp_path / "a.zip", [(name, TEXT), ("b.csv", TEXT)]))


def test_an_archive_hidden_under_the_name_of_a_table_is_refused_when_read(tmp_path: Path) -> None:
    inner = archive(tmp_path / "b.zip", [("c.csv", TEXT)]).read_bytes()
    for raw in (inner, gzip.compress(TEXT)):
        source = expand(archive(tmp_path / "a.zip", [("b.csv", raw)]))[0]
        with pytest.raises(LogError, match=r"a\.zip:b\.csv is .*(archive|packed twice)"):
            load(source, FileRules())


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", [("b.csv", TEXT)])
    raw = bytearray(path.read_bytes())
    raw[6] |= 1  # the flag in the member's own header
    raw[raw.index(b"PK\x01\x02") + 8] |= 1  # and in the archive's directory
    path.write_bytes(raw)
    with pytest.raises(LogError, match=r"a\.zip: 'b\.csv' is encrypted"):
        expand(path)


def test_an_archive_without_a_table_or_with_a_damaged_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"holds no \*\.csv.*it holds a\.md, b\.md"):
        expand(archive(tmp_path / "a.zip", [("a.md", b"x"), ("b.md", b"x")]))
    path = archive(tmp_path / "b.zip", [("a.csv", TEXT * 500)])
    raw = bytearray(path.read_bytes())
    raw[60] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(LogError, match=r"b\.zip cannot be read"):
        expand(path)[0].read()


def test_a_folder_is_all_its_tables_and_hidden_files_are_passed_over_and_named(tmp_path: Path) -> None:
    for name in ("b.csv", "a.tsv", "._b.csv", "~$book.xlsx", "notes.txt"):
        (tmp_path / name).write_bytes(TEXT)
    archive(tmp_path / "c.zip", [("x.csv", TEXT), ("y.csv", TEXT)])
    sources = expand(tmp_path)
    assert [source.name for source in sources] == ["a.tsv", "b.csv", "c.zip:x.csv", "c.zip:y.csv"]
    assert "._b.csv, ~$book.xlsx" in sources[0].notes[0]


def test_limits_reach_every_source_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT)
    path = archive(tmp_path / "b.zip", [("x.csv", TEXT)])
    limits = Limits(rows=7)
    assert {source.limits for source in expand([tmp_path / "a.csv", str(path)], limits)} == {limits}
    assert expand(path)[0].limits == Limits()


def test_what_is_neither_a_file_nor_a_folder_is_refused() -> None:
    with pytest.raises(LogError, match="neither a file nor a folder"):
        expand("/dev/null")
    with pytest.raises(LogError, match="fetch a file of the web first"):
        expand("https://example.org/log.csv")
