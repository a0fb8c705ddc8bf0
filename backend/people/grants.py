"""Grants: rights on single resources, given and taken by who owns or manages what they are on."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
)
from sqlalchemy.orm import Session, aliased

from backend import audit
from backend.auth.reach import OWN, grants_to
from backend.auth.rights import OPEN
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.cursor import decode_cursor, encode_cursor
from backend.domains import service as domains
from backend.errors.base import InvalidInput, NotAllowed
from backend.errors.conversations import SessionNotFound
from backend.errors.domains import DomainNotFound
from backend.errors.files import FileNotFound
from backend.errors.people import PersonNotFound, TeamNotFound
from backend.files import rows as files
from backend.schemas.ids import Kind, bare_id
from backend.schemas.people.grants import Grant, Grants, NewGrant, Principal, Principals
from backend.schemas.people.rights import RIGHTS, Permission, PrincipalType, Resource, Right
from colloquy_kit.messages.clean import clean_text
from db.models.people.grant import GrantRow
from db.models.people.user import TeamMemberRow, TeamRow, UserRow

MAX_PAGE = 200
MOST_PEOPLE = 1_000  # that are listed by name for one resource
_ORDER = "grants"
_PREFIXED = {Resource.SESSION: Kind.SESSION, Resource.DOMAIN: Kind.DOMAIN}
# Who manages the kinds of resources that have no owner.
_MANAGED_WITH = {
    Resource.SERVER: Permission.MANAGE_SERVERS,
    Resource.MODEL: Permission.MANAGE_MODELS,
}


def list_grants(
    session: Session,
    scope: Scope,
    resource: Resource,
    resource_id: str | None = None,
    *,
    cursor: str | None = None,
    limit: int = MAX_PAGE,
    may_administer: bool = True,
) -> Grants:
    """Return a page of the grants on resources of a kind, or on one, and who may use that one.

    With `may_administer`, who manages people sees all. Raise NotAllowed, and what says that the
    resource does not exist.
    """
    if resource_id is None:
        scope.require(Permission.MANAGE_PEOPLE)
        found, following = _page(session, GrantRow.resource_type == resource, cursor, limit)
        return Grants(items=found, next_cursor=following)
    resource_id = clean_id(resource, resource_id)
    _check_manages(session, scope, resource, resource_id, may_administer=may_administer)
    of_one = _of(resource, resource_id)
    found, following = _page(session, of_one, cursor, limit)
    is_named = session.scalar(select(func.count()).where(of_one)) or 0
    to_everyone = of_one & (GrantRow.principal_type == PrincipalType.EVERYONE)
    is_everyones = bool(session.scalar(select(select(GrantRow).where(to_everyone).exists())))
    is_everyones = is_everyones or (resource in OPEN and not is_named)
    people = None if is_everyones else _people_of(session, of_one)
    return Grants(items=found, next_cursor=following, is_everyones=is_everyones, people=people)


def put_grant(session: Session, scope: Scope, new: NewGrant) -> Grant:
    """Grant a right; it takes the place of the principal's right on the resource.

    Raise NotAllowed, InvalidInput for a right that the kind of resource does not have,
    PersonNotFound, TeamNotFound, and what says that the resource does not exist.
    """
    resource, resource_id = new.resource_type, clean_id(new.resource_type, new.resource_id)
    if new.right not in RIGHTS[resource]:
        known = " and ".join(RIGHTS[resource])
        raise InvalidInput(f"right: the rights on a {resource} are {known}.")
    _check_manages(session, scope, resource, resource_id)
    principal_id = _check_principal(session, scope, new.principal_type, new.principal_id)
    of_principal = _of(resource, resource_id, new.principal_type, principal_id)
    existing = _one(session, of_principal & (GrantRow.right == new.right))
    session.execute(delete(GrantRow).where(of_principal, GrantRow.right != new.right))
    if existing is not None:
        return existing
    values = {
        "resource_type": resource,
        "resource_id": resource_id,
        "principal_type": new.principal_type,
        "principal_id": principal_id,
        "right": new.right,
    }
    session.execute(insert(GrantRow).values(**values, granted_by=scope.user_id))
    details = {"to": new.principal_type, "id": principal_id, "right": new.right}
    audit.record(session, scope.user_id, "granted", resource, resource_id, details)
    made = _one(session, of_principal)
    if made is None:
        raise RuntimeError("a grant that was just made is missing")
    return made


def remove_grant(
    session: Session,
    scope: Scope,
    resource: Resource,
    resource_id: str,
    principal_type: PrincipalType,
    principal_id: str,
    right: Right | None = None,
    *,
    may_administer: bool = True,
) -> None:
    """Take a principal's right away, or only this one; repeating it changes nothing.

    Raise NotAllowed, and what says that the resource does not exist.
    """
    resource_id = clean_id(resource, resource_id)
    _check_manages(session, scope, resource, resource_id, may_administer=may_administer)
    condition = _of(resource, resource_id, principal_type, principal_id)
    if right is not None:
        condition &= GrantRow.right == right
    for taken in session.scalars(delete(GrantRow).where(condition).returning(GrantRow.right)):
        details = {"from": principal_type, "id": principal_id, "right": taken}
        audit.record(session, scope.user_id, "grant_removed", resource, resource_id, details)


def list_principals(session: Session, scope: Scope, q: str, limit: int) -> Principals:
    """Return the teams and the people whose names contain `q`, for the choice of with whom.

    Also who has exactly this login or address: a part of one would let others guess the rest.
    """
    text = clean_text(q).strip().lower()

    def named(column: Any) -> ColumnElement[bool]:
        return func.lower(column).contains(text, autoescape=True)

    is_theirs = or_(func.lower(UserRow.login) == text, func.lower(UserRow.email) == text)
    teams = _known_teams(scope).where(named(TeamRow.name))
    people = _known_people(scope).where(
        named(UserRow.name) | is_theirs, UserRow.disabled_at.is_(None)
    )
    found = [
        Principal(type=kind, id=row.id, name=row.name)
        for kind, query in ((PrincipalType.TEAM, teams), (PrincipalType.USER, people))
        for row in session.execute(
            query.order_by(func.lower(query.selected_columns.name)).limit(limit)
        )
    ]
    return Principals(items=found[:limit])


def grants_held_by(session: Session, scope: Scope) -> list[Grant]:
    """Return the grants that hold for a person: theirs, their teams' and everyone's."""
    held = or_(*(grants_to(scope, kind, rights[0]) for kind, rights in RIGHTS.items()))
    return _page(session, held, None, MAX_PAGE)[0]


def clean_id(resource: Resource, resource_id: str) -> str:
    """Return a resource's id as it is stored: sources are named in any case."""
    text = clean_text(resource_id).strip()
    if kind := _PREFIXED.get(resource):
        try:
            return str(bare_id(kind, text))
        except ValueError as error:
            raise InvalidInput(f"resource_id: {error}.") from None
    return text.lower() if resource is Resource.SOURCE else text


def _check_manages(
    session: Session,
    scope: Scope,
    resource: Resource,
    resource_id: str,
    *,
    may_administer: bool = False,
) -> None:
    """Raise unless the caller may say who has rights on the resource.

    Who manages people may do so for all but sessions and uploaded files, which belong to somebody:
    to these they add nobody, but with `may_administer` they see and end grants.
    """
    if resource is Resource.SESSION:
        unless = Permission.MANAGE_PEOPLE if may_administer else None
        session_id = _uuid(resource_id, SessionNotFound)
        conversations.check_visible(session, scope, session_id, OWN, unless)
        return
    is_private = resource is Resource.FILE
    if scope.has(Permission.MANAGE_PEOPLE) and (may_administer or not is_private):
        return
    if resource is Resource.FILE:
        files.find(session, scope, _uuid(resource_id, FileNotFound), Right.MANAGE)
    elif resource is Resource.DOMAIN:
        domains.check_edits(session, scope, _uuid(resource_id, DomainNotFound))
    elif resource is Resource.SOURCE:
        _check_manages_source(session, scope, resource_id)
    else:
        scope.require(_MANAGED_WITH.get(resource, Permission.MANAGE_PEOPLE))


def _check_manages_source(session: Session, scope: Scope, name: str) -> None:
    is_theirs = grants_to(scope, Resource.SOURCE, Right.MANAGE) & (GrantRow.resource_id == name)
    if not session.scalar(select(select(GrantRow).where(is_theirs).exists())):
        raise NotAllowed


def _known_people(scope: Scope) -> Select[str, str]:
    """Select the people who exist for the caller: those of the same organisation."""
    people = select(UserRow.id, UserRow.name)
    if scope.has(Permission.MANAGE_PEOPLE):
        return people
    return people.where(UserRow.organisation.is_not_distinct_from(_organisation_of(scope)))


def _known_teams(scope: Scope) -> Select[str, str]:
    """Select the teams that exist for the caller: those with somebody of the same organisation."""
    teams = select(TeamRow.id, TeamRow.name)
    if scope.has(Permission.MANAGE_PEOPLE):
        return teams
    members = select(TeamMemberRow.team_id).join(UserRow, UserRow.id == TeamMemberRow.user_id)
    known = members.where(UserRow.organisation.is_not_distinct_from(_organisation_of(scope)))
    return teams.where(or_(TeamRow.id.in_(known), TeamRow.id.in_(scope.teams)))


def _organisation_of(scope: Scope) -> Any:
    own = aliased(UserRow)
    return select(own.organisation).where(own.id == scope.user_id).scalar_subquery()


def _check_principal(session: Session, scope: Scope, kind: PrincipalType, principal_id: str) -> str:
    """Return the principal's id. Raise PersonNotFound, TeamNotFound or InvalidInput."""
    if kind is PrincipalType.EVERYONE:
        if principal_id:
            raise InvalidInput("principal_id: everyone has no id. Leave it out.")
        return ""
    if kind is PrincipalType.TEAM:
        if session.execute(_known_teams(scope).where(TeamRow.id == principal_id)).first() is None:
            raise TeamNotFound("This team does not exist.")
    elif session.execute(_known_people(scope).where(UserRow.id == principal_id)).first() is None:
        raise PersonNotFound
    return principal_id


def _of(
    resource: Resource,
    resource_id: str,
    principal_type: PrincipalType | None = None,
    principal_id: str = "",
) -> ColumnElement[bool]:
    row = GrantRow
    of_one = and_(row.resource_type == resource, row.resource_id == resource_id)
    if principal_type is None:
        return of_one
    return of_one & (row.principal_type == principal_type) & (row.principal_id == principal_id)


def _page(
    session: Session, condition: ColumnElement[bool], cursor: str | None, limit: int
) -> tuple[list[Grant], str | None]:
    row = GrantRow
    place = (row.resource_type, row.resource_id, row.principal_type, row.principal_id, row.right)
    query = _grants().where(condition).order_by(*place).limit(limit + 1)
    if cursor:
        query = query.where(tuple_(*place) > decode_cursor(cursor, _ORDER, *[str] * len(place)))
    rows = session.execute(query).all()
    items = [_wire(one) for one in rows[:limit]]
    if len(rows) <= limit:
        return items, None
    last = items[-1]
    after = (last.resource_type, last.resource_id, last.principal_type, last.principal_id)
    return items, encode_cursor(_ORDER, *after, last.right)


def _one(session: Session, condition: ColumnElement[bool]) -> Grant | None:
    found = session.execute(_grants().where(condition)).one_or_none()
    return None if found is None else _wire(found)


def _grants() -> Select[Any]:
    row = GrantRow
    person = select(UserRow.name).where(UserRow.id == row.principal_id)
    team = select(TeamRow.name).where(TeamRow.id == row.principal_id)
    return select(
        row.resource_type,
        row.resource_id,
        row.principal_type,
        row.principal_id,
        row.right,
        row.granted_by,
        row.created_at,
        person.correlate(row).scalar_subquery().label("person"),
        team.correlate(row).scalar_subquery().label("team"),
    )


def _wire(row: Row[Any]) -> Grant:
    values = dict(row._mapping)
    person, team = values.pop("person"), values.pop("team")
    kind = PrincipalType(row.principal_type)
    name = {PrincipalType.USER: person, PrincipalType.TEAM: team}.get(kind) or row.principal_id
    return Grant(**values, principal_name="everyone" if kind is PrincipalType.EVERYONE else name)


def _people_of(session: Session, condition: ColumnElement[bool]) -> list[Principal]:
    """Return the people to whom grants were made, by themselves or with a team of theirs."""
    row = GrantRow
    by_kind = [
        select(row.principal_id).where(condition, row.principal_type == kind)
        for kind in (PrincipalType.USER, PrincipalType.TEAM)
    ]
    members = select(TeamMemberRow.user_id).where(TeamMemberRow.team_id.in_(by_kind[1]))
    is_one = or_(UserRow.id.in_(by_kind[0]), UserRow.id.in_(members))
    query = select(UserRow.id, UserRow.name).where(is_one, UserRow.disabled_at.is_(None))
    return [
        Principal(type=PrincipalType.USER, id=one.id, name=one.name)
        for one in session.execute(query.order_by(func.lower(UserRow.name)).limit(MOST_PEOPLE))
    ]


def _uuid(text: str, missing: type[Exception]) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise missing from None
