"""Daily budgets of people and teams, for administrators."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path

from backend.api.dependencies import ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Text
from backend.schemas.people.rights import PrincipalType
from backend.schemas.usage import Budgets, DayBudgetInput
from backend.usage import day_rows

router = APIRouter(prefix="/budgets", tags=["usage"])
Kind = Literal["user", "team"]
Id = Annotated[Text, Path(min_length=1, max_length=200)]


@router.get("")
def list_budgets(services: ServicesDep, scope: ReadScope) -> Budgets:
    """The daily budgets of people and teams, and what is used of each today (UTC)."""
    with services.database.read_snapshot() as session:
        return day_rows.list_budgets(session, services.settings, scope)


@router.put("/{principal_type}/{principal_id}")
def set_budget(
    principal_type: Kind,
    principal_id: Id,
    body: DayBudgetInput,
    services: ServicesDep,
    scope: ManageScope,
) -> Budgets:
    """Set what a person or a team may use in a day; running turns notice within seconds.

    A person's budget replaces that of the settings. A team's counts all that is used in its
    sessions, besides the budgets of those who ask.
    """
    kind = PrincipalType(principal_type)
    with services.database.transaction() as session:
        day_rows.set_budget(session, scope, kind, principal_id, body)
        return day_rows.list_budgets(session, services.settings, scope)


@router.delete("/{principal_type}/{principal_id}")
def remove_budget(
    principal_type: Kind, principal_id: Id, services: ServicesDep, scope: ManageScope
) -> Budgets:
    """Remove a budget: the settings hold again for a person, and nothing limits a team."""
    kind = PrincipalType(principal_type)
    with services.database.transaction() as session:
        day_rows.remove_budget(session, scope, kind, principal_id)
        return day_rows.list_budgets(session, services.settings, scope)
