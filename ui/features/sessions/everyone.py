"""Which sessions of everyone to list, and the API calls for them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.schemas.conversations.sessions import SessionPage
from ui.client import Client

PAGE_ROWS = 50


@dataclass(frozen=True)
class Wanted:
    """The filters; empty ones exclude nothing. `owner` and `team`: an id, or a part of a name."""

    title: str = ""
    owner: str = ""
    team: str = ""
    domain: str | None = None
    status: str | None = None
    archived: bool = False
    has_errors: bool = False
    has_thumbs_down: bool = False
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether a filter may exclude sessions."""
        return self != Wanted()

    def params(self) -> dict[str, Any]:
        """Return the parameters of the API's lists."""
        given = {
            "q": self.title,
            "owner": self.owner,
            "team": self.team,
            "domain": self.domain,
            "status": self.status,
            "archived": self.archived,
            "has_errors": self.has_errors,
            "has_thumbs_down": self.has_thumbs_down,
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
        }
        return {name: value for name, value in given.items() if value}


def list_sessions(client: Client, wanted: Wanted, cursor: str | None) -> SessionPage:
    """Return a page of everyone's sessions with their figures, the latest used first."""
    return client.get(
        SessionPage, "sessions", **wanted.params(), scope="all", cursor=cursor, limit=PAGE_ROWS
    )
