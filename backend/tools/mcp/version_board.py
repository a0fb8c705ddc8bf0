"""Versions of servers' tools for administrators: listing them and deciding on them."""

from typing import Any
from uuid import UUID

from sqlalchemy import ScalarSelect, case, func, select, update
from sqlalchemy.orm import Session, aliased

from backend import audit
from backend.auth.scope import Scope
from backend.errors.tools import ToolVersionNotFound
from backend.schemas.domains.servers import ToolVersion, ToolVersionPage, VersionStatus
from backend.schemas.people.rights import Permission
from backend.types import JSON
from db.models.domains.server_tool import ServerToolRow

MAX_LISTED = 500


def list_versions(session: Session, scope: Scope, domain_id: UUID) -> ToolVersionPage:
    """Return the versions of a domain's tools; those that wait for a decision come first.

    At most MAX_LISTED are listed, all are counted. Raise NotAllowed for non-admins.
    """
    scope.require(Permission.MANAGE_SERVERS)
    row = ServerToolRow
    is_pending = row.status == VersionStatus.PENDING
    rows = session.execute(
        select(row, _accepted_before())
        .where(row.domain_id == domain_id)
        .order_by(case((is_pending, 0), else_=1), row.seen_at.desc(), row.server, row.tool)
        .limit(MAX_LISTED)
    ).all()
    pending, decided = session.execute(
        select(func.count().filter(is_pending), func.count().filter(~is_pending)).where(
            row.domain_id == domain_id
        )
    ).one()
    return ToolVersionPage(items=[_version(*one) for one in rows], pending=pending, decided=decided)


def decide(
    session: Session, scope: Scope, domain_id: UUID, version_id: UUID, status: VersionStatus
) -> None:
    """Accept or refuse a version; running turns keep the tools that they have.

    Raise NotAllowed, ToolVersionNotFound.
    """
    scope.require(Permission.MANAGE_SERVERS)
    row = ServerToolRow
    decided = session.execute(
        update(row)
        .where(row.id == version_id, row.domain_id == domain_id)
        .values(status=status, decided_by=scope.user_id, decided_at=func.clock_timestamp())
        .returning(row.server, row.tool, row.fingerprint)
    ).one_or_none()
    if decided is None:
        raise ToolVersionNotFound
    details: dict[str, Any] = {**decided._mapping, "version_id": str(version_id)}
    audit.record(session, scope.user_id, f"tool {status}", "domain", domain_id, details)


def count_waiting(session: Session, scope: Scope) -> int:
    """Return how many tools of servers wait for the caller's decision; only admins decide."""
    if not scope.has(Permission.MANAGE_SERVERS):
        return 0
    row = ServerToolRow
    is_waiting = (row.status == VersionStatus.PENDING) & row.domain_id.is_not(None)
    return session.scalar(select(func.count()).where(is_waiting)) or 0


def _accepted_before() -> ScalarSelect[Any]:
    """Return, for a query of versions, each one's last accepted description before it."""
    row, before = ServerToolRow, aliased(ServerToolRow)
    return (
        select(before.description)
        .where(
            before.domain_id == row.domain_id,
            before.server == row.server,
            before.tool == row.tool,
            before.status == VersionStatus.ACCEPTED,
            before.seen_at < row.seen_at,
        )
        .order_by(before.seen_at.desc())
        .limit(1)
        .correlate(row)
        .scalar_subquery()
    )


def _version(row: ServerToolRow, before: JSON | None) -> ToolVersion:
    return ToolVersion(
        id=row.id,
        server=row.server,
        tool=row.tool,
        status=VersionStatus(row.status),
        description=row.description,
        before=before,
        seen_at=row.seen_at,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
    )
