"""Reading the audit trail: a page, or all that matches as a file."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, String, case, cast, func, literal, select
from sqlalchemy.orm import Session, aliased

from backend import audit
from backend.auth.naming import is_person
from backend.auth.scope import Scope
from backend.cursor import decode_cursor, encode_cursor
from backend.errors.base import InvalidInput
from backend.schemas.operations.audit import AuditEvent, AuditKinds, AuditPage
from backend.schemas.people.rights import Permission
from backend.tabular.csv_text import csv_lines
from db.models.audit_event import AuditEventRow
from db.models.domains.domain import DomainRow
from db.models.people.user import TeamRow, UserRow
from db.session import Database

MAX_PAGE = 200
ORDER = "audit"
PIECE = 2_000  # events of a file that are read at a time
COLUMNS = tuple(AuditEvent.model_fields)


@dataclass(frozen=True)
class AuditFilter:
    """Which events to read: those from `since` on and before `until`."""

    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    subject_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def list_events(
    session: Session, scope: Scope, wanted: AuditFilter, *, cursor: str | None, limit: int
) -> AuditPage:
    """Return one keyset page, newest first. Raise NotAllowed, InvalidInput for a bad cursor."""
    scope.require(Permission.READ_AUDIT)
    limit = max(1, min(limit, MAX_PAGE))
    before = decode_cursor(cursor, ORDER, int)[0] if cursor else None
    rows = session.execute(_page(wanted, before, limit + 1)).all()
    return AuditPage(
        items=[_event(row) for row in rows[:limit]],
        next_cursor=encode_cursor(ORDER, str(rows[limit - 1].id)) if len(rows) > limit else None,
    )


def list_kinds(session: Session, scope: Scope) -> AuditKinds:
    """Return the actions and subjects that there are. Raise NotAllowed."""
    scope.require(Permission.READ_AUDIT)
    row = AuditEventRow
    return AuditKinds(
        actions=_distinct(session, row.action), subjects=_distinct(session, row.subject)
    )


def export_events(
    database: Database, scope: Scope, wanted: AuditFilter, format: str
) -> Iterator[bytes]:
    """Return all events that match, newest first, as CSV or lines of JSON; the export is recorded.

    Raise NotAllowed, before anything is read.
    """
    scope.require(Permission.READ_AUDIT)
    with database.transaction() as session:
        asked = {name: str(value) for name, value in vars(wanted).items() if value is not None}
        details = {"format": format, "filter": asked}
        newest = audit.record(session, scope.user_id, "exported", "audit trail", "", details)
    return _WRITERS[format](_all(database, wanted, newest))


def _all(database: Database, wanted: AuditFilter, before: int) -> Iterator[list[AuditEvent]]:
    """Yield events in pieces: no transaction is open while a slow client takes one."""
    while True:
        with database.read() as session:
            rows = session.execute(_page(wanted, before, PIECE)).all()
        if rows:
            yield [_event(row) for row in rows]
        if len(rows) < PIECE:
            return
        before = rows[-1].id


def _csv(pieces: Iterator[list[AuditEvent]]) -> Iterator[bytes]:
    yield csv_lines([COLUMNS]).encode()
    for events in pieces:
        yield csv_lines(map(_cells, events)).encode()


def _cells(event: AuditEvent) -> list[Any]:
    told = event.model_dump(mode="json")
    return [*(told[name] for name in COLUMNS[:-1]), json.dumps(told["details"])]


def _jsonl(pieces: Iterator[list[AuditEvent]]) -> Iterator[bytes]:
    for events in pieces:
        yield "".join(f"{event.model_dump_json()}\n" for event in events).encode()


def _page(wanted: AuditFilter, before: int | None, limit: int) -> Select[Any]:
    query = _EVENTS.where(*_conditions(wanted)).order_by(AuditEventRow.id.desc()).limit(limit)
    return query if before is None else query.where(AuditEventRow.id < before)


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    if wanted.since and wanted.until and wanted.since >= wanted.until:
        raise InvalidInput("`since` must be before `until`.")
    row = AuditEventRow
    equal: tuple[tuple[Any, str | None], ...] = (
        (row.action, wanted.action),
        (row.subject, wanted.subject),
        (row.subject_id, wanted.subject_id),
    )
    conditions = [column == value for column, value in equal if value is not None]
    if wanted.actor is not None:
        conditions.append(is_person(row.actor, wanted.actor))
    if wanted.since is not None:
        conditions.append(row.at >= wanted.since)
    if wanted.until is not None:
        conditions.append(row.at < wanted.until)
    return conditions


def _distinct(session: Session, column: Any) -> list[str]:
    """Return a column's values, each found by its index: the trail is long, its kinds are few."""
    first = select(func.min(column).label("kind")).cte("kinds", recursive=True)
    following = select(func.min(column)).where(column > first.c.kind).scalar_subquery()
    kinds = first.union_all(select(following).where(first.c.kind.is_not(None)))
    return list(session.scalars(select(kinds.c.kind).where(kinds.c.kind.is_not(None))))


def _event(row: Row[Any]) -> AuditEvent:
    return AuditEvent(**{name: row._mapping[name] for name in COLUMNS})


def _name_of(kind: Any, subject: str) -> Any:
    names = select(kind.name).where(cast(kind.id, String) == AuditEventRow.subject_id)
    return (AuditEventRow.subject == subject, names.correlate(AuditEventRow).scalar_subquery())


def _events() -> Select[Any]:
    row, person = AuditEventRow, aliased(UserRow)
    named = case(
        _name_of(aliased(UserRow), "user"),
        _name_of(TeamRow, "team"),
        _name_of(DomainRow, "domain"),
        else_=literal(None, String),
    )
    actor = select(person.name).where(person.id == row.actor).correlate(row).scalar_subquery()
    columns = (row.id, row.at, row.actor, row.action, row.subject, row.subject_id, row.details)
    return select(*columns, actor.label("actor_name"), named.label("subject_name"))


_EVENTS = _events()
_WRITERS: dict[str, Callable[[Iterator[list[AuditEvent]]], Iterator[bytes]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
}
