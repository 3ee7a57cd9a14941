"""What is often saved under a table's name but is none."""

from __future__ import annotations

from ....errors import LogError

_OTHERS = {
    b"PK\x03\x04": "a damaged spreadsheet or archive",
    b"PK\x05\x06": "an empty archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet (xls)",
    b"\x1f\x8b": "packed twice (gzip)",
    b"\x28\xb5\x2f\xfd": "packed twice (zstd)",
    b"BZh91AY&SY": "packed with bzip2",
    b"\xfd7zXZ\x00": "packed with xz",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a rar archive",
    b"%PDF": "a PDF document",
    b"FEA1": "Feather of version 1",
}
_REMEDY = {
    "a damaged spreadsheet or archive": "fetch it again, or export it as CSV",
    "an empty archive": "fetch it again",
    "an old spreadsheet (xls)": "save it as xlsx or CSV",
    "a PDF document": "ask for the table it was made from",
    "Feather of version 1": "save it as Feather 2 or Parquet",
}


def refuse_other_formats(head: bytes, name: str) -> None:
    """Raise `LogError` for what is often saved under a table's name but is none."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        raise LogError(f"{name} is a web page or XML, not a table: the source sent an error page; fetch it again")
    if start.startswith((b"{", b"[{")):
        raise LogError(f"{name} is JSON, not a table; export it as CSV or Parquet")
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise LogError(f"{name} is {what}, not a table; {_REMEDY.get(what, 'unpack it first')}")
    if head[257:262] == b"ustar":
        raise LogError(f"{name} is a tar archive, not a table; unpack it first, or pack its tables with zip")


def refuse_binary(head: bytes, name: str) -> None:
    """Raise `LogError` for text with NUL bytes, once its encoding is known to have none."""
    if b"\x00" in head:
        raise LogError(f"{name} holds binary data, not text")
