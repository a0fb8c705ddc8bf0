"""Draws the stored messages of a session: a window of its history that moves in both directions."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from backend.schemas.conversations.sessions import DisplayMessage, MessagePage, Session
from colloquy_kit.messages.kinds import MessageType
from ui import navigation, state
from ui.features.agents import marks, name_line
from ui.features.agents.team import Team
from ui.features.artifacts.known import artifacts_of
from ui.features.chat import jumps, message_actions, windows
from ui.features.chat.message_actions import Actions
from ui.features.chat.messages import renderers, steps
from ui.features.chat.messages.answer import pictures_of
from ui.features.chat.messages.blocks import Block, Group, to_groups
from ui.features.chat.messages.plans import plans_of
from ui.features.chat.messages.renderers import BlockContext
from ui.shared import last_known
from ui.shared.areas import area
from ui.shared.text.markdown import plain
from ui.state import Window

Read = Callable[..., MessagePage]

ROOM = 2000  # pixels: it keeps the latest turn at the foot of the page until the history is there
MORE_THAN_A_SCREEN = 20  # rows
USER_AVATAR = ":material/person:"
AGENT_AVATAR = ":material/forum:"
# The buttons that show another part of the history, by key: label and icon.
OTHER_PARTS = {
    "first": ("Jump to the first", "keyboard_double_arrow_up"),
    "earlier": ("Show earlier messages", "expand_less"),
    "later": ("Show later messages", "expand_more"),
    "latest": ("Jump to the latest", "keyboard_double_arrow_down"),
}


def begin(session_id: UUID, *, after: Hashable) -> None:
    """Start reading what `load` will read, if this tab knows how long the history was.

    `after`: what was begun to read the session's turns. A turn that is shown as ended has all of
    its messages only if they are read later.
    """
    count = state.known_length(session_id)
    if count is not None and navigation.wanted_jump(session_id) is None:
        read = partial(state.client().messages, session_id)
        page = _page(session_id, count, navigation.window(session_id), read)
        last_known.begin(*page, after=after)


def load(session: Session) -> MessagePage:
    """Return the rows of the session's window with one call, however long the history is.

    When the URL points to a message for the first time, the window is centred on it.
    """
    if (position := navigation.wanted_jump(session.id)) is not None:
        _jump(session, position)
    return load_window(session, partial(state.client().messages, session.id))


def load_window(session: Session, read: Read) -> MessagePage:
    """Return the rows of the session's window, which is the latest one at first.

    `read` returns the latest messages, or those before or after a position, in order.
    """
    window = navigation.window(session.id)
    page = _read(session, window, read)
    if window.after is not None and page.next_after is None:
        window = windows.latest(len(page.items), session.message_count)
        navigation.set_window(session.id, window)
        page = _read(session, window, read)
    return page


def comes_last(session_id: UUID, settled: Sequence[DisplayMessage]) -> bool:
    """Return whether the history is drawn after the latest turn below it.

    That is the case where another session is opened at its end: its last answer is what people look
    for, and is there in half of the time.
    """
    is_opened = state.area_replaces("page", session_id)
    is_at_end = navigation.window(session_id).is_latest and navigation.jump(session_id) is None
    return is_opened and is_at_end and len(settled) > MORE_THAN_A_SCREEN


def show(
    page: MessagePage,
    settled: Sequence[DisplayMessage],
    session: Session,
    actions: Actions,
) -> None:
    """Draw the settled rows of a window, and the buttons for earlier and later ones."""
    session_id = session.id
    groups = to_groups(settled)
    first = page.items[0].position if page.items else 0
    with area("history", (session_id, session.branch, first), rows=len(groups)):
        jumps.say_where(session_id, actions)
        if page.next_before is not None and page.items:
            _earlier_buttons(page, session_id)
        draw(groups, session_id, actions)
        if not navigation.window(session_id).is_latest:
            _later_buttons(page, session_id)


def draw(
    groups: Sequence[Group], session_id: UUID, actions: Actions, *, folds: bool = True
) -> None:
    """Draw each speaker's messages with their actions; `folds`: finished steps fold."""
    rows = [block.row for group in groups for block in group.blocks]
    context = BlockContext(
        session_id,
        "stored",
        pictures=pictures_of(session_id, rows),
        artifacts=artifacts_of(session_id, rows),
        plans=plans_of(session_id, [block for group in groups for block in group.blocks]),
    )

    def draw_block(block: Block) -> None:
        with jumps.mark(block, session_id) as is_hit:
            _draw(block, replace(context, is_open=is_hit), actions)

    explained: set[UUID | None] = set()
    answers = [group.answer for group in groups if group.answer is not None]
    last = {answer.id for answer in {row.turn_id or row.id: row for row in answers}.values()}
    team = actions.team
    for group in groups:
        named = group.agent if team.is_named else None
        with speaker(is_user=group.is_user, agent=group.agent, is_marked=named is not None):
            if named is not None:
                _name(group, named, team, explained)
            if folds and not jumps.leads_into(group.blocks, session_id):
                steps.show(group.blocks, draw_block, context)
            else:
                for block in group.blocks:
                    draw_block(block)
            if (answer := group.answer) is not None and answer.id in last:
                message_actions.under_answer(answer, actions)


def _name(group: Group, agent: str, team: Team, explained: set[UUID | None]) -> None:
    """Name the agent that speaks, with the reason at its first message in a turn."""
    turn_id = group.blocks[0].row.turn_id
    route = None if turn_id in explained else team.route(turn_id, agent)
    if route is not None:
        explained.add(turn_id)
    name_line.show(agent, route, team.manager)


def _read(session: Session, window: Window, read: Read) -> MessagePage:
    page = last_known.read(*_page(session.id, session.message_count, window, read))
    return windows.cut_to_turns(page, window)


def _page(
    session_id: UUID, message_count: int, window: Window, read: Read
) -> tuple[Hashable, Callable[[], MessagePage]]:
    """Return the name of a window's rows, and the call that reads them."""
    # One more than is shown after a position, because whether it begins a turn decides the cut.
    limit = window.rows(message_count) + (window.after is not None)
    call = partial(read, limit=limit, before=window.before, after=window.after)
    return ("messages", session_id, window), call


def _jump(session: Session, position: int) -> None:
    """Show the messages around a position, on the active branch."""
    found = state.client().messages(session.id, limit=state.PAGE_ROWS, around=position)
    page = windows.cut_to_turns(found, Window(), keep=position)
    row = jumps.find_row(page.items, position)
    navigation.jump_to(session.id, position, row, windows.around(page, session.message_count))


def _draw(block: Block, context: BlockContext, actions: Actions) -> None:
    """Draw a block; a person's message with its actions, or with the input that edits it."""
    if block.row.message_type is not MessageType.USER:
        renderers.draw(block, context)
    elif message_actions.is_edited(block.row, actions):
        message_actions.edit_in_place(block.row, actions)
    else:
        renderers.draw(block, context)
        message_actions.under_message(block.row, actions)


def speaker(*, is_user: bool, agent: str | None = None, is_marked: bool = False) -> DeltaGenerator:
    """Return the container for one speaker's messages; `is_marked`: with the agent's own mark."""
    if is_user:
        return st.chat_message("user", avatar=USER_AVATAR)
    avatar = marks.picture(agent) if agent and is_marked else AGENT_AVATAR
    return st.chat_message(plain(agent or "assistant"), avatar=avatar)


def _earlier_buttons(page: MessagePage, session_id: UUID) -> None:
    before = windows.earlier(navigation.window(session_id), page)
    with st.container(horizontal=True, horizontal_alignment="center"):
        _button("first", navigation.set_window, session_id, windows.FIRST)
        _button("earlier", navigation.set_window, session_id, before)


def _later_buttons(page: MessagePage, session_id: UUID) -> None:
    with st.container(horizontal=True, horizontal_alignment="center"):
        if page.next_after is not None and page.items:
            _button("later", navigation.set_window, session_id, windows.later(page))
        _button("latest", navigation.show_latest, session_id)


def _button(key: str, show_part: Callable[..., None], *args: object) -> None:
    label, icon = OTHER_PARTS[key]
    st.button(
        label, key=key, type="tertiary", icon=f":material/{icon}:", on_click=show_part, args=args
    )
