"""Tables of databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from attentionmixer.data import read_log
from attentionmixer.data.readers import sql
from attentionmixer.data.readers.limits import Limits
from attentionmixer.data.readers.source import expand
from attentionmixer.data.readers.table.file import load
from attentionmixer.data.readers.table.parts import FileRules, TableFile
from attentionmixer.errors import LogError

NAN = float("nan")
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a table in a database and returns its address."""

    def made(columns: str, rows: Sequence[Sequence[Any]], table: str = "readings") -> str:
        quoted = '"' + table.replace('"', '""') + '"'
        connection = sqlite3.connect(tmp_path / "plant.db")
        connection.execute(f"create table {quoted} ({columns})")
        connection.executemany(f"insert into {quoted} values ({', '.join('?' * len(rows[0]))})", rows)
        connection.commit()
        connection.close()
        return f"sqlite:///{tmp_path / 'plant.db'}?table={quote(table)}"

    return made


def read(address: str, **limits: int) -> TableFile:
    return load(expand(address, Limits(**limits))[0], FileRules())


def test_a_table_becomes_a_log(make: Make) -> None:
    rows = [(f"2024-05-01 0{h}:00:00", 70.5 + h, None if h == 1 else 800 + h) for h in range(4)]
    log = read_log(make('time text, "A [nSv/h]" real, "B [cpm]" integer', rows), tz="UTC")
    np.testing.assert_array_equal(log.values, [[70.5 + h, NAN if h == 1 else 800 + h] for h in range(4)])
    assert log.names == ("A", "B")
    assert log.quality.sources == ("plant.db:readings",)


def test_names_are_kept_verbatim_and_never_become_a_part_of_a_statement(make: Make, tmp_path: Path) -> None:
    table = 'x"; drop table "keep'
    make("time integer, v real", [(1_700_000_000, 1.0)], "keep")
    address = make('time integer, "a""; --" real', [(1_700_000_000 + 60 * i, i) for i in range(3)], table)
    file = read(address)
    assert file.table.column_names == ["time", 'a"; --']
    assert file.numbers.values[:, 0].tolist() == [0, 1, 2]
    assert len(read(f"sqlite:///{tmp_path / 'plant.db'}?table=keep").line) == 1


def test_a_table_that_is_not_there_is_refused_with_those_that_are(make: Make) -> None:
    address = make("time text, v real", [("2024-05-01", 1)])
    for name in ("nothing", "readings; drop table readings", "sqlite_master"):
        with pytest.raises(LogError, match=r"has no table .*; it has readings$"):
            read(address.replace("table=readings", f"table={quote(name)}"))


def test_cells_of_other_types_than_declared_are_read_as_what_they_are(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "_ROWS", 2)
    rows = [
        ("2024-05-01T00:00Z", 1, 1, None),
        ("2024-05-01T01:00Z", 2.5, None, None),
        ("2024-05-01T02:00Z", None, 2.5, None),
        ("2024-05-01T03:00Z", "Bad", 3, None),
        ("2024-05-01T04:00Z", 5, 4, 9),
    ]
    log = read_log(make("time text, a real, b integer, c integer", rows))
    np.testing.assert_array_equal(log.values, [[1, 1, NAN], [2.5, NAN, NAN], [NAN, 2.5, NAN], [NAN, 3, NAN], [5, 4, 9]])
    assert log.quality.masked == {"state 'Bad'": 1}


def test_whole_numbers_of_times_stay_exact_over_chunks(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "_ROWS", 3)
    stamps = [1_556_813_561_098_000_001 + 60_000_000_000 * i for i in range(10)]
    file = read(make("time integer, v real", [(stamp, 1.0) for stamp in stamps]))
    assert file.table["time"].to_pylist() == stamps


def test_limits_hold_while_rows_come(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "_ROWS", 10)
    address = make("time integer, a real, b real", [(1_700_000_000 + i, 1.0, 2.0) for i in range(100)])
    for limits, message in (
        ({"rows": 99}, r"100 row\(s\)"),
        ({"columns": 2}, r"3 column\(s\)"),
        ({"bytes": 500}, "byte"),
    ):
        with pytest.raises(LogError, match=rf"plant\.db:readings.* holds {message}|{message}"):
            read(address, **limits)


def test_reading_neither_makes_nor_changes_a_database(make: Make, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"none\.db does not exist"):
        expand(f"sqlite:///{tmp_path / 'none.db'}?table=readings")
    assert not list(tmp_path.iterdir())
    address = make("time text, v real", [("2024-05-01T00:00Z", 1), ("2024-05-01T01:00Z", 2)])
    before = (tmp_path / "plant.db").read_bytes()
    read(address)
    assert (tmp_path / "plant.db").read_bytes() == before


def test_what_is_no_database_or_names_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,A\n")
    with pytest.raises(LogError, match="not a database"):
        read(f"sqlite:///{tmp_path / 'a.csv'}?table=readings")
    for address in (
        f"sqlite:///{tmp_path / 'a.csv'}",
        f"sqlite:///{tmp_path / 'a.csv'}?table=",
        "sqlite:///a?table=x&table=y",
    ):
        with pytest.raises(LogError, match=r"needs its table once"):
            expand(address)


def test_a_password_is_never_shown() -> None:
    address = "postgresql://user:s3cret@127.0.0.1:1/plant?table=readings"
    source = expand(address)[0]
    assert "s3cret" not in source.name + str(source.path)
    with pytest.raises(LogError, match=r"user:\*\*\*@") as error:
        load(source, FileRules())
    assert "s3cret" not in str(error.value)


def test_options_of_files_and_other_readers_are_refused(make: Make) -> None:
    address = make("time text, v real", [("2024-05-01T00:00Z", 1), ("2024-05-01T01:00Z", 2)])
    source = expand(address)[0]
    with pytest.raises(LogError, match="separator= is for text tables"):
        load(source, FileRules(separator=";"))
    with pytest.raises(LogError, match="names=, skip= and sheet= are for files"):
        load(source, FileRules(sheet="a"))
    with pytest.raises(LogError, match="only format='table' reads it"):
        source.read()


def refusal(address: str, **declared: object) -> str:
    """What is said where an address is refused."""
    with pytest.raises(LogError) as error:
        load(expand(address)[0], FileRules(**declared))  # type: ignore[arg-type]
    return str(error.value)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql", "mysql", "mariadb", "mssql", "oracle"])
def test_every_kind_of_database_needs_a_table(dialect: str) -> None:
    assert refusal(f"{dialect}://host/x") == (
        f"the address of a database needs its table once: {dialect}:///FILE?table=NAME"
    )


def test_what_is_no_database_is_refused_with_those_that_are() -> None:
    assert refusal("ftp://host/x?table=y") == (
        "ftp:// is no database that can be read (sqlite, postgresql, mysql, mariadb, mssql, oracle); "
        "fetch a file of the web first"
    )


def test_a_file_that_is_not_there_is_named_with_the_form_of_an_address(tmp_path: Path) -> None:
    remedy = "does not exist; a database is given as sqlite:///FILE?table=NAME"
    assert refusal(f"sqlite:///{tmp_path}/none.db?table=x") == f"{tmp_path}/none.db {remedy}"
    assert refusal(f"sqlite:///{tmp_path}?table=x") == f"{tmp_path} {remedy}"
    assert refusal("sqlite://?table=x") == f"sqlite://?table=x {remedy}"


def test_a_table_of_a_database_says_what_it_is(make: Make) -> None:
    source = expand(make("time text, v real", [("2024-05-01T00:00Z", 1)]))[0]
    assert (source.name, source.size, source.notes) == ("plant.db:readings", None, ())
    assert source.head() == b"table of a database"
    with pytest.raises(LogError) as error:
        source.blocks()
    assert str(error.value) == "plant.db:readings is a table of a database; only format='table' reads it"


@pytest.mark.parametrize("declared", [{"names": ["a", "b"]}, {"skip": 1}, {"sheet": ""}])
def test_each_option_that_only_files_have_is_refused(make: Make, declared: dict[str, object]) -> None:
    address = make("time text, v real", [("2024-05-01T00:00Z", 1)])
    message = "plant.db:readings is a table of a database; names=, skip= and sheet= are for files"
    assert refusal(address, **declared) == message


def test_an_option_of_text_is_refused_with_the_name_of_the_table(make: Make) -> None:
    address = make("time text, v real", [("2024-05-01T00:00Z", 1)])
    message = "plant.db:readings is a table of a database; comment= is for text tables"
    assert refusal(address, comment="#") == message


def test_twenty_tables_are_named_where_one_is_missing(make: Make, tmp_path: Path) -> None:
    address = ""
    for number in range(21):
        address = make("time text, v real", [("2024-05-01T00:00Z", 1)], f"t{number:02d}")
    shown = ", ".join(f"t{number:02d}" for number in range(20))
    message = f"sqlite:///{tmp_path}/plant.db has no table 'x'; it has {shown}"
    assert refusal(address.replace("table=t20", "table=x")) == message


def test_a_database_without_tables_has_none(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "empty.db").close()
    (tmp_path / "empty.db").touch()
    message = f"sqlite:///{tmp_path}/empty.db has no table 'x'; it has none"
    assert refusal(f"sqlite:///{tmp_path}/empty.db?table=x") == message


def test_a_view_is_read_like_a_table(make: Make, tmp_path: Path) -> None:
    address = make("time text, v real", [("2024-05-01T00:00Z", 1), ("2024-05-01T01:00Z", 2)])
    with sqlite3.connect(tmp_path / "plant.db") as connection:
        connection.execute("create view later as select * from readings where v > 1")
    connection.close()
    assert read(address.replace("table=readings", "table=later")).numbers.values.tolist() == [[2.0]]


def test_a_database_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("time,A\n" * 200)
    message = f"sqlite:///{tmp_path}/a.db cannot be read: file is not a database"
    assert refusal(f"sqlite:///{tmp_path}/a.db?table=x") == message


def test_a_driver_that_is_missing_is_named() -> None:
    with pytest.raises(LogError) as error, sql._errors("mysql://host/plant"):
        raise ModuleNotFoundError("No module named 'MySQLdb'", name="MySQLdb")
    assert str(error.value) == "mysql://host/plant needs a driver that is not installed: pip install MySQLdb"


def test_each_limit_is_kept_exactly(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "_ROWS", 4)
    address = make("time integer, a real", [(1_700_000_000 + i, 1.0) for i in range(10)])
    # 16 bytes a row, and a byte for each 8 rows of a column that says which are null where there are any
    for what, limit in (("rows", 10), ("columns", 2), ("bytes", 160)):
        assert len(read(address, **{what: limit}).line) == 10
        with pytest.raises(LogError, match=rf"^plant\.db:readings holds {limit} "):
            read(address, **{what: limit - 1})


def test_a_column_of_words_in_one_part_and_numbers_in_another_is_text(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "_ROWS", 1)
    rows = [
        (1_700_000_000, 1, None),
        (1_700_000_060, 0.5, None),
        (1_700_000_120, None, None),
        (1_700_000_180, "x", None),
    ]
    file = read(make("time integer, state, v", rows))
    assert file.table["state"].to_pylist() == ["1", "0.5", None, "x"]
    assert np.isnan(file.numbers.values).all()
    assert file.numbers.names == ("v",)


def test_a_table_without_rows_keeps_its_columns(make: Make, tmp_path: Path) -> None:
    address = make("time text, v real", [("2024-05-01T00:00Z", 1)])
    with sqlite3.connect(tmp_path / "plant.db") as connection:
        connection.execute("delete from readings")
    connection.close()
    assert read(address).table.column_names == ["time", "v"]
    assert len(read(address).line) == 0


def test_other_options_and_the_password_reach_the_driver_and_only_the_options_are_shown() -> None:
    source = expand("postgresql://u:s3cret@h/plant?x=1&table=t&y=")[0]
    assert isinstance(source, sql.SqlSource)
    assert source.url == "postgresql://u:s3cret@h/plant?x=1&y="
    assert source.shown == "postgresql://u:***@h/plant?x=1&y="
    assert (source.table, source.path) == ("t", Path("plant"))


def test_a_file_of_a_database_is_opened_for_reading_only(make: Make, tmp_path: Path) -> None:
    source = expand(make("time text, v real", [("2024-05-01T00:00Z", 1)]))[0]
    assert isinstance(source, sql.SqlSource)
    assert source.url.endswith("plant.db?mode=ro&uri=true")
    assert source.shown == f"sqlite:///{tmp_path}/plant.db"


def test_rows_are_no_longer_fetched_once_there_are_too_many_bytes(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[int] = []
    real = sql._select

    def select(*given: Any) -> Iterator[list[Sequence[Any]]]:
        for chunk in real(*given):
            fetched.append(len(chunk))
            yield chunk

    monkeypatch.setattr(sql, "_ROWS", 2)
    monkeypatch.setattr(sql, "_select", select)
    address = make("time integer, a real", [(1_700_000_000 + i, 1.0) for i in range(10)])
    with pytest.raises(LogError, match=r"^plant\.db:readings holds 96 byte"):
        read(address, bytes=80)
    assert fetched == [2, 2, 2]
