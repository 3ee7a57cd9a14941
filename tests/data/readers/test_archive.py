"""Tables in zip archives."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import pytest

from attentionmixer.data.readers.archive import Member, is_archive, is_workbook, members
from attentionmixer.data.readers.limits import Limits
from attentionmixer.errors import LogError

TEXT = b"time,A\n2024-05-01T00:00Z,1\n"


def packed(path: Path, *names: str) -> Path:
    """An archive of files with the same content; a name that ends in a slash is a folder."""
    with zipfile.ZipFile(path, "w") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            made.writestr(name, b"" if name.endswith("/") else TEXT)
    return path


def names_in(path: Path) -> list[str]:
    return [member.info.filename for member in members(path, Limits())]


def refusal(path: Path, limits: Limits | None = None) -> str:
    with pytest.raises(LogError) as error:
        members(path, limits or Limits())
    return str(error.value)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".arrow", ".xlsx", ".CSV"])
def test_each_kind_of_table_is_taken_from_an_archive(tmp_path: Path, suffix: str) -> None:
    assert names_in(packed(tmp_path / "a.zip", "x.md", f"d/t{suffix}", "y.txt")) == [f"d/t{suffix}"]


@pytest.mark.parametrize("suffix", [".zip", ".gz", ".zst", ".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz", ".csv.GZ"])
def test_each_kind_of_archive_in_an_archive_is_refused_alone_and_beside_tables(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "a.zip"
    message = f"{path}: 'in{suffix}' is packed within the archive; unpack the archive first"
    assert refusal(packed(path, f"in{suffix}")) == message
    assert refusal(packed(path, "t.csv", f"in{suffix}")) == message


@pytest.mark.parametrize(
    "hidden", [".t.csv", "d/.t.csv", "~$t.xlsx", "__MACOSX/t.csv", "d/__MACOSX/t.csv", "d\\.t.csv"]
)
def test_hidden_files_are_passed_over_and_named(tmp_path: Path, hidden: str) -> None:
    found = members(packed(tmp_path / "a.zip", hidden, "t.csv", "u.csv"), Limits())
    assert [member.name for member in found] == ["a.zip:t.csv", "a.zip:u.csv"]
    assert found[0].notes == (f"1 entry of a.zip passed over: {hidden}",)
    assert found[1].notes == ()


def test_a_name_that_only_has_a_dot_or_tilde_inside_is_not_hidden(tmp_path: Path) -> None:
    names = ["a.b.csv", "a~$.csv", ".d/t.csv", "MACOSX/t.csv"]
    assert names_in(packed(tmp_path / "a.zip", *names)) == names


@pytest.mark.parametrize(("count", "rest"), [(4, ""), (5, ""), (6, " and 1 more"), (8, " and 3 more")])
def test_five_entries_passed_over_are_named_and_the_rest_counted(tmp_path: Path, count: int, rest: str) -> None:
    others = [f"n{i}.md" for i in range(count)]
    found = members(packed(tmp_path / "a.zip", *others, "t.csv"), Limits())
    assert found[0].notes == (f"{count} entries of a.zip passed over: {', '.join(others[:5])}{rest}",)


def test_nothing_is_said_where_nothing_is_passed_over(tmp_path: Path) -> None:
    assert members(packed(tmp_path / "a.zip", "t.csv"), Limits())[0].notes == ()


def test_an_archive_without_tables_says_which_there_could_be_and_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    wanted = f"{path} holds no *.csv, *.tsv, *.parquet, *.feather, *.arrow, *.xlsx file; it holds "
    assert refusal(packed(path, "a.md", "b.md")) == f"{wanted}a.md, b.md"
    assert refusal(packed(path)) == f"{wanted}nothing"
    assert refusal(packed(path, "d/")) == f"{wanted}d/"


def test_a_member_has_a_name_that_can_be_shown_its_size_and_its_content(tmp_path: Path) -> None:
    member = members(packed(tmp_path / "a.zip", "d/\x1bt.csv"), Limits())[0]
    assert (member.name, member.size, member.read()) == ("a.zip:d/\ufffdt.csv", len(TEXT), TEXT)
    with member.seekable() as stream:
        assert stream.read() == TEXT


@pytest.mark.parametrize("length", [199, 200, 201])
def test_two_hundred_signs_of_a_name_are_shown(length: int) -> None:
    member = Member(Path("a.zip"), info=zipfile.ZipInfo("x" * length))
    assert member.name == "a.zip:" + "x" * min(length, 200)


def test_limits_of_an_archive_are_kept_exactly(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", "a.csv", "b.csv", "notes.md")
    for what, limit in (("members", 3), ("bytes", 2 * len(TEXT))):
        assert len(members(path, Limits(**{what: limit}))) == 2
        assert refusal(path, Limits(**{what: limit - 1})).startswith(f"a.zip holds {limit} ")


def test_a_workbook_and_an_archive_are_told_apart(tmp_path: Path) -> None:
    book = packed(tmp_path / "b.xlsx", "xl/workbook.xml")
    other = packed(tmp_path / "a.zip", "xl/workbook.csv")
    assert (is_workbook(book), is_archive(book)) == (True, False)
    assert (is_workbook(other), is_archive(other)) == (False, True)
    assert is_workbook(io.BytesIO(book.read_bytes()))
    assert not is_workbook(io.BytesIO(b"PK"))


@pytest.mark.parametrize("content", [b"", b"P", b"PK", b"PKtime,A\n", TEXT])
def test_a_file_that_only_starts_like_an_archive_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert not is_archive(tmp_path / "x")


def test_an_archive_after_other_content_is_no_archive(tmp_path: Path) -> None:
    raw = packed(tmp_path / "a.zip", "t.csv").read_bytes()
    (tmp_path / "x").write_bytes(TEXT + raw)
    assert not is_archive(tmp_path / "x")


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError) as error:
        is_archive(tmp_path / "none")
    assert str(error.value).startswith(f"{tmp_path / 'none'} cannot be read: [Errno 2]")
    (tmp_path / "x").write_bytes(TEXT)
    assert refusal(tmp_path / "x") == f"{tmp_path / 'x'} is a damaged zip archive: File is not a zip file"
