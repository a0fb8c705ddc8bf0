"""Downloads: a session as Markdown, as a printable page, its tables; sessions as JSON Lines."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, Literal
from uuid import UUID

from anyio import from_thread
from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from backend import audit
from backend.api.dependencies import DocumentsDep, ReadScope, ServicesDep
from backend.api.files import BYTES, attachment, pieces
from backend.api.http.sanitize import Flag, Text
from backend.api.http.threads import long_read, stream_long
from backend.auth.scope import Scope
from backend.conversations.reviews import note_reading
from backend.errors.base import InvalidInput
from backend.errors.conversations import SessionNotFound
from backend.export import lines
from backend.export.history import History
from backend.export.html_page import write_html
from backend.export.markdown_text import write_markdown
from backend.export.reader import find_reader
from backend.export.tables_book import write_tables
from backend.schemas.ids import SessionId
from backend.tabular import workbook
from backend.turns.process.services import Services
from db.models.conversations.conversation import ConversationRow

router = APIRouter(prefix="/sessions", tags=["sessions"])
everywhere = APIRouter(tags=["sessions"])
IN_MEMORY = 4_000_000  # bytes of a workbook; a larger one is kept on disk until it is sent
TEXT: dict[str, Any] = {"schema": {"type": "string"}}
EXPORTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The document, streamed, as an attachment.",
        "content": {
            "text/markdown": TEXT,
            "text/html": TEXT,
            workbook.MEDIA_TYPE: BYTES,
            lines.MEDIA_TYPE: TEXT,
        },
    }
}
ALL_LINES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The sessions one after the other, streamed, as an attachment.",
        "content": {lines.MEDIA_TYPE: TEXT},
    }
}
MOST_CHOSEN = 200


@router.get("/{session_id}/export", response_class=Response, responses=EXPORTS)
@long_read
def export_session(
    session_id: SessionId,
    services: ServicesDep,
    documents: DocumentsDep,
    scope: ReadScope,
    format: Annotated[
        Literal["markdown", "html", "xlsx", "jsonl"],
        Query(
            description="`html`: a self-contained, printable page; `xlsx`: the tables of answers "
            "and those among the artifacts, each on a sheet; `jsonl`: all of the session, with its "
            "branches and its agent state, so that it can be imported again."
        ),
    ] = "markdown",
    locale: Annotated[
        Text | None,
        Query(description="How a document writes numbers and days, like `de-CH`.", min_length=1),
    ] = None,
    timezone: Annotated[
        Text | None,
        Query(description="Of its times, like `Europe/Zurich`; otherwise UTC.", min_length=1),
    ] = None,
    tool_tables: Annotated[
        Flag | None,
        Query(description="Whether a workbook also has the tables that tools returned, last."),
    ] = None,
) -> Response:
    """The active branch from its first message on, as a document or a workbook of its tables."""
    if format != "xlsx" and tool_tables is not None:
        raise InvalidInput("`tool_tables` is for a workbook: a document has what tools returned.")
    if format in ("xlsx", "jsonl") and (locale or timezone):
        raise InvalidInput(
            "This format has no locale and no timezone: the program that opens it decides."
        )
    if format == "jsonl":
        return _lines(services, scope, [session_id])
    reader = find_reader(locale, timezone)
    figures = partial(from_thread.run, partial(documents.figures, scope, session_id, reader.locale))
    draw = partial(from_thread.run, partial(documents.draw, scope, reader.locale))
    pages = services.settings.pages_url
    note_reading(services.database, scope, session_id)
    history = History.open(services.database, scope, session_id, figures, draw, reader, pages)
    with services.database.transaction() as session:
        details = {"owner": history.session.owner, "format": format}
        audit.record(session, scope.user_id, "exported", "session", session_id, details)
    media_type, ending, write = _FORMATS[format]
    if tool_tables:
        write = partial(_workbook, tool_tables=True)
    headers = {"Content-Disposition": attachment(history.session.title, ending)}
    return StreamingResponse(stream_long(write(history)), media_type=media_type, headers=headers)


@everywhere.get("/export", response_class=Response, responses=ALL_LINES)
@long_read
def export_sessions(
    services: ServicesDep,
    scope: ReadScope,
    session_id: Annotated[
        list[UUID],
        Query(description="These sessions; absent: all that the caller may continue."),
    ] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Several sessions as JSON Lines, from which they can be imported again."""
    if len(session_id) > MOST_CHOSEN:
        raise InvalidInput(
            f"At most {MOST_CHOSEN} sessions can be named; without any, all are sent."
        )
    return _lines(services, scope, session_id)


def _lines(services: Services, scope: Scope, wanted: list[UUID]) -> Response:
    """Answer with sessions as JSON Lines. Raise SessionNotFound before anything is sent."""
    for one in wanted:
        note_reading(services.database, scope, one)
    found = lines.own_sessions(services.database, scope, wanted)
    with services.database.transaction() as session:
        for one in found:
            row = session.get(ConversationRow, one)
            details = {"owner": row.owner_id if row else None, "format": "jsonl"}
            audit.record(session, scope.user_id, "exported", "session", one, details)
        first = session.get(ConversationRow, found[0]) if len(wanted) == 1 else None
    title = first.title if first else "Sessions"
    store, contents = services.files, services.artifacts.contents
    writer = lines.LinesWriter(services.database, scope, store, contents)
    return StreamingResponse(
        stream_long(_pieces(writer, found)),
        media_type=lines.MEDIA_TYPE,
        headers={"Content-Disposition": attachment(title, "jsonl")},
    )


def _pieces(writer: lines.LinesWriter, found: list[UUID]) -> Iterator[bytes]:
    for one in found:
        with suppress(SessionNotFound):  # deleted, or taken away, since the export began
            yield from pieces(writer.spool(one))


def _workbook(history: History, *, tool_tables: bool = False) -> Iterator[bytes]:
    """Make the whole workbook now, because it cannot be sent before it is complete."""
    file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (closed when its last piece is sent)
    write_tables(history, file, tool_tables=tool_tables)
    file.seek(0)
    return pieces(file)


_FORMATS: dict[str, tuple[str, str, Callable[[History], Iterator[Any]]]] = {
    "markdown": ("text/markdown; charset=utf-8", "md", write_markdown),
    "html": ("text/html; charset=utf-8", "html", write_html),
    "xlsx": (workbook.MEDIA_TYPE, "xlsx", _workbook),
}
