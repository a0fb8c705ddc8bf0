"""Versions of servers' tools for administrators: listing them and deciding on them."""

from typing import Any
from uuid import UUID

from sqlalchemy import case, func, select, update
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.errors.base import NotAllowed
from backend.errors.tools import ToolVersionNotFound
from backend.schemas.domains.servers import ToolVersion, ToolVersionPage, VersionStatus
from db.models.domains.server_tool import ServerToolRow

MAX_LISTED = 500


def list_versions(session: Session, scope: Scope, domain_id: UUID) -> ToolVersionPage:
    """Return the versions of a domain's tools; those that wait for a decision come first.

    Raise NotAllowed for non-admins.
    """
    _require_admin(scope)
    row = ServerToolRow
    is_pending = row.status == VersionStatus.PENDING
    rows = session.scalars(
        select(row)
        .where(row.domain_id == domain_id)
        .order_by(case((is_pending, 0), else_=1), row.seen_at.desc(), row.server, row.tool)
        .limit(MAX_LISTED)
    ).all()
    pending = session.scalar(select(func.count()).where(row.domain_id == domain_id, is_pending))
    accepted = [one for one in rows if one.status == VersionStatus.ACCEPTED]
    return ToolVersionPage(items=[_version(one, accepted) for one in rows], pending=pending or 0)


def decide(
    session: Session, scope: Scope, domain_id: UUID, version_id: UUID, status: VersionStatus
) -> None:
    """Accept or refuse a version; running turns keep the tools that they have.

    Raise NotAllowed, ToolVersionNotFound.
    """
    _require_admin(scope)
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


def _version(row: ServerToolRow, accepted: list[ServerToolRow]) -> ToolVersion:
    """Return the version with the last accepted one before it."""
    earlier = (
        one
        for one in accepted
        if (one.server, one.tool) == (row.server, row.tool) and one.seen_at < row.seen_at
    )
    before = next(earlier, None)
    return ToolVersion(
        id=row.id,
        server=row.server,
        tool=row.tool,
        status=VersionStatus(row.status),
        description=row.description,
        before=before.description if before else None,
        seen_at=row.seen_at,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
    )


def _require_admin(scope: Scope) -> None:
    if not scope.is_admin:
        raise NotAllowed
