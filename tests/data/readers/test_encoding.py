"""Encodings: found from marks and bytes, else declared; never guessed where two are possible."""

from __future__ import annotations

import pytest

from attentionmixer.data.readers.encoding import (
    Encoding,
    Transcoder,
    decode,
    encoding_of,
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
    assert encoding.codec == "cp932"
    assert encoding.decision is not None and "kana and kanji" in encoding.decision
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
