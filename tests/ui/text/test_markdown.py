"""What a model writes calls nobody, is not read as LaTeX, and stays code where it is code."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.shared.text.markdown import (
    JOINER,
    Piece,
    plain,
    safe_markdown,
    split_pieces,
)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("![x](http://evil/a.png)", "\\![x](http://evil/a.png)"),
        ("!![x](u)", "!\\![x](u)"),
        ("\\![x](u)", "\\![x](u)"),
        ("\\\\![x](u)", "\\\\\\![x](u)"),
        ("![x][ref]\n\n[ref]: u", "\\![x][ref]\n\n[ref]: u"),
        ("`![x](u)`", "`![x](u)`"),
        ("\\`![x](u)`", f"\\`!{JOINER}[x](u)`"),
        ("<http://a/`>![x](u)`", f"<http://a/`>!{JOINER}[x](u)`"),
        ("`a\n# b ![x](u)`", f"`a\n# b !{JOINER}[x](u)`"),
        ("| `a | ![x](u)` |", f"| `a | !{JOINER}[x](u)` |"),
    ],
)
def test_no_image_is_loaded(text, safe):
    assert safe_markdown(text) == safe


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Up[^1]\n\n[^1]: Note $5", "Up[^1]\n\n[^1]: Note \\$5"),
        ("[^1]: Note", "\\[^1]: Note"),
        ("Up[^1]\n\n[^1]: Note\n[^2]: Other", "Up[^1]\n\n[^1]: Note\n\\[^2]: Other"),
        ("> [^a]: Note", "> \\[^a]: Note"),
        ("`\n[^1]: code`", "`\n[^1]: code`"),
    ],
)
def test_a_footnote_is_kept_when_its_reference_is_in_another_piece(text, safe):
    assert safe_markdown(text) == safe


def test_a_written_line_break_breaks_the_line_also_within_a_cell():
    table = "| a<br>b | `<br>` |\n|--|--|\n"

    assert safe_markdown(f"One<br>two <BR /> three\n\n{table}") == (
        "One\\\ntwo \\\n three\n\n| a&#10;b | `<br>` |\n|--|--|\n"
    )


def test_money_is_not_latex():
    assert safe_markdown("$5 and $6, or $1,200") == "\\$5 and \\$6, or \\$1,200"


def test_money_beside_code_and_math_stays_readable():
    text = "`$HOME` costs $5, and $x^2 = 4$ is math"

    assert safe_markdown(text) == "`$HOME` costs \\$5, and $x^2 = 4$ is math"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        (":red[a]", "&#58;red[a]"),
        (":material/home:", "&#58;material/home:"),
        (":smile:", "&#58;smile:"),
        (":streamlit:", f"&#58;{JOINER}streamlit:"),
        (":blue-badge[x]", "&#58;blue-badge[x]"),
        ("\\:red[a]", "&#58;red[a]"),
        ("\\\\:red[a]", "\\\\&#58;red[a]"),
        ("`:red[a]`", "`:red[a]`"),
        ("10:30:45 a:b[c] :smile:", f"10:30:45 a&#58;b[c] &#58;{JOINER}smile:"),
        ("`:material/home:`", f"`:{JOINER}material/home:`"),
    ],
)
def test_directives_are_text(text, safe):
    assert safe_markdown(text) == safe


def test_times_and_ratios_are_left_alone():
    assert safe_markdown("at 10:30:45, 3:1") == "at 10:30:45, 3:1"


def test_fences_become_code_of_their_own():
    pieces = split_pieces("Before\n```sql\nSELECT '![x](y)'\n```\nafter")

    assert pieces == [Piece("Before"), Piece("SELECT '![x](y)'", "sql", True), Piece("after")]


def test_an_open_fence_is_code_already():
    assert split_pieces("```python\nx = 1") == [Piece("x = 1", "python", True)]


def test_a_shorter_fence_does_not_close():
    assert split_pieces("````\n```\n````") == [Piece("```", None, True)]


@given(st.text())
def test_labels_are_one_line_and_call_nothing(text):
    label = plain(text)

    assert "\n" not in label
    assert "![" not in label


@pytest.mark.parametrize(
    "hostile",
    ["`" * 20_000, "` `` " * 4_000, "$=" * 10_000, ":a" * 10_000, "![" * 9_000, "\\" * 20_000],
)
def test_hostile_texts_cost_little(hostile):
    started = time.monotonic()
    safe_markdown(hostile)

    assert time.monotonic() - started < 10
