"""Files that people upload: each is a source, for one session or for all."""

from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from backend.api.dependencies import AskScope, FilesDep, ReadScope, ServicesDep
from backend.api.files import pieces
from backend.api.http.sanitize import Sent, Text, Whole
from backend.api.http.upload import Most, receive
from backend.data.files.formats import Format
from backend.errors.base import InvalidInput
from backend.schemas.data.files import (
    FileCorrections,
    FileDetails,
    FilePage,
    FilePreview,
    IfExists,
)
from backend.schemas.data.sources import TableSample
from backend.schemas.ids import Kind, SessionId, bare_id

router = APIRouter(prefix="/files", tags=["files"])
SAMPLE_ROWS = 200
FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "session_id": {"type": "string", "format": "uuid"},
                        "if_exists": {"enum": list(IfExists), "default": IfExists.ADD},
                    },
                    "additionalProperties": False,
                }
            }
        },
    }
}
BYTES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file as it was uploaded.",
        "content": {
            "application/octet-stream": {
                "schema": {"type": "string", "contentMediaType": "application/octet-stream"}
            }
        },
    }
}


@router.post("", status_code=201, openapi_extra=FORM)
async def upload_file(
    request: Request, response: Response, services: ServicesDep, files: FilesDep, scope: AskScope
) -> FileDetails:
    """Upload a file and return how it was read.

    With `session_id` the file belongs to that session and is deleted with it; otherwise all
    sessions of its owner can use it.

    `if_exists` says what happens where that session, or all sessions, have a file of this name:
    `add` keeps both, and the new one is queried only in sessions begun since; with `refuse` the
    answer is 409; `replace` deletes the other one, and results in older sessions say so.

    Refused with 413 if larger than MAX_FILE_MB, or if all files
    exceed MAX_FILES_MB, and with 422 if its format cannot be read. Large files are read in the
    background: `is_read` is then false.
    """
    settings = services.settings
    await files.check_room(scope, 0)
    form = await receive(request, files.store, Most(settings.max_file_mb))
    try:
        session_id, if_exists = _read_fields(form.fields)
    except InvalidInput:
        form.incoming.drop()
        raise
    details = await files.take(scope, form.incoming, form.file_name or "", session_id, if_exists)
    response.headers["Location"] = f"/api/v1/files/{details.id}"
    return details


@router.get("")
async def list_files(
    files: FilesDep,
    scope: ReadScope,
    session_id: Annotated[
        SessionId | None, Query(description="Only files that this session can use.")
    ] = None,
    limit: Annotated[Whole, Query(ge=1, le=200)] = 50,
    cursor: Text | None = None,
) -> FilePage:
    """One page of the caller's files, newest first."""
    return await files.list_page(scope, session_id, cursor=cursor, limit=limit)


@router.get("/{file_id}")
async def get_file(file_id: UUID, files: FilesDep, scope: ReadScope) -> FileDetails:
    """One file with its tables, how each was read, and its corrections."""
    return await files.get(scope, file_id)


@router.get("/{file_id}/sample")
async def get_sample(
    file_id: UUID,
    files: FilesDep,
    scope: ReadScope,
    table: Annotated[Text | None, Query(description="Its name; absent: the first table.")] = None,
    limit: Annotated[Whole, Query(ge=1, le=SAMPLE_ROWS)] = 20,
) -> TableSample:
    """The first rows of a table, or the first pages of a document."""
    return await files.sample(scope, file_id, table, limit)


@router.post("/{file_id}/preview")
async def preview_corrections(
    file_id: UUID, body: Sent[FileCorrections], files: FilesDep, scope: AskScope
) -> FilePreview:
    """Show how a file would be read with corrections; nothing is stored."""
    return await files.preview(scope, file_id, body)


@router.patch("/{file_id}")
async def correct_file(
    file_id: UUID, body: Sent[FileCorrections], files: FilesDep, scope: AskScope
) -> FileDetails:
    """Correct how a file is read, from the next query on.

    Omitted fields are kept, null removes a correction, and an empty change reads the file again. A
    correction that cannot be applied is refused with the reason, and nothing is changed.
    """
    return await files.correct(scope, file_id, body)


@router.delete("/{file_id}", status_code=204)
async def delete_file(file_id: UUID, files: FilesDep, scope: AskScope) -> Response:
    """Delete a file permanently. Sessions keep what was said about it."""
    await files.remove(scope, file_id)
    return Response(status_code=204)


@router.get("/{file_id}/content", response_class=StreamingResponse, responses=BYTES)
async def get_content(file_id: UUID, files: FilesDep, scope: ReadScope) -> StreamingResponse:
    """The whole file as it was uploaded, always as a download, never shown as our page."""
    row = await files.find(scope, file_id)
    name = quote(row.name.replace("/", "_").replace("\\", "_"), safe="")
    plain = f"file{Format(row.format).suffix}"
    headers = {
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{name}",
        "Content-Length": str(row.size),
    }
    file = await to_thread.run_sync(lambda: files.store.fetch(file_id).open("rb"))
    return StreamingResponse(pieces(file), media_type="application/octet-stream", headers=headers)


def _read_fields(fields: dict[str, str]) -> tuple[UUID | None, IfExists]:
    """Return a form's session and what to do with a file of its name. Raise InvalidInput."""
    if unknown := sorted(fields.keys() - {"session_id", "if_exists"}):
        raise InvalidInput(
            f"`{unknown[0][:80]}`: unknown field. This call takes file, session_id, if_exists."
        )
    wanted = fields.get("if_exists", IfExists.ADD)
    if wanted not in list(IfExists):
        raise InvalidInput(f"if_exists: this must be {' or '.join(IfExists)}.")
    return _session_id(fields.get("session_id")), IfExists(wanted)


def _session_id(sent: str | None) -> UUID | None:
    if sent is None:
        return None
    try:
        return UUID(bare_id(Kind.SESSION, sent))
    except ValueError:
        raise InvalidInput("session_id: this is not the id of a session.") from None
