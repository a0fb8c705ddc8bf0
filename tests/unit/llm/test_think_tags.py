"""Thinking in tags is told apart from the text, however it is cut, and tags may be mentioned."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.llm.wire.think_tags import ThinkTags, without_thinking


def split(text: str, size: int) -> tuple[str, str, str]:
    """The thinking, the text and the raw text of a text that is cut into pieces."""
    tags, thinking, said = ThinkTags(), "", ""
    parts = [tags.add(text[start : start + size]) for start in range(0, len(text), size)]
    for part in (*parts, tags.end()):
        if part.is_late:
            thinking = said = ""
        thinking, said = thinking + part.thinking, said + part.text
    return thinking, said, tags.raw


signs = st.sampled_from([*'<think>/ ab`"\n', "<think>", "</think>", "\n```\n"])


@given(st.lists(signs, max_size=40).map("".join), st.integers(1, 9), st.booleans())
def test_thinking_in_tags_is_told_apart_however_it_is_cut(text: str, size: int, tag: bool) -> None:
    text = f"<think>{text}" if tag else text
    thinking, said, raw = split(text, size)

    assert (thinking, said, raw) == split(text, len(text) or 1)
    assert said == without_thinking(text)
    if text.lstrip().startswith("<think>"):
        assert raw == text
    elif raw:
        before, _, after = text.partition(f"{thinking}</think>")
        assert (before, after.lstrip(), raw) == ("", said, text)
    else:
        assert (thinking, said) == ("", text)
    if "</think>" not in text and not tag:
        assert raw == "" or text.lstrip().startswith("<think>")


@pytest.mark.parametrize(
    ("thinking", "text"),
    [
        ("Let me see.\n", "\n\nIt is 7."),
        ("Let me see.", "It is 7."),
        ("The tag `</think>` ends it.\n", "\nIt is 7, see `</think>`."),
        ("```xml\n</think>\n```\nIt isn`t.\n", "\nDone, says </think>."),
        ("> ```\n> </think>\n> ```\n", "\nDone."),
        ('He said "yes"', "Done."),
        ("", "\n\nDone."),
    ],
)
def test_thinking_whose_opening_tag_was_in_the_prompt_ends_with_its_tag(
    thinking: str, text: str
) -> None:
    answer = f"{thinking}</think>{text}"

    for size in (1, 3, 1_000):
        assert split(answer, size) == (thinking, text.lstrip(), answer)


@pytest.mark.parametrize(
    "text",
    [
        "The tag <think> opens.",
        "<thinker> is no tag",
        "Write `</think>` at the end.",
        "Write ``a ` </think>`` at the end.",
        "Such as:\n\n```xml\na\n</think>\n```\n",
        "Such as:\n~~~\n```\n</think>\n~~~",
        "Models write <think>thoughts</think> first.",
        'The tag "</think>" ends it, (“</think>”) as well.',
        "`</think>` " * 1_000 + "</think>",
    ],
)
def test_tags_elsewhere_are_text(text: str) -> None:
    for size in (1, 3, len(text)):
        assert split(text, size) == ("", text, "")


def test_many_marks_before_a_closing_tag_are_read_in_linear_time() -> None:
    for mark in ("`", "`a", "\n```a`", "\n" + " " * 50, "~~~", "\n~~~\n```\n"):
        began = time.perf_counter()
        without_thinking(mark * (500_000 // len(mark)) + "</think>")
        assert time.perf_counter() - began < 5
