"""`Sketch`: a matplotlib figure that becomes a piece of SVG for the page.

Three things are settled here for all drawings. Colours of ink and lines become CSS variables, so that one drawing
serves light and dark pages and print. Names from logs never reach matplotlib: it draws a stand-in, and the name is set
as the text of the finished SVG element; so `$` starts no formula, no glyph can be missing, and nothing has to be
escaped by hand. Identifiers are made unique over the page.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from .text import clean

WIDTH: Final = 9.2  # inches; drawings are as wide as the text column

# Stand-ins for the CSS variables of templates/style.css; Okabe-Ito colours where they carry meaning.
INK: Final = "#1c2024"
MUTED: Final = "#5f6672"
GRID: Final = "#dfe3e8"
PAPER: Final = "#fefefd"
MODEL: Final = "#0072b2"
PERSISTENCE: Final = "#d55e00"
LINEAR: Final = "#009e73"
OBSERVED: Final = "#1c2023"
_VARIABLES: Final = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
    MODEL: "var(--model)",
    PERSISTENCE: "var(--persistence)",
    LINEAR: "var(--linear)",
    OBSERVED: "var(--ink)",
}

_STYLE: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "attentionmixer",
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "hatch.linewidth": 0.6,
}


@contextmanager
def drawing_style() -> Iterator[None]:
    """The report's style, whatever the user's own matplotlib settings are; those are restored afterwards."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        for key, value in _STYLE.items():
            matplotlib.rcParams[key] = value  # type: ignore[index]
        yield


class Sketch:
    """A drawing of `height` inches (and the page's width), to be used inside `drawing_style`.

    Parameters
    ----------
    key: unique on the page; starts the drawing's identifiers.
    alt: what the drawing shows, for those who cannot see it.
    """

    def __init__(self, key: str, height: float, alt: str, width: float = WIDTH) -> None:
        self.figure = Figure(figsize=(width, height))
        self._key = key
        self._alt = alt
        self._names: dict[str, str] = {}
        self._halos: set[str] = set()

    def axes(self, left: float, bottom: float, width: float, height: float, **settings: Any) -> Axes:
        """Axes at a place given in inches from the lower left corner."""
        full_width, full_height = self.figure.get_size_inches()
        place = (left / full_width, bottom / full_height, width / full_width, height / full_height)
        axes: Axes = self.figure.add_axes(place, **settings)
        return axes

    def name(self, where: Axes, x: float, y: float, text: str, *, halo: bool = False, **settings: Any) -> Text:
        """Write text from a log at (x, y), in data coordinates unless `transform` is given.

        `halo` keeps lines that pass under the text away from its letters.
        """
        # only text that turns about its anchor keeps its alignment in a browser's font
        artist: Text = where.text(x, y, "xg", rotation_mode="anchor", **settings)
        key = f"name{len(self._names)}"
        artist.set_gid(key)
        self._names[key] = clean(text)
        if halo:
            self._halos.add(key)
        return artist

    def svg(self) -> Markup:
        """The finished drawing."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
        root = ET.fromstring(buffer.getvalue().decode("utf-8"))
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        self._tidy(root)
        used = {name for e in root.iter() for value in e.attrib.values() for name in _references(value)}
        for element in root.iter():
            self._restyle(element, used)
        root.attrib = {
            "viewBox": root.attrib["viewBox"],
            "class": "drawing",
            "role": "img",
            "aria-label": clean(self._alt),
            "xmlns": "http://www.w3.org/2000/svg",
        }
        # ElementTree escaped all text and attributes, so this is safe as it is
        return Markup(ET.tostring(root, encoding="unicode"))

    def _tidy(self, root: ET.Element) -> None:
        for parent in list(root.iter()):
            for child in list(parent):
                if child.tag in ("metadata", "style"):
                    parent.remove(child)
            if parent.get("id") in self._names:
                for text in parent.iter("text"):
                    text.text = self._names[parent.attrib["id"]]
                    if parent.attrib["id"] in self._halos:
                        text.set("class", "halo")
            if parent.tag != "text" and parent.text is not None and not parent.text.strip():
                parent.text = None
            parent.tail = None

    def _restyle(self, element: ET.Element, used: set[str]) -> None:
        attributes = {}
        for full_name, value in element.attrib.items():
            name = full_name.rpartition("}")[2]
            unused = name == "id" and value not in used
            if not unused and not value.startswith("rotate(-0 "):
                attributes[name] = self._attribute(name, value)
        element.attrib.clear()
        element.attrib.update(attributes)

    def _attribute(self, name: str, value: str) -> str:
        if name == "id":
            return f"{self._key}-{value}"
        if name == "href" and value.startswith("#"):
            return f"#{self._key}-{value[1:]}"
        if name == "d":  # a hundredth of a point is fine enough
            return re.sub(r"(\.\d\d)\d+", r"\1", " ".join(value.split()))
        value = _style(value) if name == "style" else value
        return value.replace("url(#", f"url(#{self._key}-")


def _references(value: str) -> Iterator[str]:
    if value.startswith("#"):
        yield value[1:]
    yield from re.findall(r"url\(#([^)]+)\)", value)


def _style(style: str) -> str:
    parts = (part.strip() for part in style.split(";"))
    # the page's own font is used instead of the one matplotlib measured with
    kept = "; ".join(part for part in parts if part and not part.startswith("font-family"))
    return re.sub(r"#[0-9a-f]{6}\b", lambda match: _VARIABLES.get(match[0], match[0]), kept)
