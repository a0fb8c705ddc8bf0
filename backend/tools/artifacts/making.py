"""The tools that make artifacts and add versions to them."""

from pathlib import Path
from typing import Any, Literal

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.artifacts import making
from backend.artifacts.making import CONTENT, ChartOf, Content
from backend.errors.artifacts import ArtifactRefused
from backend.schemas.artifacts import ArtifactKind
from backend.tools.artifacts.calls import (
    artifacts_of,
    made_of,
    maker_of,
    origin_of,
    read_id,
    say_made,
)
from backend.tools.context import ToolContext
from backend.tools.sources.making import Answer, make_tool

MAKE, REVISE = "make_artifact", "revise_artifact"
Kind = Literal["table", "chart", "document", "json"]
_CONTENT = Field(
    None,
    description="A document's Markdown; a JSON value; a small table's rows as objects; a chart's "
    "Vega-Lite spec, as in make_chart. Leave it out for a table of a query.",
)
_SOURCE = Field(None, description="For a table of a query: the source whose tables need no prefix.")
_QUERY = Field(None, description="One SELECT; its whole result becomes the table.")
_DATA = Field(None, description="For a chart: the table artifact that it draws.")
_DATA_VERSION = Field(None, ge=1, description="Which version of it; absent: the newest.")


class MakeArtifact(BaseModel):
    """Keep a result as an artifact that the person sees and downloads, and others build on.

    A table is best made from a query: its rows, up to two million, never pass through you. Example:
    kind="table", title="Differences 2026", source="fi", query="SELECT ...". A document is Markdown
    in content; a chart artifact of this session is drawn where a line of its own says
    ![title](artifact:ID@1), at most 20 in one document.
    """

    title: str = Field(description="A short title.", max_length=making.MOST_TITLE_CHARS)
    kind: Kind = Field(description="What it is.")
    content: Any = _CONTENT
    source: str | None = _SOURCE
    query: str | None = _QUERY
    data_id: str | None = _DATA
    data_version: int | None = _DATA_VERSION


class ReviseArtifact(BaseModel):
    """Add a version to an artifact of this conversation; earlier ones stay.

    Equal content adds none. Give the whole new content, or the query that makes it.
    """

    artifact_id: str = Field(description="Its id.")
    title: str | None = Field(None, description="A new title.", max_length=making.MOST_TITLE_CHARS)
    content: Any = _CONTENT
    source: str | None = _SOURCE
    query: str | None = _QUERY
    data_id: str | None = _DATA
    data_version: int | None = _DATA_VERSION


def make_artifact(context: ToolContext) -> BaseTool:
    """Return the tool that makes an artifact."""

    async def ask(title: str, kind: Kind, **given: Any) -> Answer:
        artifacts = artifacts_of(context)
        named = making.clean_title(title)
        with artifacts.contents.folder() as folder:
            content = await _Given(context, MAKE, folder, **given).content(ArtifactKind(kind))
            added = await artifacts.make(maker_of(context), named, content)
        return say_made(added), made_of(added)

    return make_tool(MAKE, MakeArtifact, ask, context)


def revise_artifact(context: ToolContext) -> BaseTool:
    """Return the tool that adds a version."""

    async def ask(artifact_id: str, title: str | None = None, **given: Any) -> Answer:
        artifacts = artifacts_of(context)
        wanted = read_id(artifact_id)
        known, row = await artifacts.find(context.reader, context.conversation_id, wanted)
        named = making.title_of(title, row.title)
        with artifacts.contents.folder() as folder:
            content = await _Given(context, REVISE, folder, **given).content(
                ArtifactKind(known.kind)
            )
            added = await artifacts.revise(maker_of(context), wanted, named, content)
        return say_made(added), made_of(added)

    return make_tool(REVISE, ReviseArtifact, ask, context)


class _Given:
    """The arguments of a call for an artifact's content, which is made in its own folder."""

    def __init__(
        self,
        context: ToolContext,
        tool: str,
        folder: Path,
        content: Any = None,
        source: str | None = None,
        query: str | None = None,
        data_id: str | None = None,
        data_version: int | None = None,
    ) -> None:
        self._context, self._tool, self._folder = context, tool, folder
        self._content, self._source, self._query = content, source, query
        self._data_id, self._data_version = data_id, data_version

    async def content(self, kind: ArtifactKind) -> Content:
        """Return the content in a file. Raise ArtifactRefused, DataError."""
        self._check(kind)
        if kind is ArtifactKind.TABLE:
            return await self._table()
        if kind is ArtifactKind.CHART:
            return await self._chart()
        origin = origin_of(self._tool)
        if kind is ArtifactKind.DOCUMENT:
            text = making.read_text_content(self._content)
            return making.document(text, self._folder, origin)
        if kind is ArtifactKind.JSON:
            value = making.read_json_content(self._content)
            return making.json_value(value, self._folder, origin)
        raise ArtifactRefused(
            f"This artifact is of the kind {kind}, whose bytes cannot be written here. Call"
            " keep_file with its artifact_id, and name the file that is its next version."
        )

    def _check(self, kind: ArtifactKind) -> None:
        """Refuse arguments that do not fit the kind, so that none is silently ignored."""
        if kind is not ArtifactKind.TABLE and (self._source or self._query):
            raise ArtifactRefused("`source` and `query` can only make a table.")
        if kind is not ArtifactKind.CHART and (self._data_id or self._data_version):
            raise ArtifactRefused("`data_id` is what a chart draws; leave it out here.")
        if self._query and self._content is not None:
            raise ArtifactRefused("Give either `content`, or `source` and `query`.")
        if bool(self._source) != bool(self._query):
            raise ArtifactRefused("A table of a query needs both `source` and `query`.")

    async def _table(self) -> Content:
        place = self._folder / CONTENT
        if self._query is None or self._source is None:
            rows = making.read_json_content(self._content)
            written = await artifacts_of(self._context).write_rows(
                self._context.reader, making.given_table(rows), place
            )
            return making.table(written, place, origin_of(self._tool))
        sources = self._context.sources
        written = await sources.write(self._context.asker, self._source, self._query, place)
        fingerprint = await sources.fingerprint(self._source)
        origin = origin_of(
            self._tool, source=self._source, query=self._query, fingerprint=fingerprint
        )
        return making.table(written, place, origin)

    async def _chart(self) -> Content:
        if self._data_id is None:
            raise ArtifactRefused("A chart needs `data_id`: the table artifact that it draws.")
        spec = making.read_json_content(self._content)
        data = await chart_of(self._context, self._data_id, self._data_version)
        return making.chart(spec, data, self._folder, origin_of(self._tool))


async def chart_of(context: ToolContext, artifact_id: str, version: int | None) -> ChartOf:
    """Return the table for a chart to draw. Raise ArtifactNotFound, ArtifactRefused."""
    known, row = await artifacts_of(context).find(
        context.reader, context.conversation_id, read_id(artifact_id), version
    )
    if known.kind != ArtifactKind.TABLE:
        raise ArtifactRefused(f"“{row.title}” is a {known.kind}; a chart draws a table.")
    return ChartOf(row.artifact_id, row.version, row.preview["columns"])
