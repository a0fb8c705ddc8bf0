"""What would keep a browser busy is told from what is written for people, at once."""

import pytest

from tests.patience import ends_within
from tests.ui.text.hostile import HOSTILE
from ui.shared.text.markup import highlighted_as, is_too_much

ORDINARY = {
    "prose": "A paragraph with *emphasis*, `code`, [a link](https://x) and $5.\n\n" * 500,
    "a list": "- an item, **bold**\n  - within it\n" * 400,
    "a table": "|a|b|c|\n|-|-|-|\n" + "|1|2|3|\n" * 500,
    "headings": "# One\n\nSaid.\n\n## Two\n\nSaid.\n\n" * 50,
    "quotes": "> > > quoted\n" * 100,
    "names": "a_name_of_parts and another_name_of_parts\n" * 300,
    "formulas": "$x^2$ and $y_1$ in a line\n" * 100,
    "nothing": "",
}
TOO_MUCH = {
    "emphasis": "*_" * 9_950,
    "brackets": "[" * 9_950 + "](x)" * 2_400,
    "quotes": "> " * 9_950,
    "tight quotes": ">" * 19_900,
    "lists in one line": "- " * 9_950,
    "numbers in one line": "1. " * 6_600,
    "lists in quotes": "> - " * 4_900,
    "lists in lists": "\n".join(" " * (2 * n) + "- a" for n in range(140)),
    "columns": "|" + "a|" * 5_000 + "\n|" + "-|" * 5_000 + "\n",
    "rows of many columns": "|" + "a|" * 500 + "\n|" + "-|" * 500 + "\n" + "|x\n" * 5_000,
    "headings": "# a\n" * 6_000,
    "underlined headings": "a\n=\n" * 4_000,
    "items": "- a\n" * 50_000,
    "formulas": "$a_b$ " * 3_300,
}


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY.keys())
def test_what_is_written_for_people_is_laid_out(text):
    assert not is_too_much(text)


@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_what_keeps_a_browser_busy_is_not(text):
    assert is_too_much(text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_is_slow_to_judge(text):
    with ends_within(20):
        is_too_much(text)
        highlighted_as(text, "python")


def test_code_is_coloured_while_it_is_short():
    assert highlighted_as("x = 1\n" * 100, "python") == "python"
    assert highlighted_as("x = 1\n" * 10_000, "python") is None
    assert highlighted_as("x" * 2_000, "python") is None
    assert highlighted_as("*a*", "markdown") is None
