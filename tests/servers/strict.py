"""A scripted model that refuses requests as strict endpoints do, in their words.

Each strictness is a check of a request's body that returns the words of the refusal.
"""

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from backend.types import JSON
from tests.fakes import ScriptedModel

MAX_DESCRIPTION, MAX_TOOLS = 1_024, 128
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
KNOWN_PARAMETERS = frozenset(("model", "messages", "stream", "tools", "tool_choice"))
OF_GEMINI = frozenset(
    [
        *("type", "description", "enum", "required", "properties", "items", "minimum", "maximum"),
        *("minItems", "maxItems", "minLength", "maxLength", "pattern", "format", "nullable"),
        *("anyOf", "title", "default"),
    ]
)


def _tools(body: JSON) -> list[JSON]:
    return [tool["function"] for tool in body.get("tools") or ()]


def _calls(body: JSON) -> list[JSON]:
    return [call for message in body["messages"] for call in message.get("tool_calls") or ()]


def _said(body: JSON) -> list[JSON]:
    return [message for message in body["messages"] if message["role"] != "system"]


def _schemas(schema: Any) -> Iterator[JSON]:
    """All schemas within one; what stands under `properties` is named, not said."""
    if isinstance(schema, dict):
        yield schema
        inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
        inner += [each for key in ("anyOf", "oneOf", "allOf") for each in schema.get(key, ())]
        for each in [*inner, schema.get("items"), schema.get("additionalProperties")]:
            yield from _schemas(each)


def _parameters(body: JSON) -> Iterator[JSON]:
    for tool in _tools(body):
        yield from _schemas(tool["parameters"])


def text_only(body: JSON) -> str | None:
    for place, message in enumerate(body["messages"]):
        if isinstance(message.get("content"), list):
            return f"messages[{place}]: invalid type: sequence, expected a string"
    return None


def short_descriptions(body: JSON) -> str | None:
    for place, tool in enumerate(_tools(body)):
        if (length := len(tool.get("description") or "")) > MAX_DESCRIPTION:
            return (
                f"Invalid 'tools[{place}].function.description': string too long. Expected a string"
                f" with maximum length {MAX_DESCRIPTION}, but got one with length {length} instead."
            )
    return None


def few_tools(body: JSON) -> str | None:
    count = len(_tools(body))
    return (
        f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS}, but"
        f" got an array with length {count} instead."
        if count > MAX_TOOLS
        else None
    )


def legal_names(body: JSON) -> str | None:
    called = [call["function"]["name"] for call in _calls(body)]
    for name in [*(tool["name"] for tool in _tools(body)), *called]:
        if not NAME.fullmatch(name):
            return f"Invalid 'function.name': string does not match pattern: {name!r}"
    return None


def known_parameters(body: JSON) -> str | None:
    unknown = next((name for name in body if name not in KNOWN_PARAMETERS), None)
    return f"Unrecognized request argument supplied: {unknown}" if unknown else None


def nine_signs(body: JSON) -> str | None:
    for call in _calls(body):
        if not re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"]):
            wanted = "a-z, A-Z, 0-9, with a length of 9"
            return f"Tool call id was {call['id']} but must be {wanted}."
    return None


def distinct_ids(body: JSON) -> str | None:
    ids = [call["id"] for call in _calls(body)]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    return f"messages: `tool_use` ids must be unique: {twice}" if twice else None


def no_person_after_a_result(body: JSON) -> str | None:
    roles = [message["role"] for message in _said(body)]
    for before, role in itertools.pairwise(roles):
        if (before, role) == ("tool", "user"):
            return "Unexpected role 'user' after role 'tool'"
    return None


def taking_turns(body: JSON) -> str | None:
    roles = [m["role"] for m in _said(body) if m["role"] != "tool" and not m.get("tool_calls")]
    if roles and roles[0] != "user":
        return "A conversation must start with a user message."
    for before, role in itertools.pairwise(roles):
        if before == role:
            return "Conversation roles must alternate user/assistant/user/assistant/..."
    return None


def nothing_empty(body: JSON) -> str | None:
    for place, message in enumerate(body["messages"]):
        if not message.get("tool_calls") and not str(message.get("content") or "").strip():
            return f"messages.{place}: text content blocks must be non-empty"
    return None


def no_names(body: JSON) -> str | None:
    named = next((place for place, m in enumerate(body["messages"]) if m.get("name")), None)
    return f"'messages.{named}': property 'name' is unsupported" if named is not None else None


def system_first(body: JSON) -> str | None:
    roles = [message["role"] for message in body["messages"]]
    return "System message must be at the beginning." if "system" in roles[1:] else None


def person_last(body: JSON) -> str | None:
    is_prefill = body["messages"][-1]["role"] == "assistant"
    return "The conversation must end with a user message: no prefill." if is_prefill else None


def arguments_are_objects(body: JSON) -> str | None:
    for call in _calls(body):
        if not isinstance(json.loads(call["function"]["arguments"]), dict):
            return "function.arguments must be in JSON format"
    return None


def arrays_with_items(body: JSON) -> str | None:
    missing = any(s.get("type") == "array" and "items" not in s for s in _parameters(body))
    return "Invalid schema for function: array schema missing items" if missing else None


def plain_schemas(body: JSON) -> str | None:
    for schema in _parameters(body):
        if unknown := sorted(schema.keys() - OF_GEMINI):
            return f'Invalid JSON payload received. Unknown name "{unknown[0]}": Cannot find field.'
        if not isinstance(schema.get("type", ""), str):
            return "Proto field is not repeating, cannot start list."
    return None


def objects_at_the_top(body: JSON) -> str | None:
    for tool in _tools(body):
        if tool["parameters"].get("type") != "object" or {"anyOf", "oneOf"} & set(
            tool["parameters"]
        ):
            return "input_schema does not support oneOf, allOf, or anyOf at the top level"
    return None


Strictness = Callable[[JSON], str | None]
STRICTNESSES: tuple[Strictness, ...] = (
    text_only,
    short_descriptions,
    few_tools,
    legal_names,
    known_parameters,
    nine_signs,
    distinct_ids,
    no_person_after_a_result,
    taking_turns,
    nothing_empty,
    no_names,
    system_first,
    person_last,
    arguments_are_objects,
    arrays_with_items,
    plain_schemas,
    objects_at_the_top,
)


class StrictModel(ScriptedModel):
    """A scripted model that refuses what is in `strict`; `refused` has the words, in order.

    `speak` makes of these words the step by which an endpoint says them.
    """

    def __init__(self, strict: Collection[Strictness] = STRICTNESSES, steps: Any = ()) -> None:
        super().__init__(steps)
        self.strict = strict
        self.speak: Callable[[str], JSON] = lambda words: {"status": 400, "text": words}
        self.refused: list[str] = []

    def clear(self) -> None:
        super().clear()
        self.refused.clear()

    def refuse(self, body: JSON) -> JSON | None:
        found = (check(body) for check in self.strict)
        if words := next((words for words in found if words), None):
            self.refused.append(words)
            return self.speak(words)
        return super().refuse(body)
