"""What a provider's groups give a person: memberships and a role, which end with the group.

What an administrator gave stays: groups only add to it.
"""

from collections.abc import Mapping, Set
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.administrators import WaysIn, can_administer
from backend.schemas.people.providers import GroupMeaning
from backend.schemas.people.rights import Role
from db.models.people.user import TeamMemberRow, TeamRow, UserRow

RANKS = tuple(Role)  # the greater ones last


def greatest(roles: Set[Role]) -> Role:
    """Return the greatest of some roles; of none, that of a member."""
    return max(roles, key=RANKS.index, default=Role.MEMBER)


def apply_groups(
    session: Session,
    user_id: str,
    provider: str,
    meanings: Mapping[str, GroupMeaning],
    held: Set[str],
    ways: WaysIn,
) -> None:
    """Give a person the teams and the role of the groups they are in, and end those they left.

    A group whose team does not exist any more gives nothing.
    """
    meant = [meanings[group] for group in held & meanings.keys()]
    _apply_teams(session, user_id, provider, {one.team for one in meant if one.team})
    _apply_role(session, user_id, provider, {one.role for one in meant if one.role}, ways)


def end_memberships(session: Session, provider: str, ways: WaysIn) -> None:
    """End what the groups of a provider gave anybody: it will not say when to."""
    session.execute(delete(TeamMemberRow).where(TeamMemberRow.provider == provider))
    of_theirs = select(UserRow.id).where(UserRow.role_provider == provider).order_by(UserRow.id)
    for user_id in session.scalars(of_theirs).all():
        _apply_role(session, user_id, provider, set(), ways)


def _apply_teams(session: Session, user_id: str, provider: str, wanted: Set[str]) -> None:
    row, of_person = TeamMemberRow, TeamMemberRow.user_id == user_id
    ended = session.scalars(
        delete(row)
        .where(of_person, row.provider == provider, row.team_id.not_in(sorted(wanted)))
        .returning(row.team_id)
    ).all()
    teams = session.scalars(select(TeamRow.id).where(TeamRow.id.in_(sorted(wanted)))).all()
    begun: list[str] = []
    if teams:
        adding = upsert(row).values(
            [{"team_id": team, "user_id": user_id, "provider": provider} for team in teams]
        )
        begun = list(session.scalars(adding.on_conflict_do_nothing().returning(row.team_id)))
    for action, ids in (("member_removed", ended), ("member_added", begun)):
        for team_id in sorted(ids):
            details = {"user": user_id, "provider": provider}
            audit.record(session, user_id, action, "team", team_id, details)


def _apply_role(
    session: Session, user_id: str, provider: str, roles: Set[Role], ways: WaysIn
) -> None:
    """Set the role to the greater of the claimed one and the one that an administrator gave."""
    # Of two administrators whose groups end at the same moment, the second one is the last.
    is_admin = (UserRow.role == Role.ADMIN) | (UserRow.id == user_id)
    session.execute(select(UserRow.id).where(is_admin).order_by(UserRow.id).with_for_update())
    row = session.get_one(UserRow, user_id, populate_existing=True)
    if row.role_provider not in (None, provider) and not roles:
        return  # another provider gave it
    given = Role(row.given_role) if row.role_provider and row.given_role else Role(row.role)
    role = greatest({given, *roles})
    is_claimed = role is not given
    if (
        row.role == Role.ADMIN
        and role is not Role.ADMIN
        and not can_administer(session, ways, user_id)
    ):
        details = {"role": row.role, "provider": provider}
        audit.record(session, user_id, "role_kept", "user", user_id, details)
        return
    values: dict[str, Any] = {
        "role": role,
        "role_provider": provider if is_claimed else None,
        "given_role": given if is_claimed else None,
    }
    if role != row.role:
        details = {"role": role, "provider": provider}
        audit.record(session, user_id, "changed", "user", user_id, details)
    session.execute(update(UserRow).where(UserRow.id == user_id).values(**values))
