"""What is told with sessions of whose they are and what the caller may do there."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.auth.reach import conversation_reached_by
from backend.auth.rights import read_rights
from backend.auth.scope import Scope
from backend.schemas.conversations.sessions import Session as WireSession
from backend.schemas.people.rights import Resource, Right, SessionRights
from db.models.conversations.conversation import ConversationRow
from db.models.people.user import TeamRow, UserRow


def keep_usable(session: Session, scope: Scope, found: WireSession) -> None:
    """Leave out the models that do not exist for the caller."""
    rights = read_rights(session, scope)
    named = [*(found.models or []), *filter(None, [found.default_model])]
    usable = {one for one in named if rights.may_use(Resource.MODEL, one)}
    found.models = [one for one in found.models or [] if one in usable]
    found.default_model = found.default_model if found.default_model in usable else None


def tell_rights(session: Session, scope: Scope, found: Sequence[WireSession]) -> None:
    """Set what the caller may do in each session, of those that they may read, and whose it is."""
    others = []
    for one in found:
        if one.team in scope.teams or (one.team is None and one.owner == scope.user_id):
            one.rights = SessionRights.OWN
        else:
            one.rights = SessionRights.READ
            others.append(one)
    _name_owners(session, [one for one in found if one.team or one.owner != scope.user_id])
    if not others:
        return
    ids = [one.id for one in others]
    query = select(ConversationRow.id).where(ConversationRow.id.in_(ids))
    continued = set(session.scalars(query.where(conversation_reached_by(scope, Right.CONTINUE))))
    for one in others:
        if one.id in continued:
            one.rights = SessionRights.CONTINUE


def _name_owners(session: Session, found: Sequence[WireSession]) -> None:
    if not found:
        return
    people = select(UserRow.id, UserRow.name).where(UserRow.id.in_({one.owner for one in found}))
    ids = {one.team for one in found if one.team}
    teams = select(TeamRow.id, TeamRow.name).where(TeamRow.id.in_(ids))
    names = dict(session.execute(people).tuples().all())
    of_teams = dict(session.execute(teams).tuples().all()) if ids else {}
    for one in found:
        one.owner_name = names.get(one.owner, one.owner)
        one.team_name = of_teams.get(one.team) if one.team else None
