"""Configuration as text: what is written can be read, and what cannot be read is said."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import ends_within
from ui.shared.text.yaml_text import Unreadable, lines_of, read, write

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(VALUES, min_size=1) | st.dictionaries(TEXTS, VALUES, min_size=1))
def test_what_is_written_is_read_again(value) -> None:
    assert read(write(value)) == value


def test_a_prompt_of_several_lines_reads_like_one() -> None:
    text = write([{"name": "Anna", "system_prompt": "You are Anna.\nBe brief."}])

    assert "system_prompt: |-\n" in text
    assert "\n    Be brief.\n" in text


def test_nothing_is_an_empty_text() -> None:
    assert [write(value) for value in (None, [], {})] == ["", "", ""]
    assert read("") is read("# a comment") is None


def test_json_is_taken_too() -> None:
    assert read('[{"recent_messages": {"keep": 10}}]') == [{"recent_messages": {"keep": 10}}]


def test_a_date_is_a_text_as_it_would_be_in_json() -> None:
    assert read("since: 2026-01-02") == {"since": "2026-01-02"}


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "a: b: c",
        "- a\nb",
        "!!python/object:os.system x",
        "[" * 5000,
        "? [a]: 1",
        "a: .inf",
        "[.nan]",
        '"\\ud800"',
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="This cannot be read"):
        read(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a:\n  - 1\n b: 2", "its indentation does not fit the lines above"),
        ("a: b: c", "a text with a colon needs quotes"),
        ("a: 1\nb", "a name is not followed by a colon"),
        ("a: 1\n\tb: 2", "a tab cannot indent"),
        ("a: @x", "a text that begins with @ needs quotes"),
        ("a: [1, 2", "a bracket is not closed with ]"),
        ("a: {b: 1", "a bracket is not closed with }"),
        ("a: 'x", "a quotation mark is not closed"),
        ("a: !x 1", "tags, which begin with an exclamation mark"),
    ],
)
def test_the_reason_is_said_without_the_parsers_words(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        read(text)


def test_the_line_is_named() -> None:
    with pytest.raises(ValueError, match="in line 2"):
        read("a: 1\nb: [")


def test_aliases_are_refused_before_they_unfold() -> None:
    laughs = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))

    with ends_within(20), pytest.raises(ValueError, match="in line 2: the alias"):
        read(f"a0: &a0 lol\n{laughs}")


def test_aliases_of_the_whole_are_refused() -> None:
    with pytest.raises(ValueError, match="alias"):
        read("&a [*a]")


@pytest.mark.parametrize("text", ["[" * 190_000, "- " * 90_000, "a: 1\n" * 30_000, "1:" * 90_000])
def test_no_text_is_slow_to_read(text: str) -> None:
    with ends_within(60), contextlib.suppress(ValueError):
        read(text)


def test_a_text_beyond_the_bound_is_refused_unread() -> None:
    with pytest.raises(ValueError, match="the maximum is 200,000"):
        read("a" * 200_001)


def test_each_place_has_its_line() -> None:
    text = (
        "# first\nname: d\nagents:\n  - name: A\n    model: m\n  - name: B\nmiddleware: [title]\n"
    )
    paths = [["name"], ["agents", 1, "name"], ["agents", 0, "model"], ["agents", 0, "tools"]]

    assert lines_of(text, paths) == [2, 6, 5, 4]
    assert lines_of(text, [["middleware", 0, "title", "x"], ["nothing"], []]) == [7, None, None]


def test_a_key_that_stands_twice_is_refused_at_its_line() -> None:
    with pytest.raises(ValueError, match="in line 3: a appears twice"):
        read("a: 1\nb: 2\na: 3")


def test_a_moment_stays_as_it_is_written():
    assert read("since: 2026-01-01T00:00:00Z") == {"since": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize("text", ["name: !!set {a}", "name: !!binary aGk=", "name: !!omap [a: 1]"])
def test_what_json_does_not_have_is_refused_at_its_line(text):
    with pytest.raises(Unreadable, match="in line 1: tags") as refused:
        read(text)

    assert refused.value.line == 1


def test_a_key_is_a_text_as_it_is_written() -> None:
    found = read("env:\n  on: a\n  null: b\n  010: c\n  2026-01-01: d\n")

    assert found == {"env": {"on": "a", "null": "b", "010": "c", "2026-01-01": "d"}}
