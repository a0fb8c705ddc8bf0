"""Rows of turns for administrators: unfinished ones with Stop, failed ones with Retry.

Rows with buttons rather than a data frame: a click there reports a row number, which may belong to
another turn by the time it arrives.
"""

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.operations.work import WorkTurn
from ui import navigation, state
from ui.shared.formats import reader
from ui.shared.once import is_done, once
from ui.shared.states import loss_words, next_try_words, silence_words, wait_words
from ui.shared.text.markdown import plain

SHOWN = 30
COLOURS = {TurnStatus.RUNNING: "green", TurnStatus.WAITING: "orange"}
ASK_TO_STOP = "It ends immediately. Everything said so far is kept, and its owner can retry it."
ASK_TO_TAKE_OUT = "It is removed from the queue without an answer."


def show_unfinished(turns: Sequence[WorkTurn], total: int) -> None:
    """Draw the turns that run or wait, in order."""
    st.subheader("Unfinished turns", anchor=False)
    if not turns:
        st.caption(
            "No turns are running or waiting. A turn is listed here from its message to its end."
        )
        return
    for turn in turns[:SHOWN]:
        _unfinished_card(turn)
    if total > SHOWN:
        st.caption(f"Showing the first {min(SHOWN, len(turns))} of {reader.number(total)}.")


def show_failures(turns: Sequence[WorkTurn]) -> None:
    """Draw the turns that failed within the last day, latest first."""
    st.subheader("Failed in the last day", anchor=False)
    if not turns:
        st.caption("No failed turns.")
        return
    for turn in turns[:SHOWN]:
        _failure_card(turn)
    if len(turns) > SHOWN:
        st.caption(f"Showing the latest {SHOWN}.")


def _unfinished_card(turn: WorkTurn) -> None:
    """Draw a turn's session and status, what it waits for, its progress and its worker."""
    with st.container(border=True, gap="xsmall"):
        with _head(turn):
            _badge(turn)
            _stop_button(turn)
        if turn.model_wait:
            seconds = turn.model_wait.seconds
            said = (wait_words(seconds, turn.model_wait.reason), next_try_words(seconds))
            wait = " · ".join(filter(None, said))
            st.markdown(f":orange[:material/hourglass:] {plain(wait)}")
        if words := silence_words(turn):
            st.markdown(f":orange[:material/link_off:] {plain(words.capitalize())}")
        st.caption(plain(" · ".join(_progress(turn))))


def _failure_card(turn: WorkTurn) -> None:
    with st.container(border=True, gap="xsmall"):
        with _head(turn):
            _retry_button(turn)
        if turn.error:
            st.markdown(f"**{plain(turn.error.title)}.** {plain(turn.error.detail, 400)}")
        st.caption(plain(" · ".join(_progress(turn))))


def _head(turn: WorkTurn) -> DeltaGenerator:
    """Draw a card's first line with the session on the left; return the container of the line."""
    head = st.container(horizontal=True, vertical_alignment="center", wrap=False)
    head.container(width="stretch").page_link(
        navigation.CHAT_PAGE,
        label=plain(turn.title or "New chat", 80),
        query_params={"session": str(turn.session_id), "view": "read"},
    )
    return head


def _badge(turn: WorkTurn) -> None:
    if turn.stop_requested:
        st.badge("Stopping", icon=":material/stop_circle:", color="orange")
        return
    colour = COLOURS.get(turn.status, "gray")
    st.badge(turn.status.capitalize(), color=colour)  # type: ignore[arg-type]  # a closed set


def _progress(turn: WorkTurn) -> list[str]:
    """Return owner, age, steps, attempts, earlier losses, and the worker's last heartbeat."""
    words = [turn.owner_name, f"{reader.duration(turn.age_seconds)} old"]
    words += [f"step {turn.steps}", f"attempt {turn.attempts}"] if turn.attempts else []
    words += [loss] if (loss := loss_words(turn)) else []
    if turn.model_retries:
        times = "once" if turn.model_retries == 1 else f"{turn.model_retries} times"
        words.append(f"model call retried {times}")
    if turn.worker and turn.heartbeat_seconds is not None:
        words.append(f"{turn.worker}, last heartbeat {reader.duration(turn.heartbeat_seconds)} ago")
    return words


def _retry_button(turn: WorkTurn) -> None:
    if not turn.is_retryable:
        st.caption("Continued since, or by its plan")
        return
    st.button(
        "Retry",
        key=f"work-retry-{turn.id}",
        icon=":material/replay:",
        disabled=is_done(turn.id),
        on_click=_try,
        args=(once, turn.id, state.client().retry_turn, turn.id),
    )


def _stop_button(turn: WorkTurn) -> None:
    # A popover, as for draining: a dialog would close with each redraw of the board.
    is_queued = turn.status is TurnStatus.QUEUED
    with st.popover("Stop", icon=":material/stop_circle:", disabled=turn.stop_requested):
        st.markdown(f"**Stop {plain(turn.title or 'New chat', 60)}?**")
        st.caption(ASK_TO_TAKE_OUT if is_queued else ASK_TO_STOP)
        st.button(
            "Remove from queue" if is_queued else "Stop this turn",
            key=f"work-stop-{turn.id}",
            type="primary",
            disabled=turn.stop_requested,
            on_click=_try,
            args=(state.client().stop_turn, turn.id),
        )


def _try(call: Callable[..., object], *arguments: object) -> None:
    """Make the call, in a callback; on failure, the reason is shown on the page."""
    with state.flashing():
        call(*arguments)
