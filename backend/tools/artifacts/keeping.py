"""The tool that keeps files of tool results, and uploaded files, as artifacts."""

from pathlib import Path

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.artifacts import making
from backend.artifacts.making import CONTENT, Content
from backend.errors.artifacts import ArtifactRefused
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

KEEP = "keep_file"


class KeepFile(BaseModel):
    """Keep a picture or file as an artifact: one from a tool's result, or an uploaded one.

    It is copied unchanged; you need not see it. Give either `call` or `file`. With artifact_id it
    becomes the next version of that artifact; equal content adds none.
    """

    call: str | None = Field(
        None,
        description="A tool, for its newest result with files, or the id of one tool call.",
    )
    number: int | None = Field(
        None, ge=1, description="Which file of that result, from 1; absent: the first."
    )
    file: str | None = Field(None, description="The name of an uploaded file.")
    title: str | None = Field(
        None,
        description="A short title; absent: the file's name.",
        max_length=making.MOST_TITLE_CHARS,
    )
    artifact_id: str | None = Field(None, description="The artifact that gets a version.")


def keep_file(context: ToolContext) -> BaseTool:
    """Return the tool that keeps a file."""

    async def ask(
        call: str | None = None,
        number: int | None = None,
        file: str | None = None,
        title: str | None = None,
        artifact_id: str | None = None,
    ) -> Answer:
        artifacts, maker = artifacts_of(context), maker_of(context)
        with artifacts.contents.folder() as folder:
            if artifact_id is None:
                content, name = await _copy(context, call, number, file, folder)
                named = making.clean_title(name if title is None else title)
                added = await artifacts.make(maker, named, content)
                return say_made(added), made_of(added)
            wanted = read_id(artifact_id)
            _, row = await artifacts.find(context.reader, context.conversation_id, wanted)
            named = making.title_of(title, row.title)
            content, _ = await _copy(context, call, number, file, folder)
            added = await artifacts.revise(maker, wanted, named, content)
            return say_made(added), made_of(added)

    return make_tool(KEEP, KeepFile, ask, context)


async def _copy(
    context: ToolContext, call: str | None, number: int | None, file: str | None, folder: Path
) -> tuple[Content, str]:
    """Return a file as content, and its name. Raise ArtifactRefused."""
    if context.session_files is None:
        raise ArtifactRefused("There are no files here.")
    if (call is None) == (file is None):
        raise ArtifactRefused("Give either `call` or `file`.")
    place = folder / CONTENT
    if call is not None:
        copied = await context.session_files.copy_given(call, number or 1, place)
    elif number is not None:
        raise ArtifactRefused("`number` counts the files of a tool's result; leave it out here.")
    else:
        copied = await context.session_files.copy_upload(str(file), place)
    content = making.kept_file(place, copied.name, origin_of(KEEP, **copied.origin))
    return content, copied.name or f"{content.kind} of {copied.origin['of_tool']}".capitalize()
