"""The API call of the search."""

from uuid import UUID

from backend.schemas.conversations.search import SearchPage
from ui.client import Client

PAGE_HITS = 20


def search(
    client: Client,
    q: str,
    *,
    session_id: UUID | None = None,
    domain: str | None = None,
    archived: bool | None = None,
    everyone: bool = False,
    cursor: str | None = None,
) -> SearchPage:
    """Return a page of messages that contain all of `q`."""
    return client.get(
        SearchPage,
        "search",
        q=q,
        session_id=session_id,
        domain=domain,
        archived=archived,
        scope="all" if everyone else None,
        cursor=cursor,
        limit=PAGE_HITS,
    )
