"""Values and digital states of a historian's export."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from attentionmixer.data.quality import Flag
from attentionmixer.data.readers.historian.quality import Quality, Scheme, judge, worst
from attentionmixer.data.readers.historian.states import STATES, Reading, describe_states, read_values


def column(*words: str) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(words, pa.string())])


def zeros(rows: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.zeros(rows, dtype=np.int64)


def test_one_state_of_a_known_order_keeps_its_number() -> None:
    into = Reading()
    found = read_values(column("OPEN", "OPEN"), worst([], 2), zeros(2), ["XV"], into)
    assert found.values.tolist() == [1.0, 1.0]
    assert describe_states(into) == ["states of 'XV' became numbers: closed = 0, open = 1"]


def test_tags_of_one_column_are_looked_at_one_by_one() -> None:
    into = Reading()
    found = read_values(column("ON", "12.5", "OFF", "warm"), worst([], 4), np.array([0, 1, 0, 1]), ["P", "T"], into)
    np.testing.assert_array_equal(found.values, [1, 12.5, 0, np.nan])
    assert found.bad.tolist() == [False, False, False, True]
    assert set(into.digital) == {"P"}


def test_many_words_are_text_and_no_states() -> None:
    words = [f"batch {i}" for i in range(STATES + 1)]
    found = read_values(column(*words), worst([], len(words)), zeros(len(words)), ["B"], Reading())
    assert found.bad.all()


def test_a_word_of_bad_quality_is_masked_and_makes_no_state() -> None:
    into = Reading()
    quality = judge(column("Good", "Bad"), "status", Scheme())
    found = read_values(column("ON", "unheard of"), quality, zeros(2), ["P"], into)
    np.testing.assert_array_equal(found.values, [1, np.nan])
    assert [reason.text for reason in into.reasons] == ["quality Bad"]
    assert into.digital == {"P": {"off": 0.0, "on": 1.0}}


def test_a_kept_value_is_noted() -> None:
    into = Reading(keep=frozenset({Quality.UNCERTAIN}))
    quality = judge(column("Good", "Uncertain", "Uncertain"), "status", Scheme())
    found = read_values(column("1", "2", ""), quality, zeros(3), ["T"], into)
    assert found.note.tolist() == [0, Flag.DOUBTFUL, 0]
    assert into.kept == 1
