"""Downloads of documents with their charts in place, as a web page or a PDF."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import anyio.to_thread

from backend.artifacts import rows
from backend.artifacts.documents.charts import Figure, Figures, Source, draw_all, figure
from backend.artifacts.documents.pdf import write_pdf
from backend.artifacts.documents.typst_page import Subject
from backend.artifacts.forms import check_form
from backend.artifacts.local_files import Download
from backend.artifacts.service import Artifacts
from backend.auth.scope import Scope
from backend.errors.artifacts import ArtifactContentGone, ArtifactNotFound, DocumentNotLaidOut
from backend.markdown.cells import FromElsewhere
from backend.markdown.dialect import LONGEST_MARKDOWN, split_charts
from backend.sandbox.errors import (
    Killed,
    OutOfMemory,
    OutOfTime,
    ResultTooLarge,
    SandboxBusy,
    WorkFailed,
)
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox
from backend.schemas.artifacts import ArtifactKind, ArtifactVersion
from backend.tabular.chart_places import NOT_NOW, ChartPlace
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow
from db.session import Database

_DRAWING = Bounds(120, 1_500)  # the drawing engine reserves more memory than it uses
LAYING_OUT = Bounds(60, 500)  # a million letters need 400
_GIVING_UP = (OutOfTime, OutOfMemory, Killed, ResultTooLarge, WorkFailed)


@dataclass(frozen=True)
class Document:
    """One version of a document, with its charts, and where its links to cells lead."""

    version: ArtifactVersion
    text: str
    figures: Figures
    href: FromElsewhere


class Documents:
    """The documents among an installation's artifacts, for one process."""

    def __init__(
        self, database: Database, sandbox: Sandbox, artifacts: Artifacts, pages: str
    ) -> None:
        """Make the documents; `pages` is where the pages are."""
        self._pages = pages
        self._database = database
        self._sandbox = sandbox
        self._artifacts = artifacts

    async def read(self, scope: Scope, artifact_id: UUID, version: int, form: str) -> Document:
        """Return a document with its charts drawn; as Markdown (`md`) it names them.

        Raise ArtifactNotFound, ArtifactContentGone, SandboxBusy; ArtifactRefused for another kind.
        """
        artifact, row = await self._find(scope, artifact_id, version)
        check_form(artifact.kind, form)
        text = await self._artifacts.files.text(row)
        home = artifact.conversation_id
        sources = {} if form == "md" else await self._sources(scope, home, text)
        figures = await self._drawn(scope, sources)
        href = FromElsewhere(home, self._pages)
        return Document(rows.wire_version(row, artifact.kind), text, figures, href)

    async def pdf(self, scope: Scope, artifact_id: UUID, version: int) -> Download:
        """Return a document as a PDF, as an open file.

        Raise like `read`, and DocumentNotLaidOut.
        """
        found = await self.read(scope, artifact_id, version, "pdf")
        details = found.version
        subject = Subject(details.title, details.version, details.agent or "", details.created_at)
        folder = await anyio.to_thread.run_sync(self._artifacts.contents.new_folder)
        try:
            target = folder / "form"
            work = (subject, found.text, found.figures, found.href, target)
            await self._sandbox.run(write_pdf, *work, bounds=LAYING_OUT, key=scope.user_id)
            file = await anyio.to_thread.run_sync(lambda: target.open("rb"))
        except _GIVING_UP:
            raise DocumentNotLaidOut from None
        finally:
            await anyio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))
        size = file.seek(0, 2)
        file.seek(0)
        return Download(file, size, details)

    async def figures(
        self, scope: Scope, session_id: UUID, locale: str | None, text: str
    ) -> Figures:
        """Return the charts named by a text, drawn for the locale if the session has them.

        For a chart that cannot be drawn, the reason is shown in its place.
        """
        sources = await self._sources(scope, session_id, text)
        try:
            return await self._drawn(scope, sources, locale)
        except SandboxBusy:
            return {place: Figure(place.title, problem=NOT_NOW) for place in sources}

    async def draw(self, scope: Scope, locale: str | None, title: str, source: Source) -> Figure:
        """Return a chart that is not an artifact, or the reason why it is not drawn."""
        try:
            (svg,) = await self._pictures(scope, [source], locale)
        except SandboxBusy:
            return Figure(title, problem=NOT_NOW)
        return figure(title, svg)

    async def _sources(self, scope: Scope, session_id: UUID, text: str) -> dict[ChartPlace, Source]:
        """Return what the charts named by a text are drawn from."""
        if len(text) > LONGEST_MARKDOWN:
            return {}
        parts = await anyio.to_thread.run_sync(split_charts, text)
        sources: dict[ChartPlace, Source] = {}
        for place in parts:
            if isinstance(place, ChartPlace) and place.is_shown:
                source = await self._source(scope, session_id, place)
                sources |= {place: source} if source else {}
        return sources

    async def _drawn(
        self, scope: Scope, sources: Mapping[ChartPlace, Source], locale: str | None = None
    ) -> Figures:
        drawn = await self._pictures(scope, list(sources.values()), locale)
        return {place: figure(place.title, svg) for place, svg in zip(sources, drawn, strict=True)}

    async def _pictures(
        self, scope: Scope, sources: Sequence[Source], locale: str | None
    ) -> Sequence[str]:
        """Return the charts as SVG; empty for those that cannot be drawn. Raise SandboxBusy."""
        if not sources:
            return []
        try:
            drawn: Sequence[str] = await self._sandbox.run(
                draw_all, sources, locale, bounds=_DRAWING, key=scope.user_id
            )
        except _GIVING_UP:
            return [""] * len(sources)
        return drawn

    async def _source(self, scope: Scope, home: UUID, place: ChartPlace) -> Source | None:
        """Return what a chart of a session is drawn from; None if it does not exist."""
        try:
            chart, row = await self._find(scope, place.artifact_id, place.version, home)
            if chart.kind != ArtifactKind.CHART:
                return None
            data = await self._artifacts.chart_data(scope, chart, row)
            return Source(f"{chart.id.hex}-{row.version}-", row.preview["spec"], data)
        except (ArtifactNotFound, ArtifactContentGone):
            return None

    async def _find(
        self, scope: Scope, artifact_id: UUID, version: int | None, home: UUID | None = None
    ) -> tuple[ArtifactRow, ArtifactVersionRow]:
        def read() -> tuple[ArtifactRow, ArtifactVersionRow]:
            with self._database.read() as session:
                return rows.find(session, scope, artifact_id, version, home)

        return await anyio.to_thread.run_sync(read)
