"""Draws an agent's answer: Markdown with diagrams, the session's own images, and its tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from uuid import UUID

import streamlit as st

from backend.markdown.cells import STALE
from backend.markdown.tables import Table, find_tables
from backend.schemas.conversations.sessions import DisplayMessage
from colloquy_kit.messages.kinds import ContentType
from ui.features.artifacts.known import SessionArtifacts
from ui.features.chat.messages import files
from ui.features.results import view
from ui.features.results.origins import InlineTable
from ui.shared.formats.images import is_image
from ui.shared.text import long_text
from ui.shared.text.markdown import Piece, plain

MAX_DIAGRAM_CHARS = 10_000
MAX_DIAGRAM_LINES = 300
MERMAID = "mermaid"
TOO_LARGE = ":material/info: This diagram is too large to draw. Its code is shown instead."
BROKEN = ":material/info: This diagram cannot be drawn. Its code is shown instead."
_OWN_RESULT = re.compile(r"(?:^|/)sessions/([0-9a-fA-F-]{36})/results/([0-9a-fA-F-]{36})(?:$|\?)")


@dataclass(frozen=True)
class Pictures:
    """The images that tools returned in a session, by the names that answers refer to."""

    session_id: UUID
    by_name: Mapping[str, str] = field(default_factory=dict)

    def find(self, address: str) -> str | None:
        """Return the result that a Markdown address refers to; None for any other address."""
        if found := _OWN_RESULT.search(address):
            return found[2] if found[1].lower() == str(self.session_id) else None
        return self.by_name.get(address.removeprefix("attachment:").removeprefix("./"))


def pictures_of(session_id: UUID, rows: Iterable[DisplayMessage]) -> Pictures:
    """Return the images among the rows; the latest of each name."""
    images = [row for row in rows if row.content_type is ContentType.IMAGE]
    by_name = {
        str(row.content["name"]): str(row.metadata["result_id"])
        for row in images
        if row.content.get("name") and row.metadata.get("result_id")
    }
    return Pictures(session_id, by_name)


def show(text: str, key: str, pictures: Pictures, known: SessionArtifacts) -> None:
    """Draw an answer, and below it the tools for its tables; links to cells open the panel."""
    numbers = count(1)

    def draw(piece: Piece) -> None:
        _draw(known.write(piece), f"{key}-{next(numbers)}", pictures)

    long_text.answer(text, key, draw)
    for artifact, version in known.stale_in(text):
        newest = f"version {version} is linked here, version {artifact.version} is the newest"
        st.caption(f"{STALE} {plain(artifact.title, 120)}: a newer version exists ({newest}).")
    _offer_tables(text, key)


def _draw(piece: Piece, key: str, pictures: Pictures) -> None:
    if piece.kind == "code" and piece.about.lower() == MERMAID:
        _diagram(piece, key)
    elif piece.kind != "picture" or not _has_drawn(piece, pictures):
        long_text.draw_piece(piece)


def _diagram(piece: Piece, key: str) -> None:
    """Draw a diagram as a picture, with its code.

    Only the browser can tell that a diagram is invalid: chat.css then shows the last part.
    """
    if len(piece.text) > MAX_DIAGRAM_CHARS or piece.text.count("\n") > MAX_DIAGRAM_LINES:
        st.caption(TOO_LARGE)
        long_text.draw_piece(piece)
    elif piece.text.strip():
        with st.container(key=f"diagram-{key}", gap="xsmall"):
            st.mermaid_chart(piece.text)
            with (
                st.container(key=f"drawn-{key}"),
                st.expander("Diagram's code", type="compact", icon=":material/code:"),
            ):
                long_text.draw_piece(piece)
            with st.container(key=f"broken-{key}"):
                st.caption(BROKEN)
                long_text.draw_piece(piece)


def _has_drawn(piece: Piece, pictures: Pictures) -> bool:
    """Draw a picture if it is one of the session's own images; return whether it is."""
    result_id = pictures.find(piece.about)
    data = files.fetch(pictures.session_id, result_id) if result_id else b""
    if not is_image(data):
        return False
    st.image(data, caption=plain(piece.text) or None)
    return True


@lru_cache(256)
def _tables_of(text: str) -> Sequence[Table]:
    return find_tables(text)


def _offer_tables(text: str, key: str) -> None:
    """Offer the answer's tables to sort, filter, chart and keep; made only when opened.

    A column that stays text because its numbers can be read in two ways is named.
    """
    if not (found := _tables_of(text)):
        return
    label = (
        "Sort, filter or keep this table" if len(found) == 1 else f"Work with {len(found)} tables"
    )
    box = st.expander(
        label, type="compact", icon=":material/table_view:", key=f"tables-{key}", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        for number, table in enumerate(found, 1):
            titled = {**table, "title": f"Table {number}" if len(found) > 1 else "Table"}
            view.show(titled, InlineTable(titled), f"{key}-{number}")
            for doubt in table["doubts"]:
                st.caption(f":material/info: {plain(doubt)}.")
