"""Artifacts: the named results of sessions, their versions, differences and downloads."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse

from backend.api.dependencies import ArtifactsDep, DocumentsDep, ReadScope
from backend.api.files import (
    BYTES,
    PLAIN_KINDS,
    TableQuery,
    attachment,
    pieces,
    table_response,
)
from backend.api.files import RESPONSES as TABLES
from backend.api.http.sanitize import Text, Whole
from backend.api.http.threads import answer_large
from backend.artifacts.documents.service import Document
from backend.artifacts.forms import MEDIA_TYPES
from backend.artifacts.pages import MOST_ROWS, PAGE_ROWS
from backend.errors.base import InvalidInput
from backend.export.document_page import write_document
from backend.markdown.cells import rewrite_markdown
from backend.schemas.artifacts import (
    Artifact,
    ArtifactContent,
    ArtifactDiff,
    ArtifactKind,
    ArtifactPage,
    file_title,
)
from backend.schemas.ids import SessionId

router = APIRouter(tags=["artifacts"])
Form = Literal["csv", "xlsx", "parquet", "json", "md", "html", "pdf", "png", "svg", "file"]
LARGEST = 2**31 - 1
DOWNLOADS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The version in this format, streamed, as an attachment.",
        "content": {
            kind.partition(";")[0]: BYTES for kind in (*MEDIA_TYPES.values(), *sorted(PLAIN_KINDS))
        }
        | {MEDIA_TYPES["json"]: {"schema": {}}},  # any JSON value, not a text
    }
}


@router.get("/sessions/{session_id}/artifacts")
async def list_artifacts(
    session_id: SessionId,
    artifacts: ArtifactsDep,
    scope: ReadScope,
    limit: Annotated[Whole, Query(ge=1, le=200)] = 50,
    cursor: Text | None = None,
) -> ArtifactPage:
    """One page of a session's artifacts, newest first; includes those of its tasks.

    A task has those of its plan's session.
    """
    return await artifacts.list_page(scope, session_id, cursor=cursor, limit=limit)


@router.get("/artifacts/{artifact_id}")
async def get_artifact(artifact_id: UUID, artifacts: ArtifactsDep, scope: ReadScope) -> Artifact:
    """One artifact; `version` is its newest."""
    return await artifacts.get(scope, artifact_id)


@router.get("/artifacts/{artifact_id}/versions/{version}")
async def get_version(
    artifact_id: UUID,
    version: Annotated[Whole, Path(ge=1, le=LARGEST)],
    artifacts: ArtifactsDep,
    scope: ReadScope,
    offset: Annotated[
        Whole,
        Query(
            ge=0,
            le=LARGEST,
            description="How many rows of a table, or characters of a document or long JSON, to "
            "skip. Others are given whole.",
        ),
    ] = 0,
    limit: Annotated[
        Whole | None,
        Query(ge=1, le=MOST_ROWS, description=f"How many rows of a table; absent: {PAGE_ROWS}."),
    ] = None,
) -> ArtifactContent:
    """One version with a preview of its content, and the list of all versions.

    An `offset` or a `limit` where it would change nothing is 422.
    """
    return await artifacts.read(scope, artifact_id, version, offset, limit)


@router.get(
    "/artifacts/{artifact_id}/versions/{version}/table", response_model=None, responses=TABLES
)
async def get_chart_table(
    artifact_id: UUID,
    version: Annotated[Whole, Path(ge=1, le=LARGEST)],
    artifacts: ArtifactsDep,
    scope: ReadScope,
    asked: TableQuery,
) -> Response:
    """The table of a chart, as those of messages are given: also drawn, with `format=chart`."""
    found = await artifacts.read(scope, artifact_id, version, 0, None)
    if found.kind is not ArtifactKind.CHART:
        raise InvalidInput("Only a chart is given like this. Other kinds are downloaded.")
    table = {"title": found.title, **found.preview["table"], "chart": found.preview.get("spec")}
    return await answer_large(lambda: table_response(table, "chart", asked))


@router.get("/artifacts/{artifact_id}/diff")
async def get_diff(
    artifact_id: UUID,
    artifacts: ArtifactsDep,
    scope: ReadScope,
    before: Annotated[Whole, Query(ge=1, le=LARGEST, description="The earlier version.")],
    after: Annotated[Whole, Query(ge=1, le=LARGEST, description="The later version.")],
    key: Annotated[
        list[Text],
        Query(
            max_length=50,
            description="The columns that identify a table's row, one per parameter; without any, "
            "whole rows are compared, and equal ones counted.",
        ),
    ] = [],  # noqa: B006 - FastAPI copies it
) -> ArtifactDiff:
    """The difference between two versions: rows and cells of tables, lines of texts.

    Returns the first 200 rows or 2,000 lines; the counts cover all of them.
    """
    return await artifacts.diff(scope, artifact_id, before, after, key)


@router.get(
    "/artifacts/{artifact_id}/versions/{version}/download",
    response_class=Response,
    responses=DOWNLOADS,
)
async def download_version(
    artifact_id: UUID,
    version: Annotated[Whole, Path(ge=1, le=LARGEST)],
    artifacts: ArtifactsDep,
    documents: DocumentsDep,
    scope: ReadScope,
    format: Annotated[
        Form,
        Query(
            description="A table: csv (all fields quoted), xlsx or parquet. A chart: png, svg "
            "or json. A document: md, html (self-contained, without scripts) or pdf; charts named "
            "by lines `![title](artifact:ID@1)` are drawn in the last two; links to cells lead to "
            "the pages. JSON: json. An image or file: "
            "file, its original bytes."
        ),
    ],
) -> Response:
    """A version as a file, streamed; a format that its kind does not have is refused with 422."""
    if format in ("html", "md"):
        found = await documents.read(scope, artifact_id, version, format)
        return await answer_large(lambda: _written(found, format))
    download = (
        await documents.pdf(scope, artifact_id, version)
        if format == "pdf"
        else await artifacts.download(scope, artifact_id, version, format)
    )
    details = download.version
    media_type, title, ending = MEDIA_TYPES[format], details.title, str(format)
    if format == "file":
        media_type = details.media_type if details.media_type in PLAIN_KINDS else media_type
        title, ending = file_title(title, details.media_type)
    headers = {
        "Content-Disposition": attachment(title, ending),
        "Content-Length": str(download.size),
    }
    return StreamingResponse(pieces(download.file), media_type=media_type, headers=headers)


def _written(found: Document, form: Form) -> Response:
    title = found.version.title
    if form == "html":
        content = write_document(title, found.text, found.figures, found.href)
    else:
        content = rewrite_markdown(found.text, found.href)
    headers = {"Content-Disposition": attachment(title, form)}
    return Response(content, media_type=MEDIA_TYPES[form], headers=headers)
