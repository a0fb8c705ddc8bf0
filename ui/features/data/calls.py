"""API calls of the page Data: sources and files, samples, corrections."""

from urllib.parse import quote
from uuid import UUID

from backend.schemas.data.files import FileCorrections, FileDetails, FilePage, FilePreview
from backend.schemas.data.sources import SourceDetails, SourceList, TableSample
from ui.client import Client


def list_files(client: Client, cursor: str | None) -> FilePage:
    """Return a page of the caller's files, the latest first."""
    return client.get(FilePage, "files", cursor=cursor)


def get_file(client: Client, file_id: UUID) -> FileDetails:
    """Return one file with its tables and how they were read."""
    return client.get(FileDetails, f"files/{file_id}")


def file_sample(client: Client, file_id: UUID, table: str) -> TableSample:
    """Return the first rows of a table of a file."""
    return client.get(TableSample, f"files/{file_id}/sample", table=table)


def preview(client: Client, file_id: UUID, change: FileCorrections) -> FilePreview:
    """Return how a file would be read, without changing anything."""
    return client.call(FilePreview, "POST", f"files/{file_id}/preview", json=_said(change))


def correct(client: Client, file_id: UUID, change: FileCorrections) -> FileDetails:
    """Correct how a file is read."""
    return client.call(FileDetails, "PATCH", f"files/{file_id}", json=_said(change))


def list_sources(client: Client) -> SourceList:
    """Return the sources of the installation."""
    return client.get(SourceList, "sources")


def get_source(client: Client, name: str) -> SourceDetails:
    """Return a source with its first tables."""
    return client.get(SourceDetails, f"sources/{quote(name, safe='')}")


def source_sample(client: Client, name: str, table: str) -> TableSample:
    """Return the first rows of a table of a source."""
    return client.get(TableSample, f"sources/{quote(name, safe='')}/sample", table=table)


def _said(change: FileCorrections) -> dict[str, object]:
    return change.model_dump(mode="json", exclude_unset=True)
