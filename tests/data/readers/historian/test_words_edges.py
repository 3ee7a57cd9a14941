"""Every word, header and order of states that exports of historians are known to use, and what refusals say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from attentionmixer.data.readers.historian.header import find_plan, number_repeated, says_utc
from attentionmixer.data.readers.historian.quality import (
    Judged,
    Quality,
    Scheme,
    find_scheme,
    judge,
    says_good,
    worst,
)
from attentionmixer.data.readers.historian.states import (
    ORDERS,
    STATES,
    Reading,
    check_states,
    describe_states,
    read_values,
)
from attentionmixer.errors import LogError


def column(*words: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(words, pa.string())])


def why(judged: Judged) -> list[str]:
    """The reason of each row."""
    return [judged.reasons[i] if i >= 0 else "" for i in judged.reason]


# --- states ---


@pytest.mark.parametrize(
    "order",
    [
        *("off on", "closed open", "close open", "stop run", "stop start", "stopped running", "stopped started"),
        *("manual auto", "man auto", "manual auto cascade", "man auto cas", "false true", "no yes"),
        *("inactive active", "disabled enabled", "normal alarm", "low high"),
    ],
)
def test_states_of_a_known_order_are_numbered_by_it(order: str) -> None:
    words = order.split()
    into = Reading()
    found = read_values(column(*reversed(words)), worst([], len(words)), np.zeros(len(words), np.int64), ["T"], into)
    assert found.values.tolist() == [float(i) for i in reversed(range(len(words)))]
    assert not found.bad.any()
    listed = ", ".join(f"{word} = {i}" for i, word in enumerate(words))
    assert describe_states(into) == [f"states of 'T' became numbers: {listed}"]
    assert tuple(words) in ORDERS


def test_states_of_no_known_order_go_by_the_alphabet_and_that_is_said() -> None:
    into = Reading()
    found = read_values(column("Warm", "cold", "WARM "), worst([], 3), np.zeros(3, np.int64), ["T"], into)
    assert found.values.tolist() == [1, 0, 1]
    assert describe_states(into) == [
        "states of 'T' became numbers: cold = 0, warm = 1; by the alphabet, since no order of them is known: declare "
        "states= to fix it"
    ]


def test_twenty_words_are_states_and_twenty_one_are_text() -> None:
    assert STATES == 20
    for words, text in ((20, False), (21, True)):
        cells = column(*(f"w{i:02d}" for i in range(words)))
        found = read_values(cells, worst([], words), np.zeros(words, np.int64), ["T"], Reading())
        assert found.bad.all() == text


def test_a_tag_with_a_number_has_no_states() -> None:
    found = read_values(column("OPEN", "5"), worst([], 2), np.zeros(2, np.int64), ["T"], Reading())
    assert found.bad.tolist() == [True, False]


def test_declared_states_go_before_known_orders_and_numbers() -> None:
    into = Reading(declared=check_states({"T": {" Open ": 3, "SHUT": -1.5}}, ["T"]))
    found = read_values(column("open", "shut", "7"), worst([], 3), np.zeros(3, np.int64), ["T"], into)
    assert found.values.tolist() == [3, -1.5, 7]
    assert describe_states(into) == ["states of 'T' became numbers: shut = -1.5, open = 3"]


@pytest.mark.parametrize("number", [True, "1", None, float("nan"), float("inf")])
def test_a_declared_state_that_is_no_number_is_refused_with_its_word_and_tag(number: object) -> None:
    with pytest.raises(LogError) as refused:
        check_states({"T": {"OPEN": number}}, ["T"])  # type: ignore[dict-item]
    assert str(refused.value) == f"states: 'OPEN' of 'T' is {number!r}, not a number"


def test_states_of_a_tag_that_is_not_there_are_refused_with_those_that_are() -> None:
    with pytest.raises(LogError) as refused:
        check_states({"X": {"OPEN": 1}}, ["A", "B"])
    assert str(refused.value) == "states names the tag 'X', which is not in the log; it holds A, B"
    assert check_states(None, ["A"]) == {}


# --- quality ---


@pytest.mark.parametrize("word", ["true", "T", "Yes", "y", "1"])
def test_yes_has_many_words(word: str) -> None:
    assert judge(column(word), "bad", Scheme()).level.tolist() == [Quality.BAD]
    assert judge(column(word), "good", Scheme()).level.tolist() == [Quality.GOOD]


@pytest.mark.parametrize("word", ["False", "f", "NO", "n", "0"])
def test_no_has_many_words(word: str) -> None:
    judged = judge(column(word), "good", Scheme())
    assert (judged.level.tolist(), why(judged)) == ([Quality.BAD], ["quality not good"])
    assert judge(column(word), "bad", Scheme()).level.tolist() == [Quality.GOOD]


@pytest.mark.parametrize(
    ("kind", "level"), [("bad", Quality.BAD), ("questionable", Quality.UNCERTAIN), ("substituted", Quality.SUBSTITUTED)]
)
def test_each_answer_has_its_level_and_reason(kind: str, level: Quality) -> None:
    judged = judge(column("yes", "no", "", "perhaps", None), kind, Scheme())  # type: ignore[arg-type]
    assert judged.level.tolist() == [level, Quality.GOOD, Quality.GOOD, Quality.UNKNOWN, Quality.GOOD]
    assert why(judged) == [f"quality {kind}", "", "", f"quality: {kind} is neither true nor false", ""]


@pytest.mark.parametrize(
    ("word", "level", "reason"),
    [
        *((word, Quality.GOOD, "") for word in ("good", "GOOD - x", "ok", "Valid", "g", "GoodQuality", "Good Quality")),
        *((w, Quality.UNCERTAIN, f"quality {w}") for w in ("Uncertain", "Questionable", "is suspect", "Doubtful")),
        *(
            (w, Quality.SUBSTITUTED, f"quality {w}")
            for w in ("Substituted", "Local Override", "Manually Entered", "Manual Entry", "Forced", "Overridden")
        ),
        *((w, Quality.BAD, f"quality {w}") for w in ("Bad", "bad_x", "NOT_GOOD", "Invalid")),
        ("A", Quality.GOOD, ""),
        ("Q", Quality.UNCERTAIN, "quality uncertain"),
        ("SQ", Quality.SUBSTITUTED, "quality substituted"),
        ("SQAS", Quality.UNKNOWN, "quality is a text that says nothing known"),
        ("fine?", Quality.UNKNOWN, "quality is a text that says nothing known"),
        ("", Quality.UNKNOWN, "quality is blank"),
        (None, Quality.UNKNOWN, "quality is blank"),
        ("4294967296", Quality.UNKNOWN, "quality is a number that is no OPC code"),
        ("4294967295", Quality.GOOD, ""),
        ("0", Quality.BAD, "quality 0 (bad)"),
        ("0x40", Quality.UNCERTAIN, "quality 64 (uncertain)"),
        ("0X80", Quality.UNKNOWN, "quality is a text that says nothing known"),
        ("0x80", Quality.UNKNOWN, "quality 128 (unknown)"),
        ("216", Quality.SUBSTITUTED, "quality 216 (substituted)"),
        ("88", Quality.UNCERTAIN, "quality 88 (uncertain)"),
    ],
)
def test_a_word_of_quality_has_its_level_and_reason(word: str | None, level: Quality, reason: str) -> None:
    judged = judge(column(word), "status", Scheme())
    assert (judged.level.tolist(), why(judged)) == ([level], [reason])


def test_codes_of_opc_ua_are_told_without_their_lower_bits() -> None:
    judged = judge(column("0x80310007", "0x40910001", "0x00960000", "0xFFFFFFFF"), "status", Scheme("ua"))
    assert why(judged) == [
        "quality 0x80310000 (bad)",
        "quality 0x40910000 (substituted)",
        "quality 0x00960000 (substituted)",
        "quality 0xFFFF0000 (bad)",
    ]


def test_a_blank_status_is_good_only_where_that_is_said() -> None:
    assert judge(column("", None, "Bad"), "status", Scheme(), blank_is_good=True).level.tolist() == [0, 0, 3]
    assert judge(column("None"), "status", Scheme(), blank_is_good=True).level.tolist() == [Quality.UNKNOWN]


@pytest.mark.parametrize(
    ("words", "good"), [(("Good", ""), True), (("", "Bad"), False), (("A", ""), False), (("192",), True), ((), False)]
)
def test_a_column_says_good_in_a_word_and_not_in_a_letter(words: tuple[str, ...], good: bool) -> None:
    assert says_good(column(*words), Scheme()) is good


def test_a_letter_that_is_declared_says_good() -> None:
    assert says_good(column("A"), Scheme(declared={"a": Quality.GOOD}))


def test_the_first_of_equal_judgements_gives_the_reason() -> None:
    both = worst([judge(column("Bad"), "status", Scheme()), judge(column("yes"), "bad", Scheme())], 1)
    assert why(both) == ["quality Bad"]


def test_a_level_nobody_knows_is_refused_with_those_there_are() -> None:
    with pytest.raises(LogError) as refused:
        find_scheme([], {"OK?": "fine"})
    assert str(refused.value) == "qualities: 'OK?' is declared 'fine'; choose good, uncertain, substituted, bad"


@pytest.mark.parametrize(("largest", "refused"), [("63", True), ("64", False), ("255", False), ("256", True)])
def test_numbers_below_64_alone_do_not_tell_the_scheme(largest: str, refused: bool) -> None:
    columns = [("Quality", column("0", largest))]
    if refused:
        with pytest.raises(LogError, match=rf"number\(s\) 0, {largest} and none of 64 and more.*qualities=\{{'0'"):
            find_scheme(columns, None)
    else:
        assert find_scheme(columns, None).codes == "da"


@pytest.mark.parametrize(("code", "scheme"), [("65536", "ua"), ("0x00000000", "ua"), ("0xC0", "da")])
def test_a_code_tells_its_scheme_by_its_size_or_spelling(code: str, scheme: str) -> None:
    assert find_scheme([("Quality", column(code))], None).codes == scheme


def test_codes_of_two_schemes_are_both_named() -> None:
    with pytest.raises(LogError) as refused:
        find_scheme([("Quality", column("0x80310000", "1"))], None)
    text = str(refused.value)
    assert text.startswith("quality holds 0x80310000 as OPC UA has it and 1 as OPC DA has it; declare what they mean")
    assert text.endswith("qualities={'1': 'bad'}")


@pytest.mark.parametrize("header", ["Quality Detail", "QualityDetail", "OPC Quality", "My_OPCQuality"])
def test_columns_of_opc_da_are_known_by_name(header: str) -> None:
    assert find_scheme([(header, column("0"))], None).codes == "da"


def test_words_without_a_number_need_no_scheme() -> None:
    assert find_scheme([("Quality", column("Good", None, ""))], None) == Scheme("da", {})


# --- headers of long exports ---


@pytest.mark.parametrize(
    "name",
    [
        *"time timestamp datetime Date ts tstamp IP_TREND_TIME Zeit Zeitstempel Zeitpunkt Datum".split(),
        *("UTC", "GMT", "Time (UTC)", "Timestamp GMT", "Date Time"),
    ],
)
def test_the_time_is_found_under_each_of_its_names(name: str) -> None:
    assert find_plan(["Tag", name, "Value"]).time == name
    assert says_utc(name) == name.lower().rstrip(")").endswith(("utc", "gmt"))


@pytest.mark.parametrize(
    "name",
    [
        *"Tag TagName tag_id Name Point PointName Item ItemId ItemName NodeId Variable Sensor TagPath".split(),
    ],
)
def test_the_tag_is_found_under_each_of_its_names(name: str) -> None:
    assert find_plan(["Time", name, "Value"]).tag == name


@pytest.mark.parametrize("name", ["Station", "StationId", "Site"])
def test_the_station_is_found_under_each_of_its_names(name: str) -> None:
    plan = find_plan(["Time", name, "Value"])
    assert (plan.station, plan.tag) == (name, None)


@pytest.mark.parametrize("name", ["Value", "Values", "Val", "Reading", "IP_TREND_VALUE", "Value [degC]"])
def test_the_value_is_found_under_each_of_its_names(name: str) -> None:
    assert find_plan(["Time", "Tag", name]).value == name


@pytest.mark.parametrize("name", ["Unit", "Units", "UOM", "Units Abbreviation", "EngUnits", "Engineering Units", "EU"])
def test_the_unit_is_found_under_each_of_its_names(name: str) -> None:
    assert find_plan(["Time", "Tag", "Value", name]).unit == name


@pytest.mark.parametrize("name", ["Step", "Stepped", "IsStepped"])
def test_the_step_is_found_under_each_of_its_names(name: str) -> None:
    assert find_plan(["Time", "Tag", "Value", name]).step == name


@pytest.mark.parametrize(
    "name",
    [
        *"Annotated IsAnnotated Annotation Annotations Comment Comments Description DataType Type wwTagKey".split(),
        *"vValue Server PercentGood PctGood NumericId wwRetrievalMode".split(),
    ],
)
def test_what_changes_no_value_is_a_remark(name: str) -> None:
    plan = find_plan(["Time", "Tag", "Value", name])
    assert plan.remarks == (name,)
    assert not plan.has_quality


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((n, "status") for n in "Quality Status q StatusCode QualityCode DataQuality QualityStatus".split()),
        *((n, "status") for n in "ValueStatus OPCQuality QualityDetail DataIntegrity IP_TREND_QSTATUS".split()),
        *(("Good", "good"), ("IsGood", "good"), ("Bad", "bad"), ("IsBad", "bad")),
        *((n, "questionable") for n in ("Questionable", "IsQuestionable", "Uncertain")),
        *((n, "substituted") for n in ("Substituted", "IsSubstituted")),
    ],
)
def test_quality_is_found_under_each_of_its_names(name: str, kind: str) -> None:
    plan = find_plan(["Time", "Tag", "Value", name])
    assert plan.quality == ((kind, name),)
    assert plan.has_quality
    assert plan.remarks == ()


@pytest.mark.parametrize("wanted", ["OPCQuality", "QualityDetail"])
def test_of_several_columns_of_quality_the_opc_one_is_taken(wanted: str) -> None:
    plan = find_plan(["Time", "Tag", "Value", "Quality", wanted, "IsBad"])
    assert plan.quality == (("status", wanted), ("bad", "IsBad"))
    assert plan.remarks == ("Quality",)


def test_a_column_that_is_no_part_of_a_list_is_refused_with_what_is() -> None:
    with pytest.raises(LogError) as refused:
        find_plan(["Time", "Tag", "Value", "Colour"])
    text = str(refused.value)
    assert text.startswith("column 'Colour' is no part of a list of values (")
    assert all(part in text for part in ("Tag", "Value", "leave it out with ignore=['Colour']"))
    with pytest.raises(LogError, match="column 'Val' is no part"):
        find_plan(["Time", "Tag", "Value", "Val"])


def test_a_list_without_times_is_refused_with_its_columns() -> None:
    with pytest.raises(LogError) as refused:
        find_plan(["When", "Tag", "Value"])
    assert str(refused.value) == "no column of times among When, Tag, Value; name it with time_column="
    assert find_plan(["When", "Tag", "Value"], "When").time == "When"


def test_a_declared_time_that_is_not_there_is_refused_with_what_is() -> None:
    with pytest.raises(LogError) as refused:
        find_plan(["Time", "Tag", "Value"], "When")
    assert str(refused.value) == "there is no column 'When'; the columns are Time, Tag, Value"


def test_a_name_of_500_characters_is_one_and_a_longer_one_is_not() -> None:
    assert find_plan(["Time", "a" * 500]).signals[0].name == "a" * 500
    with pytest.raises(LogError, match=rf"^a column's name has 501 characters: '{'a' * 40}' …; this is no header$"):
        find_plan(["Time", "a" * 501])


# --- headers of wide exports ---


@pytest.mark.parametrize("gap", [" ", ".", "_", "-", "/", ":", "|"])
@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        *(
            (s, "status")
            for s in ("Quality", "OPC Quality", "Data Quality", "Quality Code", "Status Code", "Status", "Q")
        ),
        *(("Good", "good"), ("Bad", "bad"), ("Questionable", "questionable"), ("Substituted", "substituted")),
    ],
)
def test_quality_beside_a_tag_is_found_by_its_suffix(gap: str, suffix: str, kind: str) -> None:
    plan = find_plan(["Time", "TI1", f"TI1{gap}{suffix}"])
    assert [(s.name, s.quality) for s in plan.signals] == [("TI1", ((kind, f"TI1{gap}{suffix}"),))]


@pytest.mark.parametrize("value", ["Value", "Val", "VALUE"])
@pytest.mark.parametrize("time", ["Time", "Timestamp", "Time Stamp", "DateTime", "Date Time"])
def test_a_pair_of_columns_is_a_tag_with_its_own_times(value: str, time: str) -> None:
    plan = find_plan([f"TI1.{time}", f"TI1.{value} [degC]"])
    assert plan.pairs
    assert [(s.name, s.unit, s.value, s.time) for s in plan.signals] == [
        ("TI1", "degC", f"TI1.{value} [degC]", f"TI1.{time}")
    ]


def test_annotations_of_a_tag_are_remarks() -> None:
    plan = find_plan(["Time", "TI1", "TI1 Annotated"])
    assert plan.remarks == ("TI1 Annotated",)
    assert not plan.pairs
    assert not plan.has_quality


def test_a_tag_may_be_called_as_a_suffix_is() -> None:
    plan = find_plan(["Time", "Pump Status", "TI1"])
    assert [s.name for s in plan.signals] == ["Pump Status", "TI1"]


def test_two_tags_that_differ_by_their_unit_keep_their_headers() -> None:
    plan = find_plan(["Time", "TI1 [degC]", "TI1 [K]", "TI2 [degC]"])
    assert [(s.name, s.unit) for s in plan.signals] == [("TI1 [degC]", "degC"), ("TI1 [K]", "K"), ("TI2", "degC")]


def test_a_quality_that_could_belong_to_two_columns_is_refused() -> None:
    with pytest.raises(LogError) as refused:
        find_plan(["Time", "TI1 [degC]", "TI1 [K]", "TI1 Quality"])
    assert str(refused.value) == (
        "columns 'TI1 [degC]' and 'TI1 [K]' could both be what 'TI1 Quality' belongs to; rename one"
    )


def test_two_columns_of_times_of_one_tag_are_refused() -> None:
    with pytest.raises(LogError) as refused:
        find_plan(["TI1 Time", "TI1 Timestamp", "TI1 Value"])
    assert str(refused.value) == (
        "columns 'TI1 Time' and 'TI1 Timestamp' could both be the times of 'TI1 Value'; rename one"
    )


def test_a_table_without_values_or_times_is_refused_with_its_columns() -> None:
    with pytest.raises(LogError, match=r"^there is no column of values among no columns$"):
        find_plan(["Time"])
    with pytest.raises(LogError, match=r"^no column holds the times of 'TI1'; name it with time_column=$"):
        find_plan(["TI1", "TI2"])


def test_unnamed_columns_of_quality_belong_to_the_left() -> None:
    names = number_repeated(["Time", "A", "Quality", "B", "Quality", "Status"])
    assert names == ("Time", "A", "Quality", "B", "Quality 2", "Status")
    plan = find_plan(names)
    assert [(s.name, s.quality) for s in plan.signals] == [
        ("A", (("status", "Quality"),)),
        ("B", (("status", "Quality 2"), ("status", "Status"))),
    ]


def test_only_repeated_columns_of_quality_get_a_number() -> None:
    assert number_repeated(["A", "A", "Bad", "Bad", "Bad"]) == ("A", "A", "Bad", "Bad 2", "Bad 3")


def test_an_unnamed_quality_without_a_value_left_of_it_is_refused() -> None:
    with pytest.raises(LogError) as refused:
        find_plan(["Time", "Quality", "A"])
    assert str(refused.value) == (
        "column 'Quality' has no column of values left of it; rename it or ignore=['Quality']"
    )


def test_an_unnamed_quality_of_one_of_two_tags_is_refused_with_both_readings() -> None:
    with pytest.raises(LogError) as refused:
        find_plan(["Time", "A", "B", "Quality"])
    assert str(refused.value) == (
        "column 'Quality' could be the quality of 'B' or of the whole row, since 'A' has none; name it 'B Quality', or "
        "leave it out with ignore=['Quality']"
    )


def test_q_alone_is_a_flow() -> None:
    assert [s.name for s in find_plan(["Time", "A", "Q"]).signals] == ["A", "Q"]
