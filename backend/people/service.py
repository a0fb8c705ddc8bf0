"""People and service accounts, as administrators keep them: invited, changed, disabled."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, exists, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend import audit
from backend.auth import api_tokens, local, sign_ins
from backend.auth.scope import Scope
from backend.cursor import decode_cursor, encode_cursor
from backend.errors.base import InvalidInput
from backend.errors.people import LastAdministrator, LoginTaken, PersonNotFound
from backend.schemas.people.account import Account, LinkPurpose, Team
from backend.schemas.people.people import Invited, NewPerson, People, Person, PersonChange
from backend.schemas.people.rights import Permission, Role
from backend.text import is_visible, name_line
from colloquy_kit.messages.clean import clean_text
from db.models.people.sign_in import OneTimeLinkRow
from db.models.people.user import IdentityRow, TeamMemberRow, TeamRow, UserRow

MAX_PAGE = 200
SUBJECT = "user"  # in the audit trail


def get_account(session: Session, scope: Scope) -> Account:
    """Return who the caller is, and what they may do."""
    row = session.get(UserRow, scope.user_id)
    teams = session.execute(
        select(TeamRow.id, TeamRow.name).where(TeamRow.id.in_(scope.teams)).order_by(TeamRow.name)
    )
    return Account(
        user_id=scope.user_id,
        name=scope.name or scope.user_id,
        login=row.login if row else None,
        email=row.email if row else None,
        role=scope.role,
        permissions=sorted(scope.permissions),
        allows=scope.allows,
        teams=[Team(id=one.id, name=one.name) for one in teams],
        has_password=bool(row and row.password_hash),
        sign_in=scope.sign_in,
    )


def list_people(
    session: Session,
    scope: Scope,
    *,
    q: str | None,
    team: str | None,
    cursor: str | None,
    limit: int,
) -> People:
    """Return one keyset page of people and service accounts by name. Raise NotAllowed.

    `team`: only the members of the team with this id.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    limit = max(1, min(limit, MAX_PAGE))
    place = (func.lower(UserRow.name), UserRow.id)
    query = select(UserRow).order_by(*place).limit(limit + 1)
    if q and q.strip():
        begun = clean_text(q).strip().lower()
        named = (UserRow.name, UserRow.login, UserRow.email, UserRow.id)
        query = query.where(
            func.lower(func.concat_ws(" ", *named)).contains(begun, autoescape=True)
        )
    if team is not None:
        members = select(TeamMemberRow.user_id).where(TeamMemberRow.team_id == team)
        query = query.where(UserRow.id.in_(members))
    if cursor:
        query = query.where(tuple_(*place) > decode_cursor(cursor, "people", str, str))
    rows = session.scalars(query).all()
    last = rows[limit - 1] if len(rows) > limit else None
    return People(
        items=_people(session, rows[:limit]),
        next_cursor=encode_cursor("people", last.name.lower(), last.id) if last else None,
    )


def get_person(session: Session, scope: Scope, user_id: str) -> Person:
    """Return one person. Raise NotAllowed, PersonNotFound."""
    scope.require(Permission.MANAGE_PEOPLE)
    return _people(session, [_find(session, user_id)])[0]


def add_person(session: Session, scope: Scope, new: NewPerson) -> Invited:
    """Add a person, with a link that lets them set a password; or a service account.

    Raise NotAllowed, LoginTaken, InvalidInput.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    user_id = local.new_person_id()
    values: dict[str, Any] = new.model_dump()
    values["name"] = _clean_name(new.name)
    if new.is_service and (new.login or new.email):
        raise InvalidInput(
            "A service account signs in with tokens only; leave login and email out."
        )
    values["login"] = local.clean_login(new.login) if new.login else None
    try:
        with session.begin_nested():
            session.execute(insert(UserRow).values(id=user_id, **values))
    except IntegrityError:
        raise LoginTaken from None
    details = {"role": new.role, "is_service": new.is_service}
    audit.record(session, scope.user_id, "invited", SUBJECT, user_id, details)
    token = None if new.is_service else local.make_link(session, LinkPurpose.INVITATION, user_id)
    return Invited(person=get_person(session, scope, user_id), link_token=token)


def check_service_account(session: Session, scope: Scope, user_id: str) -> None:
    """Raise NotAllowed, PersonNotFound, or InvalidInput for a person."""
    scope.require(Permission.MANAGE_PEOPLE)
    if not _find(session, user_id).is_service:
        raise InvalidInput("People make their own tokens; make them for service accounts only.")


def make_reset_link(session: Session, scope: Scope, user_id: str) -> tuple[LinkPurpose, str]:
    """Return what a link is for by which a person sets a password, and its token.

    Raise NotAllowed, PersonNotFound, InvalidInput for a service account.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    row = _find(session, user_id)
    if row.is_service:
        raise InvalidInput("A service account has no password.")
    purpose = LinkPurpose.RESET if row.login else LinkPurpose.INVITATION
    audit.record(session, scope.user_id, "link_made", SUBJECT, user_id, {"purpose": purpose})
    return purpose, local.make_link(session, purpose, user_id)


def change_person(session: Session, scope: Scope, user_id: str, wanted: PersonChange) -> Person:
    """Change a person. Disabling ends their sign-ins, tokens and links; a caller stops their turns.

    Raise NotAllowed, PersonNotFound, LastAdministrator.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    values: dict[str, Any] = wanted.model_dump(exclude_unset=True)
    row = _find(session, user_id)
    if values.get("name") is not None:
        values["name"] = _clean_name(values["name"])
    if "role" in values:  # from now on an administrator says so, and no provider's groups end it
        values |= {"role_provider": None, "given_role": None}
    if "disabled" in values:
        disabled = values.pop("disabled")
        values["disabled_at"] = func.clock_timestamp() if disabled else None
        if disabled:
            _end_ways(session, user_id)
    if values:
        session.execute(update(UserRow).where(UserRow.id == user_id).values(**values))
        _check_administrators(session)
        details: Mapping[str, Any] = wanted.model_dump(exclude_unset=True, include=_TOLD)
        audit.record(session, scope.user_id, "changed", SUBJECT, user_id, details)
    session.refresh(row)
    return get_person(session, scope, user_id)


def _end_ways(session: Session, user_id: str) -> None:
    sign_ins.end_all(session, user_id)
    api_tokens.revoke_all(session, user_id)
    session.execute(delete(OneTimeLinkRow).where(OneTimeLinkRow.user_id == user_id))


def _check_administrators(session: Session) -> None:
    """Raise LastAdministrator if nobody who may sign in could administer."""
    remains = exists().where(
        UserRow.role == Role.ADMIN, UserRow.disabled_at.is_(None), ~UserRow.is_service
    )
    if not session.scalar(select(remains)):
        raise LastAdministrator


def _find(session: Session, user_id: str) -> UserRow:
    row = session.get(UserRow, user_id)
    if row is None:
        raise PersonNotFound
    return row


def _clean_name(name: str) -> str:
    line = name_line(name)
    if not is_visible(line):
        raise InvalidInput("A name needs at least one visible character.")
    return line


def _people(session: Session, rows: Sequence[UserRow]) -> list[Person]:
    ids = [row.id for row in rows]
    teams: dict[str, list[str]] = {}
    members = select(TeamMemberRow.user_id, TeamMemberRow.team_id)
    for user_id, team_id in session.execute(
        members.where(TeamMemberRow.user_id.in_(ids)).order_by(TeamMemberRow.team_id)
    ):
        teams.setdefault(user_id, []).append(team_id)
    known = set(session.scalars(select(IdentityRow.user_id).where(IdentityRow.user_id.in_(ids))))
    return [
        Person(
            **{name: getattr(row, name) for name in _OF_ROW},
            teams=teams.get(row.id, []),
            is_invited=not (row.is_service or row.password_hash or row.id in known),
        )
        for row in rows
    ]


_TOLD = {"role", "organisation", "disabled"}
_OF_ROW = tuple(name for name in Person.model_fields if name not in ("teams", "is_invited"))
