"""The arguments of tool calls: parsed strictly, and kept as the text that the model wrote.

LangChain keeps only the parsed arguments and serialises them again for each request; a provider
then gets a different text from the one it sent, and its prompt cache misses. So the text is kept
with the message.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from colloquy_kit.messages.clean import MAX_DEPTH, clean
from colloquy_kit.messages.parts import MAX_PARTS, has_too_many_parts
from colloquy_kit.types import JSON

RAW_ARGUMENTS = "raw_arguments"
MODEL_NAME = "model_name"  # which model answered, in a message's metadata
REASONING = "reasoning_content"
UNREADABLE = "unreadable_arguments"
MAX_DIGITS = 4_300  # of an integer, as Python reads it
MAX_NAMED = 80  # characters of a name in an error


def parse_arguments(text: str) -> JSON:
    """Return a call's arguments from the model's text. Raise ValueError if not a JSON object.

    Some models write a call without arguments as an empty text or null, and some write the object
    as a JSON string.
    """
    arguments = _read(text)
    if isinstance(arguments, str):
        text = arguments
        arguments = _read(text)
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise ValueError("not an object")
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(arguments, MAX_DEPTH):
        raise ValueError("nested too deeply")
    cleaned: JSON = clean(arguments)
    return cleaned


def _read(text: str) -> Any:
    """Return what a text is as JSON; None if it is empty."""
    if not text.strip():
        return None
    if has_too_many_parts(text):
        raise ValueError(f"made of more than {MAX_PARTS:,} parts")
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_read_integer,
            object_pairs_hook=_object,
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def unreadable_reason(marks: Mapping[str, Any], number: int) -> str | None:
    """Return why a message's call is unreadable, if it is; `marks` are its additional_kwargs."""
    reasons = marks.get(UNREADABLE) or []
    return reasons[number] if number < len(reasons) else None


def parse_or_empty(text: str) -> JSON:
    """Return a call's arguments; empty if the text is unreadable."""
    try:
        return parse_arguments(text)
    except ValueError:
        return {}


def write_arguments(arguments: JSON) -> str:
    """Return arguments as text for a request."""
    return json.dumps(clean(arguments), ensure_ascii=False)


def argument_texts(arguments: Sequence[JSON], raw: Sequence[str | None]) -> list[str]:
    """Return each call's text: the model's own if it still means the same, else a new one.

    It is always an object, as endpoints want it.
    """
    if len(raw) != len(arguments):
        raw = [None] * len(arguments)
    return [_text(*pair) for pair in zip(arguments, raw, strict=True)]


def _is_too_deep(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_too_deep(part, levels - 1) for part in parts)


def _text(arguments: JSON, raw: str | None) -> str:
    is_object = raw is not None and raw.lstrip().startswith("{")
    if raw is not None and is_object and parse_or_empty(raw) == arguments:
        return raw
    return write_arguments(arguments)


def _object(fields: list[tuple[str, Any]]) -> JSON:
    """Return the fields; Python would take the last of several with one name."""
    named = dict(fields)
    if len(named) < len(fields):
        [(repeated, _)] = Counter(name for name, _ in fields).most_common(1)
        raise ValueError(f"`{repeated[:MAX_NAMED]}` is given more than once")
    return named


def _read_integer(digits: str) -> int:
    if (length := len(digits.removeprefix("-"))) > MAX_DIGITS:
        raise ValueError(f"an integer of {length:,} digits; at most {MAX_DIGITS:,} are read")
    return int(digits)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
