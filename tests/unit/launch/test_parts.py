"""How many parts a JSON text has is known before it is read, in whatever chunks it comes."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colloquy_kit.messages.arguments import parse_arguments
from colloquy_kit.messages.parts import MAX_PARTS, Parts, has_too_many_parts
from tests.patience import ends_within

VALUES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\,[{é\ud800', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def parts_of(value) -> int:
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(0, len(value) - 1) + sum(map(parts_of, inner))


@given(VALUES, st.lists(st.integers(0, 80), max_size=6), st.booleans())
def test_brackets_and_commas_outside_of_texts_are_counted(value, cuts, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    places = [0, *sorted(cuts), len(text)]
    parts = Parts()

    for start, end in itertools.pairwise(places):
        parts.add(text[start:end])

    assert parts.count == parts_of(value)


@pytest.mark.parametrize(
    "text",
    [
        "[" + "[]," * 3_000_000,
        "1," * 4_000_000,
        '"' + '\\"' * 4_000_000,
        '"a",' * 2_000_000,
        '"' + "\\" * 8_000_001,
        '"' * 8_000_000,
    ],
    ids=["lists", "numbers", "a text without end", "texts", "backslashes", "quotes"],
)
def test_no_text_is_slow_to_count(text):
    with ends_within(20):
        has_too_many_parts(text)


def test_a_long_text_is_one_part():
    arguments = {"text": "a, b, [c], {d}, " * 500_000}

    assert parse_arguments(json.dumps(arguments)) == arguments


@pytest.mark.parametrize("text", ["", " ", "null", '""', "{}", '"{}"', '"null"'])
def test_a_call_without_arguments_is_read_in_each_form(text):
    assert parse_arguments(text) == {}


def test_an_object_written_as_a_json_string_is_read_once():
    once = json.dumps({"a": "[1, 2]"})

    assert parse_arguments(json.dumps(once)) == {"a": "[1, 2]"}
    with pytest.raises(ValueError, match="not an object"):
        parse_arguments(json.dumps(json.dumps(once)))


def test_arguments_of_too_many_parts_are_not_read():
    with ends_within(20), pytest.raises(ValueError, match="more than 200,000 parts"):
        parse_arguments('{"a": [' + "[]," * MAX_PARTS + "[]]}")
