"""Links to a message: the row on the page that it is, its mark, and why it may be missing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.sessions import DisplayMessage, MessagePage
from ui import navigation, state
from ui.features.chat import calls
from ui.features.chat.message_actions import BUSY, Actions
from ui.features.chat.messages.blocks import Block, to_blocks


def find_row(rows: Sequence[DisplayMessage], position: int) -> UUID | None:
    """Return the row drawn for a position: its own, its call's, or the one before it.

    None where the position is not among the rows.
    """
    if all(row.position != position for row in rows):
        return None
    blocks = to_blocks(rows)
    own = (block for block in blocks if position in _positions(block))
    before = (block for block in reversed(blocks) if block.row.position < position)
    found = next(own, None) or next(before, None)
    return found.row.id if found else None


def leads_into(blocks: Sequence[Block], session_id: UUID) -> bool:
    """Return whether a link points to one of these blocks."""
    jump = navigation.jump(session_id)
    return jump is not None and any(block.row.id == jump.row for block in blocks)


@contextmanager
def mark(block: Block, session_id: UUID) -> Iterator[bool]:
    """Draw a block; marked and open if a link points to it."""
    jump = navigation.jump(session_id)
    if jump is None or jump.row != block.row.id:
        yield False
        return
    # The browser looks for a new mark and scrolls to it.
    with st.container(key=f"hit-{jump.number}-{block.row.id}"):
        yield True


def say_where(session_id: UUID, actions: Actions) -> None:
    """Say so if the page does not show the linked message, and how to get to it."""
    jump = navigation.jump(session_id)
    if jump is None or jump.row is not None:
        return
    path = f"sessions/{session_id}/messages"
    page = state.client().get(MessagePage, path, around=jump.position, limit=1)
    row = next((row for row in page.items if row.position == jump.position), None)
    if row is None:
        st.info("This message does not exist in this session. Showing the latest messages.")
    elif row.turn_id is None or actions.is_read_only:
        st.info("The message is on a branch that is not shown. This is the version in its place.")
    else:
        st.info("The message is on another branch. This is the version in its place.")
        st.button(
            "Show its branch",
            key="show-branch",
            icon=":material/alt_route:",
            help=BUSY if actions.is_busy else None,
            disabled=actions.is_busy,
            on_click=_show_branch,
            args=(session_id, row.turn_id),
        )


def _show_branch(session_id: UUID, turn_id: UUID) -> None:
    with state.flashing():
        calls.switch_branch(state.client(), session_id, turn_id)
        navigation.follow_again(session_id)


def _positions(block: Block) -> list[int]:
    return [row.position for row in (block.row, block.result, block.asked) if row is not None]
