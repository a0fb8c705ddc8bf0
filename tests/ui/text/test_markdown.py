"""An answer in pieces: code, pictures and text, none of which can hold up a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import ends_within
from tests.ui.text.hostile import HOSTILE
from ui.shared.text.markdown import plain, split_pieces
from ui.shared.text.parts import PART_CHARS, split_lines


def shown(text):
    return [(piece.kind, piece.text, piece.about) for piece in split_pieces(text)]


def test_fences_become_code_of_their_own():
    assert shown("Before\n```sql\nSELECT '![x](y)'\n```\nafter") == [
        ("text", "Before", ""),
        ("code", "SELECT '![x](y)'", "sql"),
        ("text", "after", ""),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nx = 1", "x = 1"),
        ("````\n```\n````", "```"),
        ("  ```\n  a\n```\nb\n  ```", "a"),
    ],
)
def test_a_fence_ends_where_markdown_ends_it(text, code):
    assert ("code", code) in [piece[:2] for piece in shown(text)]


def test_lines_of_pictures_only_are_pictures_and_others_are_links():
    text = "See:\n\n![a](one.png)\n![b](https://example.com/2.png)\n\nand ![c](three.png)"

    pieces = split_pieces(text)

    assert [piece.kind for piece in pieces] == ["text", "picture", "picture", "text"]
    assert (pieces[1].about, pieces[1].html) == ("one.png", "<p>a</p>\n")
    assert pieces[2].about == "https://example.com/2.png"
    assert "<a href" in pieces[2].html and "<img" not in pieces[2].html


def test_what_a_text_defines_holds_in_all_its_pieces():
    pieces = split_pieces("Up[^1], [r].\n\n```\nx\n```\n\n[^1]: Note\n\n[r]: https://example.com")

    assert "<sup>1</sup>, <a href=" in pieces[0].html
    assert "<sup>1</sup> Note" in pieces[2].html


def test_parts_of_a_long_answer_keep_lists_and_tables_together():
    rows = "\n".join("| a | b |" for _ in range(1_000))
    text = f"{'word ' * 2_000}\n\n- one\n\n- two\n\n{rows}\n\n{'word ' * 2_000}\n\nThe end."

    pieces = split_pieces(text)

    assert len(pieces) > 2
    assert any("- one\n\n- two" in piece.text for piece in pieces)
    assert any(rows in piece.text for piece in pieces)


@given(st.lists(st.text(alphabet="ab \n-|", max_size=40)).map("\n\n".join), st.integers(1, 50))
def test_lines_in_parts_are_the_whole_text(text, size):
    long = text * (1 + PART_CHARS // (len(text) + 1) * 3)

    assert "".join(split_lines(long, size)) == long


@given(st.text())
def test_labels_are_one_line_and_call_nothing(text):
    label = plain(text)

    assert "\n" not in label
    assert "![" not in label


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_is_slow_to_divide(text):
    with ends_within(20):
        split_pieces(text)
        plain(text)
