"""Domains: listed, made, changed, deleted; a change never reaches an existing conversation."""

from typing import Any
from uuid import UUID, uuid4

from pydantic import ValidationError
from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.domains.template import check_template, image_of
from backend.errors import (
    DomainInUse,
    DomainNameTaken,
    DomainNotFound,
    InvalidInput,
    NotAllowed,
)
from backend.llm.clean import clean
from backend.schemas.domains import Domain, DomainChange, DomainPage, DomainTemplate
from backend.text import clean_text
from db.models.domain import DomainRow

MAX_PAGE = 200
_NAME_TAKEN = "uq_domains_name"


def list_domains(session: Session, scope: Scope, *, cursor: str | None, limit: int) -> DomainPage:
    """One page by name; the cursor is the last name of the page before."""
    limit = max(1, min(limit, MAX_PAGE))
    query = select(DomainRow).order_by(DomainRow.name).limit(limit + 1)
    if cursor:
        query = query.where(DomainRow.name > clean_text(cursor))
    rows = session.scalars(query).all()
    items = [_domain(row) for row in rows[:limit]]
    return DomainPage(items=items, next_cursor=items[-1].name if len(rows) > limit else None)


def get(session: Session, scope: Scope, domain_id: UUID) -> Domain:
    """One domain. Raises DomainNotFound."""
    return _domain(_find(session, DomainRow.id == domain_id))


def find(session: Session, scope: Scope, name_or_id: str | None) -> Domain:
    """The domain of this name or id, else the default one. Raises DomainNotFound."""
    if name_or_id is None:
        return _domain(_find(session, DomainRow.is_default))
    condition = DomainRow.name == clean_text(name_or_id)
    if domain_id := _as_uuid(name_or_id):
        condition = condition | (DomainRow.id == domain_id)
    return _domain(_find(session, condition))


def create(session: Session, scope: Scope, template: DomainTemplate) -> Domain:
    """Store a new domain. Raises NotAllowed, InvalidInput, DomainNameTaken."""
    _require_admin(scope)
    check_template(template)
    domain_id = uuid4()
    first = not session.scalar(select(func.count()).where(DomainRow.is_default))
    values = _values(template) | {"id": domain_id, "is_default": first}
    _write(session, insert(DomainRow).values(**values))
    return get(session, scope, domain_id)


def change(session: Session, scope: Scope, domain_id: UUID, wanted: DomainChange) -> Domain:
    """Change what is given, as a new version.

    Raises NotAllowed, DomainNotFound, InvalidInput, DomainNameTaken.
    """
    _require_admin(scope)
    row = _find(session, DomainRow.id == domain_id, lock=True)
    given = wanted.model_dump(exclude_unset=True, mode="json")
    is_default = given.pop("is_default", None)
    template = _template({**row.template, "name": row.name, **given})
    check_template(template)
    if is_default:
        session.execute(update(DomainRow).where(DomainRow.is_default).values(is_default=False))
    values = _values(template) | {
        "version": DomainRow.version + 1,
        "is_default": True if is_default else DomainRow.is_default,
        "updated_at": func.now(),
    }
    _write(session, update(DomainRow).where(DomainRow.id == domain_id).values(**values))
    session.expire_all()
    return get(session, scope, domain_id)


def remove(session: Session, scope: Scope, domain_id: UUID) -> None:
    """Delete a domain; its conversations go on with their images.

    Raises NotAllowed, DomainNotFound, DomainInUse for the default one.
    """
    _require_admin(scope)
    if _find(session, DomainRow.id == domain_id, lock=True).is_default:
        raise DomainInUse
    session.execute(delete(DomainRow).where(DomainRow.id == domain_id))


def _find(
    session: Session, condition: ColumnElement[bool] | Any, *, lock: bool = False
) -> DomainRow:
    query = select(DomainRow).where(condition).limit(1)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise DomainNotFound
    return row


def _write(session: Session, statement: Any) -> None:
    try:
        session.execute(statement)
    except IntegrityError as error:
        if _NAME_TAKEN in str(error.orig):
            raise DomainNameTaken from error
        raise


def _template(body: dict[str, Any]) -> DomainTemplate:
    """The changed template; a change may hold null where a template needs a value."""
    try:
        return DomainTemplate.model_validate(body)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise InvalidInput(f"{where}: {fault['msg']}") from error


def _values(template: DomainTemplate) -> dict[str, Any]:
    body = clean(image_of(template))
    return {"name": body.pop("name"), "template": body}


def _domain(row: DomainRow) -> Domain:
    return Domain(
        **row.template,
        name=row.name,
        id=row.id,
        version=row.version,
        is_default=row.is_default,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _require_admin(scope: Scope) -> None:
    if not scope.is_admin:
        raise NotAllowed
