"""The branches of the fake API: edited messages, other answers, and switching between them."""

from uuid import UUID

from fastapi import FastAPI, Request

from backend.conversations.paths import NOTHING, WHOLE, Path
from backend.schemas.conversations.branches import (
    BranchChoice,
    Branches,
    MessageEdit,
    MessageVersion,
    MessageVersions,
)
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import Turn, TurnStatus
from colloquy_kit.messages.kinds import MessageType


class Fork:
    """The paths of one session: the one that is shown, and those that were left."""

    def __init__(self):
        self.path = WHOLE
        self.left: list[Path] = []

    def begin(self, position: int, count: int) -> None:
        self.left.append(self.path.close(count))
        self.path = self.left[-1].cut(position).extend(count + 1)

    def clear(self, count: int) -> None:
        self.left.append(self.path.close(count))
        self.path = NOTHING.extend(count + 1)

    def show(self, number: int | None, position: int | None, count: int) -> None:
        if number is not None:
            self.path = self.left.pop(number - 1).extend(count + 1)
            return
        found = next(path for path in reversed(self.left) if path.has(position))
        self.left.remove(found)
        self.left.append(self.path.close(count))
        self.path = found.extend(count + 1)


def rows_on_branch(store, session_id: UUID) -> list[DisplayMessage]:
    """The rows of the branch that is shown."""
    path = store.forks[session_id].path
    return [row for row in store.rows[session_id] if path.has(row.position)]


def position_of(store, turn: Turn) -> int:
    """Where a turn's message stands."""
    asked = (row for row in store.rows[turn.session_id] if row.message_type is MessageType.USER)
    return next(row.position for row in asked if row.turn_id == turn.id)


def fork(store, turn: Turn, message: str, key: str) -> Turn:
    """Begin a branch with this in place of a turn's message; the key gives the same turn."""
    if key in store.keys:
        return store.keys[key]
    session = store.sessions[turn.session_id]
    store.forks[session.id].begin(position_of(store, turn), session.message_count)
    session.branch = (session.branch or 1) + 1
    new = store.add_turn(session, message, fork_of=turn.fork_of or turn.id)
    store.keys[key] = new
    store.play(new)
    return new


def add_branch_routes(app: FastAPI, store, busy) -> None:
    """Add the routes of branches; `busy()` is the answer while a turn runs."""
    add_fork_routes(app, store, busy)
    add_shown_routes(app, store, busy)


def add_fork_routes(app: FastAPI, store, busy) -> None:
    api = "/api/v1"

    @app.post(f"{api}/turns/{{turn_id}}/edit", status_code=202)
    def edit(turn_id: UUID, body: MessageEdit, request: Request):
        turn = store.turns[turn_id]
        if store.unfinished(turn.session_id):
            return busy()
        return fork(store, turn, body.message, request.headers["Idempotency-Key"])

    @app.post(f"{api}/turns/{{turn_id}}/retry", status_code=202)
    def retry(turn_id: UUID, request: Request):
        turn = store.turns[turn_id]
        if turn.status is TurnStatus.SUCCEEDED and store.unfinished(turn.session_id):
            return busy()
        if turn.status is TurnStatus.SUCCEEDED:
            return fork(store, turn, turn.message, request.headers["Idempotency-Key"])
        turn.status = TurnStatus.QUEUED
        store.play(turn)
        return turn


def add_shown_routes(app: FastAPI, store, busy) -> None:
    api = "/api/v1"

    @app.get(f"{api}/sessions/{{session_id}}/branches")
    def branches(session_id: UUID) -> Branches:
        turns = [turn for turn in store.turns.values() if turn.session_id == session_id]
        roots = dict.fromkeys(turn.fork_of for turn in turns if turn.fork_of)
        items = [
            MessageVersions(versions=[version(t) for t in turns if root in (t.id, t.fork_of)])
            for root in roots
        ]
        is_empty = store.sessions[session_id].branch and not rows_on_branch(store, session_id)
        left = len(store.forks[session_id].left) if is_empty else None
        return Branches(branch=store.sessions[session_id].branch, items=items, left=left)

    @app.post(f"{api}/sessions/{{session_id}}/branch")
    def switch(session_id: UUID, body: BranchChoice) -> Branches:
        session = store.sessions[session_id]
        position = position_of(store, store.turns[body.turn_id]) if body.turn_id else None
        store.forks[session_id].show(body.branch, position, session.message_count)
        session.branch += 1
        return branches(session_id)

    @app.post(f"{api}/sessions/{{session_id}}/clear")
    def clear(session_id: UUID):
        if store.unfinished(session_id):
            return busy()
        session = store.sessions[session_id]
        store.forks[session_id].clear(session.message_count)
        session.branch = (session.branch or 1) + 1
        return branches(session_id)

    def version(turn: Turn) -> MessageVersion:
        position = position_of(store, turn)
        return MessageVersion(
            turn_id=turn.id,
            position=position,
            is_active=store.forks[turn.session_id].path.has(position),
            created_at=turn.created_at,
        )
