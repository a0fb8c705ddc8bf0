"""What an export reads of a session: the rows of its active branch, page by page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.artifacts import rows
from backend.artifacts.documents.charts import Figure, Figures, Source
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.messages import get_result, list_messages
from backend.errors.artifacts import ArtifactNotFound
from backend.errors.conversations import ResultNotFound, SessionNotFound
from backend.export.parts import Part, artifact_part, part_of
from backend.export.reader import Reader
from backend.export.tasks import (
    TaskSession,
    find_home,
    is_result_of_plan,
    tasks_behind,
    with_heading,
)
from backend.markdown.cells import FromElsewhere
from backend.schemas.conversations.sessions import DisplayMessage, Session
from backend.tabular.chart_places import NOT_DRAWN
from backend.tabular.charts.drawing import MAX_POINTS
from backend.tabular.charts.spec import SpecRefused, check_spec
from colloquy_kit.messages.kinds import ContentType
from db.session import Database

PAGE_ROWS = 200


@dataclass(frozen=True)
class History:
    """A session being exported. Each page is a transaction of its own, so that none is long.

    `figures` draws the charts that a text names, `draw` one of a given title; `pages` is their
    address.
    """

    database: Database
    scope: Scope
    session: Session
    figures: Callable[[str], Figures]
    draw: Callable[[str, Source], Figure]
    reader: Reader
    pages: str

    @classmethod
    def open(
        cls,
        database: Database,
        scope: Scope,
        session_id: UUID,
        figures: Callable[[str], Figures],
        draw: Callable[[str, Source], Figure],
        reader: Reader,
        pages: str,
    ) -> "History":
        """Return the session's history. Raise SessionNotFound."""
        with database.read() as session:
            found = conversations.get(session, scope, session_id)
        return cls(database, scope, found, figures, draw, reader, pages)

    @property
    def href(self) -> FromElsewhere:
        """Where links to artifacts and cells lead."""
        return FromElsewhere(self.session.id, self.pages)

    def rows(self) -> Iterator[DisplayMessage]:
        """Yield the rows in order, those of a plan's tasks behind its result.

        They end where the session was deleted meanwhile.
        """
        for row in self._rows_of(self.session.id):
            yield row
            for task in self._tasks_behind(row):
                yield from with_heading(task, self._rows_of(task.id))

    def _tasks_behind(self, row: DisplayMessage) -> list[TaskSession]:
        if not is_result_of_plan(row):
            return []
        with self.database.read() as session:
            return tasks_behind(session, row)

    def _rows_of(self, session_id: UUID) -> Iterator[DisplayMessage]:
        after: int | None = 0
        while after is not None:
            try:
                with self.database.read() as session:
                    page = list_messages(
                        session,
                        self.scope,
                        session_id,
                        after=after,
                        limit=PAGE_ROWS,
                        of_branch=True,
                    )
            except SessionNotFound:
                return
            yield from page.items
            after = page.next_after

    def part(self, row: DisplayMessage) -> Part:
        """Return the content of a row; for an artifact, its version at that time."""
        if row.content_type is not ContentType.ARTIFACT:
            return part_of(row)
        try:
            named, version = UUID(str(row.content.get("artifact_id"))), row.content.get("version")
            with self.database.read() as session:
                artifact, found = rows.find(session, self.scope, named, version)
        except (ArtifactNotFound, ValueError):
            return part_of(row)
        address = f"artifact:{artifact.id}@{found.version}"
        return artifact_part(
            artifact.kind, f"{found.title} ({version})", address, found.preview, self.reader
        )

    def chart(self, part: Part) -> Figure | None:
        """Return the chart that a table was to be shown as; None if it was to be a table."""
        if part.table is None or not part.table.get("chart"):
            return None
        result_id = part.table.get("result_id")
        whole = {**part.table, **(self.result(str(result_id)) or {} if result_id else {})}
        try:
            spec = check_spec(part.table["chart"], whole["columns"])
        except SpecRefused:
            return Figure(part.label, problem=NOT_DRAWN)
        title, count = str(spec.get("title") or part.label), self.reader.count
        rows = whole.get("rows", [])
        drawn = rows[:MAX_POINTS]
        if len(drawn) < (total := max(len(rows), int(whole.get("row_count") or 0))):
            title = f"{title} (drawn from the first {count(len(drawn))} of {count(total)} rows)"
        return self.draw(title, Source(f"{part.id}-", spec, {**whole, "rows": drawn}))

    def result(self, result_id: str) -> dict[str, Any] | None:
        """Return what is stored apart from a row: a whole table, or a file; None if it is gone."""
        try:
            with self.database.read() as session:
                home = find_home(session, self.session.id, UUID(result_id))
                return get_result(session, self.scope, home, UUID(result_id))
        except (ResultNotFound, ValueError):
            return None
