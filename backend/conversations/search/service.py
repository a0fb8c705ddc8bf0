"""Searching the text of display messages: one page of hits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from psycopg2.errors import QueryCanceled
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Row,
    Select,
    String,
    Text,
    Uuid,
    case,
    cast,
    func,
    literal,
    select,
    text,
    true,
    tuple_,
)
from sqlalchemy.dialects.postgresql import TSQUERY, array
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.auth.reach import conversation_reached_by, reaching
from backend.auth.scope import Scope
from backend.conversations.paths import Path
from backend.conversations.search.index import is_complete
from backend.conversations.search.snippets import make_snippet
from backend.conversations.search.terms import Term, read_terms
from backend.conversations.service import listed_to, visible_to
from backend.cursor import decode_cursor, encode_cursor
from backend.domains.naming import match_domain
from backend.errors.conversations import SearchTooBroad, SessionNotFound
from backend.schemas.conversations.search import SearchHit, SearchPage
from backend.schemas.people.rights import Permission, Right
from colloquy_kit.messages.kinds import ContentType
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow
from db.models.people.user import UserRow

MAX_PAGE = 50
TIMEOUT_MS = 2_000
SAID, OTHERS = 0, 1  # ranks of messages
KINDS = {SAID: "'kind:text'", OTHERS: "!'kind:text'"}  # as queries


@dataclass(frozen=True)
class Search:
    """What to look for, and where. `everyone` is for admins; `archived` None: archived or not."""

    q: str
    session_id: UUID | None = None
    domain: str | None = None
    archived: bool | None = None
    everyone: bool = False


def search_messages(
    session: Session, scope: Scope, wanted: Search, *, cursor: str | None, limit: int
) -> SearchPage:
    """Return one keyset page of matching messages, from any branch.

    What people and agents said comes first, then calls, results and notices; each newest first.
    Raise NotAllowed if a member asks for everyone's messages, SessionNotFound, InvalidInput for
    too many words or an unknown cursor, SearchTooBroad if it takes too long.
    """
    if wanted.everyone:
        scope.require(Permission.REVIEW_SESSIONS)
    if wanted.session_id is not None:
        _check_session(session, scope, wanted.session_id)
    terms = read_terms(wanted.q, partial(_split_words, session))
    place = _read_place(cursor) if cursor else None
    limit = max(1, min(limit, MAX_PAGE))
    try:
        rows = _find_ranked(session, scope, wanted, terms, place, limit + 1)
    except OperationalError as error:
        if isinstance(error.orig, QueryCanceled):
            raise SearchTooBroad from error
        raise
    return SearchPage(
        items=[_hit(row, terms) for row in rows[:limit]],
        next_cursor=_cursor_after(rows[limit - 1]) if len(rows) > limit else None,
        is_complete=is_complete(session),
    )


def _check_session(session: Session, scope: Scope, session_id: UUID) -> None:
    row = ConversationRow
    if session.scalar(select(row.id).where(row.id == session_id, visible_to(scope))) is None:
        raise SessionNotFound


def _cursor_after(row: Row[Any]) -> str:
    rank = SAID if row.content_type == ContentType.TEXT else OTHERS
    return encode_cursor("search", str(rank), row.created_at, row.session_id, str(row.position))


def _read_place(cursor: str) -> tuple[Any, ...]:
    return decode_cursor(cursor, "search", int, datetime.fromisoformat, UUID, int)


def _find_ranked(
    session: Session,
    scope: Scope,
    wanted: Search,
    terms: Sequence[Term],
    place: tuple[Any, ...] | None,
    limit: int,
) -> list[Row[Any]]:
    """Return the hits after a place: a search for each rank, until there are enough."""
    first, *within = place or (SAID, None)
    rows: list[Row[Any]] = []
    for rank, kind in KINDS.items():
        if rank >= first and len(rows) < limit:
            after = tuple(within) if place and rank == first else None
            rows += _find(session, scope, wanted, terms, kind, after, limit - len(rows))
    return rows


def _find(
    session: Session,
    scope: Scope,
    wanted: Search,
    terms: Sequence[Term],
    kind: str,
    place: tuple[Any, ...] | None,
    limit: int,
) -> Sequence[Row[Any]]:
    if not terms:
        return []
    session.execute(text(f"SET LOCAL statement_timeout = {TIMEOUT_MS}"))
    query = " & ".join(f"({term.query})" for term in terms)
    entries = _entries(query, kind, scope, wanted, place)
    of_whom = listed_to(scope, everyone=wanted.session_id is not None)
    if wanted.everyone:
        of_whom = ConversationRow.deletes_at.is_(None)
    is_readable = conversation_reached_by(scope, Right.READ) if wanted.everyone else true()
    return session.execute(_page(entries, of_whom, is_readable, wanted, limit)).all()


def _split_words(session: Session, texts: Sequence[str]) -> Sequence[str]:
    """Let the database split texts into words as it did for the index."""
    split: array[Any] = array([func.split_words(one) for one in texts], type_=Text)
    return list(session.scalars(select(split)).one())


def _entries(
    query: str, kind: str, scope: Scope, wanted: Search, place: tuple[Any, ...] | None
) -> Any:
    """Return the matching entries, found once by the index, before any join.

    Whose they are is a word of the index too, so that common words cost no more with many people.
    """
    asked = literal(None if wanted.everyone else reaching(scope), ARRAY(String))
    within = literal(wanted.session_id, Uuid)
    row = (
        func.find_entries(cast(query, TSQUERY), cast(kind, TSQUERY), asked, within)
        .table_valued("conversation_id", "position", "created_at")
        .alias("found")
        .c
    )
    order = (row.created_at, row.conversation_id, row.position)
    # Newest first already here, so that the join ends with the page.
    found = select(*order).order_by(*(one.desc() for one in order))
    if place is not None:
        found = found.where(tuple_(*order) < place)
    return found.cte("entries").prefix_with("MATERIALIZED")


def _page(
    entries: Any,
    of_whom: ColumnElement[bool],
    is_readable: ColumnElement[bool],
    wanted: Search,
    limit: int,
) -> Select[Any]:
    """Return the newest entries of these conversations, then their messages."""
    talk, message, found = ConversationRow, DisplayMessageRow, entries.c
    page = (
        select(
            *found,
            talk.title,
            talk.domain_name.label("domain"),
            talk.archived,
            talk.owner_id.label("owner"),
            talk.path,
            is_readable.label("is_readable"),
        )
        .join(talk, talk.id == found.conversation_id)
        .where(of_whom)
        .order_by(found.created_at.desc(), found.conversation_id.desc(), found.position.desc())
        .limit(limit)
    )
    if wanted.session_id is None:
        page = page.where(talk.parent_id.is_(None))
    if wanted.domain:
        page = page.where(match_domain(wanted.domain, talk.domain_name, talk.domain_id))
    if wanted.archived is not None:
        page = page.where(talk.archived == wanted.archived)
    one = page.subquery("page").c
    return (
        select(
            one.conversation_id.label("session_id"),
            one.title.label("session_title"),
            *(one.domain, one.archived, one.owner, one.path, one.position, one.created_at),
            message.id.label("message_id"),
            *(message.turn_id, message.message_type, message.content_type, message.agent),
            _name_of(one.owner).label("owner_name"),
            case(
                (
                    one.is_readable,
                    func.coalesce(func.message_text(message.content_type, message.content), ""),
                )
            ).label("said"),
        )
        .join(
            message,
            (message.conversation_id == one.conversation_id) & (message.position == one.position),
        )
        .order_by(one.created_at.desc(), one.conversation_id.desc(), one.position.desc())
    )


def _name_of(owner: Any) -> Any:
    named = select(UserRow.name).where(UserRow.id == owner).scalar_subquery()
    return func.coalesce(named, owner)


def _hit(row: Row[Any], terms: Sequence[Term]) -> SearchHit:
    return SearchHit(
        is_on_branch=Path.read(row.path).has(row.position),
        snippet=[] if row.said is None else make_snippet(row.said, terms),
        **{name: row._mapping[name] for name in _OF_ROW},
    )


_OF_ROW = tuple(name for name in SearchHit.model_fields if name not in ("is_on_branch", "snippet"))
