"""The account of a log while it is read: each count has its sentence, and lists have an end."""

from __future__ import annotations

import pytest

from attentionmixer.data.quality import Gap, Quarantined
from attentionmixer.data.readers.account import GAPS_LISTED, LISTED, Account
from attentionmixer.errors import LogError


def rows(count: int, reason: str = "not a time") -> list[Quarantined]:
    return [Quarantined("log.csv", i + 2, "time", "never", reason) for i in range(count)]


def test_a_fresh_account_holds_its_sources_and_rows_and_nothing_else() -> None:
    record = Account(["a.csv", "b.csv"], 3).record(3)
    assert record.sources == ("a.csv", "b.csv")
    assert (record.rows_in, record.rows_kept, record.rows_quarantined, record.rows_merged) == (3, 3, 0, 0)
    assert (record.decisions, record.warnings, record.gaps, record.quarantined, dict(record.masked)) == (
        (),
        (),
        (),
        (),
        {},
    )


def test_a_sentence_is_said_once() -> None:
    account = Account(["a"], 0)
    for _ in range(2):
        account.decide("the step is 1 h")
        account.warn("the clock was set back")
    record = account.record(0)
    assert record.decisions == ("the step is 1 h",)
    assert record.warnings == ("the clock was set back",)


def test_rows_left_out_are_counted_listed_and_said_with_their_reason() -> None:
    account = Account(["a"], 1300)
    account.quarantine(rows(2), 1234, "not a time")
    record = account.record(66)
    assert record.rows_quarantined == 1234
    assert record.quarantined == tuple(rows(2))
    assert record.decisions == ("1,234 row(s) quarantined: not a time",)


def test_no_rows_left_out_are_not_spoken_of() -> None:
    account = Account(["a"], 1)
    account.quarantine([], 0, "not a time")
    account.outside(0)
    account.merge(0, 0, "error")
    account.merge_into_steps(0)
    account.mask("not finite", 0)
    record = account.record(1)
    assert record.decisions == ()
    assert dict(record.masked) == {}


def test_the_list_of_rows_left_out_has_an_end_and_their_count_has_none() -> None:
    account = Account(["a"], 3 * LISTED)
    account.quarantine(rows(LISTED - 1), LISTED - 1, "not a time")
    account.quarantine(rows(5, "in the future"), 5, "in the future")
    account.quarantine(rows(5, "not a number"), 5, "not a number")
    record = account.record(2 * LISTED - 9)
    assert len(record.quarantined) == LISTED
    assert [row.reason for row in record.quarantined[-2:]] == ["not a time", "in the future"]
    assert record.rows_quarantined == LISTED + 9


def test_rows_outside_the_period_are_counted_and_not_listed() -> None:
    account = Account(["a"], 5)
    account.outside(4)
    record = account.record(1)
    assert record.rows_quarantined == 4
    assert record.quarantined == ()
    assert record.decisions == ("4 row(s) quarantined: outside the period asked for (counted, not listed)",)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("nearest", "the reading nearest to the full step was kept"),
        ("mean", "their mean was kept"),
        ("error", "nothing was lost"),
        ("first", "the first was kept"),
        ("last", "the last was kept"),
    ],
)
def test_merged_rows_are_said_with_what_became_of_them(policy: str, said: str) -> None:
    account = Account(["a"], 5)
    account.merge(3, 2, policy)
    record = account.record(2)
    assert record.rows_merged == 3
    assert record.decisions == (f"3 row(s) fell on a step that had one already (2 of them identical to it): {said}",)


def test_readings_that_share_a_step_are_merged_beside_duplicates() -> None:
    account = Account(["a"], 10)
    account.merge(1, 1, "error")
    account.merge_into_steps(2)
    record = account.record(7)
    assert record.rows_merged == 3
    assert record.decisions[1] == "2 row(s) share a step of the grid with an earlier one of their tag"


def test_cells_of_one_reason_are_added_up() -> None:
    account = Account(["a"], 0)
    account.mask("not finite", 2)
    account.mask("not finite", 3)
    account.mask("dose rate exactly 0", 1)
    assert dict(account.record(0).masked) == {"not finite": 5, "dose rate exactly 0": 1}


def gap(steps: int) -> Gap:
    return Gap("*", "2024-05-01T00:00:00Z", "2024-05-01T01:00:00Z", steps)


def test_gaps_up_to_a_number_are_all_listed_in_their_order() -> None:
    account = Account(["a"], 0)
    account.add_gaps([gap(1), gap(3)])
    account.add_gaps([gap(2)] * (GAPS_LISTED - 2))
    record = account.record(0)
    assert [g.steps for g in record.gaps[:3]] == [1, 3, 2]
    assert len(record.gaps) == GAPS_LISTED
    assert record.decisions == ()


def test_of_more_gaps_the_longest_are_listed_and_this_is_said() -> None:
    account = Account(["a"], 0)
    account.add_gaps([gap(1), *[gap(2)] * (GAPS_LISTED - 1), gap(9)])
    record = account.record(0)
    assert len(record.gaps) == GAPS_LISTED
    assert record.gaps[0].steps == 9
    assert all(g.steps > 1 for g in record.gaps)
    assert record.decisions == (f"{GAPS_LISTED + 1:,} gaps in all; the {GAPS_LISTED:,} longest are listed",)


@pytest.mark.parametrize("kept", [1, 3])
def test_an_account_that_does_not_balance_is_never_closed(kept: int) -> None:
    account = Account(["a"], 4)
    account.quarantine(rows(1), 1, "not a time")
    account.merge(1, 1, "error")
    with pytest.raises(LogError, match="row accounting broken: 4 in"):
        account.record(kept)


def test_a_thousand_rows_left_out_and_ten_thousand_gaps_are_listed() -> None:
    account = Account(["a"], 1001)
    account.quarantine(rows(1001), 1001, "not a time")
    account.add_gaps([gap(i) for i in range(1, 10_002)])
    record = account.record(0)
    assert record.quarantined == tuple(rows(1001)[:1000])
    assert [g.steps for g in record.gaps] == list(range(10_001, 1, -1))
    assert record.decisions[1:] == ("10,001 gaps in all; the 10,000 longest are listed",)
    account = Account(["a"], 1000)
    account.quarantine(rows(1000), 1000, "not a time")
    account.add_gaps([gap(i) for i in range(1, 10_001)])
    record = account.record(0)
    assert len(record.quarantined) == 1000
    assert [g.steps for g in record.gaps] == list(range(1, 10_001))
    assert record.decisions == ("1,000 row(s) quarantined: not a time",)
