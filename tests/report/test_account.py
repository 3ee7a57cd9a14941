"""Section 6 of a run's report."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attentionmixer.errors import RunError
from attentionmixer.report.account import section
from attentionmixer.report.blocks import Picture, Table
from attentionmixer.report.run import load_run
from attentionmixer.report.svg import drawing_style


def test_flags_are_counted_by_rule_and_drawn_by_day(network_run: Path) -> None:
    run = load_run(network_run)
    days = {"stuck": {"2023-01-02": 5, "2023-01-04": 1}, "spike": {"2023-01-03": 2}}
    quality = replace(run.quality, flags={"stuck": 6, "spike": 2}, calendar=days)
    with drawing_style():
        blocks = section(replace(run, quality=quality)).blocks
    table = next(b for b in blocks if isinstance(b, Table) and b.caption == "Flagged readings, by rule")
    assert [row[:3] for row in table.rows] == [["stuck", "6", "2"], ["spike", "2", "1"]]
    assert any(isinstance(b, Picture) and "Flagged readings of all tags" in b.caption for b in blocks)


@pytest.mark.parametrize(
    "changes",
    [
        {"flags": 3},
        {"calendar": [1]},
        {"flags": {"stuck": "many"}},
        {"calendar": {"stuck": {"2023-02-30": 1}}},
        {"calendar": {"stuck": {}}},
        {"calendar": {"stuck": {"2023-02-03": 0}}},
    ],
)
def test_counts_that_are_none_are_a_damaged_run(network_run: Path, changes: dict[str, Any], tmp_path: Path) -> None:
    shutil.copytree(network_run, tmp_path / "run")
    path = tmp_path / "run" / "forecaster.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["quality"].update(changes)
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(RunError, match="no counts by flag and day"):
        load_run(tmp_path / "run")
