"""API calls for links to sessions: make, list, revoke and open them."""

from uuid import UUID

from backend.schemas.conversations.links import (
    NewSessionLink,
    SessionLink,
    SessionLinks,
    SharedSession,
)
from backend.schemas.conversations.sessions import MessagePage
from ui.client import Client


def make_link(client: Client, session_id: UUID) -> NewSessionLink:
    """Make a link to a session."""
    return client.call(NewSessionLink, "POST", f"sessions/{session_id}/links")


def list_links(client: Client, session_id: UUID) -> SessionLinks:
    """Return all links to a session."""
    return client.get(SessionLinks, f"sessions/{session_id}/links")


def revoke_link(client: Client, session_id: UUID, link_id: UUID) -> SessionLink:
    """Revoke a link permanently."""
    return client.call(SessionLink, "DELETE", f"sessions/{session_id}/links/{link_id}")


def open_link(client: Client, token: str) -> SharedSession:
    """Return the session that a link opens."""
    return client.get(SharedSession, f"shared/{token}")


def messages(client: Client, token: str, after: int, limit: int) -> MessagePage:
    """Return messages of that session after a position."""
    return client.get(MessagePage, f"shared/{token}/messages", after=after, limit=limit)
