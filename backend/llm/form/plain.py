"""The form in which each request leaves: what more endpoints take, and nothing of it is lost. Pure.

A text is a text, not a list of parts; names of tools and speakers have legal signs; a tool's
description has at most 1,024 characters (OpenAI, Azure), and continues in its parameters'
description, which has no limit. Each message is changed by itself and always alike, so that a
recorded request can be reconstructed from the messages it was made of.
"""

import re
from collections.abc import Collection
from typing import Any

from backend.types import JSON

MAX_DESCRIPTION = 1_024
MAX_NAME = 64
LEGAL_NAME = re.compile(rf"[a-zA-Z0-9_-]{{1,{MAX_NAME}}}")
SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"

_ILLEGAL_SIGN = re.compile(r"[^a-zA-Z0-9_-]")
_ILLEGAL_IN_SPEAKER = re.compile(r"[\s<|\\/>]+")
_TEMPLATE_TOKEN = "<|"  # noqa: S105  # of chat templates, such as <|channel|>
_CONTINUED = "The description of this tool continues: "


def use_plain_form(message: JSON) -> None:
    """Give a message that is about to be sent its plain form."""
    if isinstance(parts := message.get("content"), list) and all(map(_is_text, parts)):
        between = "\n" if message["role"] == TOOL else ""
        message["content"] = between.join(part["text"] for part in parts)
    if name := message.get("name"):
        message["name"] = _ILLEGAL_IN_SPEAKER.sub("_", name)[:MAX_NAME]
    for call in message.get("tool_calls") or ():
        call["function"]["name"] = legal_name(call["function"]["name"])


def legal_name(name: str) -> str:
    """Return a tool's name as endpoints take it: a model may have called one of any form."""
    if LEGAL_NAME.fullmatch(name):
        return name
    return _ILLEGAL_SIGN.sub("_", name)[:MAX_NAME]


def find_called(name: str, offered: Collection[str]) -> str:
    """Return the offered tool that a model means by an illegal name; else the name as it is.

    Models add a namespace (`functions.look`, `default_api.look`), tokens of their chat template
    (`look<|channel|>commentary`) or blanks.
    """
    if name in offered or LEGAL_NAME.fullmatch(name):
        return name
    for text in (name.partition(_TEMPLATE_TOKEN)[0], name):
        meant = set(_ILLEGAL_SIGN.split(text)).intersection(offered)
        if len(meant) == 1:
            return meant.pop()
    return name


def bound_description(function: JSON) -> JSON:
    """Return a tool's function with a description that is not too long for any endpoint."""
    text = function.get("description") or ""
    if len(text) <= MAX_DESCRIPTION:
        return function
    end = max(text.rfind(sign, 0, MAX_DESCRIPTION) for sign in ("\n", ". ", " ")) + 1
    end = end or MAX_DESCRIPTION
    parameters = function.get("parameters") or {}
    more = (parameters.get("description"), _CONTINUED + text[end:])
    continued = {**parameters, "description": "\n\n".join(filter(None, more))}
    return {**function, "description": text[:end].rstrip(), "parameters": continued}


def _is_text(part: Any) -> bool:
    return (
        isinstance(part, dict)
        and part.keys() == {"type", "text"}
        and part["type"] == "text"
        and isinstance(part["text"], str)
    )
