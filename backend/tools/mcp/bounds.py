"""Finding the tools that can be used: described so that it fits a request, once each. Pure."""

from collections.abc import Sequence
from typing import Any

from mcp.types import Tool

from backend.tools.mcp.connection.reading import MAX_TOOLS, UnreadableTool
from backend.tools.mcp.words import MAX_TOLD, about_repeated, about_too_many, about_unusable

MAX_CHARS = 200_000
MAX_DEPTH = 60


def usable_tools(
    server: str, listed: Sequence[Tool], most_told: int = MAX_TOLD
) -> tuple[dict[str, Tool], list[str]]:
    """Return by name the tools that can be used, and in sentences why others cannot.

    If a server lists two tools with one name, only the first can be called. `most_told`: how many
    tools a sentence names.
    """
    tools: dict[str, Tool] = {}
    unusable = [(tool, why) for tool in listed if (why := why_unusable(tool))]
    without = {id(tool) for tool, _ in unusable}
    fitting = [tool for tool in listed[:MAX_TOOLS] if id(tool) not in without]
    repeated = [tool.name for tool in fitting if tools.setdefault(tool.name, tool) is not tool]
    notices = []
    if unusable:
        notices.append(about_unusable(server, [(t.name, why) for t, why in unusable], most_told))
    if repeated:
        notices.append(about_repeated(server, repeated, most_told))
    if beyond := [tool.name for tool in listed[MAX_TOOLS:]]:
        notices.append(about_too_many(server, MAX_TOOLS, beyond, most_told))
    return tools, notices


def why_unusable(tool: Tool) -> str | None:
    """Return why the tool cannot be offered to a model; None if it can."""
    if isinstance(tool, UnreadableTool):
        return tool.why
    described = (tool.description, tool.inputSchema, tool.outputSchema)
    if _depth_or_more(described, MAX_DEPTH + 1) > MAX_DEPTH:
        return f"its schema is nested deeper than {MAX_DEPTH} levels"
    if _chars_or_more(described, MAX_CHARS) > MAX_CHARS:
        return f"its description has more than {MAX_CHARS:,} characters"
    kind, properties = tool.inputSchema.get("type", "object"), tool.inputSchema.get("properties")
    is_object = kind == "object" or (isinstance(kind, list) and "object" in kind)
    if not is_object or not isinstance(properties, dict | None):
        return "its schema does not describe named arguments"
    return None


def _depth_or_more(values: Any, enough: int) -> int:
    """Return how deep the values are nested; counting ends at `enough`."""
    depth, level = 0, list(values)
    while depth < enough:
        level = [part for one in level if isinstance(one, dict | list) for part in _parts(one)]
        if not level:
            break
        depth += 1
    return depth


def _chars_or_more(value: Any, enough: int) -> int:
    """Return roughly how many characters a value has as JSON; counting ends beyond `enough`."""
    chars, left = 0, [value]
    while left and chars <= enough:
        one = left.pop()
        if isinstance(one, dict):
            left += one.keys()
        if isinstance(one, dict | list | tuple):
            left += _parts(one)
        chars += len(one) if isinstance(one, str) else 2
    return chars


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value
