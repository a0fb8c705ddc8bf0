"""Text that people can see, and text that they cannot."""

import pytest

from backend.text import is_visible


@pytest.mark.parametrize(
    "text", ["a", "\u0915\u093f", "\U0001f600", "\U0001fae8", "\uf8ff", "\x00-"]
)
def test_what_is_drawn_is_visible_also_if_it_is_newer_than_pythons_tables(text: str) -> None:
    assert is_visible(text)


@pytest.mark.parametrize(
    "text", ["", " \n", "\x00", "\u200b", "\u202e", "\u3164", "\u0301", "\ud800"]
)
def test_what_leaves_the_screen_empty_is_not_visible(text: str) -> None:
    assert not is_visible(text)
