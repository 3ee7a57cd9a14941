"""The page of models names each."""

from __future__ import annotations

import re
from pathlib import Path

from attentionmixer import models

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"


def test_every_model_has_a_row_and_no_row_is_without_a_model() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert tuple(rows) == models.names()
