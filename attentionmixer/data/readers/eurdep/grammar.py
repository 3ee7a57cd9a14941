"""The grammar of EURDEP 2.x text: statements, and the sections they lie in. Nothing is understood here yet.

A *statement* runs from a backslash to a semicolon. Sections are ``\\BEGIN_NAME;`` … ``\\END_NAME;`` and nest: a message
(``EURDEP``) holds sections, a section of records may hold blocks of defaults, and comments may stand anywhere.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ....errors import LogError

#: Sections that are lists of records under a list of fields.
RECORDS = ("LOCALITY", "RADIOLOGICAL", "METEO")
Kind = Literal[
    "message", "section", "header", "fields", "default", "record", "remark", "comment", "note", "skipped", "outside"
]

_KNOWN = (*RECORDS, "EURDEP", "HEADER", "DEFAULT", "COMMENT")

# possessive, so that no text makes it go back; a quote that is not closed on its line is an ordinary character, and a
# statement whose semicolon is missing ends before the next line that begins with a backslash
_STATEMENT = re.compile(r'\\((?:[^;"\n]++|"[^"\n]*+"|"|\n(?![ \t]*\\))*+)(;?)')
_PIECE = re.compile(r'(?:[^;"]++|"[^"]*+"|")++')
_COMMENT_LINE = re.compile(r"^[ \t]*(?:!|\\\\)[^\n]*", re.MULTILINE)
_BOUND = re.compile(r"(BEGIN|END)[_ ]\s*([A-Za-z][A-Za-z0-9_]*)", re.ASCII | re.IGNORECASE)
_FIELDS = re.compile(r"FIELD_LIST\b(.*)", re.IGNORECASE | re.DOTALL)
_COMMENT_END = re.compile(r"\bEND[_ ]COMMENT$", re.IGNORECASE)


class Item(NamedTuple):
    """What one statement is: its kind, the section it lies in, its line and its text.

    Text that is no statement comes too: ``bare`` records without a backslash, remarks behind a semicolon, notes (lines
    of comment), and lines outside of messages. ``closed`` is false where the semicolon is missing.
    """

    kind: Kind
    section: str
    line: int
    text: str
    bare: bool = False
    closed: bool = True


class _Statement(NamedTuple):
    line: int
    text: str
    form: Literal["statement", "line", "rest"]
    closed: bool


class _Open(NamedTuple):
    name: str
    line: int


def items(text: str, file: str) -> Iterator[Item]:
    """The statements of a file in order, each with its place in the sections.

    Parameters
    ----------
    text: the content, lines ending with ``\\n``. file: its name, for messages.

    Raises
    ------
    LogError: there is no message, sections do not nest, or the file ends inside one.
    """
    yield from _comment_lines(text)
    nest = _Nest(file)
    for statement in _statements(_COMMENT_LINE.sub("", text)):
        item = nest.place(statement)
        if item is not None:
            yield item
    nest.close()


def split_fields(text: str) -> list[str]:
    """The fields of a record: separated by commas, stripped; a field in double quotes may hold commas."""
    if '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    try:
        return [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:  # a field beyond the parser's limit: no such record fits a list of fields
        return [text]


def _comment_lines(text: str) -> Iterator[Item]:
    line, at = 1, 0
    for found in _COMMENT_LINE.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        yield Item("note", "", line, found[0].strip())


def _statements(text: str) -> Iterator[_Statement]:
    line, at = 1, 0
    for found in _STATEMENT.finditer(text):
        yield from _between(text[at : found.start()], line, behind=at > 0)
        line += text.count("\n", at, found.start())
        yield _Statement(line, found[1].replace("\n", " ").strip(), "statement", bool(found[2]))
        line += text.count("\n", found.start(), found.end())
        at = found.end()
    yield from _between(text[at:], line, behind=at > 0)


def _between(gap: str, line: int, *, behind: bool) -> Iterator[_Statement]:
    """Text between two statements: what stands behind a semicolon, and whole lines without a backslash."""
    if not gap.strip():
        return
    for i, part in enumerate(gap.split("\n")):
        for piece in _PIECE.findall(part):
            if piece.strip():
                yield _Statement(line + i, piece.strip(), "rest" if behind and i == 0 else "line", True)


class _Nest:
    """Which section the statements of a file lie in."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.messages = 0
        self.open: list[_Open] = []

    @property
    def top(self) -> str:
        """The innermost section, "" outside of messages."""
        return self.open[-1].name if self.open else ""

    def place(self, statement: _Statement) -> Item | None:
        """What a statement is here; ``None`` for what only ends something, or stands in a comment."""
        top = self.top
        if top == "COMMENT":
            if _COMMENT_END.search(statement.text):
                self.open.pop()
            return None
        bound = None if statement.form == "rest" else _BOUND.fullmatch(statement.text)
        verb, name = (bound[1].upper(), bound[2].upper()) if bound else ("", "")
        # a section nobody knows holds what it likes up to its own end, but no end or begin of a message
        if top and top not in _KNOWN and name not in (top, "EURDEP"):
            return Item("skipped", top, statement.line, statement.text)
        if bound is None:
            return self._content(statement)
        if verb == "BEGIN":
            return self._begin(name, statement)
        if name != top:
            raise LogError(f"{self.file} line {statement.line}: \\END_{name} closes nothing; {self._expected()}")
        self.open.pop()
        return None

    def close(self) -> None:
        """The file ends. Raises `LogError` where it held no message, or something is still open."""
        if not self.messages:
            raise LogError(
                f"{self.file} holds no \\BEGIN_EURDEP; so it is no EURDEP 2.x message; check what was fetched"
            )
        if self.open:
            name, line = self.open[-1]
            raise LogError(
                f"{self.file} ends inside {name}, which begins at line {line} and has no \\END_{name}; the file was "
                "cut off: fetch it again"
            )

    def _begin(self, name: str, statement: _Statement) -> Item | None:
        line, text = statement.line, statement.text
        depth = len(self.open)
        if name == "COMMENT":
            allowed = True
        elif depth < 2:
            allowed = name == "EURDEP" if depth == 0 else name not in ("EURDEP", "DEFAULT")
        else:
            allowed = name == "DEFAULT" and self.top in RECORDS
        if not allowed:
            raise LogError(f"{self.file} line {line}: \\BEGIN_{name} cannot stand here; {self._expected()}")
        self.open.append(_Open(name, line))
        if name == "EURDEP":
            self.messages += 1
            return Item("message", name, line, text)
        if name == "COMMENT":
            return Item("comment", name, line, text)
        return None if name == "DEFAULT" else Item("section", name, line, text)

    def _content(self, statement: _Statement) -> Item:
        line, text, form, closed = statement
        top = self.top
        if not top:
            return Item("outside", top, line, text)
        if top == "DEFAULT":
            if _FIELDS.fullmatch(text):
                raise LogError(f"{self.file} line {line}: \\FIELD_LIST cannot stand among defaults; {self._expected()}")
            return Item("default" if form == "statement" else "remark", self.open[-2].name, line, text, closed=closed)
        if top == "HEADER":
            return Item("header" if form == "statement" else "remark", top, line, text, closed=closed)
        if top in RECORDS and form != "rest":
            fields = _FIELDS.fullmatch(text)
            if fields is not None:
                return Item("fields", top, line, fields[1].strip(), closed=closed)
            return Item("record", top, line, text, bare=form == "line", closed=closed)
        if top == "EURDEP" and form == "statement":
            raise LogError(f"{self.file} line {line}: {text[:60]!r} stands in no section; {self._expected()}")
        return Item("remark", top, line, text)

    def _expected(self) -> str:
        if not self.open:
            return "\\BEGIN_EURDEP; was expected"
        name, line = self.open[-1]
        if name == "EURDEP":
            return f"\\BEGIN_<section>; or \\END_EURDEP; was expected in the message that begins at line {line}"
        return f"\\END_{name}; was expected, for {name} begins at line {line}"
