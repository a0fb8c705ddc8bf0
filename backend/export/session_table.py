"""The list of sessions, with their figures, as CSV: for reviewers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from backend import audit
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.service import SessionFilter
from backend.schemas.conversations.sessions import Session, SessionFigures
from backend.schemas.people.rights import Permission
from backend.tabular.csv_text import csv_lines
from db.session import Database

MOST_ROWS = 10_000
CUT = f"Cut: this file has the first {MOST_ROWS:,} sessions only. Narrow the filters for others."
_OF_SESSION = ("id", "title", "owner", "owner_name", "domain", "status", "turn_count")
_FIGURES = tuple(SessionFigures.model_fields)
_TIMES = ("created_at", "updated_at", "last_accessed_at")
COLUMNS = (*_OF_SESSION, *_FIGURES, *_TIMES)


def write_csv(database: Database, scope: Scope, wanted: SessionFilter) -> Iterator[bytes]:
    """Return the sessions of everyone that match, in pieces; the export is recorded.

    Raise NotAllowed, before anything is read.
    """
    scope.require(Permission.REVIEW_SESSIONS)
    wanted = replace(wanted, everyone=True)
    with database.transaction() as session:
        asked = {name: str(value) for name, value in vars(wanted).items() if value}
        asked.pop("q", None)  # words of titles
        audit.record(session, scope.user_id, "exported", "sessions", "", {"filter": asked})
    return _pieces(database, scope, wanted)


def _pieces(database: Database, scope: Scope, wanted: SessionFilter) -> Iterator[bytes]:
    yield csv_lines([COLUMNS]).encode()
    cursor, left = None, MOST_ROWS
    while left > 0:
        limit = min(left, conversations.MAX_PAGE)
        with database.read() as session:
            page = conversations.list_sessions(session, scope, wanted, cursor=cursor, limit=limit)
        yield csv_lines(map(_row, page.items)).encode()
        cursor, left = page.next_cursor, left - len(page.items)
        if cursor is None:
            return
    yield csv_lines([[CUT]]).encode()


def _row(one: Session) -> list[Any]:
    told = one.model_dump(mode="json")
    figures = told["figures"] or dict.fromkeys(_FIGURES)
    named = {**told, **figures}
    return [named[name] for name in COLUMNS]
