"""The promises that the fuzzer holds readers to are broken by logs that break them."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data import StationLog, Tag
from attentionmixer.data.quality import Flag, QualityRecord

TIME = pd.date_range("2024-05-01", periods=2, freq="h", tz="UTC")


def log(record: QualityRecord | None = None, flag: Flag | None = None) -> StationLog:
    values = np.array([[1.0], [np.nan]], dtype=np.float32)
    flags = None if flag is None else np.array([[flag], [0]], dtype=np.uint16)
    return StationLog(values, TIME, [Tag("A")], record, flags=flags)


def test_a_log_that_balances_passes(targets: ModuleType) -> None:
    targets.check(log(QualityRecord(rows_in=4, rows_kept=2, rows_quarantined=1, rows_merged=1)))


def test_a_row_that_is_not_accounted_for_breaks_a_promise(targets: ModuleType) -> None:
    record = QualityRecord(rows_in=3, rows_kept=3)
    # the record refuses this by itself, so that it has to be forced to show that the fuzzer would notice
    object.__setattr__(record, "rows_kept", 2)
    with pytest.raises(AssertionError):
        targets.check(log(record))


def test_a_value_beside_a_flag_that_says_there_is_none_breaks_a_promise(targets: ModuleType) -> None:
    targets.check(log(flag=Flag.SPIKE))
    with pytest.raises(AssertionError):
        targets.check(log(flag=Flag.SENTINEL))


def test_what_is_no_log_error_is_passed_on(targets: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> StationLog:
        raise ZeroDivisionError

    monkeypatch.setitem(targets.READERS, "table", type(targets.READERS["table"])("table", lambda _: True, broken))
    with pytest.raises(ZeroDivisionError):
        targets.read_any("table", b"time,A\n")


def test_packed_content_is_unpacked_as_a_file_would_be(targets: ModuleType) -> None:
    import gzip

    assert targets.Memory(content=gzip.compress(b"abc")).read() == b"abc"
    assert targets.Memory(content=gzip.compress(b"abc")).seekable().read() == b"abc"
    assert targets.Memory(content=b"abc").seekable().read() == b"abc"
