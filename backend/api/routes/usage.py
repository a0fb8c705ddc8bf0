"""Usage: tokens and their cost, of one session and over days; and what is left of budgets."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from backend.api.dependencies import ScopeDep, ServicesDep
from backend.api.http.sanitize import Whole
from backend.api.http.threads import long_read
from backend.schemas.usage import SessionUsage, UsageBy, UsageReport
from backend.usage.service import report_usage, session_usage

router = APIRouter(tags=["usage"])


@router.get("/usage")
@long_read
def get_usage(
    services: ServicesDep,
    scope: ScopeDep,
    days: Annotated[Whole, Query(ge=1, le=366)] = 30,
    by: UsageBy = UsageBy.DAY,
) -> UsageReport:
    """What was used on the last days (UTC), today included; everybody's for admins, else one's own.

    Sessions that were deleted since are counted too.
    """
    with services.database.read() as session:
        return report_usage(session, services.settings, scope, days=days, by=by)


@router.get("/sessions/{session_id}/usage")
@long_read
def get_session_usage(session_id: UUID, services: ServicesDep, scope: ScopeDep) -> SessionUsage:
    """What the turns of a session have used, by model, and what is left of its budgets."""
    with services.database.read() as session:
        return session_usage(session, services.settings, scope, session_id)
