"""The tool that reads a version of an artifact."""

import json

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.artifacts.pages import MOST_ROWS
from backend.schemas.artifacts import ArtifactKind
from backend.tools.artifacts.calls import HOW_TO_LINK, artifacts_of, read_id, show_table
from backend.tools.context import ToolContext
from backend.tools.sources.making import Answer, make_tool

READ = "read_artifact"
MOST_CHARS = 20_000
GIVEN_WHOLE = (ArtifactKind.CHART, ArtifactKind.IMAGE, ArtifactKind.FILE)


class ReadArtifact(BaseModel):
    """Read an artifact of this conversation: rows of a table, or characters of a text."""

    artifact_id: str = Field(description="Its id.")
    version: int | None = Field(None, ge=1, description="Which version; absent: the newest.")
    offset: int = Field(0, ge=0, description="How many rows or characters to skip.")
    limit: int | None = Field(None, ge=1, description="How many rows or characters at most.")


def read_artifact(context: ToolContext) -> BaseTool:
    """Return the tool that reads a version."""

    async def ask(
        artifact_id: str, version: int | None = None, offset: int = 0, limit: int | None = None
    ) -> Answer:
        artifacts = artifacts_of(context)
        known, row = await artifacts.find(
            context.reader, context.conversation_id, read_id(artifact_id), version
        )
        address = f"artifact:{row.artifact_id}@{row.version}"
        head = f"The {known.kind} “{row.title}”, {address}; its newest version is {known.version}."
        if known.kind == ArtifactKind.TABLE:
            most = min(limit or 40, MOST_ROWS)
            page = await artifacts.pages.rows(context.reader, row, offset, most)
            page["total_rows"] = row.preview["total_rows"]
            link = HOW_TO_LINK.format(address=address)
            return f"{head}\n{link}\n{show_table(row.title, page, offset)}", None
        if (offset or limit) and known.kind in GIVEN_WHOLE:
            head += " It is given whole: offset and limit change nothing."
        if known.kind == ArtifactKind.CHART:
            return f"{head}\n{json.dumps(row.preview, ensure_ascii=False)}", None
        if known.kind in (ArtifactKind.IMAGE, ArtifactKind.FILE):
            return f"{head} It has {row.size:,} bytes of {row.media_type}.", None
        text = await artifacts.files.text(row)
        shown = text[offset : offset + min(limit or MOST_CHARS, MOST_CHARS)]
        left = len(text) - offset - len(shown)
        more = f"\nCUT: {left:,} characters follow; read on with offset={offset + len(shown)}."
        return f"{head}\n{shown}{more if left > 0 else ''}", None

    return make_tool(READ, ReadArtifact, ask, context)
