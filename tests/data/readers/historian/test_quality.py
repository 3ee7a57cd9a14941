"""Words and codes of quality."""

from __future__ import annotations

import pyarrow as pa
import pytest

from attentionmixer.data.readers.historian.quality import Quality, Scheme, find_scheme, judge, worst
from attentionmixer.errors import LogError


def column(*words: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(words, pa.string())])


@pytest.mark.parametrize(
    ("word", "level"),
    [
        ("Good", Quality.GOOD),
        ("GOOD, Raw", Quality.GOOD),
        ("Good_Clamped", Quality.GOOD),
        ("ok", Quality.GOOD),
        ("A", Quality.GOOD),
        ("Q", Quality.UNCERTAIN),
        ("QS", Quality.SUBSTITUTED),
        ("Uncertain", Quality.UNCERTAIN),
        ("UncertainLastUsableValue", Quality.UNCERTAIN),
        ("Good; Questionable", Quality.UNCERTAIN),
        ("Suspect", Quality.UNCERTAIN),
        ("Uncertain_SubstituteValue", Quality.SUBSTITUTED),
        ("Substituted", Quality.SUBSTITUTED),
        ("GoodLocalOverride", Quality.SUBSTITUTED),
        ("Bad", Quality.BAD),
        ("Bad - Comm Failure", Quality.BAD),
        ("BadSensorFailure", Quality.BAD),
        ("Not Good", Quality.BAD),
        ("I/O Timeout", Quality.BAD),
        ("Fine?", Quality.UNKNOWN),
        ("", Quality.UNKNOWN),
        ("99999999999", Quality.UNKNOWN),
    ],
)
def test_words_have_a_level(word: str, level: Quality) -> None:
    assert judge(column(word), "status", Scheme()).level.tolist() == [level]


@pytest.mark.parametrize(
    ("code", "level"),
    [
        (0, Quality.BAD),
        (24, Quality.BAD),
        (63, Quality.BAD),
        (64, Quality.UNCERTAIN),
        (127, Quality.UNCERTAIN),
        (128, Quality.UNKNOWN),
        (192, Quality.GOOD),
        (195, Quality.GOOD),
        (216, Quality.SUBSTITUTED),
        (219, Quality.SUBSTITUTED),
        (0x01C0, Quality.GOOD),
    ],
)
def test_opc_da_codes_go_by_their_low_byte(code: int, level: Quality) -> None:
    assert judge(column(str(code), f"0x{code:X}"), "status", Scheme("da")).level.tolist() == [level, level]


@pytest.mark.parametrize(
    ("code", "level"),
    [
        (0x00000000, Quality.GOOD),
        (0x002F0000, Quality.GOOD),
        (0x00960000, Quality.SUBSTITUTED),
        (0x40900000, Quality.UNCERTAIN),
        (0x40910000, Quality.SUBSTITUTED),
        (0x80310000, Quality.BAD),
        (0xC0000000, Quality.BAD),
    ],
)
def test_opc_ua_codes_go_by_their_two_highest_bits(code: int, level: Quality) -> None:
    assert judge(column(str(code), f"0x{code:08X}"), "status", Scheme("ua")).level.tolist() == [level, level]


def test_codes_of_one_scheme_are_recognised() -> None:
    assert find_scheme([("A Quality", column("192", "0"))], None).codes == "da"
    assert find_scheme([("A Quality", column("0")), ("B Quality", column("192"))], None).codes == "da"
    assert find_scheme([("A Quality", column("0", "2147483648"))], None).codes == "ua"
    assert find_scheme([("A Quality", column("0x00000000"))], None).codes == "ua"
    assert find_scheme([("StatusCode", column("0"))], None).codes == "ua"
    assert find_scheme([("OPCQuality", column("0"))], None).codes == "da"


def test_codes_that_read_both_ways_are_refused() -> None:
    with pytest.raises(LogError, match="0 is bad by OPC DA, and good by OPC UA"):
        find_scheme([("Quality", column("0", "Good"))], None)
    with pytest.raises(LogError, match="OPC UA"):
        find_scheme([("Quality", column("192", "2147483648"))], None)
    assert find_scheme([("Quality", column("0", "16"))], {"0": "good", "16": "bad"}).declared == {
        "0": Quality.GOOD,
        "16": Quality.BAD,
    }


def test_what_is_declared_goes_before_what_is_known() -> None:
    scheme = find_scheme([("Quality", column("Bad", "raw"))], {"RAW": "good", "bad": "uncertain"})
    assert judge(column("Raw", "Bad"), "status", scheme).level.tolist() == [Quality.GOOD, Quality.UNCERTAIN]


def test_answers_of_yes_and_no() -> None:
    scheme = Scheme()
    assert judge(column("TRUE", "0", "", None, "x"), "good", scheme).level.tolist() == [0, 3, 4, 4, 4]
    assert judge(column("TRUE", "no", ""), "questionable", scheme).level.tolist() == [1, 0, 0]
    assert judge(column("1", "f", ""), "substituted", scheme).level.tolist() == [2, 0, 0]
    assert judge(column("Yes", "N", ""), "bad", scheme).level.tolist() == [3, 0, 0]


def test_the_worst_of_several_judgements_counts_with_its_reason() -> None:
    scheme = Scheme()
    status = judge(column("Good", "Bad", "Good"), "status", scheme)
    questionable = judge(column("TRUE", "TRUE", "FALSE"), "questionable", scheme)
    both = worst([status, questionable], 3)
    assert both.level.tolist() == [Quality.UNCERTAIN, Quality.BAD, Quality.GOOD]
    assert [both.reasons[i] if i >= 0 else "" for i in both.reason] == ["quality questionable", "quality Bad", ""]
    assert worst([], 2).level.tolist() == [Quality.GOOD, Quality.GOOD]
