"""Usage: tokens and their cost, per session and over time, and what is left of budgets."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.http.sanitize import Text, Whole
from backend.api.http.threads import long_read
from backend.errors.base import InvalidInput
from backend.schemas.usage import SessionUsage, TurnFiguresList, UsageBy, UsageReport
from backend.usage.service import report_usage, session_usage, turn_figures

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
) -> UsageReport:
    """Usage of the last days (UTC), today included: everyone's for admins, else the caller's own.

    Sessions deleted since then are included.
    """
    # Its figures come from several statements and have to agree.
    with services.database.read_snapshot() as session:
        return report_usage(session, services.settings, scope, days=days, by=by)


@router.get("/sessions/{session_id}/usage")
@long_read
def get_session_usage(session_id: UUID, services: ServicesDep, scope: ReadScope) -> SessionUsage:
    """The usage of a session's turns by model, and what is left of its budgets."""
    with services.database.read_snapshot() as session:
        return session_usage(session, services.settings, scope, session_id)


@router.get("/sessions/{session_id}/usage/turns")
def get_turn_figures(
    session_id: UUID,
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
