"""API calls for links to sessions: make, list, revoke and open them."""

from uuid import UUID

from backend.schemas.conversations.links import (
    NewSessionLink,
    SessionLink,
    SessionLinks,
    SharedSession,
)
from ui.client import Client


def make_link(client: Client, session_id: UUID, days: int) -> NewSessionLink:
    """Make a link to a session that is valid for so many days."""
    body = {"days": days}
    return client.call(NewSessionLink, "POST", f"sessions/{session_id}/links", json=body)


def list_links(client: Client, session_id: UUID) -> SessionLinks:
    """Return all links to a session."""
    return client.get(SessionLinks, f"sessions/{session_id}/links")


def revoke_link(client: Client, session_id: UUID, link_id: UUID) -> SessionLink:
    """Revoke a link permanently."""
    return client.call(SessionLink, "DELETE", f"sessions/{session_id}/links/{link_id}")


def open_link(client: Client, token: str) -> SharedSession:
    """Return the session that a link opens."""
    return client.get(SharedSession, f"shared/{token}")
