"""Calls of the page of models."""

from datetime import datetime

from backend.schemas.connections import ConnectionTest, ModelConnection
from backend.types import JSON
from ui.client import Client

PATH = "model-connection"
TEST_SECONDS = 60.0  # it asks a real endpoint, which may load its model first


def get_connection(client: Client) -> ModelConnection:
    """Return the connection in use, without its key."""
    return client.get(ModelConnection, PATH)


def save_connection(client: Client, body: JSON, seen: datetime | None) -> ModelConnection:
    """Let this connection hold from now on, in place of the one that was saved at `seen`."""
    replaces = {"replaces": seen and seen.isoformat()}
    return client.call(ModelConnection, "PUT", PATH, json=body | replaces)


def remove_connection(client: Client) -> ModelConnection:
    """Let the environment hold again."""
    return client.call(ModelConnection, "DELETE", PATH)


def test_connection(client: Client, body: JSON) -> ConnectionTest:
    """Ask the endpoint for a word; nothing is saved."""
    return client.call(ConnectionTest, "POST", f"{PATH}/test", json=body, timeout=TEST_SECONDS)
