"""The actions on one message: edit it, copy it, ask again, show its other versions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from backend.schemas.conversations.branches import MessageVersion
from backend.schemas.conversations.sessions import DisplayMessage, Session
from backend.schemas.conversations.turns import Turn
from backend.schemas.usage import TurnFigures
from colloquy_kit.messages.kinds import MessageStatus
from ui import navigation, state
from ui.client import ClientError
from ui.features.agents.team import Team, of_session
from ui.features.chat import calls, feedback
from ui.features.chat import state as chat_state
from ui.features.usage.calls import get_turn_figures
from ui.shared import clipboard, icons, last_known
from ui.shared.formats import reader
from ui.shared.text import long_text
from ui.shared.text.markdown import plain

MAX_COPIED_CHARS = 300_000
BUSY = "Not available while a turn runs: wait until it ends, or stop it"


@dataclass(frozen=True)
class Actions:
    """What applies to all messages of a page; `versions`: by the position of their message."""

    session_id: UUID
    is_busy: bool = False
    is_read_only: bool = False
    may_rate: bool = False
    versions: Mapping[int, Sequence[MessageVersion]] = field(default_factory=dict)
    figures: Mapping[UUID, TurnFigures] = field(default_factory=dict)
    team: Team = field(default_factory=Team)


def load(session: Session, active: Turn | None) -> Actions:
    """Return the actions of a session; a forked one takes a second call."""
    versions: dict[int, Sequence[MessageVersion]] = {}
    if session.branch is not None:
        read = last_known.read(("branches", session.id), calls.branches, state.client(), session.id)
        for item in read.items:
            versions |= {version.position: item.versions for version in item.versions}
    return Actions(
        session.id,
        active is not None,
        navigation.is_read_only() or session.parent_id is not None,
        session.review_ends_at is None,
        versions,
        team=of_session(session).with_turns([active] if active else []),
    )


def with_figures(actions: Actions, session: Session, rows: Sequence[DisplayMessage]) -> Actions:
    """Return the actions with the usage of these rows' turns; read once per change."""
    turn_ids = frozenset(row.turn_id for row in rows if row.turn_id is not None)
    if not turn_ids:
        return actions
    key, kept = (session.updated_at, session.status, turn_ids), state.memory().turn_figures
    if kept.get(session.id, (None,))[0] != key:
        try:
            kept[session.id] = (key, get_turn_figures(state.client(), session.id, turn_ids))
        except ClientError:
            return actions  # rather a page without usage lines than none
    figures = kept[session.id][1]
    return replace(actions, figures=figures, team=actions.team.with_turns(figures.values()))


def figures_words(figures: TurnFigures) -> str:
    """gpt-4o · 14:05 · 12 s · 3,214 tokens in, 210 out. The model is the one that answered."""
    words = [plain(figures.model, 60)] if figures.model else []
    words.append(reader.moment(figures.finished_at))
    if figures.seconds is not None:
        words.append(reader.duration(figures.seconds))
    used = figures.usage
    if used.input_tokens or used.output_tokens:
        came, went = reader.number(used.input_tokens), reader.number(used.output_tokens)
        words.append(f"{came} tokens in, {went} out")
    return " · ".join(words)


def is_edited(row: DisplayMessage, actions: Actions) -> bool:
    """Return whether this message is being edited."""
    return state.memory().edited == row.id and not actions.is_read_only


def edit_in_place(row: DisplayMessage, actions: Actions) -> None:
    """Draw an input with the message's text, in its place; Enter sends, as in the composer."""
    key = chat_state.edit_key(row.id)
    with chat_state.restored_draft(key):
        st.chat_input(
            "Edit your message",
            key=key,
            disabled=actions.is_busy,
            on_submit=_send_edit,
            args=(row, actions.session_id),
        )
    with _row(row):
        st.button(
            "Cancel",
            key=f"cancel-{row.id}",
            type="tertiary",
            icon=":material/close:",
            on_click=_end_edit,
        )
        st.caption(BUSY if actions.is_busy else "Later messages are kept as another version")


def under_message(row: DisplayMessage, actions: Actions) -> None:
    """Draw the version switcher and Edit under a person's message."""
    versions = actions.versions.get(row.position, ())
    if row.turn_id is None or (actions.is_read_only and not versions):
        return
    with _row(row):
        if versions:
            _switcher(row, versions, actions)
        if not actions.is_read_only:
            _button("edit", "Edit", ":material/edit:", row, actions, _begin_edit, row)


def under_answer(row: DisplayMessage, actions: Actions) -> None:
    """Draw Copy, the thumbs and Another answer under an agent's last text."""
    with _row(row):
        _offer_copy(row)
        if words := _answer_words(row, actions):
            st.caption(words, width="content")
        figures = actions.figures.get(row.turn_id) if row.turn_id is not None else None
        if actions.may_rate and figures is not None:
            feedback.show(figures, actions.session_id)
        # A stopped answer is continued instead, with Retry below it.
        if row.turn_id is None or actions.is_read_only or row.status is MessageStatus.STOPPED:
            return
        if not actions.is_busy:
            state.memory().asked_again.discard(row.turn_id)
        _button(
            "another", "Another answer", ":material/refresh:", row, actions, _ask_again, row.turn_id
        )


def _answer_words(row: DisplayMessage, actions: Actions) -> str:
    """Return which model answered and what its turn used; until it has ended, only the model."""
    figures = actions.figures.get(row.turn_id) if row.turn_id is not None else None
    return (
        figures_words(figures) if figures else plain(str(row.metadata.get("model_name") or ""), 60)
    )


def _offer_copy(row: DisplayMessage) -> None:
    """Offer to copy an answer's Markdown; one too long to be sent twice is a download."""
    text = str(row.content.get("text", ""))
    if len(text) <= MAX_COPIED_CHARS:
        clipboard.offer(text, f"copy-{row.id}", "Copy this answer as Markdown")
    else:
        long_text.offer_file(text, f"copy-{row.id}")


def _row(row: DisplayMessage) -> DeltaGenerator:
    """Return the container for the line under a message."""
    return st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", key=f"actions-{row.id}"
    )


def _switcher(row: DisplayMessage, versions: Sequence[MessageVersion], actions: Actions) -> None:
    place = next(n for n, version in enumerate(versions) if version.position == row.position)
    with icons.alone(f"versions-{row.id}", gap="xsmall"):
        _to_version("Earlier", ":material/chevron_left:", row, versions[:place][-1:], actions)
        st.caption(f"{place + 1}/{len(versions)}", width="content")
        _to_version("Later", ":material/chevron_right:", row, versions[place + 1 :][:1], actions)


def _to_version(
    word: str, icon: str, row: DisplayMessage, to: Sequence[MessageVersion], actions: Actions
) -> None:
    st.button(
        f"{word} version",
        key=f"{word.lower()}-{row.id}",
        type="tertiary",
        icon=icon,
        help=BUSY if actions.is_busy else None,
        disabled=not to or actions.is_busy or actions.is_read_only,
        on_click=_switch,
        args=(actions.session_id, to[0].turn_id if to else None),
    )


def _button(
    key: str,
    label: str,
    icon: str,
    row: DisplayMessage,
    actions: Actions,
    act: Callable[[Any, UUID], None],
    what: Any,
) -> None:
    st.button(
        label,
        key=f"{key}-{row.id}",
        type="tertiary",
        icon=icon,
        help=BUSY if actions.is_busy else None,
        disabled=actions.is_busy,
        on_click=act,
        args=(what, actions.session_id),
    )


def _begin_edit(row: DisplayMessage, _: UUID) -> None:
    state.memory().edited = row.id
    chat_state.keep_draft(chat_state.edit_key(row.id), str(row.content.get("text", "")))


def _end_edit() -> None:
    state.memory().edited = None


def _send_edit(row: DisplayMessage, session_id: UUID) -> None:
    key = chat_state.edit_key(row.id)
    text = chat_state.draft(key)
    # With Enter pressed twice, the second finds the edit sent.
    if state.memory().edited != row.id or row.turn_id is None or not text.strip():
        return
    once = chat_state.send_key(f"edit {row.turn_id} {text}")
    if _do(session_id, calls.edit_message, row.turn_id, text, once):
        _end_edit()
    else:
        chat_state.keep_draft(key, text)


def _ask_again(turn_id: UUID, session_id: UUID) -> None:
    asked = state.memory().asked_again
    if turn_id in asked:
        return
    if _do(session_id, calls.another_answer, turn_id, chat_state.send_key(f"again {turn_id}")):
        asked.add(turn_id)


def _switch(session_id: UUID, turn_id: UUID | None) -> None:
    if turn_id is not None:
        _do(session_id, calls.switch_branch, session_id, turn_id)


def _do(session_id: UUID, call: Callable[..., None], *arguments: Any) -> bool:
    """Make the call and return whether it succeeded; the page shows the result, or the reason."""
    try:
        call(state.client(), *arguments)
    except ClientError as problem:
        state.flash(problem)
        return False
    chat_state.sent()
    if not navigation.window(session_id).is_latest:
        navigation.show_latest(session_id)
    return True
