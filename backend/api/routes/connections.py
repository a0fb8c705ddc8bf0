"""The connection to models, for administrators: read, save, test and remove it."""

from fastapi import APIRouter

from backend.api.dependencies import ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.api.http.threads import long_wait
from backend.connections import service as connections
from backend.schemas.connections import (
    ConnectionTest,
    ModelConnection,
    SavedConnectionInput,
    TestedConnectionInput,
)

router = APIRouter(prefix="/model-connection", tags=["model connection"])


@router.get("")
def get_connection(services: ServicesDep, scope: ReadScope) -> ModelConnection:
    """The endpoint and default model in use, and whether there is a key; never the key itself."""
    with services.database.read() as session:
        return connections.look(session, services.settings, scope)


@router.put("")
def save_connection(
    body: Sent[SavedConnectionInput], services: ServicesDep, scope: ManageScope
) -> ModelConnection:
    """Save a connection, which replaces the environment's as a whole.

    It applies to all turns that begin from now on, without a restart.
    """
    with services.database.transaction() as session:
        connections.save(session, services.settings, scope, body)
        return connections.look(session, services.settings, scope)


@router.delete("")
def remove_connection(services: ServicesDep, scope: ManageScope) -> ModelConnection:
    """Remove the saved connection and its key; the environment's connection applies again."""
    with services.database.transaction() as session:
        connections.remove(session, scope)
        return connections.look(session, services.settings, scope)


@router.post("/test")
@long_wait
def test_connection(
    body: Sent[TestedConnectionInput], services: ServicesDep, scope: ManageScope
) -> ConnectionTest:
    """Ask the model for a word, or list the endpoint's models if none is named; save nothing.

    The request is sent from the API's machine.
    """
    return connections.test(services.database, services.settings, scope, body)
