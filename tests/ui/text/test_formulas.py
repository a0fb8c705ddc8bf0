"""Formulas in the forms that models write, and money that is none; long answers in parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.shared.text.formulas import write_formulas
from ui.shared.text.markdown import safe_markdown
from ui.shared.text.parts import PART_CHARS, split_lines, split_paragraphs


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("$$E = mc^2$$", "$$\nE = mc^2\n$$"),
        ("So:\n$$\nx\n$$\nand", "So:\n$$\nx\n$$\nand"),
        ("So:\n\\[ \\frac{a}{b} \\]\nand", "So:\n$$\n\\frac{a}{b}\n$$\nand"),
        ("with \\(n\\) rows", "with ${n}$ rows"),
        ("with $$n$$ rows", "with ${n}$ rows"),
        ("the sum \\[a = b\\] holds", "the sum ${a = b}$ holds"),
        ("| \\(x_1\\) | 5 |", "| ${x_1}$ | 5 |"),
    ],
)
def test_formulas_are_drawn(written, drawn):
    assert write_formulas(written) == drawn
    assert safe_markdown(drawn) == drawn


@pytest.mark.parametrize(
    "text",
    ["between $5 and $6", "`$$x$$` is code", "see \\[1\\] and \\[2\\]", "$$", "costs $$5 or $$6",
     "\\\\[2pt]", "a \\( b", "$$\n\nx\n\n$$"],
)  # fmt: skip
def test_what_is_no_formula_stays(text):
    assert write_formulas(text) == text


@given(st.text(alphabet="$\\[]() \nab=`", max_size=60))
def test_nothing_but_signs_is_added(text):
    kept = [sign for sign in text if sign in "ab="]

    assert [sign for sign in write_formulas(text) if sign in "ab="] == kept


@given(st.lists(st.text(alphabet="ab \n-|", max_size=40)).map("\n\n".join), st.integers(1, 50))
def test_parts_are_the_whole_text(text, size):
    long = text * (1 + PART_CHARS // (len(text) + 1) * 3)

    assert "".join(split_lines(long, size)) == long
    assert "".join(split_paragraphs(long)).strip() == long.strip()


def test_parts_of_an_answer_keep_lists_and_tables_together():
    rows = "\n".join("| a | b |" for _ in range(2_000))
    text = f"{'word ' * 2_000}\n\n- one\n\n- two\n\n{rows}\n\nThe end."

    parts = split_paragraphs(text)

    assert any("- one" in part and "- two" in part for part in parts)
    assert any(rows in part for part in parts)
