"""Reading display messages from PostgreSQL: by page, by turn, or all of them."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations.message_filter import ALL, MessageFilter, is_on
from backend.conversations.paths import WHOLE, Path
from backend.conversations.service import visible_to
from backend.errors.base import InvalidInput
from backend.errors.conversations import ResultNotFound, SessionNotFound
from backend.markdown.tables import find_tables
from backend.schemas.conversations.sessions import DisplayMessage, MessagePage
from backend.tabular.columns import described
from backend.types import JSON
from colloquy_kit.messages.kinds import OPEN_STATUSES, ContentType
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow, ToolResultRow

Found = TypeVar("Found", DisplayMessageRow, ToolResultRow)
MAX_PAGE = 200
_NO_END = 2**63  # beyond any position


def shown_as(row: JSON) -> DisplayMessage:
    """Return the row as people see it."""
    return DisplayMessage(**{name: row[name] for name in DisplayMessage.model_fields})


def open_calls(
    session: Session, conversation_id: UUID, turn_id: UUID, since: int
) -> list[DisplayMessage]:
    """Return the tool calls of a turn that have no outcome yet, in order, from position `since`."""
    of_turn = {"conversation": conversation_id, "turn": turn_id, "since": since}
    rows = session.scalars(_OPEN_CALLS, of_turn)
    return [shown_as(columns_of(row)) for row in rows]


def list_messages(
    session: Session,
    scope: Scope,
    conversation_id: UUID,
    wanted: MessageFilter = ALL,
    *,
    after: int | None = None,
    before: int | None = None,
    around: int | None = None,
    limit: int = 50,
    of_branch: bool = False,
) -> MessagePage:
    """Return one page in ascending position: after, before or around a position, or the latest.

    `of_branch`: of the active branch only. Places are positions in the whole history, whatever the
    filter. Without a filter the cost does not depend on the length of the history; with one, rows
    are scanned until a page has matched.
    Raise SessionNotFound, InvalidInput for several places at once.
    """
    if sum(place is not None for place in (after, before, around)) > 1:
        raise InvalidInput("Give only one of after, before and around.")
    found = session.execute(
        select(ConversationRow.message_count, ConversationRow.path).where(
            ConversationRow.id == conversation_id, visible_to(scope)
        )
    ).one_or_none()
    if found is None:
        raise SessionNotFound
    shown = (Path.read(found.path) if of_branch else WHOLE).close(found.message_count)
    limit = max(1, min(limit, MAX_PAGE))

    def rows(path: Path, most: int, *, is_forward: bool) -> list[DisplayMessage]:
        return _rows_on(session, conversation_id, wanted, path, most, is_forward=is_forward)

    if around is not None:
        return _page_around(shown, around, limit, rows)
    return _page_beside(shown, after, before, limit, rows, newest=found.message_count)


def _page_beside(
    shown: Path,
    after: int | None,
    before: int | None,
    limit: int,
    rows: Callable[..., list[DisplayMessage]],
    *,
    newest: int,
) -> MessagePage:
    """Return the page after or before a position, or the latest if neither is given."""
    is_forward = after is not None
    page = shown.after(after) if after is not None else shown.cut(before or _NO_END)
    given = rows(page, limit + 1, is_forward=is_forward)
    goes_on = len(given) > limit
    items = given[:limit] if is_forward else given[:limit][::-1]
    # A page beyond the end is empty; paging back from it starts at the end.
    edge = newest + 1 if before is None else before
    first = items[0].position if items else edge
    last = items[-1].position if items else first - 1

    def has_any(path: Path) -> bool:
        return bool(rows(path, 1, is_forward=not is_forward))

    def has_later(position: int) -> bool:
        return before is not None and has_any(shown.after(position))

    return MessagePage(
        items=items,
        next_before=first if (has_any(shown.cut(first)) if is_forward else goes_on) else None,
        next_after=last if (goes_on if is_forward else has_later(last)) else None,
    )


def _page_around(
    shown: Path, around: int, limit: int, rows: Callable[..., list[DisplayMessage]]
) -> MessagePage:
    """Return as much from before a position as from after; near an end, more of the other side.

    The position itself need not match the filter.
    """
    before = rows(shown.cut(around), limit + 1, is_forward=False)
    rest = rows(shown.after(around - 1), limit + 1, is_forward=True)
    of_before = min(len(before), max(limit // 2, limit - len(rest)))
    of_rest = min(len(rest), limit - of_before)
    items = [*before[:of_before][::-1], *rest[:of_rest]]
    return MessagePage(
        items=items,
        next_before=items[0].position if items and len(before) > of_before else None,
        next_after=items[-1].position if items and len(rest) > of_rest else None,
    )


def _rows_on(
    session: Session,
    conversation_id: UUID,
    wanted: MessageFilter,
    path: Path,
    limit: int,
    *,
    is_forward: bool,
) -> list[DisplayMessage]:
    """Return the first matching rows of a closed path, or the last ones in reverse order."""
    if not path.ranges:
        return []
    row = DisplayMessageRow
    rows = session.scalars(
        select(row)
        .where(row.conversation_id == conversation_id, is_on(path), *wanted.conditions())
        .order_by(row.position if is_forward else row.position.desc())
        .limit(limit)
    )
    return [shown_as(columns_of(row)) for row in rows]


def list_all(session: Session, conversation_id: UUID) -> list[DisplayMessage]:
    """Return a conversation's display messages in order, for callers that need all of them."""
    rows = session.scalars(
        select(DisplayMessageRow)
        .where(DisplayMessageRow.conversation_id == conversation_id)
        .order_by(DisplayMessageRow.position)
    )
    return [shown_as(columns_of(row)) for row in rows]


def list_shown(session: Session, conversation_id: UUID) -> list[DisplayMessage]:
    """Return all display messages of the active branch, in order."""
    stored = session.scalar(
        select(ConversationRow.path).where(ConversationRow.id == conversation_id)
    )
    path = Path.read(stored)
    return [row for row in list_all(session, conversation_id) if path.has(row.position)]


def last_answer(session: Session, conversation_id: UUID, turn_id: UUID, since: int) -> str | None:
    """Return the text of the turn's last assistant message, None when there is none."""
    content = session.scalar(
        select(DisplayMessageRow.content)
        .where(DisplayMessageRow.conversation_id == conversation_id)
        .where(DisplayMessageRow.position >= since)
        .where(DisplayMessageRow.turn_id == turn_id)
        .where(DisplayMessageRow.content_type == ContentType.TEXT)
        .where(DisplayMessageRow.message_type == "assistant")
        .order_by(DisplayMessageRow.position.desc())
        .limit(1)
    )
    return content["text"] if content else None


def get_result(session: Session, scope: Scope, conversation_id: UUID, result_id: UUID) -> JSON:
    """Return the whole table or a file of a tool result. Raise ResultNotFound."""
    found = _find(session, scope, ToolResultRow, conversation_id, result_id)
    return found.result


def get_table(
    session: Session, scope: Scope, conversation_id: UUID, message_id: UUID, number: int
) -> JSON:
    """Return the whole table of a tool's result, or the table of this number in an answer's text.

    Raise ResultNotFound.
    """
    row = _find(session, scope, DisplayMessageRow, conversation_id, message_id)
    table = row.metadata_.get("table")
    if table and table.get("result_id"):
        return get_result(session, scope, conversation_id, UUID(table["result_id"]))
    tables = [table] if table else find_tables(str(row.content.get("text", "")))
    if number > len(tables):
        raise ResultNotFound
    found: JSON = tables[number - 1]
    return found


def get_query(session: Session, scope: Scope, conversation_id: UUID, message_id: UUID) -> str:
    """Return the SQL of a tool call, as the model wrote it. Raise ResultNotFound."""
    row = _find(session, scope, DisplayMessageRow, conversation_id, message_id)
    arguments = row.content.get("arguments") if row.content_type == ContentType.TOOL_CALL else None
    sql = arguments.get("sql") if isinstance(arguments, dict) else None
    if not isinstance(sql, str):
        raise ResultNotFound
    return sql


def _find(
    session: Session, scope: Scope, kind: type[Found], conversation_id: UUID, found_id: UUID
) -> Found:
    found = session.scalar(
        select(kind)
        .join(ConversationRow, ConversationRow.id == kind.conversation_id)
        .where(kind.id == found_id)
        .where(kind.conversation_id == conversation_id)
        .where(visible_to(scope))
    )
    if found is None:
        raise ResultNotFound
    return found


def with_kinds(page: MessagePage) -> MessagePage:
    """Return a page whose tables say of each column how its cells are written."""
    items = [
        row.model_copy(update={"metadata": {**row.metadata, "table": described(table)}})
        if (table := row.metadata.get("table"))
        else row
        for row in page.items
    ]
    return page.model_copy(update={"items": items})


def columns_of(row: DisplayMessageRow) -> JSON:
    """Return a row's visible columns, by name."""
    names = [name for name in DisplayMessage.model_fields if name != "metadata"]
    return {"metadata": row.metadata_, **{name: getattr(row, name) for name in names}}


_OPEN_CALLS = (
    select(DisplayMessageRow)
    .where(DisplayMessageRow.conversation_id == bindparam("conversation"))
    .where(DisplayMessageRow.position >= bindparam("since"))
    .where(DisplayMessageRow.turn_id == bindparam("turn"))
    .where(DisplayMessageRow.content_type == ContentType.TOOL_CALL)
    .where(DisplayMessageRow.status.in_(OPEN_STATUSES))
    .order_by(DisplayMessageRow.position)
)
