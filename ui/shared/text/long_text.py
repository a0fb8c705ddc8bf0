"""Shows texts of any length: long ones are cut, with the rest on demand or as a file."""

from collections.abc import Callable

import streamlit as st

from ui import state
from ui.shared.text.markdown import Piece, safe_markdown, split_pieces
from ui.shared.text.markup import highlighted_as, is_too_much

SHOWN_CHARS = 20_000
CUT_CHARS = 4_000
WHOLE_CHARS = 300_000
FEW_LINES, FEW_LINES_HEIGHT = 8, 240
TOO_MUCH = "Shown as it is written: it has more markup than a browser can lay out."


def answer(text: str, key: str) -> None:
    """An agent's text, as Markdown."""
    _cut(text, key, _markdown)


def verbatim(text: str, key: str) -> None:
    """A person's text, exactly as it was written."""
    _cut(text, key, lambda shown: st.text(shown))


def code(text: str, key: str, language: str | None = None) -> None:
    """Text of machines: what a tool takes and gives."""
    _cut(text, key, lambda shown: st.code(shown, highlighted_as(shown, language), wrap_lines=True))


def whole(text: str, key: str) -> None:
    """A text to be copied; one that is too long for a page as a file."""
    if len(text) > WHOLE_CHARS:
        _actions(text, key, None)
        return
    is_long = text.count("\n") > FEW_LINES
    st.code(text, None, wrap_lines=True, height=FEW_LINES_HEIGHT if is_long else None)


def draw_piece(piece: Piece) -> None:
    """One piece of an answer: code by an element that interprets nothing, the rest as Markdown.

    What a browser cannot lay out is shown as it is written.
    """
    if piece.is_code:
        st.code(piece.text, highlighted_as(piece.text, piece.language), wrap_lines=False)
    elif is_too_much(piece.text):
        st.caption(f":material/info: {TOO_MUCH}")
        st.text(piece.text)
    else:
        st.markdown(safe_markdown(piece.text), anchors=False)


def _markdown(text: str) -> None:
    for piece in split_pieces(text):
        draw_piece(piece)


def _cut(text: str, key: str, draw: Callable[[str], object]) -> None:
    if len(text) <= SHOWN_CHARS:
        draw(text)
        return
    expanded = state.memory().expanded
    if key in expanded and len(text) <= WHOLE_CHARS:
        with st.container(height=480, border=False):
            draw(text)
        _actions(text, key, None)
    else:
        draw(text[:CUT_CHARS] + " …")
        _actions(text, key, expanded)


def _actions(text: str, key: str, expanded: set[str] | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if expanded is not None and len(text) <= WHOLE_CHARS:
            st.button(
                "Show all",
                key=f"all-{key}",
                type="tertiary",
                icon=":material/expand_more:",
                on_click=expanded.add,
                args=(key,),
            )
        st.download_button(
            f"Download ({_size(len(text))} characters)",
            text,
            file_name="message.txt",
            key=f"file-{key}",
            type="tertiary",
            icon=":material/download:",
            on_click="ignore",
        )


def _size(chars: int) -> str:
    return f"{chars / 1_000_000:.1f} million" if chars >= 1_000_000 else f"{chars:,}"
