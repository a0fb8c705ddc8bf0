"""The wire contract of artifacts: named results with versions, their difference, and downloads."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire
from backend.types import JSON


class ArtifactKind(StrEnum):
    """What an artifact holds."""

    TABLE = "table"
    CHART = "chart"
    DOCUMENT = "document"
    JSON = "json"
    IMAGE = "image"
    FILE = "file"


# File name extensions by media type.
ENDINGS: Mapping[str, str] = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "audio/ogg": "ogg",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz",
    "application/json": "json",
    "application/xml": "xml",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.apache.parquet": "parquet",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "text/tab-separated-values": "tsv",
}


def file_title(title: str, media_type: str) -> tuple[str, str]:
    """Return a file's title without its extension, and the extension of its media type."""
    ending = ENDINGS.get(media_type, "bin")
    stem = title[: -len(ending) - 1] if title.lower().endswith(f".{ending}") else title
    return stem, ending


class ArtifactVersion(Wire):
    """One version of an artifact; it never changes."""

    artifact_id: UUID
    version: int
    title: str
    kind: ArtifactKind
    agent: str | None = Field(description="The agent that made it; null: made by a person.")
    turn_id: UUID | None
    hash: str = Field(description="SHA-256 of the content; equal content makes no new version.")
    media_type: str = Field(description="For a kept file: detected from its bytes, not declared.")
    bytes: int
    origin: JSON = Field(
        {},
        description="Where it came from: `tool`, `call_id`, `query`, `source`, `fingerprint`,"
        " `task_id`, `payload`; for a kept file `file` (its name), `file_id` of an upload,"
        " `of_tool` and `of_call` of a tool's result. Unknown fields are absent.",
    )
    created_at: datetime


class Artifact(Wire):
    """A named result of a session, with its newest version."""

    id: UUID
    session_id: UUID
    kind: ArtifactKind
    title: str
    version: int = Field(description="The newest version.")
    agent: str | None = Field(description="The agent that made the newest version.")
    bytes: int
    created_at: datetime
    updated_at: datetime


class ArtifactPage(Wire):
    """A session's artifacts, newest first."""

    items: list[Artifact]
    next_cursor: str | None


class ArtifactContent(ArtifactVersion):
    """A version with a preview of its content.

    A table: `{columns: [{name, type}], rows, total_rows}` from `offset`; a chart: `{spec}` with its
    data; a document: `{text, total_characters}`; JSON: `{value}`; an image or file: `{name}`.
    """

    preview: JSON
    versions: list[ArtifactVersion] = Field(description="All versions, newest first.")


class CellChange(Wire):
    """A cell whose value differs in the later version."""

    column: str
    before: JSON | str | float | int | bool | None
    after: JSON | str | float | int | bool | None


class RowChange(Wire):
    """A row that was added, removed or changed; `row` is from the later version if it is there."""

    change: Literal["added", "removed", "changed"]
    row: JSON
    cells: list[CellChange] = []


class ArtifactDiff(Wire):
    """The difference between two versions: rows and cells of a table, or lines of a text."""

    artifact_id: UUID
    before: int
    after: int
    kind: Literal["rows", "lines", "bytes"]
    key: list[str] = Field(
        [], description="The columns that identify a row; empty: whole rows are compared."
    )
    columns_added: list[str] = []
    columns_removed: list[str] = []
    added: int = Field(0, description="How many rows or lines are new.")
    removed: int = 0
    changed: int = 0
    rows: list[RowChange] = Field([], description="The first changes; see `is_cut`.")
    lines: list[str] = Field([], description="A unified diff of the texts.")
    is_cut: bool = Field(False, description="There are more changes than are listed.")
    is_equal: bool = False
