"""The connection to models, for administrators: reading, saving, testing and removing it."""

import asyncio
from urllib.parse import urlsplit

from pydantic import SecretStr
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.naming import names_of
from backend.auth.scope import Scope
from backend.connections import store
from backend.connections.probe import probe
from backend.errors.base import ConfigurationError, InvalidInput
from backend.errors.models import ConnectionChanged, KeyUnreadable
from backend.llm.connection import OPENAI_URL, Connection, outgoing_of
from backend.schemas.connections import (
    ConnectionSource,
    ConnectionTest,
    ConnectionUsed,
    EndpointInput,
    ModelConnection,
    SavedConnectionInput,
    TestedConnectionInput,
)
from backend.schemas.people.rights import Permission
from backend.settings import Settings
from db.models.model_connection import ModelConnectionRow
from db.session import Database

SUBJECT = "model connection"
PORTS = {"http": 80, "https": 443}


def look(session: Session, settings: Settings, scope: Scope) -> ModelConnection:
    """Return the connection in use. Raise NotAllowed."""
    scope.require(Permission.MANAGE_MODELS)
    environment = _environment(settings)
    common = {"environment": environment, "environment_is_demo": settings.uses_demo_model}
    row = store.find_saved(session)
    if row is None:
        is_demo = settings.uses_demo_model
        source = ConnectionSource.DEMO if is_demo else ConnectionSource.ENVIRONMENT
        return ModelConnection(source=source, **environment.model_dump(), **common)
    return ModelConnection(
        source=ConnectionSource.PAGE,
        base_url=row.base_url,
        default_model=row.default_model,
        has_key=row.sealed_key is not None,
        saved_by=_saver(session, row),
        saved_at=row.saved_at,
        key_problem=_key_problem(row, settings),
        **common,
    )


def save(session: Session, settings: Settings, scope: Scope, wanted: SavedConnectionInput) -> None:
    """Save this connection for turns that begin from now on, in all processes.

    Raise NotAllowed, InvalidInput, ConnectionChanged, KeyUnreadable, ConfigurationError.
    """
    scope.require(Permission.MANAGE_MODELS)
    store.lock(session)
    _check_replaced(session, wanted)
    connection = _connection(session, settings, wanted, wanted.default_model)
    try:
        store.replace(session, connection, settings, scope.user_id)
    except OSError as error:
        raise ConfigurationError(
            "The API key cannot be encrypted, so nothing was saved: DATA_DIR is not writable"
            f" ({error.strerror}). Fix that, or set ENCRYPTION_KEY."
        ) from error
    details = {
        "base_url": connection.base_url,
        "default_model": connection.default_model,
        "has_key": bool(connection.api_key.get_secret_value()),
        "key_is_new": wanted.api_key is not None,
    }
    audit.record(session, scope.user_id, "changed", SUBJECT, SUBJECT, details)


def remove(session: Session, scope: Scope) -> None:
    """Return to the environment's connection, and delete the saved key. Raise NotAllowed."""
    scope.require(Permission.MANAGE_MODELS)
    if store.clear(session):
        audit.record(session, scope.user_id, "removed", SUBJECT, SUBJECT)


def test(
    database: Database, settings: Settings, scope: Scope, wanted: TestedConnectionInput
) -> ConnectionTest:
    """Test the endpoint, and save nothing. It may take half a minute.

    A named model is asked a short question; if none is named, the endpoint lists its models.

    Raise NotAllowed, InvalidInput, KeyUnreadable.
    """
    scope.require(Permission.MANAGE_MODELS)
    with database.read() as session:
        connection = _connection(session, settings, wanted, wanted.default_model or "")
    return asyncio.run(probe(connection, outgoing_of(settings)))


def _connection(
    session: Session, settings: Settings, wanted: EndpointInput, model: str
) -> Connection:
    """Return the wanted connection, with its key. Raise InvalidInput, KeyUnreadable."""
    base_url = wanted.base_url or OPENAI_URL
    key = wanted.api_key
    if key is None:
        key = _saved_key(session, settings, base_url)
    if not key and base_url == OPENAI_URL:
        raise InvalidInput("OpenAI requires an API key. Enter one, or another base URL.")
    return Connection(base_url, SecretStr(key), model)


def _check_replaced(session: Session, wanted: SavedConnectionInput) -> None:
    if "replaces" not in wanted.model_fields_set:
        return
    row = store.find_saved(session)
    if (row and row.saved_at) == wanted.replaces:
        return
    removed = "The connection was removed"
    what = f"{_saver(session, row)} has saved another connection" if row else removed
    raise ConnectionChanged(f"{what} meanwhile; nothing was saved. Review the current one first.")


def _saver(session: Session, row: ModelConnectionRow) -> str:
    return names_of(session, [row.saved_by])[row.saved_by]


def _saved_key(session: Session, settings: Settings, base_url: str) -> str:
    """Return the saved key, but only for the host that it was saved for.

    The environment's key is not used: it belongs to the endpoint in the environment.
    """
    row = store.find_saved(session)
    if row is None or row.sealed_key is None:
        return ""
    if _origin(row.base_url) != _origin(base_url):
        raise InvalidInput(
            f"The saved API key is for {urlsplit(row.base_url).netloc} and is sent nowhere else."
            " Enter the key of the new endpoint, or none if it needs none."
        )
    return store.open_saved(row, settings).api_key.get_secret_value()


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)


def _environment(settings: Settings) -> ConnectionUsed:
    found = Connection.of(settings)
    return ConnectionUsed(
        base_url="" if found.is_demo else found.shown_url,
        default_model=found.default_model,
        has_key=bool(found.api_key.get_secret_value()),
    )


def _key_problem(row: ModelConnectionRow, settings: Settings) -> str | None:
    try:
        store.open_saved(row, settings)
    except KeyUnreadable as error:
        return error.detail
    return None
