"""Usage: tokens and their cost, per session and over time, and what is left of budgets."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.http.sanitize import Text, Whole
from backend.api.http.threads import long_read
from backend.errors.base import InvalidInput
from backend.schemas.ids import SessionId
from backend.schemas.usage import (
    OwnUsage,
    SessionUsage,
    TurnFiguresList,
    UsageBy,
    UsageChoices,
    UsageReport,
)
from backend.usage.day_rows import own_usage
from backend.usage.ledger import UsageFilter
from backend.usage.service import list_choices, report_usage, session_usage, turn_figures

router = APIRouter(tags=["usage"])
MAX_IDS = 200
LONGEST_IDS = 37 * MAX_IDS


@router.get("/usage")
@long_read
def get_usage(
    services: ServicesDep,
    scope: ReadScope,
    days: Annotated[Whole, Query(ge=1, le=366)] = 30,
    by: UsageBy = UsageBy.DAY,
    person: Annotated[Text | None, Query(description="The id of who asked.")] = None,
    team: Annotated[
        Text | None,
        Query(description="The id of the team that sessions belonged to; empty: none."),
    ] = None,
    domain: Annotated[Text | None, Query(description="The name of a domain.")] = None,
    model: Annotated[Text | None, Query(description="The name of a model.")] = None,
) -> UsageReport:
    """Usage of the last days (UTC), today included: everyone's for admins, else the caller's own.

    Sessions deleted since then are included. All figures count only what the filters match.
    """
    wanted = UsageFilter(person, team, domain, model)
    # Its figures come from several statements and have to agree.
    with services.database.read_snapshot() as session:
        return report_usage(session, services.settings, scope, days=days, by=by, wanted=wanted)


@router.get("/usage/choices")
@long_read
def list_usage_choices(
    services: ServicesDep,
    scope: ReadScope,
    days: Annotated[Whole, Query(ge=1, le=366)] = 30,
) -> UsageChoices:
    """The people, teams, domains and models with usage that the caller may see."""
    with services.database.read_snapshot() as session:
        return list_choices(session, scope, days=days)


@router.get("/usage/own")
def get_own_usage(services: ServicesDep, scope: ReadScope) -> OwnUsage:
    """What the caller has used today (UTC), and what is left of their and their teams' budgets."""
    with services.database.read_snapshot() as session:
        return own_usage(session, services.settings, scope)


@router.get("/sessions/{session_id}/usage")
@long_read
def get_session_usage(
    session_id: SessionId, services: ServicesDep, scope: ReadScope
) -> SessionUsage:
    """The usage of a session's turns by model, and what is left of its budgets."""
    with services.database.read_snapshot() as session:
        return session_usage(session, services.settings, scope, session_id)


@router.get("/sessions/{session_id}/usage/turns")
def get_turn_figures(
    session_id: SessionId,
    services: ServicesDep,
    scope: ReadScope,
    ids: Annotated[
        Text, Query(max_length=LONGEST_IDS, description=f"Up to {MAX_IDS} turns, comma-separated.")
    ],
) -> TurnFiguresList:
    """The usage of these turns, and how long each took; unfinished turns are left out."""
    wanted = _read_ids(ids)
    with services.database.read() as session:
        return TurnFiguresList(items=turn_figures(session, scope, session_id, wanted))


def _read_ids(ids: str) -> list[UUID]:
    """Return the ids. Raise InvalidInput if one is invalid, or there are too many."""
    try:
        found = [UUID(one) for one in ids.split(",")]
    except ValueError:
        raise InvalidInput("`ids` must be ids of turns, separated by commas.") from None
    if len(found) > MAX_IDS:
        raise InvalidInput(f"`ids` may name at most {MAX_IDS} turns.")
    return found
