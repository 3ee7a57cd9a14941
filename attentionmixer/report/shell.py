"""What all pages share: the template, the style sheet, and that everything put into them is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .blocks import Section
from .text import clean
from .verdict import ADVISORY, Verdict


def fill(eyebrow: str, name: str, made: str, verdict: Verdict, sections: Sequence[Section]) -> str:
    """A whole page.

    Parameters
    ----------
    eyebrow: what kind of page it is. name: what it is about; may come from a user. made: the line below the name.
    verdict: section 1. sections: the others.
    """
    environment = Environment(
        loader=PackageLoader("attentionmixer.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("shell.html.j2").render(
        # the style sheet is ours, and CSS has no escapes that HTML knows
        style=Markup(environment.get_template("style.css").render()),
        eyebrow=eyebrow,
        name=clean(name),
        made=clean(made),
        advisory=ADVISORY,
        verdict=verdict,
        sections=sections,
    )
