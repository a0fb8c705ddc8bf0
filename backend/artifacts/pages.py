"""Reading a stored version in pages: the rows of a table, the characters of a text."""

from pathlib import Path

from backend.artifacts.local_files import LocalFiles
from backend.auth.scope import Scope
from backend.data.files.parquet import read_page
from backend.data.results import Limits, Table
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox
from backend.schemas.artifacts import ArtifactKind
from backend.types import JSON
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow

MOST_ROWS, PAGE_ROWS = 1_000, 50  # at most, and where nothing else is asked
MOST_CHARS = 200_000
READING = Bounds(20, 300)


class Pages:
    """The pages of artifacts, for one process."""

    def __init__(self, files: LocalFiles, sandbox: Sandbox) -> None:
        self._files = files
        self._sandbox = sandbox

    async def rows(self, scope: Scope, row: ArtifactVersionRow, offset: int, limit: int) -> JSON:
        """Return rows of a table from `offset` on, and its columns."""
        held = row.preview
        if offset + limit <= len(held["rows"]) or held["total_rows"] == len(held["rows"]):
            return {"columns": held["columns"], "rows": held["rows"][offset : offset + limit]}

        async def work(place: Path, _: Path) -> Table:
            limits = Limits(rows=limit)
            work = (place, offset, limits)
            return await self._sandbox.run(read_page, *work, bounds=READING, key=scope.user_id)

        page = await self._files.open(row, work)
        columns = [column.wire for column in page.columns]
        return {"columns": columns, "rows": page.rows}

    async def text(
        self, artifact: ArtifactRow, row: ArtifactVersionRow, offset: int
    ) -> JSON | None:
        """Return characters of a document or long JSON; None for a version that is given whole."""
        is_long = artifact.kind == ArtifactKind.JSON and "value" not in row.preview
        if artifact.kind != ArtifactKind.DOCUMENT and not is_long:
            return None
        text = await self._files.text(row)
        if is_long and len(text) <= MOST_CHARS:
            return None
        return {"text": text[offset : offset + MOST_CHARS], "total_characters": len(text)}
