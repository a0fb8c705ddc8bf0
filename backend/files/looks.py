"""What is stored about how a file was read, and its form on the wire: pure."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from backend.data.results import Table
from backend.data.source_info import SourceInfo
from backend.data.tables import TableInfo
from backend.files.words import summary
from backend.schemas.data.files import (
    FileCorrections,
    FileDetails,
    FileSummary,
    FileTable,
)
from backend.schemas.data.sources import SourceColumn, TableSample
from backend.types import JSON
from db.models.file import FileRow

_FACTS = frozenset(FileTable.model_fields)


def understood_of(info: SourceInfo) -> JSON:
    """Return how a file was read, in the form that is stored."""
    tables = [_table(table) for table in info.tables]
    return {"tables": tables} | ({"error": info.error} if info.error else {})


def content_of(understood: Mapping[str, Any]) -> list[FileTable]:
    """Return the tables of a file, with how each was read."""
    return [
        FileTable.read(
            {
                **{name: value for name, value in table["facts"].items() if name in _FACTS},
                "name": table["name"],
                "rows": table["rows"],
                "columns": [
                    {"name": c["name"], "type": c["type"], "meaning": c["comment"]}
                    for c in table["columns"]
                ],
                "understood": table["understood"],
                "warnings": table["warnings"],
            }
        )
        for table in understood.get("tables", ())
    ]


def summary_of(row: FileRow) -> FileSummary:
    """Return a file as in lists."""
    return FileSummary.model_validate(_summary(row))


def details_of(row: FileRow) -> FileDetails:
    """Return everything known about a file."""
    return FileDetails.model_validate(
        {
            **_summary(row),
            "content": content_of(row.understood or {}),
            "corrections": FileCorrections.read(row.corrections),
        }
    )


def sample_of(table: TableInfo, result: Table) -> TableSample:
    """Return the first rows of a table."""
    return TableSample(
        table=table.name,
        columns=[SourceColumn(**c.wire) for c in result.columns],
        rows=[list(row) for row in result.rows],
        complete=result.complete,
    )


def _summary(row: FileRow) -> JSON:
    understood = row.understood or {}
    tables = understood.get("tables", [])
    counts = [table["rows"] for table in tables]
    return {
        "id": row.id,
        "name": row.name,
        "source": row.source,
        "session_id": row.conversation_id,
        "kind": row.kind,
        "format": row.format,
        "size": row.size,
        "sha256": row.sha256,
        "created_at": row.created_at,
        "replaced_upload_of": row.replaced_upload_of,
        "is_read": row.understood is not None,
        "summary": summary(tables),
        "problem": understood.get("error"),
        "tables": len(tables),
        "rows": sum(counts) if counts else None,
    }


def _table(table: TableInfo) -> JSON:
    """Return a table without what only queries need."""
    return {
        "name": table.name,
        "rows": table.rows,
        "columns": [asdict(column) for column in table.columns],
        "understood": list(table.understood),
        "warnings": list(table.warnings),
        "facts": dict(table.facts),
    }
