"""Repairing results that the MCP SDK cannot parse, such as those with lone surrogates."""

import json
from typing import Any

from mcp.types import CallToolResult
from pydantic import ValidationError

from backend.tools.mcp.connection.reading import AnyResult
from colloquy_kit.messages.clean import clean


class TooManyParts(Exception):
    """A message with too many parts to read; `args` holds it."""


def rescue(error: Exception) -> tuple[Any, CallToolResult | None]:
    """Return the id of the call that an unreadable message answers, and its cleaned result.

    Without an id it is not an answer but, say, a log line; without a result that is lost.
    """
    if isinstance(error, TooManyParts):
        return _id_at_an_end(error.args[0]), None
    text = _text(error)
    if '"jsonrpc"' not in text:
        return None, None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return _id_at_an_end(text), None
    if not isinstance(message, dict):
        return None, None
    try:
        return message.get("id"), AnyResult.model_validate(clean(message.get("result")))
    except ValidationError:
        return message.get("id"), None


def _text(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return ""
    given = next((e["input"] for e in error.errors() if e["type"] == "json_invalid"), "")
    if isinstance(given, bytes | bytearray):
        return bytes(given).decode("utf-8", "replace")
    return given if isinstance(given, str) else ""


def _id_at_an_end(text: str) -> int | None:
    """Find the id where servers write it: in the outermost object, before or after the result."""
    for part in (text[:80], text[-40:]):
        _, found, after = part.partition('"id":')
        digits = after.strip().rstrip("}").split(",")[0].strip()
        if found and digits.isdigit():
            return int(digits)
    return None
