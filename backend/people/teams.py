"""Teams: made, renamed, deleted, and their members."""

from uuid import uuid4

from sqlalchemy import delete, exists, func, insert, select, update
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.errors.base import InvalidInput
from backend.errors.people import PersonNotFound, TeamNameTaken, TeamNotFound, TeamOwnsSessions
from backend.schemas.people.people import NewTeam, TeamDetails, Teams
from backend.schemas.people.rights import Permission, PrincipalType
from backend.text import is_visible, name_line
from db.models.conversations.conversation import ConversationRow
from db.models.people.grant import BudgetRow, GrantRow
from db.models.people.user import TeamMemberRow, TeamRow, UserRow
from db.models.webhook import WebhookRow

SUBJECT = "team"  # in the audit trail


def list_teams(session: Session, scope: Scope) -> Teams:
    """Return all teams by name. Raise NotAllowed."""
    scope.require(Permission.MANAGE_PEOPLE)
    return Teams(items=_teams(session))


def add_team(session: Session, scope: Scope, new: NewTeam) -> TeamDetails:
    """Make a team. Raise NotAllowed, TeamNameTaken, InvalidInput."""
    scope.require(Permission.MANAGE_PEOPLE)
    team_id, name = str(uuid4()), _clean_name(new.name)
    try:
        with session.begin_nested():
            session.execute(insert(TeamRow).values(id=team_id, name=name))
    except IntegrityError:
        raise TeamNameTaken from None
    audit.record(session, scope.user_id, "made", SUBJECT, team_id, {"name": name})
    return _team(session, team_id)


def rename_team(session: Session, scope: Scope, team_id: str, new: NewTeam) -> TeamDetails:
    """Rename a team. Raise NotAllowed, TeamNotFound, TeamNameTaken."""
    scope.require(Permission.MANAGE_PEOPLE)
    _team(session, team_id)
    name = _clean_name(new.name)
    try:
        with session.begin_nested():
            session.execute(update(TeamRow).where(TeamRow.id == team_id).values(name=name))
    except IntegrityError:
        raise TeamNameTaken from None
    audit.record(session, scope.user_id, "renamed", SUBJECT, team_id, {"name": name})
    return _team(session, team_id)


def delete_team(session: Session, scope: Scope, team_id: str) -> None:
    """Delete a team and what it was granted. Raise NotAllowed, TeamNotFound, TeamOwnsSessions."""
    scope.require(Permission.MANAGE_PEOPLE)
    name = _team(session, team_id).name
    if session.scalar(select(exists().where(ConversationRow.team == team_id))):
        raise TeamOwnsSessions
    of_team = (GrantRow.principal_type == PrincipalType.TEAM) & (GrantRow.principal_id == team_id)
    session.execute(delete(GrantRow).where(of_team))
    is_budget = BudgetRow.principal_type == PrincipalType.TEAM
    session.execute(delete(BudgetRow).where(is_budget, BudgetRow.principal_id == team_id))
    is_webhook = WebhookRow.principal_type == PrincipalType.TEAM
    session.execute(delete(WebhookRow).where(is_webhook, WebhookRow.principal_id == team_id))
    session.execute(delete(TeamRow).where(TeamRow.id == team_id))
    audit.record(session, scope.user_id, "deleted", SUBJECT, team_id, {"name": name})


def add_member(session: Session, scope: Scope, team_id: str, user_id: str) -> TeamDetails:
    """Make a person a member; repeating it changes nothing. Raise TeamNotFound, PersonNotFound."""
    scope.require(Permission.MANAGE_PEOPLE)
    _team(session, team_id)
    if session.get(UserRow, user_id) is None:
        raise PersonNotFound
    # From now on an administrator says so, and no provider's groups end it.
    adding = upsert(TeamMemberRow).values(team_id=team_id, user_id=user_id, provider=None)
    session.execute(
        adding.on_conflict_do_update(index_elements=["team_id", "user_id"], set_={"provider": None})
    )
    audit.record(session, scope.user_id, "member_added", SUBJECT, team_id, {"user": user_id})
    return _team(session, team_id)


def remove_member(session: Session, scope: Scope, team_id: str, user_id: str) -> TeamDetails:
    """End a membership; repeating it changes nothing. Raise TeamNotFound."""
    scope.require(Permission.MANAGE_PEOPLE)
    _team(session, team_id)
    row = TeamMemberRow
    session.execute(delete(row).where(row.team_id == team_id, row.user_id == user_id))
    audit.record(session, scope.user_id, "member_removed", SUBJECT, team_id, {"user": user_id})
    return _team(session, team_id)


def _team(session: Session, team_id: str) -> TeamDetails:
    found = _teams(session, team_id)
    if not found:
        raise TeamNotFound
    return found[0]


def _teams(session: Session, team_id: str | None = None) -> list[TeamDetails]:
    row, of = TeamRow, TeamMemberRow
    ids = func.array_agg(aggregate_order_by(of.user_id, of.user_id)).filter(of.user_id.is_not(None))
    query = (
        select(row.id, row.name, row.created_at, ids.label("members"))
        .outerjoin(of, of.team_id == row.id)
        .group_by(row.id)
        .order_by(func.lower(row.name), row.id)
    )
    if team_id is not None:
        query = query.where(row.id == team_id)
    return [
        TeamDetails(id=one.id, name=one.name, members=one.members or [], created_at=one.created_at)
        for one in session.execute(query)
    ]


def _clean_name(name: str) -> str:
    line = name_line(name)
    if not is_visible(line):
        raise InvalidInput("A team's name needs at least one visible character.")
    return line
