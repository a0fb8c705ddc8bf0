"""Giving the agent its own files, which are part of the conversation's state."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.types import Command
from pydantic import BaseModel, Field

from backend.agents import files
from backend.agents.files import CONTENT, Files, join_files, readable_files
from backend.agents.state_tools import mark_state_only
from backend.schemas.wire import Input

FILES = "files"
WRITING = ("write_file", "edit_file")


class FilesystemSettings(Input):
    """The agent keeps notes and interim results as files in its memory, never on disk."""


class FilesState(AgentState[Any]):
    """The files by name; each is an object with its `content`."""

    files: NotRequired[Annotated[Files, join_files]]


class ListFiles(BaseModel):
    """List the files that you keep in this conversation, with their sizes."""

    under: str = Field("", description="Only names that begin with this, such as notes/.")


class ReadFile(BaseModel):
    """Read a file of this conversation, with line numbers."""

    name: str
    first_line: int = Field(1, ge=1)
    lines: int = Field(500, ge=1, le=5_000)


class WriteFile(BaseModel):
    """Write a file of this conversation, replacing any of that name.

    Files outlast the messages about them: keep notes and interim results that you need later.
    """

    name: str = Field(description="A plain name, such as notes/plan.md.")
    content: str


class EditFile(BaseModel):
    """Replace a text in a file of this conversation with another."""

    name: str
    old: str = Field(description="The text as it is in the file, without line numbers.")
    new: str
    everywhere: bool = Field(False, description="Replace every occurrence.")


class SearchFiles(BaseModel):
    """Find the lines that contain a text in the files of this conversation."""

    text: str = Field(min_length=1)
    under: str = Field("", description="Only in files whose names begin with this.")


def list_files(runtime: ToolRuntime[Any, Any], under: str = "") -> str:
    """Return the names and sizes."""
    return "\n".join(files.list_lines(_files(runtime), under)) or "There are no files."


def read_file(
    runtime: ToolRuntime[Any, Any], name: str, first_line: int = 1, lines: int = 500
) -> str:
    """Return some lines of one file."""
    content = files.content_of(_files(runtime), files.clean_name(name))
    return files.numbered_lines(content, first_line, lines)


def write_file(runtime: ToolRuntime[Any, Any], name: str, content: str) -> Command[Any]:
    """Return a new or replaced file."""
    name = files.clean_name(name)
    before = _with_earlier_calls(runtime, name)
    return _save(runtime, before, name, content, "Wrote")


def edit_file(
    runtime: ToolRuntime[Any, Any], name: str, old: str, new: str, *, everywhere: bool = False
) -> Command[Any]:
    """Return a changed file."""
    name = files.clean_name(name)
    before = _with_earlier_calls(runtime, name)
    content = files.content_of(before, name)
    changed = files.replace_text(content, old, new, everywhere=everywhere)
    return _save(runtime, before, name, changed, "Changed")


def search_files(runtime: ToolRuntime[Any, Any], text: str, under: str = "") -> str:
    """Return the lines found, the first hundred of them."""
    found = files.find_lines(_files(runtime), text, under)
    more = f"\n[{len(found)} lines in all]" if len(found) > files.MAX_FOUND else ""
    return "\n".join(found[: files.MAX_FOUND]) + more or f"No line of any file holds {text!r}."


def _files(runtime: ToolRuntime[Any, Any]) -> Files:
    return readable_files(runtime.state.get(FILES))


def _save(
    runtime: ToolRuntime[Any, Any], before: Files, name: str, content: str, did: str
) -> Command[Any]:
    files.check_fits(before, name, content)
    text = f"{did} {name}: {len(content.splitlines()):,} lines, {len(content):,} characters."
    result = ToolMessage(text, tool_call_id=runtime.tool_call_id)
    return Command(update={FILES: {name: {CONTENT: content}}, "messages": [result]})


def _with_earlier_calls(runtime: ToolRuntime[Any, Any], name: str) -> Files:
    """Return the files as this message's earlier calls will leave them, in size at least.

    Calls of one message see the same files, so only one of them may change a given file. Raise
    ToolException for a second one.
    """
    there = _files(runtime)
    for other, args in _earlier_changes(runtime):
        if other == name:
            raise ToolException(
                f"Error: another call of the same message changes {name}. Change a file once in a "
                "message, then look at the result."
            )
        text = f"{args.get('content') or args.get('new') or ''}"
        there = join_files(there, {other: {CONTENT: text}})
    return there


def _earlier_changes(runtime: ToolRuntime[Any, Any]) -> list[tuple[str, dict[str, Any]]]:
    messages = runtime.state.get("messages", [])
    asking = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
    calls = asking.tool_calls if asking else []
    before = takewhile(lambda call: call["id"] != runtime.tool_call_id, calls)
    writing = [call["args"] for call in before if call["name"] in WRITING]
    return [(str(args.get("name", "")).strip().strip("/"), args) for args in writing]


def _make_tool(arguments: type[BaseModel], do: Callable[..., Any]) -> BaseTool:
    async def run(runtime: ToolRuntime[Any, Any], **values: Any) -> Any:
        return do(runtime, **values)

    tool = StructuredTool.from_function(
        coroutine=run,
        name=do.__name__,
        description=" ".join((arguments.__doc__ or "").split()),
        args_schema=arguments,
        infer_schema=False,
        handle_tool_error=True,
    )
    return mark_state_only(tool)


TOOLS: Sequence[BaseTool] = (
    _make_tool(ListFiles, list_files),
    _make_tool(ReadFile, read_file),
    _make_tool(WriteFile, write_file),
    _make_tool(EditFile, edit_file),
    _make_tool(SearchFiles, search_files),
)


class Filesystem(AgentMiddleware[Any, Any]):
    """Five tools over the state's `files`. They are never on disk."""

    state_schema = FilesState
    tools = TOOLS
