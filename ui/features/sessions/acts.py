"""Carries out the acts of the session list, which repeats each until it is confirmed."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from backend.schemas.conversations.sessions import MAX_TITLE_CHARS, SessionChange
from ui import navigation, state
from ui.client import ClientError, NotFound, ServiceUnavailable
from ui.features.sessions import pages

MAX_AT_ONCE = 100
UNDO_SECONDS = 8
DELETE_SECONDS = UNDO_SECONDS + 2  # an Undo at the last moment still comes in time
LEADING = ("open", "new")


class Act(BaseModel):
    """One thing that a person chose in the list; `n` rises from act to act."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    n: int
    do: Literal[
        "open", "new", "rename", "pin", "unpin", "archive", "restore", "allowed", "older",
        "delete", "undelete", "clear",
    ]  # fmt: skip
    ids: list[UUID] = Field(default_factory=list, max_length=MAX_AT_ONCE)
    title: str = Field("", max_length=MAX_TITLE_CHARS)
    cursor: str = ""


ACTS = TypeAdapter(list[Act])


def take() -> None:
    """Carry out the new ones among the acts that the list sent.

    Two quick clicks are two runs whose callbacks may overlap: the second waits, and finds it done.
    """
    held = state.memory()
    with held.acting:
        for act in ACTS.validate_python(state.session_list_acts()):
            # A repeated act that navigates is done again: the browser does not know its address
            # yet.
            if act.n > held.acted or act.do in LEADING:
                held.acted = max(held.acted, act.n)
                with state.flashing():
                    DOERS[act.do](act)


def _open(act: Act) -> None:
    navigation.leave_for(act.ids[0] if act.ids else None)


def _change(act: Act, **fields: object) -> None:
    change = SessionChange.model_validate(fields)

    def change_one(session_id: UUID) -> None:
        pages.put(state.client().change_session(session_id, change))

    _for_each(act, change_one)


def _rename(act: Act) -> None:
    if title := act.title.strip():
        _change(act, title=title)


def _delete(act: Act) -> None:
    was_open = navigation.open_session_id() in act.ids

    def delete_one(session_id: UUID) -> None:
        with suppress(NotFound):  # already deleted elsewhere
            state.client().delete_session(session_id, DELETE_SECONDS)
        pages.drop(session_id)

    _for_each(act, delete_one)
    if was_open:
        navigation.leave_for(None)


def _undelete(act: Act) -> None:
    def keep_one(session_id: UUID) -> None:
        pages.put(state.client().undelete_session(session_id))

    _for_each(act, keep_one)


def _clear(act: Act) -> None:
    """Clear a session and open it: its page says that it is empty now, and offers the way back."""
    (session_id,) = act.ids
    state.client().clear_session(session_id)
    navigation.show_latest(session_id)
    if navigation.open_session_id() != session_id:
        navigation.leave_for(session_id)


def _for_each(act: Act, do: Callable[[UUID], None]) -> None:
    """Do it for all sessions that still exist. Raise the first refusal once all were tried."""
    refusal: ClientError | None = None
    for session_id in act.ids:
        try:
            do(session_id)
        except ServiceUnavailable:
            raise  # the others would fail too, each after a long wait
        except ClientError as problem:
            refusal = refusal or problem
    if refusal:
        raise refusal


def _allowed(act: Act) -> None:
    state.memory().asked_allowed = act.ids[0] if act.ids else None


def _older(act: Act) -> None:
    pages.load_older(act.cursor)


DOERS: Mapping[str, Callable[[Act], None]] = {
    "open": _open,
    "new": _open,
    "rename": _rename,
    "pin": partial(_change, pinned=True),
    "unpin": partial(_change, pinned=False),
    "archive": partial(_change, archived=True),
    "restore": partial(_change, archived=False),
    "allowed": _allowed,
    "delete": _delete,
    "undelete": _undelete,
    "older": _older,
    "clear": _clear,
}
