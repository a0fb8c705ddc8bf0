"""Turns: looked at, stopped, tried again."""

from uuid import UUID

from fastapi import APIRouter

from backend.api.dependencies import ScopeDep, ServicesDep
from backend.schemas.sessions import Turn
from backend.turns import service as turns
from backend.turns.rows import find_turn, turn_of
from backend.turns.stopping import stop_turn

router = APIRouter(prefix="/turns", tags=["turns"])


@router.get("/{turn_id}")
def get_turn(turn_id: UUID, services: ServicesDep, scope: ScopeDep) -> Turn:
    """One turn: status, attempts, usage, times, error."""
    with services.database.read() as session:
        return turn_of(session, find_turn(session, scope, turn_id))


@router.post("/{turn_id}/stop")
def stop(turn_id: UUID, services: ServicesDep, scope: ScopeDep) -> Turn:
    """Stop a turn; stopping one that has ended changes nothing."""
    return stop_turn(services, scope, turn_id)


@router.post("/{turn_id}/retry", status_code=202)
def retry(turn_id: UUID, services: ServicesDep, scope: ScopeDep) -> Turn:
    """Try a failed or stopped turn again, from where it had come to; gives the new turn."""
    return turns.retry(services, scope, turn_id)
