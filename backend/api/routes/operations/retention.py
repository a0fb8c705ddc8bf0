"""Retention: what would be deleted next, and applying it; for administrators."""

from typing import Annotated

from fastapi import APIRouter, Query

from backend.api.dependencies import ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Flag
from backend.api.http.threads import long_read, long_wait
from backend.operations.retention import service as retention
from backend.schemas.retention import Retention, RetentionOutcome

router = APIRouter(prefix="/retention", tags=["retention"])


@router.get("")
@long_read
def get_retention(services: ServicesDep, scope: ReadScope) -> Retention:
    """The rules, what they would delete now, and past runs."""
    return retention.look(services.settings, services.database, scope)


@router.post("")
@long_wait
def apply_retention(
    services: ServicesDep,
    scope: ManageScope,
    dry_run: Annotated[Flag, Query(description="Only count what would be deleted.")] = True,
) -> RetentionOutcome:
    """Apply the rules now, in small batches."""
    return retention.apply_as(services, scope, dry_run=dry_run)
