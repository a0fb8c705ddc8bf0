"""Conversations: created from a domain, listed, renamed, pinned, archived, deleted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    CompoundSelect,
    Select,
    String,
    case,
    cast,
    false,
    func,
    insert,
    literal,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.naming import is_person, is_team
from backend.auth.reach import OWN, conversation_reached_by, reaching
from backend.auth.scope import Scope
from backend.conversations.accesses import last_access
from backend.conversations.figures import (
    has_errors,
    has_thumbs_down,
    read_figures,
)
from backend.conversations.lists import Find, first_of_each_way
from backend.conversations.removal import hold_children
from backend.conversations.session_rights import keep_usable, tell_rights
from backend.conversations.session_turns import of_latest_turn, session_status, waits_for
from backend.cursor import decode_cursor, encode_cursor
from backend.domains.naming import match_domain
from backend.errors.base import InvalidInput, NotAllowed
from backend.errors.conversations import SessionNotFound
from backend.errors.people import TeamNotFound
from backend.errors.plans import SessionOfTask
from backend.schemas.conversations import sessions as schemas
from backend.schemas.conversations.sessions import (
    MAX_TITLE_CHARS,
    SessionChange,
    SessionOrder,
    SessionPage,
)
from backend.schemas.people.rights import Permission, Right
from backend.text import is_visible, plain_id
from colloquy_kit.messages.clean import clean_text
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.legacy import LegacyIdRow
from db.models.people.review import ReviewRow
from db.models.people.user import UserRow
from db.models.turns.turn import TurnRow

MAX_PAGE = 200


@dataclass(frozen=True)
class Image:
    """The copy of a domain's configuration that a new conversation keeps."""

    domain_id: UUID | None
    domain_name: str
    template: dict[str, Any]
    domain_version: int | None = None


@dataclass(frozen=True)
class SessionFilter:
    """Which sessions to list, and in what order. `everyone` is for admins."""

    q: str | None = None
    domain: str | None = None
    status: str | None = None
    archived: bool = False
    pinned: bool | None = None
    everyone: bool = False
    order: SessionOrder = SessionOrder.LATEST
    owner: str | None = None
    team: str | None = None
    has_errors: bool = False
    has_thumbs_down: bool = False
    since: datetime | None = None
    until: datetime | None = None
    legacy_id: str | None = None


def visible_to(scope: Scope, right: Right | None = Right.READ) -> ColumnElement[bool]:
    """Match the conversations on which the caller has the right; OWN: those that are theirs.

    One whose deletion is due does not exist any more, whether or not a worker has deleted it yet.
    """
    return conversation_reached_by(scope, right) & exists_still()


def exists_still() -> ColumnElement[bool]:
    """Match the conversations whose deletion is not due."""
    due = ConversationRow.deletes_at
    return due.is_(None) | (due > func.clock_timestamp())


def listed_to(
    scope: Scope, *, everyone: bool = False, right: Right = Right.READ
) -> ColumnElement[bool]:
    """Match the conversations that lists show to the caller: none that is to be deleted.

    They have the right on these. With `everyone`, also those that a reviewer may read now.
    """
    of_whom = (
        conversation_reached_by(scope, Right.READ)
        if everyone
        else conversation_reached_by(scope.without_reviews(), right)
    )
    return of_whom & ConversationRow.deletes_at.is_(None)


def create(
    session: Session,
    scope: Scope,
    image: Image,
    title: str | None,
    conversation_id: UUID | None = None,
    parent_id: UUID | None = None,
    team: str | None = None,
) -> UUID:
    """Create a conversation with its image; return its id, a new one if none is given.

    `parent_id`: the conversation whose task it runs; `team`: the team that it belongs to, else it
    is the caller's. Raise TeamNotFound for a team that the caller is not in.
    """
    if team is not None and team not in scope.teams:
        raise TeamNotFound
    conversation_id = conversation_id or uuid4()
    session.execute(
        insert(ConversationRow).values(
            id=conversation_id,
            domain_id=image.domain_id,
            stored_domain_name=image.domain_name,
            domain_version=image.domain_version,
            image=image.template,
            owner_id=scope.user_id,
            team=team,
            title=clean_title(title or ""),
            parent_id=parent_id,
        )
    )
    return conversation_id


def check_visible(
    session: Session,
    scope: Scope,
    conversation_id: UUID,
    right: Right | None = Right.READ,
    unless: Permission | None = None,
) -> None:
    """Raise SessionNotFound unless the caller has this right on the session, or this permission."""
    row = ConversationRow
    is_allowed = unless is not None and scope.has(unless)
    of_whom = exists_still() if is_allowed else visible_to(scope, right)
    found = session.scalar(select(row.id).where(row.id == conversation_id, of_whom))
    if found is None:
        raise SessionNotFound


def get(
    session: Session, scope: Scope, conversation_id: UUID, unless: Permission | None = None
) -> schemas.Session:
    """Return one session. Raise SessionNotFound, also for another owner's.

    `unless`: who has this permission gets any session.
    """
    is_allowed = unless is not None and scope.has(unless)
    of_whom = exists_still() if is_allowed else visible_to(scope)
    query = _ONE_SESSION.where(ConversationRow.id == conversation_id, of_whom)
    row = session.execute(query).one_or_none()
    if row is None:
        raise SessionNotFound
    found = _session(row)
    found.models = row.offered or []
    found.default_model = row.agent_model or row.domain_model or None
    found.owner_name, found.review_count = row.owner_name, row.review_count
    if found.models or found.default_model:
        keep_usable(session, scope, found)
    tell_rights(session, scope, [found])
    return found


def get_image(session: Session, scope: Scope, conversation_id: UUID) -> dict[str, Any]:
    """Return the configuration that a session was made with. Raise SessionNotFound."""
    image = session.scalar(
        select(ConversationRow.image).where(
            ConversationRow.id == conversation_id, visible_to(scope)
        )
    )
    if image is None:
        raise SessionNotFound
    return image


def lock(
    session: Session,
    scope: Scope,
    conversation_id: UUID,
    right: Right | None = Right.CONTINUE,
    unless: Permission | None = None,
) -> ConversationRow:
    """Lock a conversation until the transaction ends. Raise SessionNotFound.

    The caller needs the right on it, `unless` they have this permission. What is locked is changed
    or copied, so reviewers, who may read for a while, find nothing.
    """
    is_allowed = unless is not None and scope.has(unless)
    of_whom = exists_still() if is_allowed else visible_to(scope.without_reviews(), right)
    row = session.scalar(
        select(ConversationRow)
        .where(ConversationRow.id == conversation_id, of_whom)
        .with_for_update(key_share=True)
    )
    if row is None:
        raise SessionNotFound
    return row


def list_sessions(
    session: Session, scope: Scope, wanted: SessionFilter, *, cursor: str | None, limit: int
) -> SessionPage:
    """Return one keyset page in the given order; the default one costs the same at any depth.

    Raise NotAllowed if a member asks for everyone's, InvalidInput for a cursor that is unknown or
    belongs to another order.
    """
    if wanted.everyone:
        scope.require(Permission.REVIEW_SESSIONS)
    limit = max(1, min(limit, MAX_PAGE))
    is_descending, row = wanted.order.is_descending, ConversationRow
    place = (_BY[wanted.order.column], row.id)
    conditions = [row.deletes_at.is_(None), *_conditions(wanted)]
    if cursor:
        after = _read_place(cursor, wanted.order)
        conditions.append(tuple_(*place) < after if is_descending else tuple_(*place) > after)

    def first(condition: ColumnElement[bool]) -> Select[Any]:
        found = select(row.id, place[0].label("place")).where(condition, *conditions)
        return found.order_by(*_in_order(place, is_descending)).limit(limit + 1)

    page = _of_whom(scope, wanted, first).subquery("page")
    query = _SESSIONS.add_columns(page.c.place).join(page, page.c.id == row.id)
    order = _in_order((page.c.place, page.c.id), is_descending)
    rows = session.execute(query.order_by(*order).limit(limit + 1)).all()
    last = rows[limit - 1] if len(rows) > limit else None
    items = [_session(row) for row in rows[:limit]]
    if wanted.everyone:
        _add_figures(session, items)
    tell_rights(session, scope, items)
    return SessionPage(
        items=items,
        next_cursor=encode_cursor(_order_name(wanted.order), last.place, last.id) if last else None,
    )


def _add_figures(session: Session, items: list[schemas.Session]) -> None:
    found = read_figures(session, [one.id for one in items])
    for one in items:
        if one.id in found:  # else it was deleted between two queries
            one.owner_name, one.figures = found[one.id]


def _of_whom(scope: Scope, wanted: SessionFilter, first: Find) -> Select[Any] | CompoundSelect[Any]:
    """Return the first conversations of everyone, or of those that the caller's lists show."""
    if wanted.q and wanted.q.strip():
        asked = literal(None if wanted.everyone else reaching(scope), ARRAY(String))
        found = func.find_titles(_words(wanted.q), asked).table_valued("id").render_derived()
        has_title = ConversationRow.id.in_(select(found.c.id))
        return first(has_title if wanted.everyone else has_title & listed_to(scope))
    return first(true()) if wanted.everyone else first_of_each_way(scope, first)


def _in_order(columns: Sequence[Any], is_descending: bool) -> Sequence[Any]:
    return [column.desc() for column in columns] if is_descending else columns


def change(session: Session, scope: Scope, conversation_id: UUID, wanted: SessionChange) -> None:
    """Rename, pin or archive, or give to a team or back to its owner.

    Raise SessionNotFound, TeamNotFound, NotAllowed, InvalidInput for an empty title.
    """
    values = wanted.model_dump(exclude_unset=True)
    if "title" in values:
        values["title"] = clean_title(wanted.title)
        if not values["title"]:
            raise InvalidInput("A title needs at least one visible character.")
    if "team" in values:
        _give(session, scope, conversation_id, values.pop("team"))
    lock(session, scope, conversation_id, OWN)
    if values:
        session.execute(
            update(ConversationRow)
            .where(ConversationRow.id == conversation_id)
            .values(**values, version=ConversationRow.version + 1)
        )


def _give(session: Session, scope: Scope, conversation_id: UUID, team: str | None) -> None:
    """Give a session and those of its tasks to a team of the caller's, or back to its owner."""
    tasks = hold_children(session, conversation_id)
    held = lock(session, scope, conversation_id, OWN)
    if held.parent_id is not None:
        raise SessionOfTask
    if held.team == team:
        return
    if team is not None and team not in scope.teams:
        raise TeamNotFound
    if team is None and held.owner_id != scope.user_id:
        raise NotAllowed("Only who began this session can take it back from its team.")
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id.in_([conversation_id, *tasks]))
        .values(team=team, version=ConversationRow.version + 1)
    )
    details = {"team": team, "owner": held.owner_id}
    audit.record(session, scope.user_id, "given", "session", conversation_id, details)


def clean_title(title: str) -> str:
    """Return one line of storable text, cut to a title's length; empty if none is visible."""
    line = " ".join(clean_text(title).split())
    if not is_visible(line):
        return ""
    return line if len(line) <= MAX_TITLE_CHARS else line[: MAX_TITLE_CHARS - 1] + "…"


def _has_failed() -> Any:
    return func.coalesce(of_latest_turn(TurnRow.status) == "failed", false())


def _turn_count() -> Any:
    counted = select(func.count()).where(TurnRow.conversation_id == ConversationRow.id)
    return counted.correlate(ConversationRow).scalar_subquery()


def _owner_name() -> Any:
    named = select(UserRow.name).where(UserRow.id == ConversationRow.owner_id)
    return func.coalesce(
        named.correlate(ConversationRow).scalar_subquery(), ConversationRow.owner_id
    )


def _review_count() -> Any:
    counted = select(func.count()).where(ReviewRow.conversation_id == ConversationRow.id)
    return counted.correlate(ConversationRow).scalar_subquery()


def _session(row: Any) -> schemas.Session:
    return schemas.Session(**{name: row._mapping[name] for name in _SHOWN})


def _read_place(cursor: str, order: SessionOrder) -> tuple[Any, UUID]:
    kind = str if order.column == "title" else datetime.fromisoformat
    value, session_id = decode_cursor(cursor, _order_name(order), kind, UUID)
    return value, session_id


def _order_name(order: SessionOrder) -> str:
    return f"sessions by {order}"


def _conditions(wanted: SessionFilter) -> list[ColumnElement[bool]]:
    conditions = [ConversationRow.archived == wanted.archived, ConversationRow.parent_id.is_(None)]
    if wanted.pinned is not None:
        conditions.append(ConversationRow.pinned == wanted.pinned)
    if wanted.domain:
        of_domain = (ConversationRow.domain_name, ConversationRow.domain_id)
        conditions.append(match_domain(wanted.domain, *of_domain))
    if wanted.status:
        conditions.append(_active == wanted.status)
    return [*conditions, *_conditions_of_use(wanted)]


def _conditions_of_use(wanted: SessionFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.owner:
        yield is_person(ConversationRow.owner_id, wanted.owner)
    if wanted.team:
        yield is_team(ConversationRow.team, wanted.team)
    if wanted.has_errors:
        yield has_errors()
    if wanted.has_thumbs_down:
        yield has_thumbs_down()
    if wanted.since:
        yield ConversationRow.updated_at >= wanted.since
    if wanted.until:
        yield ConversationRow.updated_at < wanted.until
    if wanted.legacy_id:
        known = LegacyIdRow.plain_id == plain_id(wanted.legacy_id)
        yield ConversationRow.id.in_(select(LegacyIdRow.conversation_id).where(known))


# The index holds words up to 500 characters; PostgreSQL's expressions count to 255.
_BEYOND_INDEX = r"(\S{250}\S{250})\S+"


def _words(q: str) -> ColumnElement[Any]:
    """Return the query for titles in which each word of `q` begins a word.

    A `q` without words, such as `%`, matches none: its NULL stays one.
    """
    words = func.nullif(func.cut_words(clean_text(q)), "")
    words = func.regexp_replace(words, _BEYOND_INDEX, r"\1", "g")
    begun = func.replace(words, " ", "':* & '")
    return cast(literal("'").concat(begun).concat("':*"), TSQUERY)


_ADDED = {  # to what the list's query finds
    "models",
    "default_model",
    "owner_name",
    "team_name",
    "rights",
    "review_ends_at",
    "review_count",
    "figures",
}
_SHOWN = tuple(name for name in schemas.Session.model_fields if name not in _ADDED)
# Built once: building these statements takes as long as running them.
_active = session_status()
_SESSIONS = select(
    ConversationRow.id,
    ConversationRow.title,
    ConversationRow.domain_name.label("domain"),
    ConversationRow.domain_id,
    ConversationRow.image_id,
    _active.label("status"),
    waits_for().label("waits_for"),
    _has_failed().label("has_failed"),
    ConversationRow.pinned,
    ConversationRow.archived,
    ConversationRow.message_count,
    _turn_count().label("turn_count"),
    case((ConversationRow.path.is_not(None), ConversationRow.branch)).label("branch"),
    ConversationRow.model,
    ConversationRow.parent_id,
    ConversationRow.deletes_at,
    ConversationRow.owner_id.label("owner"),
    ConversationRow.team,
    ConversationRow.created_at,
    ConversationRow.updated_at,
    last_access.label("last_accessed_at"),
)
_ONE_SESSION = _SESSIONS.add_columns(
    ConversationRow.image["models"].label("offered"),
    ConversationRow.image["model"].label("domain_model"),
    ConversationRow.image["agents"][0]["model"].label("agent_model"),
    _owner_name().label("owner_name"),
    _review_count().label("review_count"),
)
_BY: dict[str, Any] = {
    "updated_at": ConversationRow.updated_at,
    "created_at": ConversationRow.created_at,
    "title": func.lower(ConversationRow.title),
}
