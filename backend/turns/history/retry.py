"""Asking again: a failed turn resumes; another answer or an edited message begins a branch."""

from dataclasses import replace
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations.session_turns import of_latest_turn
from backend.schemas.conversations.turns import Route, RouteReason, Turn
from backend.settings import Settings
from backend.turns.history.branches import fork_before
from backend.turns.lifecycle import RETRYABLE
from backend.turns.plan.resume import resume_plans
from backend.turns.process.announcer import Accepted
from backend.turns.process.services import Services
from backend.turns.queries import find_turn
from backend.turns.submit.enter import NewTurn, enter
from backend.turns.submit.service import (
    Submission,
    accept,
    check_submission,
    find_agent,
    hold_session,
    keep_choice,
)
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow


def edit(services: Services, scope: Scope, turn_id: UUID, submission: Submission) -> Turn:
    """Fork the session before a turn's message, and submit `submission` in its place.

    The same key and body give the same turn. Raise what `fork_before` and `submit` raise, and
    TurnNotFound; nothing is changed then.
    """
    submission = replace(check_submission(submission), replaces=turn_id)
    settings = services.settings
    return accept(
        services,
        scope,
        submission,
        lambda session: _fork(session, settings, scope, submission, turn_id),
    )


def retry(services: Services, scope: Scope, turn_id: UUID, key: str | None = None) -> Turn:
    """Ask for another answer.

    If the latest turn failed or was stopped, it resumes from where it was, plans included;
    otherwise the session is forked before the turn's message. Raise as `edit` does, and
    TasksStopping.
    """
    submission = Submission("", key=key, replaces=turn_id)

    def make(session: Session) -> Accepted:
        conversation, old = _lock(session, scope, turn_id)
        if old.status in RETRYABLE and _is_latest(session, conversation, old):
            new = _another(scope, old, submission)
            new = replace(new, fork_of=old.fork_of, resumes=old)
            accepted = enter(session, conversation, new)
            rows = resume_plans(session, old, accepted.turn.id, old.agent)
            return replace(accepted, shown=rows[-1]) if rows else accepted
        return _fork(session, services.settings, scope, submission, turn_id)

    return accept(services, scope, submission, make)


def _lock(session: Session, scope: Scope, turn_id: UUID) -> tuple[ConversationRow, TurnRow]:
    turn = find_turn(session, scope, turn_id)
    conversation = hold_session(session, scope, turn.conversation_id)
    session.refresh(turn)
    return conversation, turn


def _fork(
    session: Session, settings: Settings, scope: Scope, submission: Submission, turn_id: UUID
) -> Accepted:
    """Enter a new turn in place of the old one, on its own branch."""
    conversation, old = _lock(session, scope, turn_id)
    first = fork_before(session, conversation, old)
    new = replace(
        _another(scope, old, submission), fork_of=first, message=submission.message or old.message
    )
    if submission.agent or old.route:
        chosen = submission.agent if submission.message else _chosen_agent(old)
        routed = find_agent(session, scope, conversation, new.message, chosen)
        new = replace(new, agent=routed.agent, route=routed.route)
    if submission.model is not None:
        keep_choice(session, settings, scope, conversation, new.agent, submission.model)
    if submission.message:  # another answer to the same message is by the same model
        new = replace(new, model=conversation.model)
    return enter(session, conversation, new)


def _chosen_agent(turn: TurnRow) -> str | None:
    """Return the agent that the request of a turn named, who gives another answer, too."""
    route = Route.read(turn.route) if turn.route else None
    return turn.agent if route and route.reason is RouteReason.ASKED else None


def _another(scope: Scope, old: TurnRow, submission: Submission) -> NewTurn:
    return NewTurn(
        owner_id=scope.user_id,
        agent=old.agent,
        route=Route.read(old.route) if old.route else None,
        role=scope.role,
        model=old.model,
        message=old.message,
        key=submission.key,
        body_hash=submission.body_hash if submission.key else None,
    )


def _is_latest(session: Session, conversation: ConversationRow, turn: TurnRow) -> bool:
    """Return whether no turn of the active branch, nor a withdrawn one, comes after it."""
    latest = of_latest_turn(TurnRow.id)
    of_conversation = ConversationRow.id == conversation.id
    return session.scalar(select(latest).where(of_conversation)) == turn.id
