"""Reading what a tool's result links to, from the server that sent the link, never elsewhere."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Sequence

from langchain_core.tools import ToolException
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import AnyUrl

MOST_LINKS = 5
LINKED_CHARS = 20_000  # of one resource for the model; people get all of it
OPEN_SECONDS = 10.0

Read = Callable[[AnyUrl], Awaitable[ReadResourceResult | None]]


async def open_links(result: CallToolResult, read: Read) -> CallToolResult:
    """Return the result with each link followed by the content that it points to.

    `read` returns None if the server has no resources: then the links stay as they are.
    """
    links = [block for block in result.content if isinstance(block, ResourceLink)]
    if not links:
        return result
    opened = await asyncio.gather(*(_open(link, read) for link in links[:MOST_LINKS]))
    behind = {id(link): blocks for link, blocks in zip(links, opened, strict=False)}
    content = [one for block in result.content for one in (block, *behind.get(id(block), ()))]
    if len(links) > MOST_LINKS and any(opened):
        left = len(links) - MOST_LINKS
        content.append(_line(f"[{left} more links not opened: at most {MOST_LINKS} per result]"))
    return result.model_copy(update={"content": content})


async def _open(link: ResourceLink, read: Read) -> Sequence[ContentBlock]:
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            found = await read(link.uri)
    except TimeoutError:
        return [_line(f"[{link.name}: not read within {OPEN_SECONDS:g} seconds]")]
    except ToolException as error:
        return [_line(f"[{link.name}: it could not be read. {error}]")]
    return [] if found is None else [each for part in found.contents for each in _shown(link, part)]


def _shown(
    link: ResourceLink, part: TextResourceContents | BlobResourceContents
) -> Sequence[ContentBlock]:
    if isinstance(part, BlobResourceContents) or len(part.text) <= LINKED_CHARS:
        return [EmbeddedResource(type="resource", resource=part)]
    encoded = base64.b64encode(part.text.encode("utf-8", "replace")).decode()
    mime_type = part.mimeType or "text/plain"
    whole = BlobResourceContents(uri=part.uri, mimeType=mime_type, blob=encoded)
    cut = f"\n[cut here: {link.name} has {len(part.text):,} characters, all of it in a file]"
    begins = _line(part.text[:LINKED_CHARS] + cut)
    return [begins, EmbeddedResource(type="resource", resource=whole)]


def _line(text: str) -> TextContent:
    return TextContent(type="text", text=text)
