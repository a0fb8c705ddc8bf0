"""Deleting a session along with what runs in it: at once, or when its time has come."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from uuid import UUID

from sqlalchemy.orm import Session as DatabaseSession

from backend import audit
from backend.artifacts import erasing as artifacts
from backend.auth.acting import as_system
from backend.auth.reach import OWN
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.removal import (
    delete_conversation,
    hold_children,
    hold_due,
    list_due,
    plan_deletion,
    undo_deletion,
)
from backend.errors.conversations import SessionNotFound
from backend.errors.plans import SessionOfTask
from backend.files.erasing import erase_deleted
from backend.logs.fields import only_fields
from backend.schemas.conversations.sessions import Session
from backend.schemas.people.rights import Permission
from backend.turns.plan.moving import stop_plans
from backend.turns.process.services import Services
from backend.turns.queries import list_unfinished
from backend.usage.ledger import SessionDomain, hold_unfinished, record_usage
from db.models.conversations.conversation import ConversationRow
from db.session import Database

AT_ONCE = 100
Hold = Callable[[DatabaseSession, UUID], ConversationRow]  # locks it; raises SessionNotFound


def delete_session(services: Services, scope: Scope, session_id: UUID) -> None:
    """Delete a session; a turn that runs in it loses its lease and is cancelled by its worker.

    Its files, its artifacts and the sessions of its tasks are erased with it. Their usage stays
    in the ledger.

    Raise SessionNotFound, and SessionOfTask for one that is only deleted with its parent.
    """
    _delete(services, session_id, partial(_hold, scope), scope.user_id)


def delete_later(services: Services, scope: Scope, session_id: UUID, seconds: float) -> Session:
    """Have a session deleted after so many seconds, whatever becomes of who asked for it.

    Until then it is in no list, its turns run on, and `keep_session` undoes this.
    Raise SessionNotFound, SessionOfTask.
    """
    with services.database.transaction() as session:
        hold_children(session, session_id)
        held = _hold(scope, session, session_id)
        plan_deletion(session, session_id, seconds)
        details = {"owner": held.owner_id, "domain": held.domain_name, "seconds": seconds}
        audit.record(session, scope.user_id, "deletion_planned", "session", session_id, details)
        return conversations.get(session, scope, session_id, Permission.OPERATE)


def keep_session(services: Services, scope: Scope, session_id: UUID) -> Session:
    """Undo a deletion that is not due yet; any other session stays as it is.

    Raise SessionNotFound once it is due, SessionOfTask.
    """
    with services.database.transaction() as session:
        hold_children(session, session_id)
        held = _hold(scope, session, session_id)
        if held.deletes_at is not None:
            undo_deletion(session, session_id)
            details = {"owner": held.owner_id}
            audit.record(session, scope.user_id, "deletion_undone", "session", session_id, details)
        return conversations.get(session, scope, session_id, Permission.OPERATE)


def delete_due(services: Services) -> None:
    """Delete the sessions whose time has come; several workers may do so at the same time."""
    with services.database.read() as session:
        due = list_due(session, AT_ONCE)
    for session_id in due:
        # Another worker may be first.
        with suppress(SessionNotFound), only_fields(session=session_id):
            _delete(services, session_id, hold_due, audit.SOFTWARE)


def _hold(scope: Scope, session: DatabaseSession, session_id: UUID) -> ConversationRow:
    held = conversations.lock(session, scope, session_id, OWN, unless=Permission.OPERATE)
    if held.parent_id is not None:
        raise SessionOfTask
    return held


def _delete(services: Services, session_id: UUID, hold: Hold, actor: str) -> None:
    _end_plans(services.database, session_id, hold)
    with services.database.transaction() as session:
        children = hold_children(session, session_id)
        held = hold(session, session_id)
        domain = SessionDomain(held.domain_id, held.domain_name)
        unfinished = [
            one for each in (session_id, *children) for one in hold_unfinished(session, each)
        ]
        with as_system(session):  # what others asked and own depends on it, too
            delete_conversation(session, session_id)
            details = {"owner": held.owner_id, "domain": domain.name}
            audit.record(session, actor, "deleted", "session", session_id, details)
            for owner_id, spent in unfinished:
                record_usage(session, owner_id, domain, spent, team=held.team)
    for each in (session_id, *children):
        services.events.forget(each)
    erase_deleted(services.database, services.files)
    artifacts.erase_deleted(services.database, services.artifacts.contents.store)


def _end_plans(database: Database, session_id: UUID, hold: Hold) -> None:
    """End the session's plans so that no more tasks begin, in a transaction of its own.

    Moving an open plan would create sessions inside the one being deleted.
    """
    with database.transaction() as session:
        hold(session, session_id)
        for turn in list_unfinished(session, session_id):
            stop_plans(session, turn)
