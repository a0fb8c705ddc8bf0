"""Versions of domains: their content, author and time."""

from uuid import UUID

from sqlalchemy import insert, literal, select
from sqlalchemy.orm import Session

from backend.domains.template import template_of
from backend.errors.domains import DomainVersionNotFound
from backend.schemas.domains.configuration import (
    DomainVersion,
    DomainVersionPage,
    DomainVersionSummary,
)
from db.models.domains.domain import DomainRow, DomainVersionRow

MAX_PAGE = 200


def keep_version(session: Session, domain_id: UUID, changed_by: str) -> None:
    """Store the domain's new version, in the transaction that changes it."""
    row = DomainRow
    now = select(row.id, row.version, row.name, row.template).where(row.id == domain_id)
    columns = ["domain_id", "version", "name", "template", "changed_by"]
    values = now.add_columns(literal(changed_by))
    session.execute(insert(DomainVersionRow).from_select(columns, values))


def list_versions(
    session: Session, domain_id: UUID, *, before: int | None, limit: int
) -> DomainVersionPage:
    """Return one page, newest first; `before` is the last version of the previous page."""
    limit = max(1, min(limit, MAX_PAGE))
    row = DomainVersionRow
    query = select(row.version, row.name, row.changed_by, row.created_at)
    query = query.where(row.domain_id == domain_id).order_by(row.version.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(row.version < before)
    found = session.execute(query).all()
    items = [DomainVersionSummary(**each._mapping) for each in found[:limit]]
    return DomainVersionPage(
        items=items, next_before=items[-1].version if len(found) > limit else None
    )


def get_version(session: Session, domain_id: UUID, version: int) -> DomainVersion:
    """Return one version of a domain. Raise DomainVersionNotFound."""
    row = session.get(DomainVersionRow, (domain_id, version))
    if row is None:
        raise DomainVersionNotFound
    return DomainVersion(
        version=row.version,
        name=row.name,
        changed_by=row.changed_by,
        created_at=row.created_at,
        template=template_of({**row.template, "name": row.name}),
    )
