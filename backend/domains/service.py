"""Domains: list, create, change, archive, delete; a change never affects a conversation."""

from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, delete, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.acting import as_system
from backend.auth.reach import conversation_belongs_to, grants_to
from backend.auth.rights import is_usable
from backend.auth.scope import Scope
from backend.cursor import decode_cursor, encode_cursor
from backend.domains import versions
from backend.domains.drift import diff_templates
from backend.domains.naming import match_domain
from backend.domains.template import changed_template, check_template, said_by
from backend.errors.base import NotAllowed
from backend.errors.domains import (
    DomainArchived,
    DomainChanged,
    DomainInUse,
    DomainNameTaken,
    DomainNotFound,
)
from backend.schemas.domains.configuration import DomainVersion, DomainVersionPage
from backend.schemas.domains.servers import VersionStatus
from backend.schemas.domains.templates import Domain, DomainChange, DomainPage, DomainTemplate
from backend.schemas.people.rights import Allows, Permission, Resource, Right
from colloquy_kit.messages.clean import clean
from db.models.conversations.conversation import ConversationRow
from db.models.domains.domain import DomainRow
from db.models.domains.server_tool import ServerToolRow
from db.models.people.grant import GrantRow

MAX_PAGE = 200
SUBJECT = "domain"  # in the audit trail
_NAME_TAKEN = "uq_domains_name"


def list_domains(
    session: Session,
    scope: Scope,
    *,
    cursor: str | None,
    limit: int,
    archived: bool | None = None,
    counted: bool = False,
) -> DomainPage:
    """Return one page by name. Raise InvalidInput for an unknown cursor.

    `archived`: only archived domains, or only others. `counted`: with the number of sessions.
    """
    limit = max(1, min(limit, MAX_PAGE))
    query = select(DomainRow).where(exists_for(scope)).order_by(DomainRow.name).limit(limit + 1)
    if cursor:
        (last,) = decode_cursor(cursor, "domains", str)
        query = query.where(DomainRow.name > last)
    if archived is not None:
        query = query.where(DomainRow.archived == archived)
    rows = session.scalars(query).all()
    items = [_domain(row) for row in rows[:limit]]
    if counted:
        _count_sessions(session, scope, items)
    next_cursor = encode_cursor("domains", items[-1].name) if len(rows) > limit else None
    return DomainPage(items=items, next_cursor=next_cursor)


def get(session: Session, scope: Scope, domain_id: UUID) -> Domain:
    """Return one domain. Raise DomainNotFound."""
    return _domain(_find(session, (DomainRow.id == domain_id) & exists_for(scope)))


def exists_for(scope: Scope) -> ColumnElement[bool]:
    """Match the domains that exist for the caller: those that they may use, or manage."""
    if scope.has(Permission.MANAGE_DOMAINS):
        return true()
    return is_usable(scope, Resource.DOMAIN, DomainRow.id)


def check_uses(session: Session, scope: Scope, domain_id: UUID | None) -> None:
    """Raise DomainNotFound unless the caller may use the domain, or it was deleted."""
    if domain_id is None or scope.has(Permission.MANAGE_DOMAINS):
        return
    row = DomainRow
    is_known = select(row.id).where(row.id == domain_id).exists()
    is_theirs = select(row.id).where(row.id == domain_id, exists_for(scope)).exists()
    if session.scalar(select(is_known & ~is_theirs)):
        raise DomainNotFound("You may not use the domain of this session. Ask an administrator.")


def check_edits(session: Session, scope: Scope, domain_id: UUID) -> None:
    """Raise NotAllowed unless the caller may edit the domain, DomainNotFound if there is none."""
    get(session, scope, domain_id)
    _check_edits(session, scope, GrantRow.resource_id == str(domain_id))


def check_edits_some(session: Session, scope: Scope) -> None:
    """Raise NotAllowed unless the caller may edit at least one domain."""
    _check_edits(session, scope, true())


def _check_edits(session: Session, scope: Scope, of_domain: ColumnElement[bool]) -> None:
    if scope.has(Permission.MANAGE_DOMAINS):
        return
    edits = grants_to(scope, Resource.DOMAIN, Right.EDIT)
    is_editor = select(GrantRow.resource_id).where(edits, of_domain).exists()
    if scope.allows is not Allows.MANAGE or not session.scalar(select(is_editor)):
        raise NotAllowed


def find(session: Session, scope: Scope, name_or_id: str | None) -> Domain:
    """Return the domain of this name or id, else the default domain, for a new conversation.

    For whom the default one does not exist, the first that does takes its place.
    Raise DomainNotFound or DomainArchived.
    """
    if name_or_id is None:
        return _find_default(session, scope)
    named = match_domain(name_or_id, DomainRow.name, DomainRow.id)
    row = _find(session, named & exists_for(scope))
    if row.archived:
        raise DomainArchived
    return _domain(row)


def create(
    session: Session, scope: Scope, template: DomainTemplate, *, source: UUID | None = None
) -> Domain:
    """Store a new domain; `source` is the domain that it is copied from, if any.

    Raise NotAllowed, InvalidInput or DomainNameTaken.
    """
    scope.require(Permission.MANAGE_DOMAINS)
    check_template(template)
    domain_id = uuid4()
    first = not session.scalar(select(func.count()).where(DomainRow.is_default))
    values = _values(template) | {"id": domain_id, "is_default": first}
    _write(session, insert(DomainRow).values(**values))
    versions.keep_version(session, domain_id, scope.user_id)
    details = {"name": values["name"]} | ({"copy_of": str(source)} if source else {})
    audit.record(session, scope.user_id, "created", SUBJECT, domain_id, details)
    return get(session, scope, domain_id)


def duplicate(session: Session, scope: Scope, domain_id: UUID, name: str) -> Domain:
    """Store a copy under another name. Raise like `create`, and DomainNotFound."""
    scope.require(Permission.MANAGE_DOMAINS)
    template = template_in(get(session, scope, domain_id)).model_copy(update={"name": name})
    return create(session, scope, template, source=domain_id)


def change(session: Session, scope: Scope, domain_id: UUID, wanted: DomainChange) -> Domain:
    """Change the given fields; a change of the configuration makes a new version.

    Raise NotAllowed, DomainNotFound, InvalidInput, DomainNameTaken, DomainChanged, DomainInUse or
    DomainArchived.
    """
    row = _hold(session, scope, domain_id, wanted.version)
    given = wanted.model_dump(exclude_unset=True, mode="json")
    given.pop("version", None)
    if (archived := given.pop("archived", row.archived)) != row.archived:
        _archive(session, scope, row, archived)
    if (is_default := given.pop("is_default", row.is_default)) != row.is_default:
        _make_default(session, scope, row, is_default)
    template = changed_template({**row.template, "name": row.name}, given)
    _store(session, scope, row, template)
    session.expire_all()
    return get(session, scope, domain_id)


def restore(
    session: Session, scope: Scope, domain_id: UUID, number: int, edited: int | None
) -> Domain:
    """Restore an earlier version: its content becomes a new version.

    Raise like `change`, and DomainVersionNotFound.
    """
    row = _hold(session, scope, domain_id, edited)
    earlier = versions.get_version(session, domain_id, number)
    _store(session, scope, row, earlier.template, {"restored": number})
    session.expire_all()
    return get(session, scope, domain_id)


def list_versions(
    session: Session, scope: Scope, domain_id: UUID, *, before: int | None, limit: int
) -> DomainVersionPage:
    """Return one page of a domain's versions, newest first. Raise NotAllowed or DomainNotFound."""
    check_edits(session, scope, domain_id)
    return versions.list_versions(session, domain_id, before=before, limit=limit)


def get_version(session: Session, scope: Scope, domain_id: UUID, number: int) -> DomainVersion:
    """Return one version of a domain. Raise NotAllowed, DomainNotFound or DomainVersionNotFound."""
    check_edits(session, scope, domain_id)
    today = template_in(get(session, scope, domain_id))
    found = versions.get_version(session, domain_id, number)
    return found.model_copy(update={"changes": diff_templates(found.template, today)})


def remove(session: Session, scope: Scope, domain_id: UUID) -> str:
    """Delete a domain and return its last name, which its conversations keep, as their images.

    What an administrator has refused of its tool servers stays refused for them.
    Raise NotAllowed, DomainNotFound, or DomainInUse for the default domain.
    """
    scope.require(Permission.MANAGE_DOMAINS)
    row = _hold(session, scope, domain_id, None)
    if row.is_default:
        raise DomainInUse
    keep_name = update(ConversationRow).values(stored_domain_name=row.name)
    with as_system(session):
        session.execute(
            keep_name.where(ConversationRow.domain_id == domain_id)
            .where(ConversationRow.stored_domain_name != row.name)
            .execution_options(synchronize_session=False)
        )
    seen = delete(ServerToolRow).where(ServerToolRow.domain_id == domain_id)
    session.execute(seen.where(ServerToolRow.status != VersionStatus.REFUSED))
    session.execute(delete(DomainRow).where(DomainRow.id == domain_id))
    of_domain = GrantRow.resource_type == Resource.DOMAIN
    session.execute(delete(GrantRow).where(of_domain, GrantRow.resource_id == str(domain_id)))
    audit.record(session, scope.user_id, "deleted", SUBJECT, domain_id, {"name": row.name})
    return row.name


def template_in(domain: Domain) -> DomainTemplate:
    """Return the template of a stored domain."""
    return DomainTemplate.read(domain.model_dump(include=_TEMPLATE))


def _hold(session: Session, scope: Scope, domain_id: UUID, edited: int | None) -> DomainRow:
    """Return the row, locked; `edited` is the version that the caller edited."""
    check_edits(session, scope, domain_id)
    row = _find(session, DomainRow.id == domain_id, lock=True)
    if edited is not None and edited != row.version:
        raise DomainChanged(
            f"This domain is at version {row.version}, but version {edited} was edited. Nothing was"
            " saved. Look at what has changed, then save again."
        )
    return row


def _store(
    session: Session,
    scope: Scope,
    row: DomainRow,
    template: DomainTemplate,
    details: dict[str, Any] | None = None,
) -> None:
    """Store this as the domain's content and next version, unless it is unchanged."""
    check_template(template)
    values = _values(template)
    if (values["name"], values["template"]) == (row.name, row.template):
        return
    newer = {"version": DomainRow.version + 1, "updated_at": func.now()}
    _write(session, update(DomainRow).where(DomainRow.id == row.id).values(**values, **newer))
    versions.keep_version(session, row.id, scope.user_id)
    about = {"name": values["name"], "version": row.version + 1, **(details or {})}
    audit.record(session, scope.user_id, "changed", SUBJECT, row.id, about)


def _archive(session: Session, scope: Scope, row: DomainRow, archived: bool) -> None:
    if row.is_default:
        raise DomainInUse
    _set(session, row, archived=archived)
    action = "archived" if archived else "unarchived"
    audit.record(session, scope.user_id, action, SUBJECT, row.id, {"name": row.name})


def _make_default(session: Session, scope: Scope, row: DomainRow, is_default: bool) -> None:
    scope.require(Permission.MANAGE_DOMAINS)
    if not is_default:
        raise DomainInUse("There is always one default domain. Make another one the default.")
    if row.archived:
        raise DomainArchived
    session.execute(update(DomainRow).where(DomainRow.is_default).values(is_default=False))
    _set(session, row, is_default=True)
    audit.record(session, scope.user_id, "made default", SUBJECT, row.id, {"name": row.name})


def _set(session: Session, row: DomainRow, **values: Any) -> None:
    newest = {"updated_at": func.now(), **values}
    session.execute(
        update(DomainRow).where(DomainRow.id == row.id).values(**newest).returning(DomainRow),
        execution_options={"populate_existing": True},
    ).scalar_one()


def _count_sessions(session: Session, scope: Scope, domains: list[Domain]) -> None:
    """Count the sessions of domains: all for who manages domains, else those of the caller."""
    of = ConversationRow.domain_id
    found = select(of, func.count()).where(of.in_([domain.id for domain in domains]))
    found = found.where(ConversationRow.parent_id.is_(None)).group_by(of)
    if not scope.has(Permission.MANAGE_DOMAINS):
        found = found.where(conversation_belongs_to(scope))
    counts = dict(session.execute(found).tuples().all())
    for domain in domains:
        domain.sessions = counts.get(domain.id, 0)


def _find_default(session: Session, scope: Scope) -> Domain:
    query = select(DomainRow).where(~DomainRow.archived, exists_for(scope))
    row = session.scalar(query.order_by(DomainRow.is_default.desc(), DomainRow.name).limit(1))
    if row is None:
        raise DomainNotFound("There is no domain that you may use. Ask an administrator.")
    return _domain(row)


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


def _values(template: DomainTemplate) -> dict[str, Any]:
    body = clean(said_by(template))
    return {"name": body.pop("name"), "template": body}


def _domain(row: DomainRow) -> Domain:
    own = ("id", "name", "version", "is_default", "archived", "created_at", "updated_at")
    return Domain.read({**row.template, **{name: getattr(row, name) for name in own}})


_TEMPLATE = set(DomainTemplate.model_fields)
