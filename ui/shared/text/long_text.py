"""Shows texts of any length: in parts that a browser lays out fast, the rest on demand.

Text that has been shown is never removed again.
"""

from collections.abc import Callable

import streamlit as st

from ui import state
from ui.shared import downloads
from ui.shared.formats import reader
from ui.shared.text.markdown import Piece, split_pieces
from ui.shared.text.markup import highlighted_as
from ui.shared.text.parts import split_lines

ANSWER_CHARS = 200_000
SHOWN_CHARS = 20_000
PART_CHARS = 50_000
TOO_MUCH = "Shown as plain text: it has more markup than a browser can lay out."

DrawPiece = Callable[[Piece], None]


def answer(text: str, key: str, draw: DrawPiece | None = None) -> None:
    """Draw an agent's text as Markdown; `draw` may replace the drawing of pieces."""
    shown = _shown(text, key, ANSWER_CHARS)
    for part in split_lines(shown, ANSWER_CHARS):
        for piece in split_pieces(part):
            (draw or draw_piece)(piece)
    _offer_rest(text, shown, key)


def verbatim(text: str, key: str) -> None:
    """Draw a person's text exactly as written."""
    shown = _shown(text, key, SHOWN_CHARS)
    for part in split_lines(shown, PART_CHARS) or [""]:
        st.text(part)
    _offer_rest(text, shown, key)


def code(text: str, key: str, language: str | None = None) -> None:
    """Draw machine text: a tool's input or output."""
    shown = _shown(text, key, SHOWN_CHARS)
    for part in split_lines(shown, PART_CHARS) or [""]:
        st.code(part, highlighted_as(part, language), wrap_lines=True)
    _offer_rest(text, shown, key)


def draw_piece(piece: Piece) -> None:
    """Draw one piece of an answer.

    Text that a browser cannot lay out is shown as plain text.
    """
    if piece.kind == "code":
        st.code(piece.text, highlighted_as(piece.text, piece.about or None), wrap_lines=False)
    elif piece.kind == "verbatim":
        st.caption(f":material/info: {TOO_MUCH}")
        st.text(piece.text)
    else:
        st.html(f'<div class="colloquy-prose">{piece.html}</div>')


def offer_file(text: str, key: str) -> None:
    """Offer a text as a file."""
    label = f"Download ({_size(len(text))} characters)"
    downloads.text(label, text, "message.txt", f"file-{key}")


def _shown(text: str, key: str, most: int) -> str:
    """Return the shown part of a text: all of it once requested."""
    if len(text) <= most or key in state.memory().expanded:
        return text
    cut = text.rfind("\n", most // 2, most)
    return text[: cut if cut > 0 else most]


def _offer_rest(text: str, shown: str, key: str) -> None:
    if len(text) <= SHOWN_CHARS:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(shown) < len(text):
            note = f"The first {reader.number(len(shown))} of {_size(len(text))} characters"
            st.caption(note, width="content")
            st.button(
                "Show all",
                key=f"all-{key}",
                type="tertiary",
                icon=":material/expand_more:",
                on_click=state.memory().expanded.add,
                args=(key,),
            )
        offer_file(text, key)


def _size(chars: int) -> str:
    return f"{reader.number(chars / 1e6, 1)} million" if chars >= 1e6 else reader.number(chars)
