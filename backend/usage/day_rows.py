"""The daily budgets that are set on the page: read, set and removed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import delete, func, select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.errors.base import InvalidInput
from backend.errors.people import PersonNotFound, TeamNotFound
from backend.schemas.people.rights import Permission, PrincipalType
from backend.schemas.usage import Budgets, DayBudget, DayBudgetInput, OwnUsage, SetBudget
from backend.settings import Settings
from backend.usage.day_limits import DayLimits, day_budgets, renewal
from backend.usage.ledger import Used, used_today, used_today_by_teams
from db.models.conversations.conversation import ConversationRow
from db.models.people.grant import BudgetRow
from db.models.people.user import TeamRow, UserRow

USER, TEAM = PrincipalType.USER, PrincipalType.TEAM
Key = tuple[str, str]  # the principal's type and id


class TeamLimits(NamedTuple):
    """The limits of one team."""

    team_id: str
    name: str
    limits: DayLimits


@dataclass(frozen=True)
class AllLimits:
    """All limits that are set on the page, and the names of teams."""

    limits: Mapping[Key, DayLimits]
    team_names: Mapping[str, str]


def find_limits(session: Session, principals: Collection[Key]) -> dict[Key, DayLimits]:
    """Return the limits that are set for these principals."""
    row = BudgetRow
    key = tuple_(row.principal_type, row.principal_id)
    rows = session.scalars(select(row).where(key.in_(list(principals))))
    return {_key(one): DayLimits(one.tokens, one.cost) for one in rows}


def find_all_limits(session: Session) -> AllLimits:
    """Return all limits that are set on the page."""
    row = BudgetRow
    of_team = (row.principal_type == TEAM) & (TeamRow.id == row.principal_id)
    rows = session.execute(select(row, TeamRow.name).outerjoin(TeamRow, of_team)).tuples().all()
    return AllLimits(
        {_key(one): DayLimits(one.tokens, one.cost) for one, _ in rows},
        {one.principal_id: name for one, name in rows if name is not None},
    )


def team_limits_of(session: Session, conversation_id: UUID) -> TeamLimits | None:
    """Return the limits of the team that a conversation belongs to, if both exist."""
    conversation = session.get(ConversationRow, conversation_id)
    if conversation is None or conversation.team is None:
        return None
    row = BudgetRow
    found = session.execute(
        select(TeamRow.id, TeamRow.name, row.tokens, row.cost)
        .join(row, (row.principal_type == TEAM) & (row.principal_id == TeamRow.id))
        .where(TeamRow.id == conversation.team)
    ).one_or_none()
    return TeamLimits(found.id, found.name, DayLimits(found.tokens, found.cost)) if found else None


def list_budgets(session: Session, settings: Settings, scope: Scope) -> Budgets:
    """Return all budgets that are set, and what is used of each today. Raise NotAllowed."""
    scope.require(Permission.MANAGE_PEOPLE)
    row = BudgetRow
    rows = session.execute(
        select(row, func.coalesce(UserRow.name, TeamRow.name, row.principal_id))
        .outerjoin(UserRow, (row.principal_type == USER) & (UserRow.id == row.principal_id))
        .outerjoin(TeamRow, (row.principal_type == TEAM) & (TeamRow.id == row.principal_id))
        .order_by(row.principal_type, func.lower(func.coalesce(UserRow.name, TeamRow.name)))
    )
    found = rows.tuples().all()
    used = _used_of(session, [_key(one) for one, _ in found])
    default = DayLimits.of(settings)
    return Budgets(
        items=[_set_budget(one, name, used.get(_key(one), Used())) for one, name in found],
        default=DayBudgetInput(tokens=default.tokens, cost=default.cost),
    )


def set_budget(
    session: Session, scope: Scope, kind: PrincipalType, principal_id: str, new: DayBudgetInput
) -> None:
    """Set what a person or a team may use in a day.

    Raise NotAllowed, PersonNotFound, TeamNotFound, InvalidInput.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    _check_principal(session, kind, principal_id)
    if kind is TEAM and new.tokens is None and new.cost is None:
        raise InvalidInput("Set tokens or a cost. A team without a budget is not limited.")
    values = new.model_dump()
    setting = insert(BudgetRow).values(principal_type=kind, principal_id=principal_id, **values)
    keys = ["principal_type", "principal_id"]
    session.execute(setting.on_conflict_do_update(index_elements=keys, set_=values))
    audit.record(session, scope.user_id, "budget_set", kind, principal_id, values)


def remove_budget(session: Session, scope: Scope, kind: PrincipalType, principal_id: str) -> None:
    """Remove a budget, so that the settings hold again; without one, nothing changes.

    Raise NotAllowed, PersonNotFound, TeamNotFound.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    _check_principal(session, kind, principal_id)
    row = BudgetRow
    of_principal = (row.principal_type == kind) & (row.principal_id == principal_id)
    if session.scalar(delete(row).where(of_principal).returning(row.principal_id)) is not None:
        audit.record(session, scope.user_id, "budget_removed", kind, principal_id)


def own_usage(session: Session, settings: Settings, scope: Scope) -> OwnUsage:
    """Return what the caller has used today, and their and their teams' budgets."""
    used = used_today(session, [scope.user_id]).get(scope.user_id, Used())
    return OwnUsage(
        tokens=used.tokens,
        cost=used.cost,
        budgets=list(own_budgets(session, settings, scope)),
        renews_at=renewal(),
    )


def own_budgets(session: Session, settings: Settings, scope: Scope) -> Sequence[DayBudget]:
    """Return the budgets that the caller's turns use, and what is left of each today."""
    own, teams = (USER, scope.user_id), [(TEAM, one) for one in sorted(scope.teams)]
    limits = {own: DayLimits.of(settings)} | find_limits(session, [own, *teams])
    limited = [key for key, found in limits.items() if found.are_set]
    used = _used_of(session, limited)
    names = _team_names(session, [one for kind, one in limited if kind == TEAM])
    return [
        budget
        for kind, one in limited
        for budget in day_budgets(
            PrincipalType(kind),
            one,
            names.get(one, one) if kind == TEAM else scope.name or one,
            limits[kind, one],
            used.get((kind, one), Used()),
        )
    ]


def _used_of(session: Session, principals: Collection[Key]) -> dict[Key, Used]:
    """Return what these principals have used today."""
    found: dict[Key, Used] = {}
    for kind, count in ((USER, used_today), (TEAM, used_today_by_teams)):
        if ids := [one for of_kind, one in principals if of_kind == kind]:
            found |= {(kind, one): used for one, used in count(session, ids).items()}
    return found


def _team_names(session: Session, team_ids: Sequence[str]) -> dict[str, str]:
    if not team_ids:
        return {}
    named = select(TeamRow.id, TeamRow.name).where(TeamRow.id.in_(team_ids))
    return dict(session.execute(named).tuples().all())


def _check_principal(session: Session, kind: PrincipalType, principal_id: str) -> None:
    if kind is TEAM and session.get(TeamRow, principal_id) is None:
        raise TeamNotFound
    if kind is USER and session.get(UserRow, principal_id) is None:
        raise PersonNotFound


def _set_budget(row: BudgetRow, name: str, used: Used) -> SetBudget:
    return SetBudget(
        principal_type=PrincipalType(row.principal_type),
        principal_id=row.principal_id,
        name=name,
        tokens=row.tokens,
        cost=row.cost,
        used_tokens=used.tokens,
        used_cost=used.cost,
    )


def _key(row: BudgetRow) -> Key:
    return row.principal_type, row.principal_id
