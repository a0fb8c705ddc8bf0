"""Shows texts of any length: long ones are cut, with the rest on demand or as a file."""

from collections.abc import Callable

import streamlit as st

from ui import state
from ui.components.markdown import Piece, safe_markdown, split_pieces

SHOWN_CHARS = 20_000
CUT_CHARS = 4_000
WHOLE_CHARS = 300_000


def answer(text: str, key: str) -> None:
    """An agent's text, as Markdown."""
    _cut(text, key, _markdown)


def verbatim(text: str, key: str) -> None:
    """A person's text, exactly as it was written."""
    _cut(text, key, lambda shown: st.text(shown))


def code(text: str, key: str, language: str | None = None) -> None:
    """Text of machines: what a tool takes and gives."""
    _cut(text, key, lambda shown: st.code(shown, language, wrap_lines=True))


def draw_piece(piece: Piece) -> None:
    """One piece of an answer: code by an element that interprets nothing, the rest as Markdown."""
    if piece.is_code:
        st.code(piece.text, piece.language, wrap_lines=False)
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
