"""Ending the turns of a person who was switched off: those that run, and those that wait."""

from sqlalchemy import select

from backend.auth.scope import Scope
from backend.schemas.people.rights import Permission
from backend.turns.control.stop import stop_turn
from backend.turns.lifecycle import UNFINISHED
from backend.turns.process.services import Services
from db.models.turns.turn import TurnRow


def stop_turns(services: Services, scope: Scope, user_id: str) -> None:
    """Stop all unfinished turns of a person; a worker ends those that run within a second.

    Raise NotAllowed.
    """
    scope.require(Permission.OPERATE)
    row = TurnRow
    with services.database.read() as session:
        unfinished = session.scalars(
            select(row.id)
            .where(row.owner_id == user_id, row.status.in_(UNFINISHED))
            .order_by(row.number.desc())  # what waits first, so that nothing follows what ends
        ).all()
    for turn_id in unfinished:
        stop_turn(services, scope, turn_id)
