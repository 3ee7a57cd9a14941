"""`StationLog` and `Tag`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data import QualityRecord, StationLog, Tag
from attentionmixer.data.quality import Flag
from attentionmixer.errors import LogError


def hours(count: int, start: str = "2024-05-01") -> pd.DatetimeIndex:
    return pd.date_range(start, periods=count, freq="h", tz="UTC")


def make(count: int = 5) -> StationLog:
    values = np.arange(count * 3, dtype=np.float32).reshape(count, 3)
    tags = [
        Tag("A dose", "nSv/h", "dose_rate", "A"),
        Tag("A R02", "cpm", "count_rate", "A"),
        Tag("B dose", station="B"),
    ]
    return StationLog(values, hours(count), tags)


def test_a_log_tells_its_shape_step_names_and_stations() -> None:
    log = make()
    assert log.shape == (5, 3)
    assert len(log) == 5
    assert log.step == pd.Timedelta("1h")
    assert log.names == ("A dose", "A R02", "B dose")
    assert log.stations == ("A", "B")


def test_a_log_cannot_be_changed() -> None:
    log = make()
    with pytest.raises(AttributeError, match="immutable"):
        log.tags = ()
    with pytest.raises(ValueError, match="read-only"):
        log.values[0, 0] = 1.0


def test_the_tensor_shares_the_memory_of_the_log() -> None:
    log = make()
    assert log.tensor().data_ptr() == log.values.__array_interface__["data"][0]
    assert log.between("2024-05-01T01:00Z").values.base is not None


def test_without_a_record_all_rows_count_as_kept() -> None:
    assert make().quality == QualityRecord(rows_in=5, rows_kept=5)


@pytest.mark.parametrize(
    ("values", "time", "tags", "message"),
    [
        (np.zeros(4), hours(4), [Tag("A")], "1-dimensional"),
        (np.zeros((4, 2)), hours(4), [Tag("A")], "1 tags"),
        (np.zeros((1, 1)), hours(1), [Tag("A")], "at least 2 rows"),
        (np.zeros((2, 0)), hours(2), [], "at least one tag"),
        (np.zeros((2, 2)), hours(2), [Tag("A"), Tag("A")], "'A'"),
        (np.zeros((2, 1)), hours(2).tz_localize(None), [Tag("A")], "UTC"),
        (np.zeros((2, 1)), hours(2).tz_convert("Europe/Berlin"), [Tag("A")], "UTC"),
        (np.zeros((3, 1)), hours(4)[[0, 1, 3]], [Tag("A")], "row 2"),
        (np.zeros((2, 1)), hours(2)[::-1], [Tag("A")], "not regular"),
        (np.array([[1.0], [np.inf]]), hours(2), [Tag("A")], "'A' is infinite in row 1"),
    ],
)
def test_a_log_refuses_what_breaks_its_promises(
    values: np.ndarray, time: pd.DatetimeIndex, tags: list[Tag], message: str
) -> None:
    with pytest.raises(LogError, match=message):
        StationLog(values, time, tags)


def test_an_infinity_late_in_a_long_log_is_found_at_its_row() -> None:
    values = np.zeros((70_000, 1), dtype=np.float32)
    values[66_000, 0] = -np.inf
    with pytest.raises(LogError, match="row 66000"):
        StationLog(values, hours(70_000, "2000-01-01"), [Tag("A")])


def test_select_keeps_the_order_asked_for_and_names_what_is_missing() -> None:
    log = make().select(["B dose", "A dose"])
    assert log.names == ("B dose", "A dose")
    np.testing.assert_array_equal(log.values[1], [5.0, 3.0])
    with pytest.raises(LogError, match="C dose"):
        log.select(["C dose"])


def test_between_is_half_open_and_a_bare_date_is_utc() -> None:
    log = make()
    part = log.between("2024-05-01T01:00", "2024-05-01T05:00+02:00")
    assert list(part.time.hour) == [1, 2]
    with pytest.raises(LogError, match="0 row"):
        log.between("2025-01-01")
    with pytest.raises(LogError, match="not a date"):
        log.between("yesterday evening")


def test_roles_change_only_for_the_tags_named() -> None:
    log = make().with_roles({"A R02": "input"})
    assert [tag.role for tag in log.tags] == ["target", "input", "target"]
    with pytest.raises(LogError, match="missing"):
        log.with_roles({"nobody": "input"})


def test_a_frame_becomes_a_log_and_comes_back() -> None:
    frame = make().to_frame()
    again = StationLog.from_frame(frame, make().tags)
    np.testing.assert_array_equal(again.values, make().values)
    pd.testing.assert_frame_equal(again.to_frame(), frame)


def test_a_frame_without_zone_times_or_numbers_is_refused() -> None:
    frame = make().to_frame()
    with pytest.raises(LogError, match="no time zone"):
        StationLog.from_frame(frame.tz_localize(None))
    with pytest.raises(LogError, match="not timestamps"):
        StationLog.from_frame(frame.reset_index(drop=True))
    with pytest.raises(LogError, match="not numbers"):
        StationLog.from_frame(frame.assign(state="Bad"))


def test_a_frame_in_local_time_is_brought_to_utc() -> None:
    frame = make().to_frame().tz_convert("Europe/Berlin")
    assert StationLog.from_frame(frame).time[0] == pd.Timestamp("2024-05-01T00:00Z")


def test_a_tag_survives_json() -> None:
    tag = Tag("µ <b>", "nSv/h", "dose_rate", "B", (47.5, -122.25), "known", "last")
    assert Tag.from_dict(json.loads(json.dumps(tag.to_dict()))) == tag
    assert Tag.from_dict(json.loads(json.dumps(Tag("x").to_dict()))) == Tag("x")


def test_the_repr_says_how_much_is_missing() -> None:
    values = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert "25.0% missing" in repr(StationLog(values, hours(2), [Tag("A"), Tag("B")]))


def flags_of(log: StationLog, **cells: tuple[int, int]) -> np.ndarray:
    flags = np.zeros(log.shape, dtype=np.uint16)
    for name, cell in cells.items():
        flags[cell] |= np.uint16(Flag[name])
    return flags


def test_a_log_without_flags_holds_no_mask_of_its_own() -> None:
    log = make()
    assert log.flags.shape == log.shape and not log.flags.any() and log.flags.strides == (0, 0)
    assert log.without_flagged() is log
    with pytest.raises(ValueError, match="read-only"):
        log.flags[0, 0] = 1


def test_flags_follow_their_cells_through_every_change() -> None:
    log = make().with_flags(flags_of(make(), STUCK=(2, 1)), "a sentence")
    assert log.select([log.names[1]]).flags[:, 0].tolist() == [0, 0, Flag.STUCK, *[0] * (len(log) - 3)]
    assert log.rows(2, len(log)).flags[0, 1] == Flag.STUCK
    assert log.with_roles({log.names[0]: "input"}).flags[2, 1] == Flag.STUCK
    assert log.quality.flags == {"stuck": 1} and log.quality.calendar == {"stuck": {"2024-05-01": 1}}
    assert log.quality.decisions[-1] == "a sentence"


def test_flags_add_up_and_values_stay() -> None:
    log = make()
    both = log.with_flags(flags_of(log, STUCK=(1, 0))).with_flags(flags_of(log, SPIKE=(1, 0), UNIT=(2, 0)))
    assert both.flags[1, 0] == Flag.STUCK | Flag.SPIKE
    np.testing.assert_array_equal(both.values, log.values)


def test_ignored_cells_are_missing_and_notes_are_not() -> None:
    log = make()
    marked = log.with_flags(flags_of(log, STUCK=(1, 0), UNIT=(2, 0)))
    used = marked.without_flagged()
    assert np.isnan(used.values[1, 0]) and used.values[2, 0] == log.values[2, 0]
    assert np.isfinite(marked.values[1, 0])
    assert np.isnan(marked.without_flagged(Flag.UNIT).values[2, 0])
    assert marked.without_flagged(Flag.SPIKE) is marked


def test_flags_of_another_shape_or_kind_are_refused() -> None:
    log = make()
    for flags in (np.zeros((1, 1), dtype=np.uint16), np.zeros(log.shape, dtype=np.int64)):
        with pytest.raises(LogError, match="flags are"):
            StationLog(log.values, log.time, log.tags, flags=flags)
