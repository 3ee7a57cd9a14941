"""`QualityRecord`: the account must balance."""

from __future__ import annotations

import json

import pytest

from attentionmixer.data.quality import Gap, QualityRecord, Quarantined
from attentionmixer.errors import LogError


def record() -> QualityRecord:
    return QualityRecord(
        rows_in=10,
        rows_kept=7,
        rows_quarantined=2,
        rows_merged=1,
        masked={"exact zero": 3},
        decisions=("times are UTC",),
        gaps=(Gap("A", "2024-05-01T00:00:00Z", "2024-05-01T02:00:00Z", 3),),
        quarantined=(Quarantined("a.csv", 4, "STATUS", "REJECTED", "status is not APPROVED"),),
        sources=("a.csv",),
    )


@pytest.mark.parametrize("change", [{"rows_in": 11}, {"rows_kept": 6}, {"rows_quarantined": 0}, {"rows_merged": 2}])
def test_an_account_that_does_not_balance_is_refused(change: dict[str, int]) -> None:
    with pytest.raises(LogError, match="accounting"):
        QualityRecord(**{**record().__dict__, **change})


def test_a_record_survives_json() -> None:
    assert QualityRecord.from_dict(json.loads(json.dumps(record().to_dict()))) == record()


def test_a_decision_is_appended_to_a_copy() -> None:
    first = record()
    second = first.with_decision("rain was left out", "step is 1 h")
    assert second.decisions == ("times are UTC", "rain was left out", "step is 1 h")
    assert first.decisions == ("times are UTC",)
    assert second.gaps == first.gaps


def test_records_of_several_files_add_up() -> None:
    other = QualityRecord(
        rows_in=5, rows_kept=5, masked={"exact zero": 1, "not finite": 2}, decisions=("times are UTC",)
    )
    both = QualityRecord.combine([record(), other])
    assert (both.rows_in, both.rows_kept, both.rows_quarantined, both.rows_merged) == (15, 12, 2, 1)
    assert both.masked == {"exact zero": 4, "not finite": 2}
    assert both.decisions == ("times are UTC",)
    assert both.gaps == record().gaps
