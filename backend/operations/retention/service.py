"""Retention: what it would delete, and applying it in small transactions, each audited."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Select, func, select, text
from sqlalchemy.orm import Session

from backend import audit
from backend.artifacts import erasing as artifacts
from backend.auth.scope import Scope
from backend.conversations.accesses import last_access
from backend.conversations.removal import children_of, delete_conversation
from backend.files.erasing import erase_deleted
from backend.operations.retention.plan import Plan, Planned, make_plan
from backend.schemas.people.rights import Permission
from backend.schemas.retention import (
    Retention,
    RetentionOutcome,
    RetentionRules,
    RetentionRun,
)
from backend.settings import Settings
from backend.turns.process.services import Services
from backend.turns.queries import list_unfinished
from db.models.audit_event import AuditEventRow
from db.models.conversations.conversation import ConversationRow
from db.session import Database

APPLIED, DELETED = "applied", "deleted"
RUN = "run"  # in the details of a deletion; older ones have none
SUBJECT = "retention"
BATCH = 20
SHOWN = 100
RUNS = 10
_ONE_AT_A_TIME = text("SELECT pg_try_advisory_xact_lock(hashtextextended('colloquy retention', 0))")
log = logging.getLogger(__name__)


class _Run(NamedTuple):
    """A run that has begun: who applies retention, and the id of the event that records it."""

    actor: str
    id: int


def rules_of(settings: Settings) -> RetentionRules:
    """Return the rules in the settings."""
    return RetentionRules(
        days=settings.retention_days,
        sessions_per_person=settings.retention_sessions,
        megabytes=settings.retention_megabytes,
        every_hours=settings.retention_hours,
    )


def look(settings: Settings, database: Database, scope: Scope) -> Retention:
    """Return the rules and what they would delete now. Raise NotAllowed."""
    scope.require(Permission.OPERATE)
    rules = rules_of(settings)
    with database.transaction() as session:
        plan, runs = make_plan(session, rules), _runs(session)
    return Retention(
        rules=rules, planned=len(plan.departing), first=list(plan.departing[:SHOWN]), runs=runs
    )


def apply_as(services: Services, scope: Scope, *, dry_run: bool) -> RetentionOutcome:
    """Apply retention now, for a person; a dry run only counts. Raise NotAllowed."""
    scope.require(Permission.OPERATE)
    with services.database.transaction() as session:
        plan = make_plan(session, rules_of(services.settings))
        if not dry_run:
            run = _begin(session, scope.user_id, plan)
    if dry_run:
        return RetentionOutcome(planned=len(plan.departing), deleted=0)
    return _delete_all(services, run, plan)


def apply_if_due(services: Services) -> RetentionOutcome | None:
    """Apply retention if it is due, in one worker only; otherwise return None."""
    hours = services.settings.retention_hours
    with services.database.transaction() as session:
        if not hours or not session.scalar(_ONE_AT_A_TIME) or not _is_due(session, hours):
            return None
        plan = make_plan(session, rules_of(services.settings))
        # Recorded before anything is deleted, so that no other worker starts, even after a crash.
        run = _begin(session, audit.SOFTWARE, plan)
    return _delete_all(services, run, plan)


def _delete_all(services: Services, run: _Run, plan: Plan) -> RetentionOutcome:
    departing, deleted = plan.departing, 0
    for first in range(0, len(departing), BATCH):
        batch = departing[first : first + BATCH]
        with services.database.transaction() as session:
            gone = {one.id: ids for one in batch if (ids := _delete(session, run, one))}
        for session_id in (session_id for ids in gone.values() for session_id in ids):
            services.events.forget(session_id)
        erase_deleted(services.database, services.files)
        artifacts.erase_deleted(services.database, services.artifacts.contents.store)
        deleted += len(gone)
    if departing:
        log.info("Retention has deleted %s of %s sessions", deleted, len(departing))
    return RetentionOutcome(planned=len(departing), deleted=deleted)


def _delete(session: Session, run: _Run, one: Planned) -> list[UUID]:
    """Delete a session and everything in it, unless it was used or changed since the plan was made.

    Return its id and those of its tasks' sessions; nothing if it stays.
    """
    row = ConversationRow
    is_as_planned = (last_access == one.last_accessed_at) & (row.version == one.version)
    held = session.scalar(
        select(row.id).where(row.id == one.id, is_as_planned).with_for_update(skip_locked=True)
    )
    deleted = [one.id, *children_of(session, one.id)]
    if held is None or any(list_unfinished(session, each) for each in deleted):
        return []
    delete_conversation(session, one.id)
    about = {"reason": one.reason, "owner": one.owner, "domain": one.domain, RUN: run.id}
    audit.record(session, run.actor, DELETED, "session", one.id, about)
    return deleted


def _begin(session: Session, actor: str, plan: Plan) -> _Run:
    planned = {"planned": plan.by_reason}
    return _Run(actor, audit.record(session, actor, APPLIED, SUBJECT, SUBJECT, planned))


def _is_due(session: Session, hours: float) -> bool:
    last = _applied(1).where(
        AuditEventRow.actor == audit.SOFTWARE,
        AuditEventRow.at > func.clock_timestamp() - timedelta(hours=hours),
    )
    return session.scalar(last) is None


def _runs(session: Session) -> list[RetentionRun]:
    """Return the latest runs; older deletions count for their actor's last run before them."""
    runs: list[RetentionRun] = []
    following: dict[str, AuditEventRow] = {}
    for row in session.scalars(_applied(RUNS)):
        runs.append(_run(session, row, following.get(row.actor)))
        following[row.actor] = row
    return runs


def _run(session: Session, row: AuditEventRow, following: AuditEventRow | None) -> RetentionRun:
    details, is_older = AuditEventRow.details, ~AuditEventRow.details.has_key(RUN)
    if following is not None:
        is_older &= AuditEventRow.id < following.id
    deleted = (
        select(func.count())
        .where(AuditEventRow.subject == "session", AuditEventRow.action == DELETED)
        .where(AuditEventRow.actor == row.actor, AuditEventRow.id > row.id)
        .where(details.has_key("reason"), is_older | (details[RUN].as_integer() == row.id))
    )
    planned: Sequence[int] = list(row.details.get("planned", {}).values())
    return RetentionRun(
        at=row.at, actor=row.actor, planned=sum(planned), deleted=session.scalar(deleted) or 0
    )


def _applied(limit: int) -> Select[AuditEventRow]:
    return (
        select(AuditEventRow)
        .where(AuditEventRow.subject == SUBJECT, AuditEventRow.action == APPLIED)
        .order_by(AuditEventRow.id.desc())
        .limit(limit)
    )
