"""The part of the fake API that holds files and sources."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse

from backend.schemas.conversations.sessions import Problem
from backend.schemas.data.files import (
    FileCorrections,
    FileDetails,
    FileKind,
    FilePage,
    FilePreview,
    FileSummary,
    FileTable,
)
from backend.schemas.data.sources import (
    SourceColumn,
    SourceDetails,
    SourceList,
    SourceSummary,
    SourceTable,
    TableSample,
)

COLUMNS = [SourceColumn(name="Kunde", type="VARCHAR"), SourceColumn(name="Nr", type="VARCHAR")]
SAMPLE = TableSample(table="sales", columns=COLUMNS, rows=[["Müller", "0012"]], complete=True)
REFUSED = "Kunde cannot be numbers: 1 cell is not, as 'Müller' (line 4)."


@dataclass
class FakeFiles:
    """What the fake says there is; `said` are the corrections it got."""

    files: dict[UUID, FileDetails] = field(default_factory=dict)
    sample: TableSample = field(default_factory=lambda: SAMPLE)
    said: list[FileCorrections] = field(default_factory=list)

    def add(self, name: str, **changes: object) -> FileDetails:
        """Add a file as it is after it was read."""
        table = FileTable(name="sales", rows=1, columns=COLUMNS, encoding="Windows-1252")
        values = {
            "id": uuid4(),
            "name": name,
            "source": "sales",
            "session_id": None,
            "kind": FileKind.TABLE,
            "format": "text",
            "size": 1_200,
            "sha256": "0" * 64,
            "created_at": datetime.now(UTC),
            "is_read": True,
            "summary": "Read as Windows-1252.",
            "tables": 1,
            "rows": 1,
            "content": [table],
        }
        made = FileDetails.model_validate(values | changes)
        self.files[made.id] = made
        return made


def add_file_routes(app: FastAPI, held: FakeFiles, api: str) -> None:
    @app.get(f"{api}/files")
    def files() -> FilePage:
        shown = [FileSummary.read(f.model_dump(mode="json")) for f in held.files.values()]
        return FilePage(items=shown, next_cursor=None)

    @app.get(f"{api}/files/{{file_id}}")
    def file(file_id: UUID) -> FileDetails:
        return held.files[file_id]

    @app.get(f"{api}/files/{{file_id}}/sample")
    def sample(file_id: UUID) -> TableSample:
        return held.sample

    @app.post(f"{api}/files/{{file_id}}/preview")
    def preview(file_id: UUID, body: FileCorrections) -> FilePreview:
        held.said.append(body)
        return FilePreview(summary="Read as UTF-8.", content=[], sample=SAMPLE)

    @app.patch(f"{api}/files/{{file_id}}")
    def correct(file_id: UUID, body: FileCorrections) -> Response:
        held.said.append(body)
        problem = Problem(title="Correction refused", status=422, detail=REFUSED)
        return JSONResponse(problem.model_dump(), 422, media_type="application/problem+json")

    @app.get(f"{api}/sources")
    def sources() -> SourceList:
        broken = "The file cannot be read as Parquet: it is damaged."
        return SourceList(
            items=[
                SourceSummary(
                    name="fi", kind="finance", description="The books.", tables=6, warnings=0
                ),
                SourceSummary(
                    name="old", kind="file", description="", tables=0, warnings=0, problem=broken
                ),
            ]
        )

    @app.get(f"{api}/sources/{{name}}")
    def source(name: str) -> SourceDetails:
        table = SourceTable(name="documents", rows=47, columns=COLUMNS)
        return SourceDetails(
            name=name,
            kind="finance",
            description="The books.",
            table_count=1,
            tables=[table],
            next_offset=None,
        )

    @app.get(f"{api}/sources/{{name}}/sample")
    def source_sample(name: str) -> TableSample:
        return SAMPLE
