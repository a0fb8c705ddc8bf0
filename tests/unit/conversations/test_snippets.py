"""A snippet marks what was searched for as it was written, in every script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.conversations.search.folding import fold
from backend.conversations.search.snippets import make_snippet
from backend.conversations.search.terms import Term


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("第二四半期の東京支店。東京", ("東京",), ["東京", "東京"]),
        ("北京销售额下降", ("销售",), ["销售"]),
        ("a \ufb01nancial report", ("financial",), ["\ufb01nancial"]),
        ("\uff21\uff22\uff23 and abc, abcd", ("abc",), ["\uff21\uff22\uff23", "abc"]),
        ("Cafe\u0301, CAFÉ and cafes", ("cafe",), ["Cafe\u0301", "CAFÉ"]),
        ("große Straße", ("strasse",), ["Straße"]),
        ("Q3売上は", ("q3", "売上"), ["Q3売上"]),
        ("ガスとｶﾞｽ", ("ガス",), ["ガス", "ｶﾞｽ"]),
        ("매출은 늘었다", ("매출",), ["매출"]),
        ("ผู้ใช้ทดสอบระบบ", ("ทดสอบ",), ["ทดสอบ"]),
        ("売上sales売上", ("sales",), ["sales"]),
        ("CC-1001 and 1001", ("cc", "1001"), ["CC-1001"]),
    ],
)
def test_hits_are_marked_as_they_are_written(text, words, marked):
    parts = make_snippet(text, [Term(words)])

    assert [part.text for part in parts if part.is_hit] == marked
    assert "".join(part.text for part in parts) == text


@pytest.mark.parametrize(
    ("words", "query"),
    [
        (("budget",), "'budget'"),
        (("東京",), "'東京'"),
        (("東京支店",), "'東京' <-> '京支' <-> '支店'"),
        (("東",), "'東':*"),
        (("東京", "q3"), "'東京' <-> '京' <-> 'q3'"),
        (("q3", "東京"), "'q3' <-> '東京'"),
    ],
)
def test_a_run_without_spaces_is_asked_for_in_pieces_of_two_signs(words, query):
    assert Term(words).query == query


@given(st.text())
def test_each_folded_sign_has_its_place_in_the_text(text):
    folded = fold(text)

    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))
