"""What the columns of a historian's export are."""

from __future__ import annotations

import pytest

from attentionmixer.data.readers.historian.header import LONGEST, find_plan, number_repeated, says_utc
from attentionmixer.errors import LogError


def test_a_suffix_means_something_only_beside_the_column_it_belongs_to() -> None:
    plan = find_plan(["time", "Pump Status", "Valve", "Valve Status"])
    assert [(s.name, s.quality) for s in plan.signals] == [
        ("Pump Status", ()),
        ("Valve", (("status", "Valve Status"),)),
    ]


def test_a_unit_may_stand_before_or_behind_the_suffix() -> None:
    for value in ("TI1 value [degC]", "TI1 [degC] value"):
        (signal,) = find_plan(["time", value, "TI1 quality"]).signals
        assert (signal.name, signal.unit, signal.value) == ("TI1", "degC", value)


def test_columns_that_differ_by_their_unit_keep_their_headers() -> None:
    assert [s.name for s in find_plan(["time", "T [degC]", "T [K]"]).signals] == ["T [degC]", "T [K]"]


def test_a_long_export_names_its_parts() -> None:
    plan = find_plan(["NAME", "IP_TREND_TIME", "IP_TREND_VALUE", "IP_TREND_QSTATUS"])
    assert (plan.tag, plan.time, plan.value) == ("NAME", "IP_TREND_TIME", "IP_TREND_VALUE")
    assert plan.quality == (("status", "IP_TREND_QSTATUS"),)
    assert plan.signals == ()


def test_yes_or_no_columns_count_beside_a_status() -> None:
    plan = find_plan(["Tag", "Timestamp", "Value", "Good", "Questionable", "Substituted", "Annotated"])
    assert [kind for kind, _ in plan.quality] == ["good", "questionable", "substituted"]
    assert plan.remarks == ("Annotated",)


def test_tags_without_times_of_their_own_need_a_column_of_times() -> None:
    assert find_plan(["A time", "A value", "B time", "B value"]).pairs
    with pytest.raises(LogError, match="no column holds the times of 'B'"):
        find_plan(["A time", "A value", "B"])
    assert find_plan(["when", "B"], "when").time == "when"


def test_repeated_columns_of_quality_are_numbered_and_others_are_not() -> None:
    assert number_repeated(["t", "A", "Quality", "A", "Quality"]) == ("t", "A", "Quality", "A", "Quality 2")


def test_a_header_may_say_that_times_are_in_utc() -> None:
    assert says_utc("Timestamp (UTC)")
    assert says_utc("Time [GMT]")
    assert not says_utc("Timestamp")


def test_a_name_that_is_no_name_is_refused() -> None:
    with pytest.raises(LogError, match="this is no header"):
        find_plan(["time", "." * (LONGEST + 1)])
