"""What one person may see and use, for administrators who ask."""

from collections.abc import Sequence

from sqlalchemy import false, func, select
from sqlalchemy.orm import Session

from backend.auth.callers import scope_of
from backend.auth.reach import granted
from backend.auth.rights import read_rights
from backend.auth.scope import Scope
from backend.conversations.service import exists_still
from backend.domains.service import exists_for
from backend.people import service
from backend.people.grants import grants_held_by
from backend.schemas.people.account import Team
from backend.schemas.people.grants import Reach, Reached, ReachedSessions, Withheld
from backend.schemas.people.rights import Permission, Resource, Right
from db.models.conversations.conversation import ConversationRow
from db.models.domains.domain import DomainRow
from db.models.people.user import TeamRow

MOST_DOMAINS = 1_000


def reach_of(session: Session, scope: Scope, user_id: str, sources: Sequence[str]) -> Reach:
    """Return what a person may see and use; `sources` are those of the installation.

    Raise NotAllowed, PersonNotFound, PersonDisabled.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    person = service.get_person(session, scope, user_id)
    theirs = scope_of(session, user_id)
    rights = read_rights(session, theirs)
    teams = select(TeamRow.id, TeamRow.name).where(TeamRow.id.in_(theirs.teams))
    withheld = sorted(rights.withheld)
    return Reach(
        user_id=person.id,
        name=person.name,
        role=person.role,
        teams=[Team(id=one.id, name=one.name) for one in session.execute(teams)],
        sessions=_count_sessions(session, theirs),
        domains=_domains(session, theirs),
        sources=[name for name in sources if rights.may_use(Resource.SOURCE, name)],
        grants=grants_held_by(session, theirs),
        withheld=[
            Withheld(resource_type=Resource(kind), resource_id=one) for kind, one in withheld
        ],
    )


def _domains(session: Session, scope: Scope) -> list[Reached]:
    row = DomainRow
    query = select(row.id, row.name).where(exists_for(scope)).order_by(row.name)
    found = session.execute(query.limit(MOST_DOMAINS))
    return [Reached(id=str(one.id), name=one.name) for one in found]


def _count_sessions(session: Session, scope: Scope) -> ReachedSessions:
    row = ConversationRow
    is_own = row.team.is_(None) & (row.owner_id == scope.user_id)
    of_teams = func.coalesce(row.team.in_(sorted(scope.teams)), false())
    is_shared = row.id.in_(granted(scope, Resource.SESSION, Right.READ))
    counts = [
        session.scalar(
            select(func.count()).where(condition, exists_still(), row.parent_id.is_(None))
        )
        for condition in (is_own, of_teams, is_shared & ~is_own & ~of_teams)
    ]
    own, team, shared = (count or 0 for count in counts)
    return ReachedSessions(own=own, of_teams=team, shared=shared)
