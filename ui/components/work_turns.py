"""Rows of turns for administrators: the unfinished ones with Stop, the failed ones with Retry.

Rows of buttons and not a data frame: a click there tells a row's number, which may be another
turn's by the time that the click arrives.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from backend.schemas import TurnStatus, WorkTurn
from ui import state
from ui.client import ClientError
from ui.components.markdown import plain
from ui.components.times import duration

SHOWN = 30
NOTHING = "—"
TURN_COLUMNS = {
    "Session": 4.0, "Owner": 2.0, "Status": 1.7, "Step": 0.8, "Attempt": 1.0,
    "Age": 1.5, "Worker": 2.4, "Lease": 1.5, "": 1.6,
}  # fmt: skip
FAILURE_COLUMNS = {"Session": 4.0, "Owner": 2.0, "Reason": 6.4, "Attempt": 1.0, "Age": 1.5, "": 1.6}
COLOURS = {TurnStatus.RUNNING: "green", TurnStatus.WAITING: "orange"}


def show_unfinished(turns: Sequence[WorkTurn], total: int) -> None:
    """The turns that run or wait, in order."""
    st.subheader("Unfinished turns", anchor=False)
    if not turns:
        st.caption(
            "Nothing runs and nothing waits. A turn stands here from its message to its end."
        )
        return
    _header(TURN_COLUMNS)
    for turn in turns[:SHOWN]:
        _unfinished_row(turn)
    if total > SHOWN:
        st.caption(f"The first {min(SHOWN, len(turns))} of {total:,} are shown.")


def show_failures(turns: Sequence[WorkTurn]) -> None:
    """The turns that failed within the last day, the latest first."""
    st.subheader("Failed in the last day", anchor=False)
    if not turns:
        st.caption("No turn has failed.")
        return
    _header(FAILURE_COLUMNS)
    for turn in turns[:SHOWN]:
        _failure_row(turn)
    if len(turns) > SHOWN:
        st.caption(f"The latest {SHOWN} are shown.")


def _header(columns: dict[str, float]) -> None:
    for place, name in zip(st.columns(list(columns.values())), columns, strict=True):
        place.caption(name)


def _unfinished_row(turn: WorkTurn) -> None:
    columns = st.columns(list(TURN_COLUMNS.values()), vertical_alignment="center")
    session, owner, status, step, attempt, age, worker, lease, action = columns
    _link(session, turn)
    owner.markdown(plain(turn.owner, 60))
    status.badge(turn.status.capitalize(), color=COLOURS.get(turn.status, "gray"))  # type: ignore[arg-type]  # a closed set of names
    step.markdown(str(turn.steps))
    attempt.markdown(str(turn.attempts))
    age.markdown(duration(turn.age_seconds))
    worker.markdown(plain(turn.worker or NOTHING, 60))
    lease.markdown(_lease(turn))
    _stop_button(action, turn)


def _failure_row(turn: WorkTurn) -> None:
    columns = st.columns(list(FAILURE_COLUMNS.values()), vertical_alignment="center")
    session, owner, reason, attempt, age, action = columns
    _link(session, turn)
    owner.markdown(plain(turn.owner, 60))
    reason.markdown(_reason(turn))
    attempt.markdown(str(turn.attempts))
    age.markdown(duration(turn.age_seconds))
    action.button(
        "Retry",
        key=f"work-retry-{turn.id}",
        icon=":material/replay:",
        on_click=_try,
        args=(state.client().retry_turn, turn.id),
    )


def _stop_button(place: DeltaGenerator, turn: WorkTurn) -> None:
    is_stopping = state.is_stopping(turn.id)
    place.button(
        "Stopping" if is_stopping else "Stop",
        key=f"work-stop-{turn.id}",
        icon=":material/stop_circle:",
        disabled=is_stopping,
        on_click=_try,
        args=(_stop, turn.id),
    )


def _link(place: DeltaGenerator, turn: WorkTurn) -> None:
    place.page_link(
        state.CHAT_PAGE,
        label=plain(turn.title or "New chat", 60),
        query_params={"session": str(turn.session_id), "view": "read"},
    )


def _lease(turn: WorkTurn) -> str:
    if turn.lease_seconds is None:
        return NOTHING
    if turn.lease_seconds < 0:
        return f":red[lost {duration(-turn.lease_seconds)} ago]"
    return f"{duration(turn.lease_seconds)} left"


def _reason(turn: WorkTurn) -> str:
    if turn.error is None:
        return NOTHING
    return f"**{plain(turn.error.title)}**  \n{plain(turn.error.detail, 400)}"


def _stop(turn_id: UUID) -> None:
    state.client().stop_turn(turn_id)
    state.note_stopping(turn_id)


def _try(call: Callable[[UUID], None], turn_id: UUID) -> None:
    try:
        call(turn_id)
    except ClientError as problem:
        state.flash(problem)
