"""What a page is made of. Blocks hold plain text; the template escapes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from markupsafe import Markup


@dataclass(frozen=True)
class Note:
    """A paragraph. `tone` is ``plain``, ``hint`` (how to read it), ``empty`` (why there is nothing) or ``warning``."""

    kind: ClassVar[str] = "note"
    text: str
    tone: str = "plain"


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    kind: ClassVar[str] = "heading"
    text: str
    detail: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing with its caption. `svg` comes from `svg.Sketch` only, which escapes what it is given."""

    kind: ClassVar[str] = "picture"
    svg: Markup
    caption: str


@dataclass(frozen=True)
class Column:
    """A table's column. `numeric` ones are set to the right; neither they nor `tight` ones are broken into lines."""

    label: str
    numeric: bool = True
    tight: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of ready-made text. A `fold` table is closed on the screen until asked for, and open in print."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    note: str = ""
    fold: bool = False


@dataclass(frozen=True)
class Facts:
    """Terms with their meaning."""

    kind: ClassVar[str] = "facts"
    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    kind: ClassVar[str] = "items"
    texts: Sequence[str]


@dataclass(frozen=True)
class Listing:
    """Text whose line breaks count: a command, a configuration."""

    kind: ClassVar[str] = "listing"
    title: str
    text: str
    fold: bool = False


Block = Note | Heading | Picture | Table | Facts | Items | Listing


@dataclass(frozen=True)
class Section:
    """A numbered part of the page. `short` is its name in the table of contents."""

    key: str
    title: str
    short: str
    blocks: Sequence[Block] = field(default_factory=tuple)
