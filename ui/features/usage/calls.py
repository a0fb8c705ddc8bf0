"""API calls for usage."""

from collections.abc import Iterable
from typing import TypedDict
from urllib.parse import quote
from uuid import UUID

from backend.schemas.people.people import People, Teams
from backend.schemas.usage import (
    Budgets,
    DayBudgetInput,
    OwnUsage,
    SessionUsage,
    TurnFigures,
    TurnFiguresList,
    UsageBy,
    UsageChoices,
    UsageReport,
)
from ui.client import Client

MOST_PEOPLE = 50


class Wanted(TypedDict, total=False):
    """What a report counts: one person's, one team's, one domain's or one model's usage."""

    person: str | None
    team: str | None
    domain: str | None
    model: str | None


def get_usage(client: Client, days: int, by: UsageBy, wanted: Wanted) -> UsageReport:
    """Return the usage of the last days."""
    return client.get(UsageReport, "usage", days=days, by=by.value, **wanted)


def get_choices(client: Client, days: int) -> UsageChoices:
    """Return the people, teams, domains and models with usage in the last days."""
    return client.get(UsageChoices, "usage/choices", days=days)


def get_own_usage(client: Client) -> OwnUsage:
    """Return what the caller has used today, and what is left of the budgets."""
    return client.get(OwnUsage, "usage/own")


def list_budgets(client: Client) -> Budgets:
    """Return the daily budgets of people and teams."""
    return client.get(Budgets, "budgets")


def set_budget(client: Client, kind: str, principal_id: str, new: DayBudgetInput) -> None:
    """Set what a person or a team may use in a day."""
    client.send("PUT", _budget(kind, principal_id), json=new.model_dump())


def remove_budget(client: Client, kind: str, principal_id: str) -> None:
    """Remove the budget of a person or a team."""
    client.send("DELETE", _budget(kind, principal_id))


def list_teams(client: Client) -> dict[str, str]:
    """Return the names of all teams, by id."""
    return {one.id: one.name for one in client.get(Teams, "teams").items}


def find_people(client: Client, sought: str) -> dict[str, str]:
    """Return the names of the first people that match, by id."""
    found = client.get(People, "people", q=sought or None, limit=MOST_PEOPLE)
    return {one.id: one.name for one in found.items}


def get_session_usage(client: Client, session_id: UUID) -> SessionUsage:
    """Return a session's usage, and the state of its budgets."""
    return client.get(SessionUsage, f"sessions/{session_id}/usage")


def get_turn_figures(
    client: Client, session_id: UUID, turn_ids: Iterable[UUID]
) -> dict[UUID, TurnFigures]:
    """Return the usage of finished turns, by turn id."""
    ids = ",".join(sorted(map(str, turn_ids)))
    found = client.get(TurnFiguresList, f"sessions/{session_id}/usage/turns", ids=ids)
    return {one.turn_id: one for one in found.items}


def _budget(kind: str, principal_id: str) -> str:
    return f"budgets/{kind}/{quote(principal_id, safe='')}"
