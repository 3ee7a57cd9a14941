"""Encodings: found from marks and bytes, else declared; never guessed where two are possible."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from attentionmixer.data.readers.encoding import (
    Encoding,
    Transcoder,
    decode,
    encoding_of,
    is_utf8,
    legacy_encoding,
)
from attentionmixer.errors import LogError

TEXT = "time,A\n2024-05-01T00:00Z,1\n"
JAPANESE = "日時,福島市 線量率 [μSv/h],備考\n2024-05-01T00:00Z,0.05,欠測 ﾃﾞｰﾀなし\n"


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("text", [TEXT, JAPANESE])
def test_unicode_is_read_with_and_without_a_mark(codec: str, text: str) -> None:
    read, decision = decode(text.encode(codec), "log.csv")
    assert read.decode() == text
    assert (decision is None) == codec.startswith("utf-8")


@pytest.mark.parametrize(
    "text",
    ["Débit [µSv/h];été\n1;2\n", "Größe\n1\n", "T [°C]\n1\n", "Zähler Außen;µSv/h\n", "cañón – “quoted”\n", "ÄÖÜ;a\n"],
)
def test_western_text_is_windows_1252_even_where_it_decodes_as_shift_jis(text: str) -> None:
    assert legacy_encoding([text.encode("cp1252")], "log.csv").codec == "cp1252"


def test_japanese_text_is_shift_jis_and_this_is_said_with_the_reason() -> None:
    encoding = legacy_encoding([JAPANESE.encode("cp932")], "log.csv")
    assert encoding == Encoding(
        "cp932",
        "log.csv is not UTF-8; it was read as Shift-JIS, since nearly all its other letters are kana and kanji; "
        "declare encoding= if it is not",
    )
    assert decode(JAPANESE.encode("cp932"), "log.csv")[0].decode() == JAPANESE


@pytest.mark.parametrize(
    ("codec", "text"), [("euc_jp", JAPANESE), ("cp1251", "Время;Мощность дозы\n"), ("gb18030", "剂量率,站点\n")]
)
def test_other_letters_are_refused_until_their_encoding_is_declared(codec: str, text: str) -> None:
    with pytest.raises(LogError, match="declare encoding="):
        legacy_encoding([text.encode(codec)], "log.csv")
    declared = encoding_of(b"", "log.csv", codec)
    assert Transcoder(declared, "log.csv").feed(text.encode(codec), final=True).decode() == text


def test_an_unknown_encoding_is_refused() -> None:
    for name in ("klingon", "rot13"):
        with pytest.raises(LogError, match=f"encoding='{name}' is unknown"):
            encoding_of(b"", "log.csv", name)


def test_text_that_comes_in_pieces_may_be_cut_within_a_letter() -> None:
    for codec in ("utf-16", "cp932", "utf-8-sig"):
        transcoder = Transcoder(Encoding(codec), "log.csv")
        raw = JAPANESE.encode(codec)
        pieces = [transcoder.feed(raw[i : i + 1]) for i in range(len(raw))]
        assert b"".join([*pieces, transcoder.feed(b"", final=True)]).decode() == JAPANESE


def test_bytes_that_are_not_of_the_encoding_are_an_error() -> None:
    with pytest.raises(LogError, match="starts as utf-16 but is not"):
        decode(TEXT.encode("utf-16")[:-1], "log.csv")
    with pytest.raises(LogError, match="neither UTF-8 nor Windows-1252"):
        decode(b"a\x81 b\x8d", "log.csv")


# --- what is marked, declared or shown by NUL bytes ---


@pytest.mark.parametrize(
    ("mark", "codec", "decision"),
    [
        (b"\xef\xbb\xbf", "utf-8-sig", None),
        (b"\xff\xfe", "utf-16", "log.csv was read as UTF-16"),
        (b"\xfe\xff", "utf-16", "log.csv was read as UTF-16"),
        (b"\xff\xfe\x00\x00", "utf-32", "log.csv was read as UTF-32"),
        (b"\x00\x00\xfe\xff", "utf-32", "log.csv was read as UTF-32"),
        (b"", "utf-8", None),
        (b"\xef\xbb", "utf-8", None),
        (b"\xff", "utf-8", None),
    ],
)
def test_a_mark_at_the_beginning_says_what_follows(mark: bytes, codec: str, decision: str | None) -> None:
    assert encoding_of(mark, "log.csv") == Encoding(codec, decision)


@pytest.mark.parametrize("declared", ["utf-8", "UTF8", "U8"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_declared_utf_8_is_read_with_and_without_a_mark_and_not_spoken_of(declared: str, mark: bytes) -> None:
    encoding = encoding_of(mark + TEXT.encode(), "log.csv", declared)
    assert encoding == Encoding("utf-8-sig")
    assert Transcoder(encoding, "log.csv").feed(mark + TEXT.encode(), final=True) == TEXT.encode()


def test_a_declared_encoding_goes_before_all_signs_and_is_said() -> None:
    for head in (b"\xff\xfe", b"a\x00b\x00", b"time"):
        assert encoding_of(head, "log.csv", "latin-1") == Encoding(
            "iso8859-1", "log.csv was read as iso8859-1, as declared"
        )
    with pytest.raises(LogError) as refused:
        encoding_of(b"", "log.csv", "klingon")
    assert str(refused.value) == "encoding='klingon' is unknown; use a name such as 'utf-8' or 'shift_jis'"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", True),
        ("time,A\n", True),
        # two signs of five have a NUL byte, and one of three
        ("ab\u7dda\u91cf\u7387", True),
        ("a\u7dda\u91cf", False),
        # a sign whose other byte is NUL
        ("abcdef\u0100", False),
        ("abcdef\u0100" + "g" * 100, False),
        ("time \U0001f321", True),
        ("time \U0001f321\u7dda", True),
        # a second half without its first
        ("time \udf21 abc", False),
    ],
)
def test_text_of_two_bytes_a_sign_is_known_by_its_nul_bytes(codec: str, text: str, found: bool) -> None:
    said = "log.csv has no mark, but every second byte of its text is NUL; it was read as UTF-16"
    raw = text.encode(codec, "surrogatepass")
    expected = Encoding(codec, said) if found else Encoding("utf-8")
    assert encoding_of(raw, "log.csv") == expected
    # the first bytes of a file may end within a sign
    assert encoding_of(raw + b"\x41", "log.csv") == expected


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_text_of_two_bytes_a_sign_is_known_where_it_ends_within_a_sign_of_four(codec: str, cut: int) -> None:
    assert encoding_of("time \U0001f321".encode(codec)[:-cut], "log.csv").codec == codec


def test_bytes_without_nul_are_utf_8_to_be_tried_and_few_or_none_are_no_trouble() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for head in (b"", b"a", b"\x00", b"ab", b"\xe9\xe9"):
            assert encoding_of(head, "log.csv") == Encoding("utf-8")


# --- what is neither ---


@pytest.mark.parametrize(
    ("text", "is_japanese"),
    [
        # nine of ten letters
        ("\u7dda\u91cf\u7387" * 3 + "\u0416", True),
        ("\u7dda\u91cf\u7387\u7387" * 2 + "\u0416", False),
        ("\u0416" * 40 + "\u7dda\u91cf\u7387", False),
        # two letters in a run, on average
        ("\u7dda\u91cf a \u7dda\u91cf", True),
        ("\u7dda\u91cf\u7387 a \u91cf", True),
        ("\u7dda\u91cf a \u91cf", False),
        ("\u7dda\u91cf\u7387 a \u91cf b \u7387", False),
        # what says nothing: Greek, degrees, arrows
        ("\u7dda\u91cf \u03bcSv/h \u00b0C \u2192", True),
        ("\u30b9\u30c8\u3001\u3072\u3089", True),
        ("\uff21\uff22\uff23", True),
    ],
)
def test_shift_jis_is_text_whose_letters_are_japanese_and_come_in_runs(text: str, is_japanese: bool) -> None:
    try:
        codec = legacy_encoding([text.encode("cp932")], "log.csv").codec
    except LogError:
        codec = "none"
    assert (codec == "cp932") == is_japanese


@pytest.mark.parametrize(
    ("text", "western"),
    [
        (b"a \xff\xe9\xe9 b", True),
        (b"a \xff\xe9\xe9\xe9 b", False),
        (b"a \xff\xe9\xe9\xe9 b \xe9\xe9 c", True),
        (b"a \xff\xe9\xe9\xe9 b \xe9\xe9\xe9 c", False),
        (b"a \xff\xe9\xe9\xe9\xe9 b \xe9 c", True),
    ],
)
def test_western_text_has_three_accents_in_a_run_at_most_on_average(text: bytes, western: bool) -> None:
    if western:
        expected = Encoding("cp1252", "log.csv is not UTF-8; it was read as Windows-1252")
        assert legacy_encoding([text], "log.csv") == expected
        return
    with pytest.raises(LogError) as refused:
        legacy_encoding([text], "log.csv")
    assert str(refused.value) == (
        "log.csv is neither UTF-8 nor Shift-JIS, and its letters are not those of Western text; declare encoding=, "
        "such as 'cp1251', 'euc_jp' or 'gb18030'"
    )


def test_letters_are_looked_at_line_by_line_however_the_bytes_come() -> None:
    accents = b"\xe9\n" * 8
    for pieces in ([accents], [accents[i : i + 1] for i in range(len(accents))], [accents.rstrip()]):
        assert legacy_encoding(pieces, "log.csv").codec == "cp1252"
    japanese = "a\nb,\u7dda\u91cf\u7387\nc".encode("cp932")
    for end in range(len(japanese)):
        assert legacy_encoding([japanese[:end], japanese[end:]], "log.csv").codec == "cp932"
    # the last line may have no end
    assert legacy_encoding([b"a\n", "\u7dda\u91cf\u7387".encode("cp932")], "log.csv").codec == "cp932"
    assert legacy_encoding([b"\xe9\n", b"plain"], "log.csv").codec == "cp1252"


def test_a_million_bytes_of_foreign_lines_are_looked_at_and_no_more() -> None:
    taken = []

    def blocks() -> Iterator[bytes]:
        for block in (b"a" * 5_000_000, b"\n\xe9" + b"a" * (2**20 - 1) + b"\n", b"\xe9\n", b"\xe9\n", b"\xe9\n"):
            taken.append(block)
            yield block

    assert legacy_encoding(blocks(), "log.csv").codec == "cp1252"
    assert len(taken) == 3


# --- to UTF-8 ---


def test_line_ends_of_all_systems_become_one() -> None:
    assert decode(b"a\r\nb\rc\n\r\nd", "log.csv") == (b"a\nb\nc\n\nd", None)
    assert decode("\u00e9\r\n\r".encode("utf-16"), "log.csv") == (
        "\u00e9\n\n".encode(),
        "log.csv was read as UTF-16",
    )


@pytest.mark.parametrize(("text", "valid"), [(b"", True), (b"abc", True), (b"\xc3\xa9", True), (b"\xe9", False)])
def test_valid_utf_8_is_known(text: bytes, valid: bool) -> None:
    assert is_utf8(text) is valid


def test_what_is_wrong_with_the_bytes_is_said() -> None:
    with pytest.raises(LogError) as refused:
        decode(b"a\x81 b\x8d", "log.csv")
    assert str(refused.value) == (
        "log.csv is neither UTF-8 nor Windows-1252 (character maps to <undefined>); save it as UTF-8, or declare "
        "encoding="
    )
    with pytest.raises(LogError) as refused:
        decode(b"\xff\xfea", "log.csv")
    assert str(refused.value) == (
        "log.csv starts as utf-16 but is not: 'utf-16-le' codec can't decode byte 0x61 in position 2: truncated data; "
        "declare encoding="
    )
