"""API calls for links to sessions."""

from backend.schemas.conversations.links import SharedSession
from ui.client import Client


def open_link(client: Client, token: str) -> SharedSession:
    """Return the session that a link opens."""
    return client.get(SharedSession, f"shared/{token}")
