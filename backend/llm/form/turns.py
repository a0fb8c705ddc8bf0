"""Messages in the order that strict chat templates want, and none of them empty. Pure.

Mistral takes no person's message after a result, which is what a stop leaves; DeepSeek's reasoner
and templates such as Gemma's want people and model to take turns, but after a failure two
messages of a person follow each other. Anthropic takes no empty content.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from backend.llm.form.plain import ASSISTANT, SYSTEM, TOOL, USER
from backend.llm.wire.deltas import text_of
from backend.types import JSON

NO_ANSWER = "(The turn ended here, without an answer.)"
NO_BEGINNING = "(What was said before is not part of this request.)"
CONTINUE = "(Continue.)"
BLANKS = {TOOL: "(The tool returned nothing.)", ASSISTANT: "(No answer.)"}
BLANK = "(An empty message.)"
SILENT = "(Calling a tool.)"


def in_strict_order(messages: Sequence[JSON]) -> list[JSON]:
    """Return the messages so that people and model take turns, the system prompt being first.

    Texts of one role in a row become one message, and a line says where something is missing.
    Results have the order of their calls: templates without ids tell them apart by it, and that
    of a call that has waited for a person comes last.
    """
    ordered: list[JSON] = []
    for message in _with_results_by_call(messages):
        before = ordered[-1]["role"] if ordered else ""
        role = message["role"]
        if role == SYSTEM and before not in ("", SYSTEM):
            role, message = USER, {**message, "role": USER}
        if role == ASSISTANT and before in ("", SYSTEM):
            ordered.append({"role": USER, "content": NO_BEGINNING})
        if role == USER and before == TOOL:
            ordered.append({"role": ASSISTANT, "content": NO_ANSWER})
        if role == before != TOOL and not ordered[-1].get("tool_calls"):
            ordered[-1] = _joined(ordered[-1], message)
        else:
            ordered.append(message)
    if ordered and ordered[-1]["role"] == ASSISTANT:
        ordered.append({"role": USER, "content": CONTINUE})
    return ordered


def without_blanks(messages: Sequence[JSON]) -> list[JSON]:
    """Return the messages with a line in place of empty content, which only calls may have."""
    return [_filled(message) for message in messages]


def with_texts(messages: Sequence[JSON]) -> list[JSON]:
    """Return the messages with the text of content that comes in parts."""
    return [
        {**message, "content": text_of(content)}
        if isinstance(content := message.get("content"), list)
        else message
        for message in messages
    ]


def with_spoken_calls(messages: Sequence[JSON]) -> list[JSON]:
    """Return the messages with a line in those that call tools and say nothing."""
    return [
        {**message, "content": SILENT}
        if message.get("tool_calls") and _is_blank(message)
        else message
        for message in messages
    ]


def with_spoken_names(messages: Sequence[JSON]) -> list[JSON]:
    """Return the messages with the names of their speakers within the text."""
    return list(map(_spoken, messages))


def _with_results_by_call(messages: Sequence[JSON]) -> list[JSON]:
    places: dict[str, int] = {}
    arranged: list[JSON] = []
    for is_result, group in groupby(messages, lambda message: message["role"] == TOOL):
        found = list(group)
        if is_result:
            found.sort(key=lambda result: places.get(str(result.get("tool_call_id")), len(places)))
        else:
            calls = found[-1].get("tool_calls") or ()
            places = {call["id"]: place for place, call in enumerate(calls)}
        arranged += found
    return arranged


def _filled(message: JSON) -> JSON:
    if message.get("tool_calls") or not _is_blank(message):
        return message
    return {**message, "content": BLANKS.get(message["role"], BLANK)}


def _is_blank(message: JSON) -> bool:
    content = message.get("content")
    return not content or (isinstance(content, str) and not content.strip())


def _joined(first: JSON, second: JSON) -> JSON:
    """Return two messages of one role as one, which has the other fields of the second."""
    if first.get("name") != second.get("name"):
        first, second = _spoken(first), _spoken(second)
    given = [message.get("content") for message in (first, second)]
    if any(isinstance(content, list) for content in given):
        return {**second, "content": [part for content in given for part in _parts(content)]}
    return {**second, "content": "\n\n".join(filter(None, given))}


def _spoken(message: JSON) -> JSON:
    if not (name := message.get("name")):
        return message
    unnamed = {key: value for key, value in message.items() if key != "name"}
    if not (content := message.get("content")):
        return unnamed
    if isinstance(content, list):
        return {**unnamed, "content": [*_parts(f"{name}:"), *content]}
    return {**unnamed, "content": f"{name}: {content}"}


def _parts(content: Any) -> list[JSON]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []
