"""The EURDEP reader: messages as networks write them, and what is wrong with some of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attentionmixer.data.log import Sampling, StationLog
from attentionmixer.data.quality import Flag, Quarantined
from attentionmixer.data.readers import eurdep
from attentionmixer.data.readers.assemble import Assembly
from attentionmixer.data.readers.source import Source
from attentionmixer.errors import LogError

Read = Callable[..., StationLog]
NAN = float("nan")

HEADER = r"""\BEGIN_HEADER;
\IMPORTANCE NORMAL;
\SOFTWARE_VERSION V1.1;
\ORIGINATOR A Radiation Authority / post@example.org / +00-000-0000;
\MESSAGE_ID XX_20240501T1000Z;
\SENT 2024-05-01T10:00Z;
\FORMAT_VERSION 2.1;
\END_HEADER;
"""
LOCALITY = r"""\BEGIN_LOCALITY;
\FIELD_LIST LOCALITY_CODE,LOCALITY_NAME,LONGITUDE,LATITUDE,HEIGHT_ABOVE_SEA;
\XX0001, Town (Hill), W021.5035, N64.0508, 122;
\XX0002, "Port, old", E005.25, S00.5, 54;
\END_LOCALITY;
"""
DEFAULTS = r"""\BEGIN_DEFAULT;
\SAMPLE_TYPE A5;
\NUCLIDE T-GAMMA;
\UNIT nSv/h;
\END_DEFAULT;
"""
FIELDS = r"\FIELD_LIST LOCALITY_CODE,VALUE,BEGIN,END;"


def message(*records: str, fields: str = FIELDS, defaults: str = DEFAULTS, before: str = HEADER + LOCALITY) -> str:
    body = "\n".join([r"\BEGIN_RADIOLOGICAL;", fields, defaults + "\n".join(records), r"\END_RADIOLOGICAL;"])
    return f"\\BEGIN_EURDEP;\n\n{before}\n{body}\n\n\\END_EURDEP;\n"


def record(code: str, value: str, end: int, *, more: str = "", width: int = 10) -> str:
    """A reading of the interval that ends so many minutes after 10:00."""
    stamp = [f"{pd.Timestamp('2024-05-01T10:00') + pd.Timedelta(m, 'min'):%Y-%m-%dT%H:%MZ}" for m in (end - width, end)]
    return f"\\{code},{value},{stamp[0]},{stamp[1]}{more};"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def _read(*texts: str | bytes, assembly: Assembly | None = None, **options: Any) -> StationLog:
        sources = []
        for i, text in enumerate(texts):
            path = tmp_path / f"m{i}.eur"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            sources.append(Source(path))
        return eurdep.read(sources, assembly, **options)

    return _read


def balance(log: StationLog) -> tuple[int, int, int, int]:
    q = log.quality
    return q.rows_in, q.rows_kept, q.rows_quarantined, q.rows_merged


def column(log: StationLog, name: str) -> list[float]:
    return [float(v) for v in log.select([name]).values[:, 0]]


def said(log: StationLog, part: str) -> bool:
    return any(part in sentence for sentence in (*log.quality.decisions, *log.quality.warnings))


TWO = (record("XX0001", "4.70E+01", 10), record("XX0001", "48", 20))


# --- what a good message becomes ---


def test_a_message_becomes_a_tag_a_locality_and_nuclide_at_the_end_of_its_interval(read: Read) -> None:
    log = read(message(*TWO, record("XX0002", "0.5E+02", 10), record("XX0002", "5.1e1", 20)))
    assert log.names == ("XX0001 T-GAMMA", "XX0002 T-GAMMA")
    assert column(log, "XX0001 T-GAMMA") == [47, 48]
    assert column(log, "XX0002 T-GAMMA") == [50, 51]
    assert list(log.time) == [pd.Timestamp("2024-05-01T10:10Z"), pd.Timestamp("2024-05-01T10:20Z")]
    assert log.sampling == Sampling("end", 600.0)
    assert [(t.unit, t.quantity, t.station) for t in log.tags] == [
        ("nSv/h", "dose_rate", "XX0001"),
        ("nSv/h", "dose_rate", "XX0002"),
    ]
    assert [t.coordinates for t in log.tags] == [(64.0508, -21.5035), (-0.5, 5.25)]
    assert balance(log) == (4, 4, 0, 0)


def test_many_messages_and_many_files_are_one_log(read: Read) -> None:
    first = message(record("XX0001", "47", 10)) + message(record("XX0001", "48", 20))
    log = read(first, message(record("XX0001", "49", 30)))
    assert column(log, "XX0001 T-GAMMA") == [47, 48, 49]
    assert log.quality.sources == ("m0.eur", "m1.eur")
    assert balance(log) == (3, 3, 0, 0)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_the_case_of_keywords_change_nothing(read: Read, end: str) -> None:
    text = message(*TWO)
    plain = read(text)
    for other in (text, text.replace("BEGIN_", "Begin_").replace("FIELD_LIST", "Field_List").replace("UNIT", "unit")):
        log = read(other.replace("\n", end))
        np.testing.assert_array_equal(log.values, plain.values)
        assert (log.tags, balance(log)) == (plain.tags, balance(plain))


def test_bounds_may_be_written_with_a_blank_and_utf16_is_read(read: Read) -> None:
    text = message(*TWO).replace("BEGIN_", "BEGIN ").replace("END_", "END ").replace("END LOCALITY", "END_LOCALITY")
    assert column(read(text), "XX0001 T-GAMMA") == [47, 48]
    assert column(read(text.encode("utf-16")), "XX0001 T-GAMMA") == [47, 48]
    assert eurdep.sniff(text.encode("utf-16"))


def test_times_are_utc_and_offsets_are_honoured(read: Read) -> None:
    rows = [
        r"\A,1,2024-05-01T00:00Z,2024-05-01T01:00Z;",
        r"\A,2,2024-05-01T03:00+02:00,2024-05-01T04:00:00.0+02:00;",
        r"\A,3,01-05-2024 02:00,01-05-2024 03:00;",
        r"\A,4,2024-05-01 03:00:00,2024-05-01 04:00:00;",
        r"\A,5,2024-05-01T23:00Z,2024-05-01T24:00Z;",
    ]
    log = read(message(*rows))
    assert list(log.time[[0, 1, 2, 3, -1]].strftime("%d %H:%M")) == [
        "01 01:00",
        "01 02:00",
        "01 03:00",
        "01 04:00",
        "02 00:00",
    ]
    assert [v for v in column(log, "A T-GAMMA") if not np.isnan(v)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "end",
    [
        "2024-05-01",
        "2024-13-01T00:00Z",
        "2024-05-01T24:01Z",
        "2024-05-01T10:60Z",
        "2024-05-01T10:00+25:00",
        "2024-05-01T10:00 CET",
        "01-05-24 10:00",
        "9999-12-31T24:00Z",
        "0000-00-00T00:00Z",
        "1714557600",
    ],
)
def test_what_is_no_time_quarantines_its_record(read: Read, end: str) -> None:
    log = read(message(*TWO, f"\\XX0001,49,,{end};"))
    assert balance(log) == (3, 2, 1, 0)
    assert log.quality.quarantined == (Quarantined("m0.eur", 26, "END", end, "not a time"),)


def test_other_nuclides_and_samples_are_tags_of_their_own(read: Read) -> None:
    fields = r"\FIELD_LIST LOCALITY_CODE,VALUE,BEGIN,END,NUCLIDE,SAMPLE_TYPE,UNIT,VALUE_TYPE;"
    rows = [record("A", "50", end, more=",T-GAMMA,A5,NSV/H,C") for end in (10, 20)] + [
        record("A", "3", 10, more=",cs-137,A11,MBQ/M3,"),
        record("A", "4", 20, more=",CS-137,A11,mBq/m3,"),
        record("A", "90", 10, more=",T-GAMMA,A5,nSv/h,G"),
        record("A", "70", 10, more=",,A5,nSv/h,"),
        record("A", "7", 10, more=",I-131,A213,BQ/L,H"),
    ]
    log = read(message(*rows, fields=fields, defaults=""))
    assert {t.name: (t.unit, t.quantity) for t in log.tags} == {
        "A T-GAMMA": ("nSv/h", "dose_rate"),
        "A CS-137 A11": ("mBq/m3", "activity_concentration"),
        "A T-GAMMA highest": ("nSv/h", "dose_rate"),
        "A A5": ("nSv/h", "dose_rate"),
        "A I-131 A213 value type H": ("Bq/l", "activity_concentration"),
    }
    assert column(log, "A CS-137 A11") == [3, 4]


@pytest.mark.parametrize(
    ("written", "factor"),
    [("NSV/H", 1), ("nsv/h", 1), ("USV/H", 1000), ("µSv/h", 1000), ("uSv/h", 1000), ("MSV/H", 1e6)],
)
def test_dose_rates_come_to_nanosievert(read: Read, written: str, factor: float) -> None:
    log = read(message(*TWO, defaults=DEFAULTS.replace("nSv/h", written)))
    np.testing.assert_allclose(column(log, "XX0001 T-GAMMA"), [47 * factor, 48 * factor], rtol=1e-6)
    assert log.tags[0].unit == "nSv/h"


def test_capitals_are_codes_of_the_list_and_other_spellings_mean_what_they_say(read: Read) -> None:
    texts = ("MBQ/M3", "mBq/m3", "MBq/m3", "KKBQ/M2", "UBQ/M3")
    units = [read(message(*TWO, defaults=DEFAULTS.replace("nSv/h", t))).tags[0].unit for t in texts]
    assert units == ["mBq/m3", "mBq/m3", "MBq/m3", "MBq/m2", "µBq/m3"]


def test_a_unit_with_two_meanings_has_to_be_declared(read: Read) -> None:
    text = message(*TWO, defaults=DEFAULTS.replace("nSv/h", "UR/H"))
    with pytest.raises(LogError, match="UR/H"):
        read(text)
    assert read(text, assembly=Assembly(units="µR/h")).tags[0].quantity == "exposure_rate"


def test_gamma_without_a_unit_is_refused_until_it_is_declared(read: Read) -> None:
    text = message(*TWO, defaults=DEFAULTS.replace("\\UNIT nSv/h;\n", ""))
    with pytest.raises(LogError, match="dose rate without a unit"):
        read(text)
    assert column(read(text, assembly=Assembly(units="µSv/h")), "XX0001 T-GAMMA") == [47000, 48000]


def test_a_tag_in_two_units_is_brought_to_one_and_in_two_quantities_refused(read: Read) -> None:
    fields = FIELDS.replace(";", ",UNIT;")
    rows = [
        record("A", "50", 10, more=",nSv/h"),
        record("A", "0.06", 20, more=",USV/H"),
        record("A", "70", 30, more=",-"),
    ]
    defaults = DEFAULTS.replace("\\UNIT nSv/h;\n", "")
    log = read(message(*rows, fields=fields, defaults=defaults))
    np.testing.assert_allclose(column(log, "A T-GAMMA"), [50, 60, 70], rtol=1e-6)
    assert said(log, "comes in nSv/h and µSv/h")
    assert said(log, "1 record(s) state no unit")
    rows[1] = record("A", "0.06", 20, more=",NGY/H")
    with pytest.raises(LogError, match=r"'A T-GAMMA' comes in several units \(nSv/h, nGy/h\)"):
        read(message(*rows, fields=fields, defaults=defaults))


# --- lists of fields and defaults ---


def test_a_second_list_of_fields_holds_from_there_on(read: Read) -> None:
    later = r"\FIELD_LIST VALUE, END, BEGIN, LOCALITY_CODE;"
    log = read(message(TWO[0], later, r"\48,2024-05-01T10:20Z,2024-05-01T10:10Z,XX0001;"))
    assert column(log, "XX0001 T-GAMMA") == [47, 48]


def test_defaults_hold_from_there_on_and_a_record_overrides_them(read: Read) -> None:
    fields = FIELDS.replace(";", ",NUCLIDE;")
    new = '\\BEGIN_DEFAULT;\n\\NUCLIDE = "CS-137";\n\\UNIT=BQ/M3;\n\\END_DEFAULT;'
    rows = [record("A", "50", 10, more=","), record("A", "51", 20, more=",!"), new]
    rows += [record("A", "7", 10, more=",!"), record("A", "8", 20, more=",CS-137"), record("A", "3", 10, more=",I-131")]
    log = read(message(*rows, fields=fields))
    assert log.names == ("A T-GAMMA", "A CS-137", "A I-131")
    assert [t.unit for t in log.tags] == ["nSv/h", "Bq/m3", "Bq/m3"]
    assert column(log, "A CS-137") == [7, 8]


def test_a_dash_means_no_value_and_is_missing_without_a_reason(read: Read) -> None:
    log = read(message(*TWO, record("XX0001", "-", 30), record("XX0001", "", 40), record("XX0001", "9", 50)))
    np.testing.assert_array_equal(column(log, "XX0001 T-GAMMA"), [47, 48, NAN, NAN, 9])
    assert log.quality.masked == {}
    assert balance(log) == (5, 5, 0, 0)


def test_a_call_for_a_default_that_is_not_declared_quarantines_the_record(read: Read) -> None:
    log = read(message(*TWO, record("XX0001", "!", 30)))
    assert balance(log) == (3, 2, 1, 0)
    assert log.quality.quarantined[0].column == "VALUE"
    assert log.quality.quarantined[0].reason == "asks for a default, and none is declared"


def test_sections_do_not_hand_their_lists_and_defaults_on(read: Read) -> None:
    second = "\\END_RADIOLOGICAL;\n\\BEGIN_RADIOLOGICAL;\n"
    with pytest.raises(LogError, match=r"m0\.eur line \d+: a record of RADIOLOGICAL stands before any \\FIELD_LIST"):
        read(message(TWO[0], second + TWO[1]))
    with pytest.raises(LogError, match="neither a nuclide nor a sample"):
        read(message(second + FIELDS, *TWO))


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        (r"\FIELD_LIST LOCALITY_CODE,VALUE,BEGIN,END,VALUE;", "field VALUE is named twice"),
        (r"\FIELD_LIST LOCALITY_CODE VALUE,BEGIN,END;", "'LOCALITY_CODE VALUE' is no name of a field"),
        (r"\FIELD_LIST;", "'' is no name of a field"),
        (r"\FIELD_LIST LOCALITY_CODE,VALUE,BEGIN,WHEN;", "records have no END"),
    ],
)
def test_a_broken_list_of_fields_is_refused_with_its_line(read: Read, fields: str, what: str) -> None:
    with pytest.raises(LogError, match=what) as error:
        read(message(*TWO, fields=fields))
    assert "m0.eur line " in str(error.value)


# --- values ---


def test_censored_values_are_missing_with_their_reason(read: Read) -> None:
    fields = FIELDS.replace(";", ",VALUE_CONSTRAINT;")
    rows = [record("A", "50", 10, more=","), record("A", "<12.3", 20, more=","), record("A", "> 1E+9", 30, more=",")]
    rows += [record("A", "5", 40, more=",<"), record("A", "", 50, more=",>"), record("A", "60", 60, more=",~")]
    rows += [record("A", "70", 70, more=",=")]
    log = read(message(*rows, fields=fields))
    np.testing.assert_array_equal(column(log, "A T-GAMMA"), [50, NAN, NAN, NAN, NAN, NAN, 70])
    assert log.quality.masked == {
        "below the measuring range (<)": 2,
        "above the measuring range (>)": 2,
        "VALUE_CONSTRAINT is neither < nor >": 1,
    }
    assert [int(f) for f in log.flags[:, 0]] == [0, *[Flag.CENSORED] * 4, Flag.STATE, 0]
    assert balance(log) == (7, 7, 0, 0)


def test_a_value_that_is_no_number_quarantines_its_record(read: Read) -> None:
    log = read(message(*TWO, record("XX0001", "n/d", 30), record("XX0001", "4.8", 40)))
    assert balance(log) == (4, 3, 1, 0)
    assert log.quality.quarantined == (Quarantined("m0.eur", 26, "VALUE", "n/d", "not a number"),)


@pytest.mark.parametrize("huge", ["1e999", "9" * 5000, "-Inf", "1E+300"])
def test_what_is_not_finite_is_missing_and_counted(read: Read, huge: str) -> None:
    log = read(message(*TWO, record("XX0001", huge, 30)))
    assert log.quality.masked == {"not finite": 1}
    assert np.isfinite(log.values[:2]).all()
    assert np.isnan(log.values[2, 0])


def test_values_not_validated_are_kept_and_doubtful_or_left_out(read: Read) -> None:
    fields = FIELDS.replace(";", ",VALIDATED;")
    marks = ["Y", "N", "", "n", "perhaps"]
    text = message(*[record("A", "50", 10 * i, more=f",{mark}") for i, mark in enumerate(marks)], fields=fields)
    log = read(text)
    assert [int(f) for f in log.flags[:, 0]] == [0, Flag.DOUBTFUL, 0, Flag.DOUBTFUL, 0]
    assert column(log, "A T-GAMMA") == [50] * 5
    assert said(log, "2 value(s) are marked as not validated")
    assert said(log, "unknown mark VALIDATED, e.g. 'perhaps'")
    without = read(text, unvalidated=False)
    assert without.quality.masked == {"not validated": 2}
    assert np.isnan(without.values[[1, 3], 0]).all()


def test_readings_of_test_messages_are_doubtful_and_those_of_the_next_message_are_not(read: Read) -> None:
    trial = message(TWO[0]).replace("IMPORTANCE NORMAL", "IMPORTANCE TEST")
    log = read(trial + message(TWO[1]))
    assert [int(f) for f in log.flags[:, 0]] == [Flag.DOUBTFUL, 0]
    assert said(log, "1 reading(s) are from messages marked as a test")


# --- uncertainty ---


def test_uncertainties_become_one_sigma_where_their_type_states_one(read: Read) -> None:
    fields = FIELDS.replace(";", ",UNCERTAINTY,UNCERTAINTY_TYPE,UNCERTAINTY_UNIT;")
    cells = ["4,A,", "4,B,nSv/h", "6,c,NSV/H", "0.004,A,µSv/h", "10,L,%", "0.1,L,RATIO", "10,B,PERCENT", "7,K,", "7,D,"]
    rows = [record("A", "50", 10 * i, more=f",{cell}") for i, cell in enumerate(cells)]
    log = read(message(*rows, fields=fields), uncertainty=True)
    assert log.names == ("A T-GAMMA", "A T-GAMMA uncertainty")
    assert log.tags[1].unit == "nSv/h"
    np.testing.assert_allclose(column(log, "A T-GAMMA uncertainty"), [4, 2, 2, 4, 5, 5, 2.5, 7, 7], rtol=1e-6)
    assert log.quality.masked == {}


def test_an_uncertainty_without_sigma_is_missing_with_its_reason_and_the_value_stays(read: Read) -> None:
    fields = FIELDS.replace(";", ",UNCERTAINTY,UNCERTAINTY_TYPE,UNCERTAINTY_UNIT;")
    cells = ["4,A,", "4,H,%", "4,J,", "4,,", "4,Q,", "4,L,", "4,A,Bq/m3", "0,A,", "x,A,", "4,A,bananas", ",,"]
    rows = [record("A", "50", 10 * i, more=f",{cell}") for i, cell in enumerate(cells)]
    rows.append(record("A", "<50", 10 * len(cells), more=",4,L,%"))
    log = read(message(*rows, fields=fields), uncertainty=True)
    assert column(log, "A T-GAMMA")[:-1] == [50] * len(cells)
    assert [v for v in column(log, "A T-GAMMA uncertainty") if not np.isnan(v)] == [4]
    assert log.quality.masked == {
        "below the measuring range (<)": 1,
        "no standard uncertainty: a percentage (H) states no σ": 1,
        "no standard uncertainty: a detection limit (J) is none": 1,
        "no standard uncertainty: its type is not stated": 1,
        "no standard uncertainty: its type is unknown": 1,
        "no standard uncertainty: a relative one (L) needs % or RATIO as its unit": 1,
        "no standard uncertainty: its unit is not that of the value": 1,
        "no standard uncertainty: it is not above 0": 1,
        "no standard uncertainty: it is no number": 1,
        "no standard uncertainty: its unit or that of the value is unknown": 1,
        "no standard uncertainty: there is no value to which it is relative": 1,
    }


def test_uncertainty_follows_its_value_into_the_unit_of_the_log(read: Read) -> None:
    fields = FIELDS.replace(";", ",UNCERTAINTY;")
    defaults = DEFAULTS.replace("nSv/h", "USV/H").replace("\\END_DEFAULT", "\\UNCERTAINTY_TYPE B;\n\\END_DEFAULT")
    log = read(
        message(
            record("A", "0.05", 10, more=",0.01"),
            record("A", "0.06", 20, more=",0.02"),
            fields=fields,
            defaults=defaults,
        ),
        uncertainty=True,
    )
    np.testing.assert_allclose(column(log, "A T-GAMMA uncertainty"), [5, 10], rtol=1e-6)


def test_an_uncertainty_that_is_not_asked_for_is_said(read: Read) -> None:
    log = read(message(*TWO, defaults=DEFAULTS.replace("\\END", "\\UNCERTAINTY 5;\n\\END")))
    assert log.names == ("XX0001 T-GAMMA",)
    assert said(log, "the uncertainty of 2 record(s) was not taken; uncertainty=True takes it")


# --- intervals, repeats, localities, other fields ---


def test_differing_intervals_are_said(read: Read) -> None:
    rows = [record("A", "50", 10), record("A", "51", 20), record("A", "52", 30), record("A", "53", 60, width=60)]
    log = read(message(*rows))
    assert log.sampling == Sampling("end", 600.0)
    assert said(log, "1 record(s) stand for another interval than 10 min: 1 h (1)")
    mixed = read(message(record("A", "50", 10), record("A", "51", 20, width=60)))
    assert mixed.sampling == Sampling("end", None)
    assert said(mixed, "no one interval: 10 min (1), 1 h (1)")


def test_a_record_without_a_begin_counts_and_one_that_begins_after_its_end_does_not(read: Read) -> None:
    odd = r"\XX0001,49,2024-05-01T23:50Z,2024-05-01T10:40Z;"
    log = read(
        message(*TWO, r"\XX0001,49,,2024-05-01T10:30Z;", odd, r"\XX0001,50,-,-;", r"\XX0001,5,x,0000-00-00T00:00Z;")
    )
    assert column(log, "XX0001 T-GAMMA") == [47, 48, 49]
    assert balance(log) == (6, 3, 3, 0)
    assert [(q.line, q.column, q.reason) for q in log.quality.quarantined] == [
        (27, "BEGIN", "the interval begins after its end"),
        (28, "END", "not a time"),
        (29, "END", "not a time"),
    ]
    assert said(log, "3 record(s) do not say when their interval begins")


def test_repeated_reports_merge_and_contradicting_ones_follow_the_policy(read: Read) -> None:
    corrected = message(record("XX0001", "49", 20))
    with pytest.raises(LogError, match=r"m1\.eur line 24"):
        read(message(*TWO), corrected)
    log = read(message(*TWO), message(*TWO), corrected, assembly=Assembly(duplicates="last"))
    assert column(log, "XX0001 T-GAMMA") == [47, 49]
    assert balance(log) == (5, 2, 0, 3)
    assert balance(read(message(*TWO), message(*TWO))) == (4, 2, 0, 2)


def test_localities_that_are_not_listed_are_stations_all_the_same(read: Read) -> None:
    log = read(message(record("007", "50", 10), record("007", "51", 20), before=HEADER))
    assert [(t.name, t.station, t.coordinates) for t in log.tags] == [("007 T-GAMMA", "007", None)]
    assert said(log, "1 station(s) are in no section LOCALITY: 007")
    assert said(log, "1 station(s) state no position: 007")


def test_coordinates_of_the_records_serve_where_no_locality_has_any(read: Read) -> None:
    fields = FIELDS.replace(";", ",LATITUDE,LONGITUDE;")
    rows = [
        record("A", "50", 10, more=",,"),
        record("A", "51", 20, more=",51.5,-0.25"),
        record("XX0001", "5", 10, more=",1,1"),
    ]
    log = read(message(*rows, fields=fields))
    assert [t.coordinates for t in log.tags] == [(51.5, -0.25), (64.0508, -21.5035)]


@pytest.mark.parametrize("place", ["W021.5035,W64", "E181,N10", "E10,N91", "E-10,N1", "here,there", "N10,E10"])
def test_what_is_no_place_gives_no_coordinates_and_is_said(read: Read, place: str) -> None:
    before = f"\\BEGIN_LOCALITY;\n\\FIELD_LIST LOCALITY_CODE,LONGITUDE,LATITUDE;\n\\XX0001,{place};\n\\END_LOCALITY;\n"
    log = read(message(*TWO, before=before))
    assert log.tags[0].coordinates is None
    assert said(log, "1 place(s) of localities that are no latitude and longitude (first: m0.eur line 5)")


def test_a_locality_that_moves_is_said(read: Read) -> None:
    log = read(message(TWO[0]), message(TWO[1]).replace("N64.0508", "N64.1"))
    assert log.tags[0].coordinates == (64.0508, -21.5035)
    assert said(log, "1 station(s) came with several positions; the first was taken: XX0001")


def test_stations_and_periods_can_be_chosen(read: Read) -> None:
    text = message(*TWO, record("XX0001", "49", 30), record("XX0002", "5", 10), record("XX0002", "6", 20))
    assert read(text, assembly=Assembly(stations=["xx0002"])).names == ("XX0002 T-GAMMA",)
    part = read(text, assembly=Assembly(stations=["XX0001"], start="2024-05-01T10:15Z"))
    assert balance(part) == (3, 2, 1, 0)


def test_two_instruments_of_a_locality_are_told_apart_when_asked(read: Read) -> None:
    fields = FIELDS.replace(";", ",APPARATUS;")
    rows = [record("A", v, end, more=f",{kind}") for end in (10, 20) for v, kind in (("50", "gm"), ("90", "PIC"))]
    with pytest.raises(LogError, match="other values"):
        read(message(*rows, fields=fields))
    log = read(message(*rows, fields=fields), apparatus=True)
    assert log.names == ("A T-GAMMA GM", "A T-GAMMA PIC")
    assert said(
        read(message(*rows, fields=fields), assembly=Assembly(duplicates="first")), "1 tag(s) come from several"
    )


def test_fields_that_are_not_taken_are_named(read: Read) -> None:
    fields = FIELDS.replace(";", ",BACKGROUND,REMARKS;")
    log = read(
        message(record("A", "50", 10, more=',1,"rain; heavy, late"'), record("A", "51", 20, more=",,"), fields=fields)
    )
    assert column(log, "A T-GAMMA") == [50, 51]
    assert said(log, "field(s) that were not taken: BACKGROUND, REMARKS")


# --- weather ---

METEO = r"""\BEGIN_METEO;
\FIELD_LIST LOCALITY_CODE,BEGIN,END,METEO_TYPE,VALUE,REMARKS;
\XX0001,2024-05-01T10:00Z,2024-05-01T10:10Z,WIND_SPEED,3.5,"";
\XX0001,2024-05-01T10:10Z,2024-05-01T10:20Z,WIND_SPEED,4.5,"";
\END_METEO;
"""


def test_weather_is_left_out_and_said_or_read_with_declared_units(read: Read) -> None:
    text = message(*TWO).replace("\\END_EURDEP", METEO + "\\END_EURDEP")
    log = read(text)
    assert log.names == ("XX0001 T-GAMMA",)
    assert balance(log) == (2, 2, 0, 0)
    assert said(log, "2 weather record(s) were not taken; meteo=True takes them")
    with pytest.raises(LogError, match="'XX0001 WIND_SPEED' has no unit"):
        read(text, meteo=True)
    weather = read(text, meteo=True, assembly=Assembly(units={"XX0001 WIND_SPEED": "m/s"}))
    assert column(weather, "XX0001 WIND_SPEED") == [3.5, 4.5]
    assert balance(weather) == (4, 4, 0, 0)
    bare = read(text, meteo=True, assembly=Assembly(units={"XX0001 WIND_SPEED": None}))
    assert bare.tags[1].quantity == "wind_speed"


# --- what surrounds records ---


def test_unknown_sections_comments_and_mail_around_a_message_are_passed_over_and_said(read: Read) -> None:
    unknown = (
        "\\BEGIN_SPECTRUM;\n\\FIELD_LIST CHANNEL,COUNTS;\n\\1,5;\n\\BEGIN_DEFAULT;\n\\END_DEFAULT;\n\\END_SPECTRUM;\n"
    )
    comment = "\\BEGIN_COMMENT;\nIt's \"dry; since\n\\all morning\n\\END_COMMENT;\n! a line\n\\\\ another\n"
    text = message(*TWO, comment).replace("\\BEGIN_RADIOLOGICAL", unknown + "\\BEGIN_RADIOLOGICAL")
    log = read("Subject: data\nDear all,\n" + text + "regards\n")
    assert column(log, "XX0001 T-GAMMA") == [47, 48]
    assert balance(log) == (2, 2, 0, 0)
    assert said(log, "4 statement(s) of the unknown section SPECTRUM were passed over (first: m0.eur line 20)")
    assert said(log, "1 comment(s) were passed over (first: m0.eur line 34)")
    assert said(log, "2 line(s) of comment (! or two backslashes) were passed over (first: m0.eur line 38)")
    assert said(log, "3 line(s) outside of messages were passed over (first: m0.eur line 1)")


def test_records_may_lack_their_semicolon_or_their_backslash_and_this_is_said(read: Read) -> None:
    open_end, bare = TWO[0][:-1], record("XX0001", "49", 30)[1:]
    two = f"{record('XX0001', '50', 40)} {record('XX0001', '51', 50)[1:]} good weather"
    log = read(message(open_end, TWO[1], bare, two))
    assert column(log, "XX0001 T-GAMMA") == [47, 48, 49, 50, 51]
    assert balance(log) == (5, 5, 0, 0)
    assert said(log, "1 statement(s) without their semicolon (first: m0.eur line 24)")
    assert said(log, "2 record(s) without their backslash (first: m0.eur line 26)")
    assert said(log, "1 remark(s) behind a semicolon or between records were passed over (first: m0.eur line 27)")


def test_a_record_over_several_lines_is_one(read: Read) -> None:
    log = read(message(TWO[0].replace(",2024", ",\n  2024"), TWO[1]))
    assert column(log, "XX0001 T-GAMMA") == [47, 48]


def test_records_of_the_wrong_length_are_quarantined_with_their_line(read: Read) -> None:
    log = read(message(*TWO, r"\XX0001,49,2024-05-01T10:30Z;", record("XX0001", "4,9", 40), record("", "4", 40)))
    assert balance(log) == (5, 2, 3, 0)
    assert [(q.line, q.reason) for q in log.quality.quarantined] == [
        (26, "3 field(s) instead of the 4 of the list in line 18"),
        (27, "5 field(s) instead of the 4 of the list in line 18"),
        (28, "no locality, so it belongs to no series"),
    ]


def test_a_quote_that_is_never_closed_costs_its_own_record_only(read: Read) -> None:
    log = read(message(record("XX0001", '"46', 0), *TWO))
    assert column(log, "XX0001 T-GAMMA") == [47, 48]
    assert balance(log) == (3, 2, 1, 0)


# --- broken files ---


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda t: t[: t.index("\\END_RADIO")], r"ends inside RADIOLOGICAL, which begins at line 17 .* cut off"),
        (lambda t: t.replace("\\END_EURDEP;", ""), r"ends inside EURDEP, which begins at line 1"),
        (
            lambda t: t.replace("\\END_DEFAULT;", ""),
            r"line 24: 'XX0001,.* is no default; \\NAME value; was expected",
        ),
        (
            lambda t: t.replace("\\END_LOCALITY;", ""),
            r"line 17: \\BEGIN_RADIOLOGICAL cannot stand here; \\END_LOCALITY",
        ),
        (lambda t: t.replace("\\BEGIN_LOCALITY;", ""), r"line 12: 'FIELD_LIST .* stands in no section"),
        (lambda t: t.replace("\\BEGIN_EURDEP;", ""), r"line 3: \\BEGIN_HEADER cannot stand here; \\BEGIN_EURDEP; was"),
        (lambda t: t.replace("VERSION 2.1", "VERSION 1.3"), r"line 9: the message is of EURDEP version '1.3'"),
        (lambda t: t.replace(FIELDS, ""), r"a record of RADIOLOGICAL stands before any \\FIELD_LIST"),
        (lambda t: t.replace("\\UNIT nSv/h;", "\\= 5;"), r"'= 5' is no default"),
        (lambda t: t.replace("\\UNIT nSv/h;", FIELDS), r"line 22: \\FIELD_LIST cannot stand among defaults"),
        (lambda t: "<!DOCTYPE html><html>" + t, "is a web page"),
        (lambda t: t + "\0", "holds binary data"),
        (lambda _: "time,a\n1,2\n", r"holds no \\BEGIN_EURDEP"),
        (lambda _: "", r"holds no \\BEGIN_EURDEP"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(read: Read, damage: Callable[[str], str], what: str) -> None:
    with pytest.raises(LogError, match=what) as error:
        read(damage(message(*TWO)))
    assert "m0.eur" in str(error.value)


def test_a_message_without_readings_is_no_error_page(read: Read) -> None:
    with pytest.raises(LogError, match=r"hold\(s\) no reading; the 1 message\(s\) are whole, so this is no error page"):
        read(message())
    log = read(message(), message(*TWO))
    assert balance(log) == (2, 2, 0, 0)


def test_readings_of_which_none_is_good_are_refused(read: Read) -> None:
    with pytest.raises(LogError, match=r"none of the 1 record\(s\) can be read; first: m0\.eur line 24: \* 1 field"):
        read(message(r"\A;"))
    with pytest.raises(LogError, match=r"no record of m0\.eur is left: .*not a number"):
        read(message(record("A", "x", 10)))


def test_hostile_names_are_kept_verbatim(read: Read) -> None:
    code = "<script>alert(1)</script>=HYPERLINK()../../etc"
    log = read(message(record(code, "50", 10), record(code, "51", 20)))
    assert log.stations == (code,)


def test_only_messages_are_recognised() -> None:
    text = message(*TWO)
    assert eurdep.sniff(text.encode())
    assert eurdep.sniff(b"\xef\xbb\xbf" + text.encode())
    assert eurdep.sniff(("Subject: x\r\n" + text.lower()).encode())
    others: Sequence[bytes] = (
        b"",
        b"time,A\n2024-05-01,1\n",
        b"<html>\n\\BEGIN_EURDEP;\n",
        b'{"a": "\\\\BEGIN_EURDEP;"}',
        b"we write \\BEGIN_EURDEP; first",
        b"\\BEGIN_EURDEPX;",
        b"\xff\xfe\x00",
        bytes(range(256)),
    )
    assert not any(eurdep.sniff(other) for other in others)


# --- any records, any damage ---

_names = st.text(st.characters(codec="ascii", categories=("Lu", "Nd")), min_size=1, max_size=6)
_numbers = st.floats(0.5, 1e6, width=32)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.dictionaries(st.tuples(_names, st.integers(0, 30)), st.none() | _numbers, min_size=2, max_size=40),
    order=st.permutations(["LOCALITY_CODE", "VALUE", "BEGIN", "END"]),
    stray=st.integers(0, 3),
)
def test_what_is_written_is_read_back(
    read: Read, data: dict[tuple[str, int], float | None], order: list[str], stray: int
) -> None:
    if len({end for _, end in data}) < 2 or all(value is None for value in data.values()):
        return
    rows = []
    for (code, hour), value in data.items():
        end = pd.Timestamp("2024-05-01", tz="UTC") + pd.Timedelta(hour, "h")
        cells = {
            "LOCALITY_CODE": code,
            "VALUE": "-" if value is None else repr(value),
            "BEGIN": f"{end - pd.Timedelta('1h'):%Y-%m-%dT%H:%MZ}",
            "END": f"{end:%Y-%m-%dT%H:%MZ}",
        }
        rows.append("\\" + ", ".join(cells[name] for name in order) + ";")
    rows += ["\\short;"] * stray
    log = read(message(*rows, fields=f"\\FIELD_LIST {','.join(order)};"), assembly=Assembly(step="1h"))
    assert balance(log) == (len(data) + stray, len(data), stray, 0)
    frame = log.to_frame()
    seen = {
        (name.removesuffix(" T-GAMMA"), int((time - pd.Timestamp("2024-05-01", tz="UTC")) / pd.Timedelta("1h"))): value
        for name in frame
        for time, value in frame[name].items()
        if not np.isnan(value)
    }
    assert seen == {key: np.float32(value) for key, value in data.items() if value is not None}
    assert log.sampling == Sampling("end", 3600.0)


def test_damage_gives_a_log_that_balances_or_a_refusal(read: Read) -> None:
    rng = random.Random(7)
    fields = FIELDS.replace(";", ",UNCERTAINTY,UNCERTAINTY_TYPE,NUCLIDE,REMARKS;")
    rows = [record(f"XX000{i % 2}", f"{40 + i}", 10 * (i // 2), more=f',{i},A,!,"a; b"') for i in range(12)]
    whole = (message(*rows, fields=fields) + METEO.join(message(TWO[0]).split("\\END_EURDEP", 1)[:1]) + METEO).encode()
    whole += b"\\END_EURDEP;\n"
    options = {"uncertainty": True, "assembly": Assembly(duplicates="last", units=None)}
    outcomes = {"log": 0, "refused": 0}
    for _ in range(150):
        raw = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(raw))
            kind = rng.randrange(4)
            if kind == 0:
                raw[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                del raw[at : at + rng.randint(1, 30)]
            elif kind == 2:
                raw[at:at] = bytes(rng.choice(b'\\;,"\n\r!-<>=0eE\xff\x00 A') for _ in range(rng.randint(1, 5)))
            else:
                other = rng.randrange(len(raw))
                raw[at:at] = raw[other : other + rng.randint(1, 60)]
        try:
            log = read(bytes(raw), meteo=bool(rng.randrange(2)), **options)
        except LogError:
            outcomes["refused"] += 1
            continue
        outcomes["log"] += 1
        rows_in, kept, quarantined, merged = balance(log)
        assert rows_in == kept + quarantined + merged
        assert not np.isinf(log.values).any()
    assert min(outcomes.values()) > 20
