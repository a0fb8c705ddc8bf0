"""Fences, code spans and formulas are found as ever, and at once, whatever a model writes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import ends_within
from ui.shared.text.formulas import write_formulas
from ui.shared.text.markdown import plain, safe_markdown, split_pieces
from ui.shared.text.parts import split_paragraphs
from ui.shared.text.spans import find_spans, opening_fence

MEGABYTE = 1_000_000

# What the scanners must mean, as patterns say it, which are slow on other texts than these.
FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$")
SPAN = re.compile(
    r"(?<!`)(`+)(?!`)(?:.|\n(?!\n)){1,500}?(?<!`)\1(?!`)"
    r"|(?<![\\$\w])\$(?=[^\s$])[^$\n]{0,200}?[\\^_{=][^$\n]{0,200}?(?<=\S)(?<!\\)\$(?![\w$])"
    r"|(?m:^\$\$[ \t]*\n)(?:.|\n(?!\n)){0,1000}?(?m:^\$\$[ \t]*$)"
)
HOSTILE = {
    "a long fence line": "```" + "a" * MEGABYTE + "`",
    "a fence line of blanks": "~~~" + " " * MEGABYTE + "`",
    "a fence line of signs": "~" * MEGABYTE + "`",
    "many fence lines": "```" + "`x\n```" * (MEGABYTE // 6),
    "fences that open only": "```\n~~~\n" * (MEGABYTE // 8),
    "backticks": "`" * MEGABYTE,
    "runs of two lengths": "` `` " * (MEGABYTE // 5),
    "runs of all lengths": " ".join("`" * n for n in range(1, 1_400)),
    "dollars": "$" * MEGABYTE,
    "formulas without an end": "$=a " * (MEGABYTE // 4),
    "one formula without an end": "$a" + "_" * MEGABYTE,
    "rules without an end": "$$\n" * (MEGABYTE // 3),
    "a rule of blanks": ("$$" + " " * 1_000 + "x\n") * (MEGABYTE // 1_000),
    "colons": ":" * MEGABYTE,
    "names without an end": ":a" * (MEGABYTE // 2),
    "one name without an end": ":" + "a" * MEGABYTE,
    "brackets without an end": "\\[=" * (MEGABYTE // 3),
    "brackets that close only": "\\(x\\]" * (MEGABYTE // 5),
    "images": "![" * (MEGABYTE // 2),
    "empty lines": "\n" * MEGABYTE,
    "lines of blanks": ("\n" + " " * 1_000) * (MEGABYTE // 1_000),
    "invisible": "\x00" * MEGABYTE,
    "letters": "a" * MEGABYTE,
}


@given(st.text(alphabet="`~ \tab\n\x0b", max_size=30))
def test_a_fence_line_is_what_it_was(line):
    line = line.replace("\n", "")
    found = FENCE.match(line)

    assert opening_fence(line) == (found and (found[1], found[2]))


@given(st.text(alphabet="`$\n a_\\5=é", max_size=80))
def test_spans_are_where_they_were(text):
    assert list(find_spans(text)) == [found.span() for found in SPAN.finditer(text)]


@given(
    st.lists(
        st.sampled_from(["$$", "\n", " ", "$x^2$", "`a`", "``", "x_1", "$", "\n\n", "$5 ", "$$\n"])
    ).map("".join)
)
def test_spans_of_real_pieces_are_where_they_were(text):
    assert list(find_spans(text)) == [found.span() for found in SPAN.finditer(text)]


def test_a_formulas_sign_stands_near_both_dollars():
    for before, after in [(200, 200), (201, 0), (0, 201), (200, 201), (0, 0)]:
        text = f"${'a' * before}={'b' * after}$"

        assert list(find_spans(text)) == [found.span() for found in SPAN.finditer(text)]


def test_code_of_any_length_is_code():
    text = f"`{'$a ' * 1_000}` $5"

    assert safe_markdown(text) == text.replace("$5", "\\$5")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize(
    "do", [split_pieces, safe_markdown, plain, write_formulas, split_paragraphs]
)
def test_no_text_is_slow_to_read(do, text):
    with ends_within(20):
        do(text)
