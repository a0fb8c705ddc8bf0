"""Imports of other programs' exports: an upload is inspected, then a worker imports it."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from backend.api.dependencies import AskScope, ImportsDep, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent, Text, Whole
from backend.api.http.threads import read_long
from backend.api.http.upload import Most, receive
from backend.errors.base import InvalidInput
from backend.schemas.imports import Import, ImportPage, ImportStart

router = APIRouter(prefix="/imports", tags=["imports"])
FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                    "additionalProperties": False,
                }
            }
        },
    }
}


@router.post("", status_code=201, openapi_extra=FORM)
async def upload_import(
    request: Request,
    response: Response,
    services: ServicesDep,
    imports: ImportsDep,
    scope: AskScope,
) -> Import:
    """Upload an export, of another program or of Colloquy, and return what is in it.

    Nothing is stored of it before it is started. Refused with 413 if larger than MAX_IMPORT_MB,
    and with 422 if it is no export that is known, or one that would unpack to too much.
    """
    await to_thread.run_sync(imports.check_room, scope)
    most = Most(
        services.settings.max_import_mb, "MAX_IMPORT_MB", "Export less at once, or split it."
    )
    form = await receive(request, imports.place.store, most)
    if form.fields:
        form.incoming.drop()
        raise InvalidInput(f"`{min(form.fields)[:80]}`: unknown field. This call takes file.")
    made = await read_long(partial(imports.take, scope, form.incoming, form.file_name or ""))
    response.headers["Location"] = f"/api/v1/imports/{made.id}"
    return made


@router.get("")
def list_imports(
    imports: ImportsDep,
    scope: ReadScope,
    limit: Annotated[Whole, Query(ge=1, le=100)] = 20,
    cursor: Text | None = None,
) -> ImportPage:
    """One page of the caller's imports, newest first."""
    return imports.list_page(scope, cursor=cursor, limit=limit)


@router.get("/{import_id}")
def get_import(import_id: UUID, imports: ImportsDep, scope: ReadScope) -> Import:
    """One import: what was found, how far it is, and what became of it."""
    return imports.get(scope, import_id)


@router.post("/{import_id}/start")
def start_import(
    import_id: UUID, imports: ImportsDep, scope: AskScope, body: Sent[ImportStart]
) -> Import:
    """Import what was inspected, as sessions of the caller; also one that was cancelled or failed.

    What was imported before is not imported again.
    """
    return imports.start(scope, import_id, body)


@router.post("/{import_id}/cancel")
def cancel_import(import_id: UUID, imports: ImportsDep, scope: AskScope) -> Import:
    """End an import. What it has stored stays, and starting it again continues with the rest."""
    return imports.cancel(scope, import_id)
