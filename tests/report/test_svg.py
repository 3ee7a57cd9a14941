"""Drawings: names from logs, identifiers, colours."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest

from attentionmixer.report.svg import INK, Sketch, drawing_style


def draw(key: str, name: str, alt: str = "a drawing") -> str:
    with drawing_style():
        sketch = Sketch(key, 2.0, alt)
        axes = sketch.axes(1, 0.5, 5, 1)
        axes.plot([0, 1, 2], [1, 0, 1], color=INK)
        axes.imshow(np.eye(2), extent=(0, 1, 0, 1))
        sketch.name(axes, 0.5, 0.5, name)
        return str(sketch.svg())


@pytest.mark.filterwarnings("error")
def test_a_name_is_the_text_of_an_element_and_nothing_else(hostile_names: tuple[str, ...]) -> None:
    for name in hostile_names:
        root = ET.fromstring(draw("a", name))
        texts = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]
        assert len([text for text in texts if text and text in name]) >= 1 or any("\ufffd" in text for text in texts)
        assert not [element for element in root.iter() if element.tag.rpartition("}")[2] in ("script", "img", "style")]


def test_a_dollar_sign_starts_no_formula() -> None:
    assert r"$\frac{a}{b}$" in draw("a", r"$\frac{a}{b}$")


def test_the_description_is_escaped() -> None:
    svg = draw("a", "b", alt='"><script>alert(1)</script>')
    assert "<script" not in svg
    assert ET.fromstring(svg).attrib["aria-label"] == '"><script>alert(1)</script>'


def test_identifiers_of_two_drawings_do_not_clash() -> None:
    one, two = (set(re.findall(r'\bid="([^"]+)"', draw(key, "name"))) for key in ("one", "two"))
    assert one
    assert not one & two


def test_every_reference_has_its_target() -> None:
    svg = draw("a", "name")
    targets = set(re.findall(r'\bid="([^"]+)"', svg))
    references = set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))
    assert references
    assert references <= targets


def test_ink_follows_the_page_and_no_font_is_named() -> None:
    svg = draw("a", "name")
    assert "var(--ink)" in svg
    assert INK not in svg
    assert "font-family" not in svg
    assert "<style" not in svg
    assert "<metadata" not in svg


def test_the_users_own_settings_are_neither_used_nor_changed() -> None:
    usual = draw("a", "name")
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "text.usetex": True}):
        assert draw("a", "name") == usual
        assert matplotlib.rcParams["font.size"] == 30
        assert matplotlib.rcParams["text.usetex"] is True
