"""Asking once more: a failed turn goes on, another answer or an edited message begins a branch."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.paths import Path
from backend.schemas.sessions import DisplayMessage, Turn
from backend.turns.history.branches import fork_before
from backend.turns.lifecycle import RETRYABLE
from backend.turns.process.services import Services
from backend.turns.queries import context_in, find_turn, list_unfinished, wire_turn
from backend.turns.submit.enter import Accepted
from backend.turns.submit.message import enter_message, reopen_answer, touch
from backend.turns.submit.service import (
    Submission,
    check_ask,
    check_key,
    earlier_turn,
    find_agent,
    turn_from_race,
)
from db.models.conversation import ConversationRow
from db.models.turn import TurnRow

Start = Callable[[Session, Scope, ConversationRow, TurnRow, Submission], Accepted]


def edit(services: Services, scope: Scope, turn_id: UUID, ask: Submission) -> Turn:
    """Fork the session before a turn's message, and ask this in its place.

    The same key and body give the same turn. Raises what `fork_before` and `submit` raise, and
    TurnNotFound; nothing is changed then.
    """
    return _accept(services, scope, turn_id, check_ask(ask), _fork)


def retry(services: Services, scope: Scope, turn_id: UUID, key: str | None = None) -> Turn:
    """Submission for another answer.

    The latest turn, if it has failed or was stopped, goes on from where it had come to; else the
    session is forked before the turn's message. Raises as `edit` does.
    """
    return _accept(services, scope, turn_id, Submission("", key=check_key(key)), _retry)


def _accept(services: Services, scope: Scope, turn_id: UUID, ask: Submission, start: Start) -> Turn:
    ask = replace(ask, replaces=turn_id)
    try:
        with services.database.transaction() as session:
            old = find_turn(session, scope, turn_id)
            conversation = conversations.lock(session, scope, old.conversation_id)
            session.refresh(old)
            accepted = earlier_turn(session, scope, ask)
            if accepted is None:
                services.limits.check(session, scope)
                accepted = start(session, scope, conversation, old, ask)
    except IntegrityError as error:  # a request of another session; this one's are in turn
        return turn_from_race(services, scope, ask, error)
    services.announcer.tell([accepted])
    return accepted.turn


def _retry(
    session: Session, scope: Scope, conversation: ConversationRow, old: TurnRow, ask: Submission
) -> Accepted:
    if old.status in RETRYABLE and _is_latest(session, conversation, old):
        return _go_on(session, scope, conversation, old, ask)
    return _fork(session, scope, conversation, old, ask)


def _go_on(
    session: Session, scope: Scope, conversation: ConversationRow, old: TurnRow, ask: Submission
) -> Accepted:
    """A new turn for the same message, from where the old one had come to."""
    turn = _turn(scope, old, ask, fork_of=old.fork_of, state_version=old.state_version)
    turn.message_position = old.message_position
    before = len(list_unfinished(session, turn.conversation_id))
    shown = None
    if turn.message_position is not None:
        reopen_answer(session, turn.conversation_id)
    elif not before:
        shown = enter_message(session, turn)
    return _store(session, conversation, turn, shown, before)


def _fork(
    session: Session, scope: Scope, conversation: ConversationRow, old: TurnRow, ask: Submission
) -> Accepted:
    """A new turn in place of the old one, on a branch of its own."""
    agent = find_agent(session, scope, conversation.id, ask.agent) if ask.agent else old.agent
    first = fork_before(session, conversation, old)
    turn = _turn(scope, old, ask, fork_of=first)
    turn.agent, turn.message = agent, ask.message or old.message
    return _store(session, conversation, turn, enter_message(session, turn), 0)


def _turn(scope: Scope, old: TurnRow, ask: Submission, **values: Any) -> TurnRow:
    return TurnRow(
        id=uuid4(),
        conversation_id=old.conversation_id,
        owner_id=scope.user_id,
        agent=old.agent,
        message=old.message,
        idempotency_key=ask.key,
        body_hash=ask.body_hash if ask.key else None,
        **values,
    )


def _store(
    session: Session,
    conversation: ConversationRow,
    turn: TurnRow,
    shown: DisplayMessage | None,
    before: int,
) -> Accepted:
    session.add(turn)
    session.flush()
    touch(session, conversation, turn.message)
    context = context_in(conversation, turn)
    return Accepted(wire_turn(turn, before), context, shown, is_next=not before)


def _is_latest(session: Session, conversation: ConversationRow, turn: TurnRow) -> bool:
    """Whether no turn of the active branch comes after it, nor one that was taken back."""
    place = TurnRow.message_position
    ranges = Path.read(conversation.path).close(conversation.message_count).ranges
    latest = session.scalar(
        select(TurnRow.number)
        .where(TurnRow.conversation_id == conversation.id)
        .where(or_(place.is_(None), *(place.between(first, last) for first, last in ranges)))
        .order_by(TurnRow.number.desc())
        .limit(1)
    )
    return latest == turn.number
